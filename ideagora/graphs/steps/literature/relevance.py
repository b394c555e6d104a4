"""Grade papers for a topic; the relevance judge gives 0 to 3 with a reason, and orders what it accepts.

Source: Chain of Ideas (arXiv 2410.13185), section 3.2 and Table 9, where a paper is relevant or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ideagora.agents.literature import (
    ACCEPTED_GRADE,
    RELEVANCE_JUDGE,
    Contribution,
    Judgement,
    Judgements,
)
from ideagora.agents.views import PaperBrief, paper_brief
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.services import Services
from ideagora.schema import Paper, Record, Serialized, Topic, serialize


class Grade(Record):
    """The relevance judge's judgement of a paper."""

    grade: int
    """0 (another subject) to 3 (works on the topic itself)."""
    reason: str
    contribution: Contribution = "other"


Grades = dict[str, Serialized[Grade]]
"""Judgements by paper id."""


class GradedPaper(Grade):
    """A paper with the relevance judge's judgement."""

    paper: Paper
    queries: tuple[str, ...] = ()
    """The queries that found it, closest first, if searches did."""


class GradedPapers(Record):
    """Papers by relevance, best first, and those for which no judgement could be had."""

    papers: tuple[GradedPaper, ...] = ()
    unjudged: tuple[Paper, ...] = ()

    @property
    def accepted(self) -> tuple[GradedPaper, ...]:
        """The papers that are worth reading for the topic, best first."""
        return tuple(graded for graded in self.papers if graded.grade >= ACCEPTED_GRADE)

    def merge(self, other: GradedPapers) -> GradedPapers:
        """Both together; of two papers with the same grade, the one from here comes first.

        As in one answer of the judge, a paper that only measures comes after the others of its grade.
        """
        papers = sorted((*self.papers, *other.papers), key=_rank)
        return GradedPapers(papers=tuple(papers), unjudged=(*self.unjudged, *other.unjudged))

    def grades(self) -> Grades:
        """The judgements without the papers, for a graph's state."""
        return {graded.paper.id: serialize(Grade(**_judgement(graded))) for graded in self.papers}


def _judgement(judged: GradedPaper | Judgement) -> dict[str, Any]:
    return {name: getattr(judged, name) for name in Grade.model_fields}


def _rank(judged: GradedPaper | Judgement) -> tuple[int, bool]:
    return -judged.grade, judged.contribution == "measurement"


@dataclass(frozen=True)
class Neighbours:
    """The papers that cite the latest paper of a chain, and those that the earliest one cites."""

    latest: Paper | None = None
    citing: Sequence[Paper] = ()
    earliest: Paper | None = None
    cited: Sequence[Paper] = ()


def unjudged_notes(titles: Sequence[str]) -> list[str]:
    """A note for the report on papers without a judgement; none without such papers."""
    if not titles:
        return []
    listed = "; ".join(f"“{title}”" for title in dict.fromkeys(titles))
    return [f"The relevance judge gave no judgement, even when asked again, so not accepted: {listed}."]


async def grade_papers(context: Services, topic: Topic, papers: Sequence[Paper]) -> GradedPapers:
    """Grade papers that searches found; a paper without a judgement is asked for once more, alone."""
    return await _grade(context, topic, papers, lambda chosen: {"papers": _briefs(chosen)})


async def grade_neighbours(
    context: Services, topic: Topic, neighbours: Neighbours, known: Grades
) -> GradedPapers:
    """Grade the papers next to both ends of a chain in one call; as ``grade_papers``.

    A paper that the run has judged before (``known``) keeps its grade; it comes
    before others of that grade, because the searches for the topic found it or another chain met it too.
    """
    citing = {paper.id for paper in neighbours.citing}

    def groups(chosen: Sequence[Paper]) -> dict[str, Any]:
        later = [paper for paper in chosen if paper.id in citing]
        earlier = [paper for paper in chosen if paper.id not in citing]
        return {
            "papers": (),
            "latest": paper_brief(neighbours.latest) if neighbours.latest and later else None,
            "citing": _briefs(later),
            "earliest": paper_brief(neighbours.earliest) if neighbours.earliest and earlier else None,
            "cited": _briefs(earlier),
        }

    cited = [paper for paper in neighbours.cited if paper.id not in citing]
    papers = [*neighbours.citing, *cited]
    carried = [GradedPaper(paper=paper, **known[paper.id]) for paper in papers if paper.id in known]
    fresh = await _grade(context, topic, [paper for paper in papers if paper.id not in known], groups)
    return GradedPapers(papers=tuple(carried)).merge(fresh)


def _briefs(papers: Sequence[Paper]) -> tuple[PaperBrief, ...]:
    return tuple(paper_brief(paper) for paper in papers)


Groups = Callable[[Sequence[Paper]], dict[str, Any]]
"""Puts papers into the relevance judge's inputs, in their order."""


async def _grade(context: Services, topic: Topic, papers: Sequence[Paper], groups: Groups) -> GradedPapers:
    if not papers:
        return GradedPapers()
    answer = await RELEVANCE_JUDGE(context.client, topic=topic.text, **groups(papers))
    judged = _by_place(answer, range(len(papers)))
    missing = [place for place in range(len(papers)) if place not in judged]
    if missing:
        judged |= await _ask_again(context, topic, papers, missing, groups)
    order = {place: number for number, place in reversed(list(enumerate(answer.best_first)))}
    ranked = sorted(
        judged,
        key=lambda place: (
            _rank(judged[place]),
            order.get(place, len(papers)),
            place,
        ),
    )
    return GradedPapers(
        papers=tuple(GradedPaper(paper=papers[place], **_judgement(judged[place])) for place in ranked),
        unjudged=tuple(papers[place] for place in missing if place not in judged),
    )


async def _ask_again(
    context: Services, topic: Topic, papers: Sequence[Paper], missing: Sequence[int], groups: Groups
) -> dict[int, Judgement]:
    """Judgements of the missing papers alone; none if the answer is unreadable again."""
    try:
        answer = await RELEVANCE_JUDGE(
            context.client, topic=topic.text, **groups([papers[place] for place in missing])
        )
    except UnreadableAnswer as error:
        context.say(f"{len(missing)} papers not judged ({error})")
        return {}
    return _by_place(answer, missing)


def _by_place(answer: Judgements, places: Sequence[int]) -> dict[int, Judgement]:
    """Judgements by the places of their papers; two different grades for a paper are none."""
    judged = {places[judgement.paper]: judgement for judgement in answer.judgements}
    grades = Counter(number for number, _ in {(j.paper, j.grade) for j in answer.judgements})
    return {place: j for place, j in judged.items() if grades[j.paper] == 1}
