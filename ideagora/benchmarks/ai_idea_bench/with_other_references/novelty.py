"""NA, the novelty assessment with reference to other literature (section 3.2.2, equation 7).

Papers on the topic from before a reference date are historical, those after it contemporary. For motivation
and plan, ``(1 + contemporary similarity) * contemporary citations / (1 + historical similarity)``: an idea is
novel if it is unlike what was there before and like what follows, weighted by how much the latter is cited.
Similarities are mean cosines. The paper's text calls them distances, which would reverse the measure; its
released code computes similarities, and so do both protocols.

- ``default``: the reference date is the target's. The idea is compared with title and abstract of the papers.
- ``paper``: the reference date is 3 October 2023, a model reads idea and experiment of each paper, the search
  for all keywords together is skipped, and the plan's denominator has the contemporary similarity of the
  motivation in place of the historical similarity of the plan, all as in the released code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from ideagora.agents.readers import READER
from ideagora.benchmarks.ai_idea_bench.parts import PARTS, Part, idea_part
from ideagora.benchmarks.ai_idea_bench.samples import Sample
from ideagora.benchmarks.ai_idea_bench.with_other_references.literature import (
    CITATIONS,
    each_idea,
    from_all_sources,
    mean_over_ideas,
)
from ideagora.benchmarks.benchmark import Judgement, Measure, Plan, Question, Scores, Unscored
from ideagora.retrieval.store.store import paper_text
from ideagora.schema import Idea, Paper, Verdict, last_day

if TYPE_CHECKING:
    from ideagora.graphs.services import Services
    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.retrieval.library import Library

GROUP = "na"
RATIO = "_ratio"
"""Suffix of the measures without the citations, which are the same for all ideas on a target."""
MEASURES = tuple(
    Measure(name=f"na_{part}{suffix}", group=GROUP, title=f"NA {part}{label}", unit=unit, lowest=0.0)
    for suffix, label, unit in (
        ("", "", "citations, weighted by similarity"),
        (RATIO, ", without citations", "above 1: closer to later papers than to earlier ones"),
    )
    for part in PARTS
)

REFERENCE_DATE = "2023-10-03"
"""The paper's reference date, the knowledge cut-off of the model that it tests."""
PAPERS = 5
"""Papers wanted on each side of the reference date, as in the released code."""
CANDIDATES = 100
"""Papers requested per search, from which those on each side are taken."""
DIGITS = 6
"""Decimals of the similarities, in the log and in the score."""

Side = Literal["historical", "contemporary"]


@dataclass
class Related:
    """The papers on a sample's topic."""

    reference_date: str
    queries: list[str] = field(default_factory=list)
    historical: dict[str, Paper] = field(default_factory=dict)
    contemporary: dict[str, Paper] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether both sides have as many papers as wanted."""
        return min(len(self.historical), len(self.contemporary)) >= PAPERS

    @property
    def papers(self) -> list[Paper]:
        """All papers, historical ones first."""
        return [*self.historical.values(), *self.contemporary.values()]


def questions(
    sample: Sample, ideas: Mapping[str, Sequence[Idea]], plan: Plan, prepared: object = None
) -> Iterator[Question]:
    """One question per idea; in ``paper``, per idea and judge, since the judge's model reads the papers."""
    is_paper = plan.protocol == "paper"
    for judge in plan.judges if is_paper else (CITATIONS,):
        for number, idea in enumerate(each_idea(ideas)):
            yield Question(
                measure=GROUP,
                sample=sample.id,
                judge=judge,
                subject=(idea,),
                answer=_asker(sample, idea, judge if is_paper else None),
                calls=2 * PAPERS if is_paper and number == 0 else 0,
            )


def scores(verdicts: Iterable[Verdict], plan: Plan) -> Scores:
    """The mean over the ideas of an agent on a sample, and over judges."""
    return mean_over_ideas(
        verdicts, GROUP, {measure.name: measure.name.removeprefix("na_") for measure in MEASURES}
    )


