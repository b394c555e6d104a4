"""FA and FPS, the feasibility assessment with reference to other literature (section 3.2.2, eqs. 8 to 10).

A model splits each step of the plan into concepts, and the literature is searched for each. The influence of
a paper grows with its citations, above all the recent ones: each year counts ``1 - e^(-citations / 50)``,
which is 0.503 for 35 citations, divided by its age.

- ``default``: FA is the mean influence of all papers found, FPS the mean over the steps of the mean influence
  of their papers. A step for which the searches find nothing counts 0.
- ``paper``: as in the released code, one search per step for all its concepts, of whose five papers only
  the last counts; the years 2023 to 2025 are pooled, and the others divided by their distance from 2024. FA
  is the mean over the steps, FPS is FA divided by their number: Table 2's figures differ by such a factor.

Without citation counts by year an idea is unscored. A paper without counts is left out, as is a year without
a count, which is unknown rather than 0.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ideagora.benchmarks.ai_idea_bench.samples import Sample
from ideagora.benchmarks.ai_idea_bench.with_other_references.concept_splitter import CONCEPT_SPLITTER
from ideagora.benchmarks.ai_idea_bench.with_other_references.literature import (
    each_idea,
    from_all_sources,
    mean_over_ideas,
    side_by_side,
)
from ideagora.benchmarks.benchmark import Judgement, Measure, Plan, Question, Scores, Unscored
from ideagora.models.offline.text import method_steps
from ideagora.schema import FAR_FROM_TOPIC, Idea, Paper, ScoredPaper, Verdict

if TYPE_CHECKING:
    from ideagora.graphs.services import Services
    from ideagora.retrieval.library import Library

GROUP = "fa"
MEASURES = (
    Measure(name="fa", group=GROUP, title="FA", unit="mean influence of the papers found, from 0"),
    Measure(name="fps", group=GROUP, title="FPS", unit="mean influence per step, from 0", decimals=4),
)

IMPACT_FACTOR = 50.0
"""Lambda of equation 8, in citations."""
PAPERS = 5
"""Papers per search, as in the released code."""
MIN_SIMILARITY = FAR_FROM_TOPIC
"""Cosine to the concept below which a paper found is not about it (not in ``paper``)."""
POOLED_YEARS = (2023, 2024, 2025)
PAPER_YEAR = 2024
"""Years that are fixed in the released code."""

NO_COUNTS = "citations by year are unknown; add a source that has them, such as --source openalex"
"""Reason for an unscored question."""

Counts = Mapping[int, int]
"""Citations by year."""


@dataclass(frozen=True)
class Step:
    """A step of a plan, with the searches for it and the ids of the papers that count."""

    concepts: tuple[str, ...]
    queries: tuple[str, ...]
    papers: tuple[str, ...]


@dataclass
class Found:
    """The papers found for a plan."""

    steps: list[Step] = field(default_factory=list)
    papers: dict[str, Paper] = field(default_factory=dict)
    counts: dict[str, Counts] = field(default_factory=dict)
    """By paper; without the papers whose counts are unknown."""


def questions(
    sample: Sample, ideas: Mapping[str, Sequence[Idea]], plan: Plan, prepared: object = None
) -> Iterator[Question]:
    """One question per idea and judge; the judge's model splits the plan."""
    for judge in plan.judges:
        for idea in each_idea(ideas):
            yield Question(
                measure=GROUP,
                sample=sample.id,
                judge=judge,
                subject=(idea,),
                answer=_asker(judge, sample, plan_steps(idea), is_paper=plan.protocol == "paper"),
            )


def scores(verdicts: Iterable[Verdict], plan: Plan) -> Scores:
    """The mean over the ideas of an agent on a sample, and over judges."""
    return mean_over_ideas(verdicts, GROUP, {"fa": "fa", "fps": "fps"})


def plan_steps(idea: Idea) -> tuple[str, ...]:
    """The steps of the method, then those of the experiment, each once."""
    experiment = idea.experiment.steps if idea.experiment else ()
    return tuple(dict.fromkeys(step for step in (*method_steps(idea.method), *experiment) if step.strip()))


