"""FA and FPS of AI Idea Bench 2025: equations 8 to 10, concepts and searches, and what is unscored."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from ideagora.benchmarks.ai_idea_bench import feasibility
from ideagora.benchmarks.ai_idea_bench.concept_splitter import CONCEPT_SPLITTER, SplitterInputs
from ideagora.benchmarks.benchmark import Judgement, Plan, Unscored
from ideagora.errors import SourceRejected, SourceUnavailable
from ideagora.models.embeddings.embedder import HashEmbedder
from ideagora.models.offline import ExtractiveModel
from ideagora.retrieval.clients.federated import FederatedSource
from ideagora.retrieval.run_notes import RunNotes
from tests.support.counted_papers import JUDGE, CountedPapers, idea, paper, sample, services, verdict

PLAN, PAPER = Plan(judges=(JUDGE,)), Plan(judges=(JUDGE,), protocol="paper")
DAMPERS, WIND, ROPES = (
    paper("Dampers", "2020", 40),
    paper("Wind tunnels", "2019", 9),
    paper("Ropes", "2018", 0),
)
HALF = 1 - math.exp(-35 / 50)
"""The influence of 35 citations, 0.503."""


def test_35_citations_give_0_503() -> None:
    values = {count: round(feasibility.normalized_influence(count), 3) for count in (0, 35, 50, 100, 1000)}
    assert values == {0: 0.0, 35: 0.503, 50: 0.632, 100: 0.865, 1000: 1.0}  # the text rounds 0.865 to 0.9


def test_the_influence_of_a_year_decays_with_its_age() -> None:
    cases = [({2025: 35}, 1.0), ({2024: 35}, 1.0), ({2023: 35}, 1 / 2), ({2015: 35}, 1 / 10), ({}, 0.0)]
    for counts, weight in cases:
        assert feasibility.influence(counts, 2025) == pytest.approx(weight * HALF), counts
    assert feasibility.influence({2025: 35, 2023: 35}, 2025) == pytest.approx(1.5 * HALF)


def test_the_released_code_pools_2023_to_2025() -> None:
    cases = [
        ({2025: 20, 2024: 10, 2023: 5}, HALF),
        ({2022: 35}, HALF / 2),
        ({2015: 35}, HALF / 9),
        ({2026: 35}, -HALF / 2),
    ]
    for counts, expected in cases:
        assert feasibility.influence_as_released(counts) == pytest.approx(expected), counts


def test_fa_is_the_mean_over_papers_and_fps_over_steps() -> None:
    influences = {"a": 1.0, "b": 0.5, "c": 0.0}
    cases: list[tuple[list[list[str]], tuple[float | None, float | None]]] = [
        ([["a", "b", "c"], ["a"]], (0.5, 0.75)),  # every paper once: 1.5 / 3; steps 0.5 and 1
        ([["a"], []], (1.0, 0.5)),  # nothing found for the second step
        ([["a"], ["?"]], (1.0, 1.0)),  # the second step's only paper has no counts
        ([["?"], []], (None, None)),
    ]
    for steps, expected in cases:
        assert feasibility.feasibility(steps, influences) == expected, steps
    fa, fps = feasibility.feasibility_as_released([["a"], ["b"], []], influences)
    assert fa == pytest.approx(0.5)
    assert fps == pytest.approx(0.5 / 3)
    assert feasibility.feasibility_as_released([["a"], ["?"]], influences) == (None, None)


def split(*concepts: tuple[str, ...]) -> dict[str, list[Any]]:
    """The splitter's answer."""
    steps = [
        {"step": n, "reason": f"Reason {n}.", "concepts": list(found)} for n, found in enumerate(concepts)
    ]
    return {"concept_splitter": [{"steps": steps[::-1]}]}


async def test_papers_are_found_for_each_concept_and_counted_once(tmp_path: Path) -> None:
    source = CountedPapers(
        results={"dampers": [DAMPERS, WIND], "tunnels": [WIND, ROPES], "cakes": [paper("Cakes")]},
        per_year={DAMPERS.id: {2025: 35}, WIND.id: {2023: 35}},
        similarities={"Cakes": 0.1},
    )
    reply = split(("dampers", "Tunnels ", "tunnels"), ("cakes",), ())
    [question] = feasibility.questions(sample(), {"a": [idea("a", "One.", "Two.", "Report.")]}, PLAN)
    async with services(tmp_path, source, reply) as given:
        judged = await question.answer(given)
    assert source.queries == ["dampers", "tunnels", "cakes"]
    # influences 0.503, half of it and 0; the second step has only an unrelated paper, the third no concept
    mean = (HALF + HALF / 2 + 0) / 3
    assert judged.criteria == pytest.approx({"fa": mean, "fps": mean / 2})
    assert judged.rationale == "[0] Reason 0. [1] Reason 1. [2] Reason 2."

    logged = verdict(question, judged).details
    influences = {
        name: feasibility.influence(
            {int(y): n for y, n in one["citations_per_year"].items()}, logged["latest_year"]
        )
        for name, one in logged["papers"].items()
    }
    steps = [step["papers"] for step in logged["steps"] if step["concepts"]]
    assert feasibility.feasibility(steps, influences) == (judged.criteria["fa"], judged.criteria["fps"])


