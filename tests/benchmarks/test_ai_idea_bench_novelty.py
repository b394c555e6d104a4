"""NA of AI Idea Bench 2025: equation 7, the search for papers, and what is unscored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ideagora.benchmarks.ai_idea_bench.with_other_references import novelty
from ideagora.benchmarks.ai_idea_bench.with_other_references.literature import CITATIONS
from ideagora.benchmarks.benchmark import Judgement, Plan, Unscored
from ideagora.errors import SourceRejected, SourceUnavailable
from ideagora.models.chat_models import ScriptedCall
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.library import Library
from ideagora.retrieval.run_notes import RunNotes
from tests.support.counted_papers import JUDGE, CountedPapers, idea, paper, sample, services, verdict

PLAN, PAPER = Plan(judges=(JUDGE,)), Plan(judges=(JUDGE,), protocol="paper")
OLD = paper("Sway of old bridges", "2021-05-01", 900)
NEW = paper("Dampers for the sway of bridges", "2024-02", 30)
NEWER = paper("Dampers tuned by wind", "2025", 10)


def test_equation_7_with_each_protocols_denominator() -> None:
    similarity: Any = {
        "contemporary": {"motivation": 0.5, "plan": 0.8},
        "historical": {"motivation": 0.25, "plan": 0.2},
    }
    # motivation 1.5 * 20 / 1.25; plan 1.8 * 20 / 1.2, or as released 1.8 * 20 / 1.5
    cases = [(False, {"motivation": 24.0, "plan": 30.0}), (True, {"motivation": 24.0, "plan": 24.0})]
    for is_paper, expected in cases:
        ratios = {f"{part}_ratio": value / 20 for part, value in expected.items()}
        score = novelty.novelty(similarity, 20.0, is_paper)
        assert score == pytest.approx(expected | ratios), is_paper
    without: Any = {side: {"plan": values["plan"]} for side, values in similarity.items()}
    score = novelty.novelty(without, 20.0, is_paper=False)
    assert score == pytest.approx({"plan": 30.0, "plan_ratio": 1.5})
    assert novelty.novelty(without, 20.0, is_paper=True) == {}


async def test_papers_are_taken_from_both_sides_of_the_reference_date(tmp_path: Path) -> None:
    unsure, undated = paper("On the edge", "2023", 5), paper("Of no date", None, 5)
    target = paper("The target", "2022-01-01", 7)
    source = CountedPapers(results={"sway, bridges": [unsure, OLD], "sway": [undated, target, NEW, OLD]})
    named = sample(["sway", "bridges"], paper_id=target.id)
    async with services(tmp_path, source) as given:
        related = await novelty.find_related(given.library, sample(["sway", "bridges"]), is_paper=False)
        assert source.queries == ["sway, bridges", "sway"]
        assert (related.reference_date, related.queries) == ("2023-10-03", source.queries)
        assert list(related.historical) == [OLD.id, target.id]
        assert list(related.contemporary) == [NEW.id]

        related = await novelty.find_related(given.library, named, is_paper=False)
        assert related.reference_date == "2022-01-01"
        assert (list(related.historical), list(related.contemporary)) == ([OLD.id], [unsure.id, NEW.id])

        source.queries.clear()
        related = await novelty.find_related(given.library, named, is_paper=True)
        assert (related.reference_date, source.queries) == ("2023-10-03", ["sway"])
        assert list(related.historical) == [target.id, OLD.id]

    plenty = [paper(f"{year} {n}", f"{year}-05-05", n) for year in (2020, 2024) for n in range(9)]
    source = CountedPapers(plenty)
    async with services(tmp_path, source) as given:
        related = await novelty.find_related(given.library, sample(["sway", "bridges"]), is_paper=False)
    assert source.queries == ["sway, bridges"]
    assert (len(related.historical), len(related.contemporary)) == (5, 5)


async def test_the_figures_can_be_computed_from_the_log_alone(tmp_path: Path) -> None:
    source = CountedPapers([OLD, NEW, NEWER.model_copy(update={"citation_count": None})])
    [question] = novelty.questions(sample(["sway"]), {"a": [idea("a", "Hang dampers.")]}, PLAN)
    assert (question.judge, question.measure) == (CITATIONS, "na")
    async with services(tmp_path, source) as given:
        logged = verdict(question, await question.answer(given)).details
    assert [one["id"] for one in logged["contemporary"]] == [NEW.id, NEWER.id]
    known = [one["citations"] for one in logged["contemporary"] if one["citations"] is not None]
    assert (known, logged["mean_citations"]) == ([30], 30.0)
    for part in ("motivation", "plan"):
        mean = {
            side: np.mean([one["similarity"][part] for one in logged[side]])
            for side in ("historical", "contemporary")
        }
        expected = (1 + mean["contemporary"]) * 30 / (1 + mean["historical"])
        async with services(tmp_path, source) as given:
            assert (await question.answer(given)).criteria[part] == pytest.approx(expected)
    [plain] = novelty.questions(sample(["sway"]), {"a": [idea("a", motivation=None)]}, PLAN)
    async with services(tmp_path, source) as given:
        judged = await plain.answer(given)
    assert set(judged.criteria) == {"plan", "plan_ratio"}
    assert judged.details["missing"] == ["the idea has no motivation"]


async def test_a_model_reads_the_papers_in_the_paper_protocol(tmp_path: Path) -> None:
    def reply(call: ScriptedCall) -> Any:
        read = {
            "problem": "It sways.",
            "method": f"Of {call.inputs.title}.",
            "finding": None,
            "limitation": None,
            "why_it_works": None,
            "details": None,
        }
        experiment = "Hang dampers." if call.inputs.title == NEW.title else None
        return {**read, "experiment": experiment, "entities": [], "references": []}

    source = CountedPapers([OLD, NEW])
    [question] = novelty.questions(sample(["a", "b"]), {"a": [idea("a", "Hang dampers.")]}, PAPER)
    assert (question.judge, question.calls) == (JUDGE, 10)
    async with services(tmp_path, source, reply) as given:
        judged = await question.answer(given)
    similar = judged.details["similarity"]
    assert set(similar["historical"]) == {"motivation"}
    expected = (1 + similar["contemporary"]["plan"]) * 30 / (1 + similar["contemporary"]["motivation"])
    assert judged.criteria["plan"] == pytest.approx(expected)


async def test_what_cannot_be_measured_is_unscored_and_what_is_down_is_retried(tmp_path: Path) -> None:
    class Down(CountedPapers):
        async def search(self, query: str, k: int) -> Any:
            raise self.down or AssertionError

    uncounted = NEW.model_copy(update={"citation_count": None})
    cases: list[tuple[CountedPapers, type[Exception], str]] = [
        (CountedPapers([OLD]), Unscored, "no paper from after 2023-10-03 was found"),
        (CountedPapers([NEW]), Unscored, "no paper from before 2023-10-03 was found"),
        (CountedPapers([OLD, uncounted]), Unscored, "no citation counts for the contemporary papers"),
        (Down(down=SourceRejected("no key")), Unscored, "no key"),
        (Down(down=SourceUnavailable("timeout")), SourceUnavailable, "timeout"),
    ]
    [question] = novelty.questions(sample(["sway"]), {"a": [idea("a")]}, PLAN)
    for source, error, message in cases:
        async with services(tmp_path, source) as given:
            with pytest.raises(error, match=message):
                await question.answer(given)


async def test_papers_found_without_a_source_that_is_down_are_not_enough(tmp_path: Path) -> None:
    class OneOfTwo(CountedPapers):
        async def search(self, query: str, k: int) -> Any:
            if self.down is not None:
                notes.note("down", "the other", "timeout")
            return await super().search(query, k)

    notes = RunNotes()
    source = OneOfTwo([OLD], down=SourceUnavailable("timeout"))
    [question] = novelty.questions(sample(["sway"]), {"a": [idea("a")]}, PLAN)
    async with services(tmp_path, source) as given:
        library = Library(source, HashEmbedder(), run_notes=notes)
        opened = replace(given, optional_library=library)
        for source.papers in ([OLD], [OLD, NEW]):  # with and without a paper on each side
            with pytest.raises(SourceUnavailable, match="papers may be missing"):
                await question.answer(opened)
        source.down = None
        assert set((await question.answer(opened)).criteria) >= {"motivation", "plan"}


def test_similarities_are_one_matrix_product_over_distinct_texts() -> None:
    class Counting(HashEmbedder):
        def __init__(self) -> None:
            self.calls: list[int] = []

        def encode(self, texts: Any) -> Any:
            self.calls.append(len(texts))
            return super().encode(texts)

    embedder = Counting()
    papers: Any = [{"motivation": "sway", "plan": "sway"}, {"motivation": "cake"}]
    similarities = novelty.part_similarities(embedder, {"motivation": "sway", "plan": "cake"}, papers)
    assert embedder.calls == [4]
    assert similarities["motivation"][0] == 1.0
    assert similarities["plan"][1] is None
    assert similarities["plan"][0] == similarities["motivation"][1]


def test_scores_are_means_over_ideas_and_then_judges() -> None:
    ideas = {"a": [idea("a", number=0), idea("a", number=1)], "b": [idea("b")]}
    first, second, other = novelty.questions(sample(), ideas, PLAN)
    log = [
        verdict(first, Judgement({"motivation": 10.0, "plan": 4.0, "motivation_ratio": 0.5})),
        verdict(second, Judgement({"plan": 8.0})),
        verdict(other, None),
    ]
    assert novelty.scores(log, PLAN) == {
        "na_motivation": {"a": {"7": 10.0}, "b": {"7": None}},
        "na_plan": {"a": {"7": 6.0}, "b": {"7": None}},
        "na_motivation_ratio": {"a": {"7": 0.5}, "b": {"7": None}},
        "na_plan_ratio": {"a": {"7": None}, "b": {"7": None}},
    }
