"""The novelty judge: is an idea too close to a paper, facet by facet.

Source: Chain of Ideas (arXiv 2410.13185), section 3.3 and Table 16; facets as in DESIGN (purpose,
mechanism, evaluation). A paper is too close when it shares both purpose and mechanism.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import Engine
from ideagora.models.offline import text as texts

SAME = 0.70
RELATED = 0.45
"""Cosines from which the offline judge calls a facet the same or related.

Calibrated on the starter corpus by ``bench/calibrate_offline.py``; the figures are in docs/offline.md.
"""

Nearness = Literal["same", "related", "different"]


class NoveltyInputs(Inputs):
    """An idea in its facets and the papers that were retrieved for it."""

    topic: str
    title: str
    summary: str
    purpose: str
    mechanism: str
    evaluation: str
    papers: tuple[PaperBrief, ...]


class Comparison(Answer):
    """How near one paper comes to the idea."""

    paper: int = Field(description="number of the paper")
    purpose: Nearness
    mechanism: Nearness
    evaluation: Nearness
    overlap: str = Field(description="words of the paper that come nearest to the idea, quoted")
    too_close: bool = Field(description="is the idea in substance this paper's idea?")


class Comparisons(Answer):
    """The nearest papers compared (all that are too close, and at least the nearest three)."""

    comparisons: tuple[Comparison, ...]


def _compare(engine: Engine, inputs: NoveltyInputs) -> dict[str, Any]:
    return {"comparisons": [_against(engine, inputs, i) for i in range(len(inputs.papers))]}


def _against(engine: Engine, inputs: NoveltyInputs, number: int) -> dict[str, Any]:
    paper = inputs.papers[number]
    parts = texts.sentences(paper.abstract or paper.title)
    nearest = {
        facet: max(zip(engine.similarity(getattr(inputs, facet), parts), parts, strict=True))
        for facet in ("purpose", "mechanism", "evaluation")
    }
    level = {facet: _nearness(score) for facet, (score, _) in nearest.items()}
    quoted = max(nearest["purpose"], nearest["mechanism"])[1]
    same = level["purpose"] == "same" and level["mechanism"] == "same"
    return {"paper": number, **level, "overlap": quoted, "too_close": same}


def _nearness(score: float) -> Nearness:
    return "same" if score >= SAME else "related" if score >= RELATED else "different"


def _papers_once(inputs: NoveltyInputs, answer: Comparisons) -> str | None:
    numbers = [comparison.paper for comparison in answer.comparisons]
    unknown = [n for n in numbers if not 0 <= n < len(inputs.papers)]
    if unknown:
        return f"there is no paper [{unknown[0]}]: the papers are numbered 0 to {len(inputs.papers) - 1}"
    if len(set(numbers)) < min(3, len(inputs.papers)) or len(set(numbers)) < len(numbers):
        return f"compare at least {min(3, len(inputs.papers))} papers, each once; got {numbers}"
    return None


NOVELTY_JUDGE = Role(
    name="novelty_judge",
    group="judge",
    inputs=NoveltyInputs,
    answer=Comparisons,
    offline=_compare,
    temperature=0.0,
    check=_papers_once,
)
