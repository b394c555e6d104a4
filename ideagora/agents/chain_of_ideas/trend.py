"""The trend analyst: describes what changed from each paper of the chain to the next.

Source: Chain of Ideas (arXiv 2410.13185), section 3.2 and Table 12. The searches for cures are ours.
"""

from __future__ import annotations

from pydantic import Field

from ideagora.agents.offline_leads.difficulties import classify_difficulty
from ideagora.agents.offline_leads.fits import limitation_clauses
from ideagora.agents.role import Role
from ideagora.agents.views import ChainPaper, EntityView
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

ANSWERS_LIMITATION = 0.45
"""Minimum cosine at which the offline model says that a method addresses an earlier limitation."""


CURED_PAPERS = 2
"""Latest papers for whose limitations the offline model searches mechanisms."""

MAX_CURES = 3


class TrendInputs(Inputs):
    """The chain, earliest paper first, and key entities."""

    topic: str
    papers: tuple[ChainPaper, ...]
    entities: tuple[EntityView, ...]


class PaperChange(Answer):
    """What changed from one paper to the next."""

    earlier: int = Field(description="number of the earlier paper; the later one is the next number")
    entered: tuple[str, ...] = Field(
        description="up to 3 elements that the later paper adds, 2 to 5 words each"
    )
    left: tuple[str, ...] = Field(description="up to 3 elements that it drops or replaces, 2 to 5 words each")
    text: str = Field(
        description="2 to 4 sentences: what advanced, through which design, and which difficulty it addresses"
    )


class CureSearch(Answer):
    """A literature search for a mechanism that could answer what the chain leaves open."""

    problem: str = Field(description="what is still open after the latest papers, one sentence")
    field: str = Field(description="the field whose words the query uses, 1 to 4 words")
    query: str = Field(
        description="3 to 8 words, as in the title of a paper that proposes such a mechanism; neither the "
        "topic's words nor the name of a paper above"
    )


class Trend(Answer):
    """One change for each pair of consecutive papers, and searches for what could come next."""

    changes: tuple[PaperChange, ...]
    cures: tuple[CureSearch, ...] = Field(
        description="2 or 3 searches for mechanisms, at least one of them in another field"
    )


def _analyse(engine: ExtractiveModel, inputs: TrendInputs) -> Trend:
    papers = inputs.papers
    return Trend(
        changes=tuple(_compare(engine, papers, i) for i in range(len(papers) - 1)),
        cures=tuple(cure for paper in papers[: -CURED_PAPERS - 1 : -1] for cure in _cure(paper)),
    )


def _cure(paper: ChainPaper) -> list[CureSearch]:
    """A search for the opposite of a paper's limitation, in the words of methods."""
    clauses = limitation_clauses(paper.limitation or "")
    if not clauses:
        return []
    kind = classify_difficulty(clauses[0])
    return [CureSearch(problem=clauses[0], field=kind.name, query=f"{kind.cure}: {clauses[0]}")]


def _compare(engine: ExtractiveModel, papers: tuple[ChainPaper, ...], i: int) -> PaperChange:
    earlier, later = papers[i], papers[i + 1]
    contrast = engine.contrast(
        f"{earlier.problem or ''} {earlier.method}", f"{later.problem or ''} {later.method}"
    )
    return PaperChange(
        earlier=i,
        entered=contrast.added,
        left=contrast.removed,
        text=" ".join(
            _describe_change(engine, earlier, later, contrast.added, contrast.removed, contrast.shared)
        ),
    )


def _describe_change(
    engine: ExtractiveModel,
    earlier: ChainPaper,
    later: ChainPaper,
    entered: tuple[str, ...],
    left: tuple[str, ...],
    common: tuple[str, ...],
) -> list[str]:
    old, new = (f"{texts.short_name(p.title, p.method)} ({p.year})" for p in (earlier, later))
    parts = []
    if entered:
        dropped = f" and drops {texts.listed(left)}" if left else ""
        parts.append(f"Compared with {old}, {new} adds {texts.listed(entered)}{dropped}.")
    else:
        parts.append(f"{new} follows {old}.")
    if common:
        parts.append(f"Both use {texts.listed(common[:2])}.")
    if earlier.limitation:
        near = engine.similarity(earlier.limitation, [later.method])[0]
        if near >= ANSWERS_LIMITATION:
            parts.append(f"The later method addresses a limitation of the earlier one: {earlier.limitation}")
    if later.problem:
        parts.append(f"The later paper starts from this problem: {later.problem}")
    return parts


def _check_changes(inputs: TrendInputs, answer: Trend) -> str | None:
    if len(answer.cures) > MAX_CURES:
        return f"expected 2 or 3 searches in cures, got {len(answer.cures)}"
    expected = list(range(len(inputs.papers) - 1))
    got = [change.earlier for change in answer.changes]
    if got == expected:
        return None
    return f"expected one change for each earlier paper {expected}, in that order; got {got}"


TREND_ANALYST = Role(
    name="trend_analyst",
    group="main",
    inputs=TrendInputs,
    answer=Trend,
    offline=_analyse,
    check=_check_changes,
)