def normalized_influence(citations: float) -> float:
    """Equation 8, 0 to 1.

    >>> round(normalized_influence(35), 3), round(normalized_influence(100), 3)
    (0.503, 0.865)
    """
    return -math.expm1(-citations / IMPACT_FACTOR)


def influence(counts: Counts, latest: int) -> float:
    """Equation 9: the sum over the years of their normalized influence, divided by their age.

    The latest year and the one before count in full. The equation counts the year before these twice, in full
    and halved; here it is halved.

    >>> round(influence({2025: 35, 2023: 35, 2015: 35}, 2025), 3)
    0.805
    """
    return sum(normalized_influence(count) / max(1, latest - year) for year, count in counts.items())


def influence_as_released(counts: Counts) -> float:
    """Equation 9 as in the released code; the years from 2026 on count negatively.

    >>> round(influence_as_released({2025: 20, 2023: 15, 2022: 35}), 3)
    0.755
    """
    pooled = sum(counts.get(year, 0) for year in POOLED_YEARS)
    others = (
        normalized_influence(count) / (PAPER_YEAR - year)
        for year, count in counts.items()
        if year not in POOLED_YEARS
    )
    return normalized_influence(pooled) + sum(others)


def feasibility(
    steps: Sequence[Sequence[str]], influences: Mapping[str, float]
) -> tuple[float | None, float | None]:
    """Equation 10 over all papers found (FA), and the mean over the steps of the mean over theirs (FPS).

    Args:
        steps: ids of the papers found for each step that has concepts; a step without papers counts 0.
        influences: by paper; a paper that is missing is left out, and a step that has only such papers too.

    >>> feasibility([["a", "b"], ["b"], []], {"a": 1.0, "b": 0.5})
    (0.75, 0.4166666666666667)
    """
    papers = sorted({paper for step in steps for paper in step if paper in influences})
    if not papers:
        return None, None
    known = [[influences[paper] for paper in step if paper in influences] for step in steps]
    per_step = [
        fmean(values) if values else 0.0
        for step, values in zip(steps, known, strict=True)
        if values or not step
    ]
    return fmean(influences[paper] for paper in papers), fmean(per_step)


def feasibility_as_released(
    steps: Sequence[Sequence[str]], influences: Mapping[str, float]
) -> tuple[float | None, float | None]:
    """FA and FPS in ``paper``; every step has at most one paper. ``None`` if the counts of one are unknown.

    >>> feasibility_as_released([["a"], []], {"a": 1.0})
    (0.5, 0.25)
    """
    if not steps or any(paper not in influences for step in steps for paper in step):
        return None, None
    mean = fmean(influences[step[-1]] if step else 0.0 for step in steps)
    return mean, mean / len(steps)


def _asker(
    judge: str, sample: Sample, steps: tuple[str, ...], is_paper: bool
) -> Callable[[Services], Awaitable[Judgement]]:
    async def ask(services: Services) -> Judgement:
        if not steps:
            raise Unscored("the idea has no plan")
        with from_all_sources(services.library):
            await _check_counts(services.library, sample.topic)
        split = await CONCEPT_SPLITTER(services.client, model=judge, topic=sample.topic, steps=steps)
        ordered = sorted(split.steps, key=lambda one: one.step)
        concepts = [_distinct(one.concepts) for one in ordered]
        with from_all_sources(services.library):
            if is_paper:
                found = await _search_as_released(services.library, concepts)
            else:
                found = await _search(services.library, concepts, sample.paper_id)
            found.counts = await _counts(services.library, found.papers.values())
        reasons = " ".join(f"[{one.step}] {one.reason}" for one in ordered)
        return _judge(found, reasons, is_paper)

    return ask


async def _check_counts(library: Library, topic: str) -> None:
    """Raise ``Unscored`` if no paper on the topic has counts by year, before a judge is asked for nothing."""
    papers = [one.paper for one in await library.search(topic, PAPERS)]
    if papers and not await _counts(library, papers):
        raise Unscored(NO_COUNTS)


def _distinct(concepts: Iterable[str]) -> tuple[str, ...]:
    cleaned = {" ".join(concept.split()).casefold(): " ".join(concept.split()) for concept in concepts}
    return tuple(concept for key, concept in cleaned.items() if key)


