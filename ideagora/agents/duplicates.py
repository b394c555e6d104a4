"""The duplicate judge: which of several ideas are the same, by purpose and mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from ideagora.agents.novelty import SAME, FacetLevel, facet_level
from ideagora.agents.role import Role
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel


class ComparedIdea(Inputs):
    """An idea as the judge sees it."""

    title: str
    summary: str
    purpose: str
    mechanism: str


class IdeaPair(Inputs):
    """Two ideas, by number."""

    first: int
    second: int


class DuplicateInputs(Inputs):
    """Ideas, numbered from 0, and the pairs to compare."""

    topic: str
    ideas: tuple[ComparedIdea, ...]
    pairs: tuple[IdeaPair, ...]


class PairComparison(Answer):
    """What two ideas have in common."""

    first: int = Field(description="number of the first idea")
    second: int = Field(description="number of the second idea")
    difference: str | None = Field(
        description="one sentence: what makes the two systems work differently; null if nothing does"
    )
    purpose: FacetLevel
    mechanism: FacetLevel

    @property
    def same(self) -> bool:
        """Whether the two ideas have the same purpose and the same mechanism."""
        return self.purpose == self.mechanism == "same"


class PairComparisons(Answer):
    """One comparison for each pair, in their order."""

    comparisons: tuple[PairComparison, ...]


def compared_idea(draft: Mapping[str, Any]) -> ComparedIdea:
    """Return the parts of a draft that the judge sees."""
    return ComparedIdea(**{name: draft[name] for name in ComparedIdea.model_fields})


def _compare_ideas(engine: ExtractiveModel, inputs: DuplicateInputs) -> PairComparisons:
    return PairComparisons(comparisons=tuple(_compare_pair(engine, inputs, pair) for pair in inputs.pairs))


def _compare_pair(engine: ExtractiveModel, inputs: DuplicateInputs, pair: IdeaPair) -> PairComparison:
    first, second = inputs.ideas[pair.first], inputs.ideas[pair.second]
    similarity = {
        facet: engine.similarity(getattr(first, facet), [getattr(second, facet)])[0]
        for facet in ("purpose", "mechanism")
    }
    figures = ", ".join(f"{facet} {value:.2f}" for facet, value in similarity.items())
    return PairComparison(
        first=pair.first,
        second=pair.second,
        difference=f'Similarity: {figures}; "same" starts at {SAME:.2f}.',
        purpose=facet_level(similarity["purpose"]),
        mechanism=facet_level(similarity["mechanism"]),
    )


def _check_pairs(inputs: DuplicateInputs, answer: PairComparisons) -> str | None:
    expected = [(pair.first, pair.second) for pair in inputs.pairs]
    got = [(comparison.first, comparison.second) for comparison in answer.comparisons]
    return None if got == expected else f"compare these pairs in this order: {expected}; got {got}"


DUPLICATE_JUDGE = Role(
    name="duplicate_judge",
    group="judge",
    inputs=DuplicateInputs,
    answer=PairComparisons,
    offline=_compare_ideas,
    temperature=0.0,
    check=_check_pairs,
)
