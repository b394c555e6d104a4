"""Roles of IdeaBench: extraction of an idea, ranking, overlap rating, and relevance of a reference.

Source: arXiv 2411.02429, sections 3.1.3, 3.3.1 and 4.1.2, appendices A.2 and A.3. The prompts are our own.
The offline model measures similarity of wording, and says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from ideagora.agents.paper_extractors import FACETS, remove_name, system_name
from ideagora.agents.text.faithfulness import find_unsupported, quote_first
from ideagora.agents.text.outcomes import find_outcomes, remove_outcomes
from ideagora.benchmarks.ideabench.replies import read_ranking, split_ranking
from ideagora.benchmarks.judge_roles import Scale, judge_role, rate_similarity
from ideagora.benchmarks.replies import Rating
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

PROMPTS = Path(__file__).parent / "prompts"
PARAGRAPH_WORDS = 150
"""Words of a paragraph by the offline model."""
SCALE = Scale(1, 10)
"""The scale of a rating (Figure 8)."""


class StatementInputs(Inputs):
    """A text that contains an idea: the abstract of a paper, or an idea as an agent wrote it."""

    title: str
    text: str


class Statement(Answer):
    """An idea as one paragraph."""

    paragraph: str = Field(description="the idea as one paragraph of at most 150 words")


def _state(engine: ExtractiveModel, inputs: StatementInputs) -> Statement:
    """Return the sentences on problem and method, without results."""
    own = _own_name(inputs.title)
    text = remove_name(remove_outcomes(inputs.text), own) or remove_name(inputs.title, own)
    facets = engine.facets(text, FACETS)
    parts = dict.fromkeys(part for part in (facets["problem"], facets["method"]) if part)
    return Statement(paragraph=texts.clip(" ".join(parts) or text, PARAGRAPH_WORDS))


def _own_name(title: str) -> str | None:
    """The word before a title's colon, if it looks like a system's name or is in no dictionary."""
    from lemminflect import getAllLemmas

    head, colon, _ = title.partition(":")
    if not colon or len(head.split()) != 1:
        return None
    return system_name(title) or (None if getAllLemmas(head.strip().lower()) else head.strip())


def _check_statement(inputs: StatementInputs, answer: Statement) -> str | None:
    own = _own_name(inputs.title)
    if results := find_outcomes(answer.paragraph):
        return f"the paragraph reports results ({quote_first(results, 2)}): say only what is proposed"
    if own and remove_name(answer.paragraph, own) != answer.paragraph:
        return f"the paragraph names {own}, which reveals where the idea is from: describe it by what it does"
    if new := find_unsupported(answer.paragraph, f"{inputs.title} {inputs.text}"):
        return f"the paragraph has {quote_first(new)}, which the text does not contain: use only the text"
    return None


STATE_IDEA = judge_role(
    "ideabench_statement",
    StatementInputs,
    Statement,
    _state,
    PROMPTS,
    check=_check_statement,
)


class RankingInputs(Inputs):
    """Ideas in the order shown, and the quality by which to rank them."""

    indicator: str
    definition: str
    ideas: tuple[str, ...]
    as_of: str | None = None
    """The date by which the target's idea is judged, as far as it is known: judges may know the target."""


class Ranking(Answer):
    """All ideas, best first."""

    reason: str = Field(description="one sentence for each idea")
    ranking: Annotated[tuple[str, ...], BeforeValidator(split_ranking)] = Field(
        description="number of an idea; the best idea first, every idea once"
    )


def _rank(engine: ExtractiveModel, inputs: RankingInputs) -> Ranking:
    """Order ideas by similarity to the words of the indicator."""
    ranked = engine.rank(f"{inputs.indicator}: {inputs.definition}", inputs.ideas)
    figures = ", ".join(f"idea {place + 1} {score:.2f}" for place, score in ranked)
    return Ranking(
        reason=f"Similarity to the wording of the quality, which is not the quality itself: {figures}.",
        ranking=tuple(str(place + 1) for place, _ in ranked),
    )


def _check_ranking(inputs: RankingInputs, answer: Ranking) -> str | None:
    try:
        read_ranking(answer.ranking, inputs.ideas)
    except ValueError as error:
        return f"ranking: {error}"
    return None


RANK = judge_role(
    "ideabench_ranking",
    RankingInputs,
    Ranking,
    _rank,
    PROMPTS,
    check=_check_ranking,
)


class OverlapInputs(Inputs):
    """A generated idea and the target's abstract."""

    idea: str
    abstract: str


class Overlap(Answer):
    """How much of an idea is in an abstract."""

    explanation: str = Field(description="one sentence: what both have, and the main difference")
    rating: Rating = Field(description="1 (no overlap) to 10 (the same idea)")


RATE_OVERLAP = judge_role(
    "ideabench_overlap",
    OverlapInputs,
    Overlap,
    rate_similarity(Overlap, SCALE, lambda inputs: (inputs.abstract, inputs.idea), reason="explanation"),
    PROMPTS,
    check=SCALE.checks("rating"),
)


class RelevanceInputs(Inputs):
    """A target paper and a paper that it cites, with the passages that cite it."""

    title: str
    abstract: str
    cited_title: str
    cited_abstract: str
    passages: tuple[str, ...]


class Relevance(Answer):
    """How much a target's idea depends on a cited paper."""

    reason: str = Field(description="one sentence: what the target takes from the cited paper")
    rating: Rating = Field(description="1 (mentioned in passing) to 10 (the idea depends on it)")


def _both_papers(inputs: RelevanceInputs) -> tuple[str, str]:
    return f"{inputs.title}. {inputs.abstract}", f"{inputs.cited_title}. {inputs.cited_abstract}"


RATE_RELEVANCE = judge_role(
    "ideabench_relevance",
    RelevanceInputs,
    Relevance,
    rate_similarity(Relevance, SCALE, _both_papers),
    PROMPTS,
    check=SCALE.checks("rating"),
)
