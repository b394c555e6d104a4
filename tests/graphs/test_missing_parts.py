"""An idea whose source tells no motivation and no novelty: nothing stands in their place anywhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ideagora.agents.arena.judges import (
    CRITERIA,
    EXPERIMENT_CRITERIA,
    EXPERIMENT_JUDGE,
    IDEA_JUDGE,
    IdeaPairInputs,
    PlanCandidate,
    PlanPairInputs,
)
from ideagora.agents.experiment import PlanView
from ideagora.agents.role import ROLES
from ideagora.agents.views import IdeaToTest, IdeaView
from ideagora.evaluators.arena.judging import idea_view, plan_view
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.models.offline import ExtractiveModel
from ideagora.prompts.loader import load_prompt
from ideagora.schema import Experiment
from tests.support import report_samples as samples
from tests.support.each import each_case
from tests.support.report_pages import Page, html_of, markdown_of
from tests.support.role_samples import SAMPLES

WHOLE = IdeaView(
    title="Bells under Planks",
    motivation="Bridges fail without a word, and carts fall in.",
    novelty="Nobody has listened to planks before.",
    method="Put a bell under every plank of the bridge. It rings when the plank bends.",
)
BARE = IdeaView(title="A Rope", motivation=None, novelty=None, method="A rope is pulled over the river.")


def _told(first: IdeaView, second: IdeaView) -> str:
    inputs = IdeaPairInputs(topic="bridges", first=first, second=second)
    return load_prompt("idea_judge").render(inputs.model_dump())[1]


def test_a_judge_sees_neither_the_name_of_a_missing_part_nor_a_stand_in() -> None:
    told = _told(BARE, BARE)
    assert "Motivation" not in told
    assert "Novelty:" not in told
    assert "None" not in told
    assert "not available" not in told
    assert _told(WHOLE, BARE).count("Motivation: ") == 1
    assert _told(WHOLE, WHOLE).count("Novelty: <material ") == 2


@each_case("name", ["experiment_designer", "experiment_reviewer", "experiment_refiner"])
def test_experiment_roles_see_no_stand_in_either(name: str) -> None:
    inputs = SAMPLES[name].inputs
    bare = IdeaToTest(**BARE.model_dump())
    told = load_prompt(name).render({**inputs.model_dump(), "idea": bare.model_dump()})[1]
    for absent in ("Motivation:", "Novelty:", "claim:", "might fail"):
        assert absent not in told
    assert ROLES[name].offline(ExtractiveModel(HashEmbedder()), inputs.model_copy(update={"idea": bare}))


def test_what_an_idea_leaves_out_loses_before_the_offline_judge_where_the_other_says_it() -> None:
    rested = ("novelty", "significance", "clarity", "effectiveness")
    raft = BARE.model_copy(update={"title": "A Raft"})
    expected: list[tuple[IdeaView, IdeaView, str]] = [
        (WHOLE, BARE, "first"),
        (BARE, WHOLE, "second"),
        (BARE, raft, "tie"),
    ]
    for first, second, said in expected:
        answer = _offline(first, second)
        assert [answer[name] for name in rested] == [said] * 4, (first.title, second.title)
        assert set(CRITERIA) <= answer.keys()
    assert _offline(WHOLE, BARE)["reason"].count("to missing") == 4, "nor does it say what to do"


def test_a_part_that_repeats_another_one_says_nothing_before_the_offline_judge() -> None:
    method = WHOLE.method
    echo = WHOLE.model_copy(update={"motivation": method, "novelty": method})
    answer = _offline(echo, WHOLE)
    assert {answer[name] for name in ("novelty", "significance", "effectiveness")} == {"second"}


def test_a_report_of_results_is_no_plan_before_the_offline_judge() -> None:
    report = WHOLE.model_copy(
        update={"method": "PlankNet listens to planks. It outperforms bells by 4.2 points on all bridges."}
    )
    answer = _offline(report, WHOLE)
    assert {answer[name] for name in ("clarity", "feasibility", "effectiveness")} == {"second"}


def test_what_a_plan_leaves_out_loses_too() -> None:
    whole = PlanView(
        steps=("Put up the bells.", "Count who gets wet."), baselines=("a boat",), metrics=("wet feet",),
        datasets=("Bridges-9",), ablations=(), risks=(), refuted_if="nobody gets wet",
    )  # fmt: skip
    empty = PlanView(steps=(), baselines=(), metrics=(), datasets=(), ablations=(), risks=(), refuted_if="")
    plans = [
        PlanCandidate(title=WHOLE.title, claim=WHOLE.novelty, method=WHOLE.method, plan=plan)
        for plan in (empty, whole)
    ]
    inputs = PlanPairInputs(topic="bridges", first=plans[0], second=plans[1])
    answer = EXPERIMENT_JUDGE.offline(ExtractiveModel(HashEmbedder()), inputs)
    assert {getattr(answer, name) for name in EXPERIMENT_CRITERIA} == {"second"}


def test_language_models_are_told_that_leaving_out_gains_nothing() -> None:
    for name in ("idea_judge", "experiment_judge"):
        system = load_prompt(name).render(SAMPLES[name].inputs.model_dump())[0]
        assert "Omissions are never an advantage" in system
        assert "the criterion is a tie" in system


def _offline(first: IdeaView, second: IdeaView) -> dict[str, Any]:
    inputs = IdeaPairInputs(topic="bridges", first=first, second=second)
    return IDEA_JUDGE.offline(ExtractiveModel(HashEmbedder()), inputs).model_dump()


def test_a_report_has_no_section_for_a_missing_part(tmp_path: Path) -> None:
    extra = {"original": {"secret_field": "kept but not shown"}, "scores": {"Novelty": 4}}
    idea = samples.idea(motivation=None, novelty=None, chain=None, sources=(), extra=extra)
    folder = samples.write_run(tmp_path, [idea])
    page = Page(html_of(folder))
    names = {" ".join(heading.split()) for _, heading in page.headings}
    assert "Method" in names
    assert not names & {"Motivation", "Novelty"}
    text = markdown_of(folder)
    assert "### Method" in text
    assert "### Motivation" not in text
    assert "\nNone\n" not in text
    assert "secret_field" not in text
    assert "scores" in text


def test_the_arena_shows_a_judge_no_missing_part_of_an_idea_or_a_plan() -> None:
    plan = Experiment(steps=("Step 1: Pull the rope.", "Count who gets wet."), baselines=("a boat",))
    idea = samples.idea(motivation=None, novelty="", experiment=plan)
    assert idea_view(idea) == IdeaView(title=idea.title, motivation=None, novelty=None, method=idea.method)
    shown = plan_view(idea)
    told = load_prompt("experiment_judge").render({"topic": "bridges", "first": shown, "second": shown})[1]
    told = re.sub("(?<=material) [0-9a-f]{12}", "", told)
    assert told.count("1. <material>Pull the rope.</material>") == 2
    assert told.count("Baselines:\n- <material>a boat</material>") == 2
    for absent in ("claims", "Data sets", "Ablations", "Risks", "Refuted if", "none named", "not available"):
        assert absent not in told