async def _search(library: Library, concepts: Sequence[Sequence[str]], target_id: str | None) -> Found:
    """One search per concept, in parallel; a step has the papers on any of its concepts, each once.

    The target is left out: likeness to it is what I2I measures.
    """
    target = await library.paper(target_id) if target_id else None
    on_concept = await _search_all(library, (concept for step in concepts for concept in step))
    found = Found()
    for step in concepts:
        about = [
            one.paper
            for concept in step
            for one in on_concept[concept]
            if one.similarity >= MIN_SIMILARITY and (target is None or one.paper.id != target.id)
        ]
        found.papers |= {paper.id: paper for paper in about}
        found.steps.append(Step(tuple(step), tuple(step), tuple(dict.fromkeys(one.id for one in about))))
    return found


async def _search_all(library: Library, queries: Iterable[str]) -> dict[str, list[ScoredPaper]]:
    """The papers found for each query."""
    distinct = list(dict.fromkeys(queries))
    results = await side_by_side(library.search(query, PAPERS) for query in distinct)
    return dict(zip(distinct, results, strict=True))


async def _search_as_released(library: Library, concepts: Sequence[Sequence[str]]) -> Found:
    """One search per step for all its concepts; only the last paper counts."""
    queries_of = [", ".join(step) for step in concepts]
    on_query = await _search_all(library, filter(None, queries_of))
    found = Found()
    for step, query in zip(concepts, queries_of, strict=True):
        last = on_query[query][-1:] if query else []
        found.papers |= {one.paper.id: one.paper for one in last}
        queries = (query,) if query else ()
        found.steps.append(Step(tuple(step), queries, tuple(one.paper.id for one in last)))
    return found


async def _counts(library: Library, papers: Iterable[Paper]) -> dict[str, Counts]:
    """Citations by year of the papers for which they are known; a paper that nobody cites has none."""
    papers, found = list(papers), dict[str, Counts]()
    known = await side_by_side(library.citations_per_year(paper) for paper in papers)
    for paper, counts in zip(papers, known, strict=True):
        if counts:
            found[paper.id] = counts
        elif paper.citation_count == 0:
            found[paper.id] = {}
    return found


def latest_year(found: Found) -> int | None:
    """The latest year with a count, or in which the papers' citations were counted; ``None`` if unknown.

    It comes from the data, so that a replay in a later year gives the same figures.
    """
    years = [year for counts in found.counts.values() for year in counts]
    dates = [paper.citations_as_of for paper in found.papers.values() if paper.citations_as_of]
    return max([*years, *(int(date[:4]) for date in dates)], default=None)


def _judge(found: Found, reasons: str, is_paper: bool) -> Judgement:
    """The figures, with all that they are computed from.

    Raises:
        Unscored: nothing was found, or no counts are known.
    """
    if not found.papers:
        raise Unscored("no paper was found for any concept of the plan")
    latest = latest_year(found) or 0
    influences = {
        paper: influence_as_released(counts) if is_paper else influence(counts, latest)
        for paper, counts in found.counts.items()
    }
    steps = [step.papers for step in found.steps if is_paper or step.concepts]
    fa, fps = (feasibility_as_released if is_paper else feasibility)(steps, influences)
    if fa is None or fps is None:
        raise Unscored(NO_COUNTS)
    return Judgement({"fa": fa, "fps": fps}, rationale=reasons, details=_details(found, latest, influences))


def _details(found: Found, latest: int, influences: Mapping[str, float]) -> dict[str, Any]:
    return {
        "latest_year": latest,
        "steps": [
            {"concepts": list(step.concepts), "queries": list(step.queries), "papers": list(step.papers)}
            for step in found.steps
        ],
        "papers": {
            paper.id: {
                "title": paper.title,
                "citations_per_year": _json_counts(found.counts.get(paper.id)),
                "influence": influences.get(paper.id),
            }
            for paper in found.papers.values()
        },
    }


def _json_counts(counts: Counts | None) -> dict[str, int] | None:
    return None if counts is None else {str(year): count for year, count in counts.items()}
