"""FA and FPS of AI Idea Bench 2025: equations 8 to 10, concepts and searches, and what is unscored."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ideagora.benchmarks.ai_idea_bench.with_other_references import feasibility
from ideagora.benchmarks.ai_idea_bench.with_other_references.concept_splitter import (
    CONCEPT_SPLITTER,
    SplitterInputs,
)
from ideagora.benchmarks.benchmark import Judgement, Plan, Unscored
from ideagora.config import Settings
from ideagora.errors import SourceRejected, SourceUnavailable
from ideagora.models.chat_models import ScriptedCall
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.models.offline import ExtractiveModel
from ideagora.retrieval.factory import open_library
from ideagora.schema import ScoredPaper
from tests.support.counted_papers import JUDGE, CountedPapers, idea, paper, sample, services, verdict
from tests.support.literature_server import Fault, LiteratureServer, Work, hurry

TOPIC = sample().topic
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
        {"step": n, "reason": f"Reason {n}.", "concepts": list(names)} for n, names in enumerate(concepts)
    ]
    return {"concept_splitter": [{"steps": steps[::-1]}]}


async def test_papers_are_found_for_each_concept_and_counted_once_without_the_target(tmp_path: Path) -> None:
    target = paper("The target")
    source = CountedPapers(
        results={"dampers": [DAMPERS, target, WIND], "tunnels": [WIND, ROPES], "cakes": [paper("Cakes")]},
        per_year={DAMPERS.id: {2025: 35}, WIND.id: {2023: 35}, target.id: {2025: 900}},
        similarities={"Cakes": 0.1},
    )
    reply = split(("dampers", "Tunnels ", "tunnels"), ("cakes",), ())
    one = sample(paper_id=target.id)
    [question] = feasibility.questions(one, {"a": [idea("a", "Two.", "Report.", method="One.")]}, PLAN)
    async with services(tmp_path, source, reply) as given:
        judged = await question.answer(given)
    assert source.queries == [TOPIC, "dampers", "tunnels", "cakes"]
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
    [question] = feasibility.questions(sample(), {"a": [idea("a", "Two.", method="One.")]}, PAPER)
    async with services(tmp_path, source, split(("dampers", "tunnels"), ())) as given:
        judged = await question.answer(given)
    assert source.queries == [TOPIC, "dampers, tunnels"]
    assert judged.criteria == pytest.approx({"fa": HALF / 2, "fps": HALF / 4})


class SlowPapers(CountedPapers):
    """Answers the searches in the order in which they ought not to end."""

    waiting = 0
    most = 0

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        for _ in range(10 if query == "dampers" else 0):
            await asyncio.sleep(0)
        self.waiting -= 1
        return await super().search(query, k)


async def test_searches_run_side_by_side_and_their_order_changes_nothing(tmp_path: Path) -> None:
    results = {"dampers": [DAMPERS, WIND], "tunnels": [ROPES, WIND]}
    per_year = {one.id: {2025: 35} for one in (DAMPERS, WIND, ROPES)}
    [question] = feasibility.questions(sample(), {"a": [idea("a", method="One.")]}, PLAN)
    judged = []
    for number, kind in enumerate((CountedPapers, SlowPapers)):
        source = kind(results=results, per_year=per_year)
        async with services(tmp_path / str(number), source, split(("dampers", "tunnels"))) as given:
            judged.append(await question.answer(given))
        if isinstance(source, SlowPapers):
            assert source.queries[-2:] == ["tunnels", "dampers"]
            assert source.most == 2
    assert judged[0] == judged[1]
    assert list(judged[0].details["papers"]) == [DAMPERS.id, WIND.id, ROPES.id]


async def test_what_cannot_be_measured_is_unscored_and_what_is_down_is_retried(tmp_path: Path) -> None:
    results = {"dampers": [DAMPERS]}
    cases: list[tuple[CountedPapers, type[Exception], str]] = [
        (CountedPapers(), Unscored, "no paper was found for any concept of the plan"),
        (CountedPapers(results=results), Unscored, "citations by year are unknown"),
        (CountedPapers(results=results, down=SourceRejected("no key")), Unscored, "no key"),
        (CountedPapers(results=results, down=SourceUnavailable("timeout")), SourceUnavailable, "timeout"),
    ]
    [question] = feasibility.questions(sample(), {"a": [idea("a", method="One.")]}, PLAN)
    for source, error, message in cases:
        async with services(tmp_path, source, split(("dampers",))) as given:
            with pytest.raises(error, match=message):
                await question.answer(given)


async def test_no_judge_is_asked_if_no_paper_on_the_topic_has_counts(tmp_path: Path) -> None:
    def reply(call: ScriptedCall) -> Any:
        raise AssertionError("asked")

    source = CountedPapers([DAMPERS, WIND])
    [question] = feasibility.questions(sample(), {"a": [idea("a", method="One.")]}, PLAN)
    async with services(tmp_path, source, reply) as given:
        with pytest.raises(Unscored, match="citations by year are unknown"):
            await question.answer(given)
    assert source.queries == [TOPIC]


async def test_counts_come_from_the_source_that_has_them_and_an_outage_is_not_their_absence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurry(monkeypatch, datetime(2025, 6, 1, tzinfo=UTC))
    works = [
        Work("w1", "Mass dampers", date="2020", doi="10.1/a", per_year=((2023, 35), (2025, 35))),
        Work("w2", "Stay cables", date="2021", doi="10.1/b", per_year=((2025, 35),)),
    ]
    first, second = feasibility.questions(
        sample(), {name: [idea(name, method=name)] for name in ("dampers", "cables")}, PLAN
    )
    reply = {
        "concept_splitter": [split((one,))["concept_splitter"][0] for one in ("mass dampers", "stay cables")]
    }
    with LiteratureServer(works) as server:
        settings = Settings(
            home=tmp_path,
            embedder="hash",
            source="semantic-scholar,openalex",
            semantic_scholar_url=server.url("semantic-scholar"),
            openalex_url=server.url("openalex"),
        )
        with open_library(settings) as library:
            async with services(tmp_path, CountedPapers(), reply) as given:
                opened = replace(given, optional_library=library)
                judged = await first.answer(opened)
                assert judged.criteria["fa"] == pytest.approx(1.5 * HALF)
                server.faults.append(Fault(503, service="openalex", forever=True))
                with pytest.raises(SourceUnavailable, match="openalex"):
                    await second.answer(opened)
            await library.disconnect()


def test_the_steps_are_those_of_the_method_and_of_the_experiment() -> None:
    assert feasibility.plan_steps(idea("a", "Shake it.", " ", method="Hang it.")) == ("Hang it.", "Shake it.")
    assert feasibility.plan_steps(idea("a", method="1. Hang it.\n2. Shake it.")) == ("Hang it.", "Shake it.")


def test_the_splitter_reports_every_step_and_the_offline_one_finds_phrases() -> None:
    inputs = SplitterInputs(
        topic="sway of bridges",
        steps=("Train a contrastive text encoder on GSM8K.", "Tune mass dampers in a wind tunnel."),
    )
    answer = CONCEPT_SPLITTER.offline(ExtractiveModel(HashEmbedder()), inputs)
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
