"""An idea whose source tells no motivation and no novelty: nothing stands in their place anywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ideagora.agents.judges import CRITERIA, IDEA_JUDGE, DuelInputs
from ideagora.agents.role import ROLES
from ideagora.agents.views import IdeaView
from ideagora.evaluators.arena.judging import judged_plan, plain_view
from ideagora.models.embeddings import HashEmbedder
from ideagora.models.offline import Engine
from ideagora.prompts.loader import load_prompt
from ideagora.schema import Experiment
from tests import report_samples as samples
from tests.report_pages import Page, html_of, markdown_of
from tests.role_samples import SAMPLES

WHOLE = IdeaView(
    title="Bells under Planks",
    motivation="Bridges fail without a word, and carts fall in.",
    novelty="Nobody has listened to planks before.",
    method="A bell hangs under every plank of the bridge. It rings when the plank bends.",
)
BARE = IdeaView(title="A Rope", motivation=None, novelty=None, method="A rope is pulled over the river.")


def _told(first: IdeaView, second: IdeaView) -> str:
    inputs = DuelInputs(topic="bridges", first=first, second=second)
    return load_prompt("idea_judge").render(inputs.model_dump())[1]


def test_a_judge_sees_neither_the_name_of_a_missing_part_nor_a_stand_in() -> None:
    told = _told(BARE, BARE)
    assert "Motivation" not in told
    assert "Novelty:" not in told
    assert "None" not in told
    assert "not available" not in told
    assert _told(WHOLE, BARE).count("Motivation: ") == 1
    assert _told(WHOLE, WHOLE).count("Novelty: <material ") == 2


@pytest.mark.parametrize("name", ["experiment_designer", "experiment_reviewer", "experiment_refiner"])
def test_experiment_roles_see_no_stand_in_either(name: str) -> None:
    inputs = SAMPLES[name].inputs
    told = load_prompt(name).render({**inputs.model_dump(), "idea": BARE.model_dump()})[1]
    assert "Motivation:" not in told
    assert "Novelty:" not in told
    assert ROLES[name].offline(Engine(HashEmbedder()), inputs.model_copy(update={"idea": BARE}))


def test_the_offline_judge_ties_what_it_cannot_measure_and_says_so() -> None:
    answer = IDEA_JUDGE.offline(Engine(HashEmbedder()), DuelInputs(topic="bridges", first=WHOLE, second=BARE))
    assert [answer[name] for name in ("novelty", "significance", "effectiveness")] == ["tie"] * 3
    assert answer["reason"].count("to not measured") == 3
    assert set(CRITERIA) <= answer.keys()


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
    assert plain_view(idea) == IdeaView(title=idea.title, motivation=None, novelty=None, method=idea.method)
    shown = judged_plan(idea)
    told = load_prompt("experiment_judge").render({"topic": "bridges", "first": shown, "second": shown})[1]
    told = re.sub("(?<=material) [0-9a-f]{12}", "", told)
    assert told.count("1. <material>Pull the rope.</material>") == 2
    assert told.count("Baselines:\n- <material>a boat</material>") == 2
    for absent in ("claims", "Data sets", "Ablations", "Risks", "refuted by", "none named", "not available"):
        assert absent not in told