def overall_novelty(contemporary: float, historical: float, citations: float) -> float:
    """Equation 7; the first two are mean cosines, -1 to 1, the third a mean number of citations.

    >>> round(overall_novelty(0.5, 0.25, 20.0), 3)
    24.0
    """
    return (1.0 + contemporary) * citations / (1.0 + historical)


def novelty(
    similarity: Mapping[Side, Mapping[Part, float]], citations: float, is_paper: bool
) -> dict[str, float]:
    """Equation 7 for each part that has similarities on both sides, with and without citations.

    In ``is_paper``, the plan is divided by the contemporary similarity of the motivation.
    """
    now, before = similarity["contemporary"], dict(similarity["historical"])
    if is_paper:
        before.pop("plan", None)
        if "motivation" in now:
            before["plan"] = now["motivation"]
    return {
        f"{part}{suffix}": overall_novelty(now[part], before[part], weight)
        for suffix, weight in (("", citations), (RATIO, 1.0))
        for part in PARTS
        if part in now and part in before
    }


def keyword_queries(keywords: Sequence[str], topic: str, is_paper: bool) -> list[str]:
    """All keywords, then without the last one, and so on; the topic if there are none.

    ``is_paper`` omits the query with all of them, as the released code does by mistake.

    >>> keyword_queries(["a", "b", "c"], "t", False), keyword_queries(["a", "b", "c"], "t", True)
    (['a, b, c', 'a, b', 'a'], ['a, b', 'a'])
    """
    queries = [", ".join(keywords[:count]) for count in range(len(keywords), 0, -1)]
    return queries[1:] if is_paper else queries or [topic]


async def find_related(library: Library, sample: Sample, is_paper: bool) -> Related:
    """Search until there are enough papers on both sides of the reference date.

    Papers whose date leaves the side open are left out, and in ``default`` so is the target.

    Raises:
        IdeagoraError: a source is down.
        Unscored: one side has no paper.
    """
    target = await library.paper(sample.paper_id) if sample.paper_id else None
    date = REFERENCE_DATE if is_paper or target is None or target.date is None else target.date
    related = Related(date)
    for query in keyword_queries(sample.keywords, sample.topic, is_paper):
        related.queries.append(query)
        for one in await library.search(query, CANDIDATES):
            side = _side(related, one.paper)
            is_target = not is_paper and target is not None and one.paper.id == target.id
            if side is not None and not is_target and len(side) < PAPERS:
                side.setdefault(one.paper.id, one.paper)
        if related.is_complete:
            break
    for name, papers in (("before", related.historical), ("after", related.contemporary)):
        if not papers:
            raise Unscored(f"no paper from {name} {date} was found for {related.queries or 'no query'}")
    return related


def _side(related: Related, paper: Paper) -> dict[str, Paper] | None:
    """The side of a paper; ``None`` if its date (possibly partial) leaves it open."""
    if paper.date is None:
        return None
    if last_day(paper.date) < related.reference_date:
        return related.historical
    return related.contemporary if paper.date >= related.reference_date else None


def mean_citations(papers: Iterable[Paper]) -> float:
    """The mean over the papers with a known citation count.

    Raises:
        Unscored: none has one.
    """
    known = [paper.citation_count for paper in papers if paper.citation_count is not None]
    if not known:
        raise Unscored(
            "the sources have no citation counts for the contemporary papers; add one that has, such as "
            "--source openalex"
        )
    return fmean(known)