async def test_the_paper_protocol_searches_once_per_step_and_counts_the_last_paper(tmp_path: Path) -> None:
    source = CountedPapers(
        results={"dampers, tunnels": [WIND, ROPES, DAMPERS]}, per_year={DAMPERS.id: {2024: 35}}
    )
    [question] = feasibility.questions(sample(), {"a": [idea("a", "One.", "Two.")]}, PAPER)
    async with services(tmp_path, source, split(("dampers", "tunnels"), ())) as given:
        judged = await question.answer(given)
    assert source.queries == ["dampers, tunnels"]
    assert judged.criteria == pytest.approx({"fa": HALF / 2, "fps": HALF / 4})


async def test_what_cannot_be_measured_is_unscored_and_what_is_down_is_retried(tmp_path: Path) -> None:
    found = {"dampers": [DAMPERS]}
    cases: list[tuple[CountedPapers, type[Exception], str]] = [
        (CountedPapers(), Unscored, "no paper was found for any concept of the plan"),
        (CountedPapers(results=found), Unscored, "citations by year are unknown"),
        (CountedPapers(results=found, down=SourceRejected("no key")), Unscored, "no key"),
        (CountedPapers(results=found, down=SourceUnavailable("timeout")), SourceUnavailable, "timeout"),
    ]
    [question] = feasibility.questions(sample(), {"a": [idea("a", "One.")]}, PLAN)
    for source, error, message in cases:
        async with services(tmp_path, source, split(("dampers",))) as given:
            with pytest.raises(error, match=message):
                await question.answer(given)


async def test_a_source_that_is_down_may_have_counts_that_others_lack() -> None:
    class Remote:
        prefixes = ("x:",)

        def __init__(self, name: str, counts: Any) -> None:
            self.name, self.counts = name, counts

        async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
            if isinstance(self.counts, SourceUnavailable):
                raise self.counts
            return self.counts  # type: ignore[no-any-return]

    told = {"a": None, "b": SourceUnavailable("timeout"), "c": {2024: 3}}
    remotes: list[Any] = [Remote(name, counts) for name, counts in told.items()]
    none, down, counted = remotes
    cases: list[tuple[list[Any], dict[int, int] | None]] = [
        ([none], None),
        ([none, down, counted], {2024: 3}),
    ]
    for remotes, counts in cases:
        assert await FederatedSource(remotes, RunNotes()).citations_per_year(["x:1"]) == counts
    with pytest.raises(SourceUnavailable, match="timeout"):
        await FederatedSource([none, down], RunNotes()).citations_per_year(["x:1"])


def test_the_steps_are_those_of_the_experiment_or_else_of_the_method() -> None:
    assert feasibility.plan_steps(idea("a", "One.", " ")) == ("One.",)
    assert feasibility.plan_steps(idea("a", method="1. Hang it.\n2. Shake it.")) == ("Hang it.", "Shake it.")


def test_the_splitter_reports_every_step_and_the_offline_one_finds_phrases() -> None:
    inputs = SplitterInputs(
        steps=("Train a contrastive text encoder on GSM8K.", "Tune mass dampers in a wind tunnel.")
    )
    told = CONCEPT_SPLITTER.offline(ExtractiveModel(HashEmbedder()), inputs)
    answer = CONCEPT_SPLITTER.answer.model_validate(told)
    assert CONCEPT_SPLITTER.check is not None
    assert CONCEPT_SPLITTER.check(inputs, answer) is None
    assert "GSM8K" in answer.steps[0].concepts
    assert any("damper" in concept for concept in answer.steps[1].concepts)
    cut = answer.model_copy(update={"steps": answer.steps[:1]})
    assert "report each step from 0 to 1 once" in (CONCEPT_SPLITTER.check(inputs, cut) or "")


def test_scores_are_means_over_the_ideas() -> None:
    first, second = feasibility.questions(sample(), {"a": [idea("a"), idea("a", number=1)]}, PLAN)
    log = [
        verdict(first, Judgement({"fa": 0.2, "fps": 0.1})),
        verdict(second, Judgement({"fa": 0.4, "fps": 0.1})),
    ]
    assert feasibility.scores(log, PLAN) == {"fa": {"a": {"7": pytest.approx(0.3)}}, "fps": {"a": {"7": 0.1}}}
