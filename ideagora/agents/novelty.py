"""The novelty judge: compares an idea with papers, facet by facet.

Source: Chain of Ideas (arXiv 2410.13185), section 3.3 and Table 16. The facets are purpose, mechanism and
evaluation. A paper is too close if it shares both purpose and mechanism.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief, check_paper_numbers
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

SAME = 0.70
RELATED = 0.45
"""Minimum cosines at which the offline judge calls a facet the same or related.

Calibrated on the starter corpus by ``bench/calibrate_offline.py``; the figures are in docs/offline.md.
"""

FacetLevel = Literal["same", "related", "different"]


class NoveltyInputs(Inputs):
    """An idea with its facets, and the papers retrieved for it."""

    topic: str
    title: str
    summary: str
    novelty: str
    method: str
    purpose: str
    mechanism: str
    evaluation: str
    papers: tuple[PaperBrief, ...]


class PaperComparison(Answer):
    """How close one paper is to the idea."""

    paper: int = Field(description="number of the paper")
    purpose: FacetLevel
    mechanism: FacetLevel
    evaluation: FacetLevel
    overlap: str | None = Field(
        description="the passage of the paper closest to the idea, copied verbatim; null if nothing is close"
    )
    difference: str | None = Field(
        description="one sentence: how the idea differs from this paper; null if it does not"
    )
    too_close: bool = Field(description='true if and only if purpose and mechanism are both "same"')


class PaperComparisons(Answer):
    """The closest papers: all that are too close, and at least three."""

    comparisons: tuple[PaperComparison, ...]


def _compare_papers(engine: ExtractiveModel, inputs: NoveltyInputs) -> dict[str, Any]:
    return {"comparisons": [_compare_paper(engine, inputs, i) for i in range(len(inputs.papers))]}


def _compare_paper(engine: ExtractiveModel, inputs: NoveltyInputs, number: int) -> dict[str, Any]:
    paper = inputs.papers[number]
    parts = texts.sentences((paper.abstract or "").strip() or paper.title)
    nearest = {
        facet: max(zip(engine.similarity(getattr(inputs, facet), parts), parts, strict=True))
        for facet in ("purpose", "mechanism", "evaluation")
    }
    level = {facet: _facet_level(score) for facet, (score, _) in nearest.items()}
    quoted = max(nearest["purpose"], nearest["mechanism"])[1]
    same = level["purpose"] == "same" and level["mechanism"] == "same"
    score = max(nearest["purpose"], nearest["mechanism"])[0]
    return {
        "paper": number,
        **level,
        "overlap": quoted,
        "difference": f'The closest sentence has similarity {score:.2f}; "same" starts at {SAME:.2f}.',
        "too_close": same,
    }


def _facet_level(score: float) -> FacetLevel:
    return "same" if score >= SAME else "related" if score >= RELATED else "different"


def _check_comparisons(inputs: NoveltyInputs, answer: PaperComparisons) -> str | None:
    numbers = [comparison.paper for comparison in answer.comparisons]
    if complaint := check_paper_numbers(
        "comparisons.paper", numbers, [paper.title for paper in inputs.papers]
    ):
        return complaint
    least = min(3, len(inputs.papers))
    if len(set(numbers)) < least or len(set(numbers)) < len(numbers):
        return f"compare at least {least} papers, each once; got {numbers}"
    for paper in answer.comparisons:
        if paper.too_close != (paper.purpose == paper.mechanism == "same"):
            return (
                f"paper [{paper.paper}] has purpose {paper.purpose}, mechanism {paper.mechanism} and "
                f"too_close {paper.too_close}: too_close is true if and only if both are the same"
            )
    return None


NOVELTY_JUDGE = Role(
    name="novelty_judge",
    group="judge",
    inputs=NoveltyInputs,
    answer=PaperComparisons,
    offline=_compare_papers,
    temperature=0.0,
    check=_check_comparisons,
)