def _asker(sample: Sample, idea: Idea, reader: str | None) -> Callable[[Services], Awaitable[Judgement]]:
    async def ask(services: Services) -> Judgement:
        with from_all_sources(services.library):
            related = await find_related(services.library, sample, is_paper=reader is not None)
        citations = mean_citations(related.contemporary.values())
        shown = await _paper_parts(services, sample, related.papers, reader)
        parts, missing = _idea_parts(idea)
        cosines = await asyncio.to_thread(part_similarities, services.library.embedder, parts, shown)
        details = _details(related, cosines, citations)
        criteria = novelty(details["similarity"], citations, is_paper=reader is not None)
        if not criteria:
            raise Unscored("; ".join(missing) or "no paper could be compared with the idea")
        return Judgement(criteria, details={**details, "missing": missing})

    return ask


def _idea_parts(idea: Idea) -> tuple[dict[Part, str], list[str]]:
    """The parts that an idea has, and why it lacks the others."""
    parts: dict[Part, str] = {}
    missing = []
    for part in PARTS:
        try:
            parts[part] = idea_part(idea, part)
        except Unscored as why:
            missing.append(str(why))
    return parts, missing


async def _paper_parts(
    services: Services, sample: Sample, papers: Sequence[Paper], reader: str | None
) -> list[Mapping[Part, str]]:
    """What each paper is compared by: title and abstract, or idea and experiment as read by a model."""
    if reader is None:
        return [dict.fromkeys(PARTS, paper_text(paper)) for paper in papers]
    shown: list[Mapping[Part, str]] = []
    for paper in papers:
        text, kind = await services.library.read(paper)
        reading = await READER(
            services.client,
            model=reader,
            topic=sample.topic,
            title=paper.title,
            kind=kind,
            text=text,
            references=(),
        )
        parts: dict[Part, str] = {"motivation": " ".join(filter(None, (reading.problem, reading.method)))}
        if reading.experiment:
            parts["plan"] = reading.experiment
        shown.append(parts)
    return shown


def part_similarities(
    embedder: Embedder, parts: Mapping[Part, str], papers: Sequence[Mapping[Part, str]]
) -> dict[Part, list[float | None]]:
    """Cosine of each part of the idea with the same part of each paper, -1 to 1; ``None`` if it has none.

    One matrix product of all parts of the idea with all distinct texts of the papers.
    """
    import numpy as np

    texts = sorted({text for paper in papers for text in paper.values()})
    if not parts or not texts:
        return {}
    column = {text: number for number, text in enumerate(texts)}
    vectors = np.asarray(embedder.encode([*parts.values(), *texts]), dtype=np.float64)
    cosines = np.round(vectors[: len(parts)] @ vectors[len(parts) :].T, DIGITS) + 0.0
    return {
        part: [float(cosines[row, column[paper[part]]]) if part in paper else None for paper in papers]
        for row, part in enumerate(parts)
    }


def _details(
    related: Related, cosines: Mapping[Part, Sequence[float | None]], citations: float
) -> dict[str, Any]:
    """All that the score is computed from; papers in the order in which they were found."""
    rows = [
        {
            "id": paper.id,
            "title": paper.title,
            "date": paper.date,
            "citations": paper.citation_count,
            "citations_as_of": paper.citations_as_of,
            "similarity": {part: values[number] for part, values in cosines.items()},
        }
        for number, paper in enumerate(related.papers)
    ]
    sides: dict[Side, list[dict[str, Any]]] = {
        "historical": rows[: len(related.historical)],
        "contemporary": rows[len(related.historical) :],
    }
    return {
        "reference_date": related.reference_date,
        "queries": related.queries,
        "historical": sides["historical"],
        "contemporary": sides["contemporary"],
        "similarity": {side: _mean_similarity(found) for side, found in sides.items()},
        "mean_citations": citations,
    }


def _mean_similarity(papers: Sequence[Mapping[str, Any]]) -> dict[Part, float]:
    """The mean over the papers that have the part; without parts that none has."""
    values = {part: [paper["similarity"].get(part) for paper in papers] for part in PARTS}
    known = {part: [one for one in several if one is not None] for part, several in values.items()}
    return {part: fmean(several) for part, several in known.items() if several}
