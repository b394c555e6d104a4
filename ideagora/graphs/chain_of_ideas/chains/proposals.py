"""Proposals for both ends of a chain (section 3.2): citing papers of the latest, references of the earliest.

Going backward along a full text means reading the earliest paper, because its reader ranks the references; a
short text does not say how it uses them, so the relevance judge grades them with the citing papers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ideagora.agents.literature import ACCEPTED_GRADE
from ideagora.graphs.chain_of_ideas.loading import load_links, load_topic
from ideagora.graphs.chain_of_ideas.options import MILESTONE_CITATIONS
from ideagora.graphs.chain_of_ideas.records import Proposal
from ideagora.graphs.chain_of_ideas.state import (
    BranchState,
    Context,
    GrowthTask,
    IdeationState,
    branch_update,
)
from ideagora.graphs.services import Services
from ideagora.graphs.steps.literature.reading import (
    MAX_REFERENCES,
    Readings,
    has_short_text,
    read_for_references,
)
from ideagora.graphs.steps.literature.relevance import GradedPapers, Grades, Neighbours, grade_neighbours
from ideagora.schema import Paper, deserialize, serialize

POOL = 20
"""The nearest papers of each list of citations or references, with which the branch's idea is compared."""
CITING_CANDIDATES, CITED_CANDIDATES = 4, 3
"""Papers that the relevance judge sees; Chain of Ideas takes the most similar citing paper unseen."""


async def extend_chain(state: GrowthTask, runtime: Context) -> IdeationState:
    """Propose papers for both ends of a chain, best first; ``grow`` takes them."""
    return await branch_update(state, runtime.context, _propose(state, runtime.context))


async def _propose(task: GrowthTask, context: Services) -> BranchState:
    latest, earliest = _end_papers(task)
    ends = await _grade_ends(task, context)
    stopped = {}
    if "forward" in task["sides"] and not ends.forward:
        stopped["forward"] = (
            f"none of the closest papers citing {latest.title} is relevant to the topic"
            if ends.later
            else f"the library has no other paper that cites {latest.title}"
        )
    if "backward" in task["sides"] and not ends.backward:
        stopped["backward"] = _why_no_reference(earliest, ends.earlier, ends.read)
    return {
        "proposed": {"forward": ends.forward, "backward": ends.backward},
        "grades": ends.grades,
        "stopped": stopped,
        "readings": ends.read.serialized,
        "unread": ends.read.unread,
        "pool": [paper.id for paper in (*ends.later[:POOL], *ends.earlier[:POOL])],
    }


def _end_papers(task: GrowthTask) -> tuple[Paper, Paper]:
    """The latest and the earliest paper of the chain."""
    chain = load_links(task["chain"])
    return chain[-1].paper, chain[0].paper


async def _later_papers(task: GrowthTask, context: Services) -> list[Paper]:
    """The papers that cite the latest one, those closest to topic and anchor first."""
    if "forward" not in task["sides"]:
        return []
    latest, _ = _end_papers(task)
    anchor = deserialize(Paper, task["chain"]["anchor"])
    about = f"{load_topic(task).text}. {anchor.title}. {anchor.abstract or ''}"
    return await _nearest(context, await context.library.citations(latest), task["taken"], about)


async def _earlier_papers(task: GrowthTask, context: Services) -> list[Paper]:
    """The references of the earliest paper, those closest to topic and paper first; none of a milestone."""
    _, earliest = _end_papers(task)
    if "backward" not in task["sides"] or _is_milestone(earliest):
        return []
    about = f"{load_topic(task).text}. {earliest.title}"
    return await _nearest(context, await context.library.references(earliest), task["taken"], about)


def _is_milestone(paper: Paper) -> bool:
    return (paper.citation_count or 0) > MILESTONE_CITATIONS


def _why_no_reference(paper: Paper, references: Sequence[Paper], read: Readings) -> str:
    if _is_milestone(paper):
        return f"{paper.title} is a milestone (over {MILESTONE_CITATIONS} citations)"
    if not references:
        return f"the library has no other reference of {paper.title}"
    if paper.id in read.unread:
        return f"{paper.title} could not be read"
    return f"no reference of {paper.title} is relevant to the topic"


def _not_rejected(papers: Sequence[Paper], grades: Grades) -> list[Paper]:
    """The papers that the run has accepted or not judged yet."""
    rejected = {paper_id for paper_id, judged in grades.items() if judged["grade"] < ACCEPTED_GRADE}
    return [paper for paper in papers if paper.id not in rejected]


async def _nearest(
    context: Services, papers: Sequence[Paper], taken: Collection[str], about: str
) -> list[Paper]:
    """The papers that stand in no chain, those closest to a text first."""
    free = [paper for paper in papers if paper.id not in taken]
    return [scored.paper for scored in await context.library.similar(free, about)]


@dataclass(frozen=True)
class _Ends:
    """Proposals for both ends of a chain, with the papers, judgements and reading that they rest on."""

    forward: list[Proposal]
    backward: list[Proposal]
    later: list[Paper]
    earlier: list[Paper]
    grades: Grades
    read: Readings = field(default_factory=Readings)


async def _grade_ends(task: GrowthTask, context: Services) -> _Ends:
    """Proposals for both ends; one call for both if the earliest paper has only a short text.

    Otherwise neither call waits for the papers of the other end.
    """
    known = task["grades"]
    grade = partial(grade_neighbours, context, load_topic(task), known=known)
    latest, earliest = _end_papers(task)

    def citing(later: Sequence[Paper]) -> Neighbours:
        return Neighbours(latest, _not_rejected(later, known)[:CITING_CANDIDATES])

    def cited(earlier: Sequence[Paper]) -> Neighbours:
        return Neighbours(earliest=earliest, cited=_not_rejected(earlier, known)[:CITED_CANDIDATES])

    if await has_short_text(context, earliest):
        later, earlier = await asyncio.gather(_later_papers(task, context), _earlier_papers(task, context))
        graded = await grade(replace(cited(earlier), latest=latest, citing=citing(later).citing))
        return _Ends(_accepted(graded, later), _accepted(graded, earlier), later, earlier, graded.grades())

    async def grade_later() -> tuple[list[Paper], GradedPapers]:
        later = await _later_papers(task, context)
        return later, await grade(citing(later))

    (later, forward), (earlier, read) = await asyncio.gather(grade_later(), _read_earliest(task, context))
    if read is None:
        backward = await grade(cited(earlier))
        grades = forward.grades() | backward.grades()
        return _Ends(_accepted(forward, later), _accepted(backward, earlier), later, earlier, grades)
    followed = [_proposal(followed.paper, followed.reason) for followed in read.followed]
    return _Ends(_accepted(forward, later), followed, later, earlier, forward.grades(), read)


async def _read_earliest(task: GrowthTask, context: Services) -> tuple[list[Paper], Readings | None]:
    """The references of the earliest paper, and what its reader says of those not yet rejected."""
    _, earliest = _end_papers(task)
    earlier = await _earlier_papers(task, context)
    references = _not_rejected(earlier, task["grades"])[:MAX_REFERENCES]
    if not references:
        return earlier, None
    return earlier, await read_for_references(context, load_topic(task), earliest, references)


def _accepted(graded: GradedPapers, group: Sequence[Paper]) -> list[Proposal]:
    ids = {paper.id for paper in group}
    return [_proposal(g.paper, g.reason) for g in graded.accepted if g.paper.id in ids]


def _proposal(paper: Paper, reason: str) -> Proposal:
    return {"paper": serialize(paper), "reason": reason}
