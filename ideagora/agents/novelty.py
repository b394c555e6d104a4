"""The novelty judge: compares an idea with papers, facet by facet.

Source: Chain of Ideas (arXiv 2410.13185), section 3.3 and Table 16. The facets are purpose, mechanism and
evaluation. A paper is too close if it shares both purpose and mechanism. A second verdict, on the idea as a
whole, says whether two papers together make it obvious.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ideagora.agents.role import Role
from ideagora.agents.text.quotes import is_quoted
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
Verdict = Literal["novel", "obvious combination", "published"]


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
    """How close one paper is to the idea; the difference is named before the facets are judged."""

    paper: int = Field(description="number of the paper")
    overlap: str | None = Field(
        description="the passage of the paper that comes closest to the idea, copied verbatim; "
        "null if nothing is close"
    )
    difference: str | None = Field(
        description="one sentence: what the idea does that this paper does not, so that the system works "
        "differently; null if there is no such thing"
    )
    purpose: FacetLevel
    mechanism: FacetLevel
    evaluation: FacetLevel

    @property
    def too_close(self) -> bool:
        """Whether the paper has the idea's purpose and its mechanism."""
        return self.purpose == self.mechanism == "same"


class Remembered(Answer):
    """A published work that the judge knows from memory; nobody has verified it."""

    title: str = Field(description="its title, as far as you remember it")
    year: int | None = Field(description="its year; null if unknown")
    why: str = Field(description="one sentence: what it has in common with the idea")


class NoveltyVerdict(Answer):
    """The idea in plain words, the closest papers (at least three), and the verdict on the whole."""

    plain_purpose: str = Field(
        description="the problem in one plain sentence, without slogans, metaphors or evaluation"
    )
    plain_mechanism: str = Field(
        description="what the system does, in one or two plain sentences: inputs, operations, outputs; "
        "without slogans, metaphors, new names or evaluation"
    )
    comparisons: tuple[PaperComparison, ...]
    from_memory: tuple[Remembered, ...] = Field(
        description="works that you remember and that may contain the idea; [] if there are none"
    )
    combination: tuple[int, ...] = Field(
        description="numbers of two papers that together make the idea obvious; [] if no two do"
    )
    verdict: Verdict = Field(
        description="published: a paper shown is too close; obvious combination: a specialist who has read "
        "the two papers named above would arrive at the idea without a further step; novel: neither"
    )
    reason: str = Field(description="one or two sentences: why this verdict")


def _compare_papers(engine: ExtractiveModel, inputs: NoveltyInputs) -> NoveltyVerdict:
    comparisons = tuple(_compare_paper(engine, inputs, i) for i in range(len(inputs.papers)))
    is_published = any(c.purpose == c.mechanism == "same" for c in comparisons)
    return NoveltyVerdict(
        plain_purpose=inputs.purpose,
        plain_mechanism=inputs.mechanism,
        comparisons=comparisons,
        from_memory=(),
        combination=(),
        verdict="published" if is_published else "novel",
        reason="By sentence similarity alone, which cannot tell whether a combination is obvious.",
    )


def _compare_paper(engine: ExtractiveModel, inputs: NoveltyInputs, number: int) -> PaperComparison:
    paper = inputs.papers[number]
    parts = texts.sentences((paper.abstract or "").strip() or paper.title)
    nearest = {
        facet: max(zip(engine.similarity(getattr(inputs, facet), parts), parts, strict=True))
        for facet in ("purpose", "mechanism", "evaluation")
    }
    score, quoted = max(nearest["purpose"], nearest["mechanism"])
    levels = {facet: facet_level(similarity) for facet, (similarity, _) in nearest.items()}
    return PaperComparison(
        paper=number,
        purpose=levels["purpose"],
        mechanism=levels["mechanism"],
        evaluation=levels["evaluation"],
        overlap=quoted,
        difference=f'The closest sentence has similarity {score:.2f}; "same" starts at {SAME:.2f}.',
    )


def facet_level(score: float) -> FacetLevel:
    """Return the level of a facet by its cosine to the closest sentence."""
    return "same" if score >= SAME else "related" if score >= RELATED else "different"


def _check_verdict(inputs: NoveltyInputs, answer: NoveltyVerdict) -> str | None:
    return _check_numbers(inputs, answer) or _check_facets(inputs, answer) or _check_conclusion(answer)


def _check_numbers(inputs: NoveltyInputs, answer: NoveltyVerdict) -> str | None:
    titles = [paper.title for paper in inputs.papers]
    numbers = [comparison.paper for comparison in answer.comparisons]
    least = min(3, len(titles))
    if complaint := check_paper_numbers("comparisons.paper", numbers, titles):
        return complaint
    if len(set(numbers)) < least or len(set(numbers)) < len(numbers):
        return f"compare at least {least} papers, each once; got {numbers}"
    return check_paper_numbers("combination", answer.combination, titles)


def _check_facets(inputs: NoveltyInputs, answer: NoveltyVerdict) -> str | None:
    """Return an error if a mechanism is only related without a difference, or a close paper is not quoted."""
    for comparison in answer.comparisons:
        if comparison.mechanism == "related" and not comparison.difference:
            return (
                f'paper [{comparison.paper}]: mechanism is "related" but difference is null. Name what makes '
                'the system work differently, or call the mechanism "same"'
            )
        paper = inputs.papers[comparison.paper]
        text = f"{paper.title} {paper.abstract or ''}"
        quote = comparison.overlap or ""
        if comparison.too_close and not (quote and (quote in text or is_quoted(quote, text))):
            return (
                f"paper [{comparison.paper}] has the same purpose and mechanism: overlap must quote the "
                "words that contain the idea, copied verbatim"
            )
    return None


def _check_conclusion(answer: NoveltyVerdict) -> str | None:
    is_published = any(comparison.too_close for comparison in answer.comparisons)
    if is_published != (answer.verdict == "published"):
        return (
            f'verdict is "{answer.verdict}", but {"a" if is_published else "no"} paper has the same purpose '
            "and mechanism. What you know from memory does not decide"
        )
    if answer.verdict == "obvious combination" and len(set(answer.combination)) != 2:
        return 'verdict is "obvious combination": name the two papers in combination'
    return None


NOVELTY_JUDGE = Role(
    name="novelty_judge",
    group="judge",
    inputs=NoveltyInputs,
    answer=NoveltyVerdict,
    offline=_compare_papers,
    temperature=0.0,
    check=_check_verdict,
)
