"""After a run: hidden papers that an idea may be a recollection of, because its model has read them.

Neither the papers nor this comparison reach a model.
"""

from __future__ import annotations

from collections.abc import Sequence

from ideagora.retrieval.library import Library
from ideagora.schema import Idea, Recollection

NEAR = 0.60
"""Minimum cosine of an idea (title and summary) to a hidden paper that is reported.

Of 12 paraphrases of papers in the starter corpus 7 reach it, of 12 ideas on other subjects none
(``python -m bench idea_similarity``).
"""
REPORTED = 3
"""Maximum number of papers reported for one idea."""


async def with_recollections(ideas: Sequence[Idea], library: Library) -> list[Idea]:
    """The ideas, each with the hidden papers that are close to it, closest first."""
    updated = []
    for idea in ideas:
        hidden = await library.hidden_near(f"{idea.title}. {idea.summary or idea.method}")
        near = tuple(
            Recollection(
                paper_id=paper.id,
                title=paper.title,
                date=paper.date,
                why_hidden=reason,
                similarity=similarity,
            )
            for paper, similarity, reason in hidden
            if similarity >= NEAR
        )
        updated.append(idea.model_copy(update={"recollections": near[:REPORTED]}) if near else idea)
    return updated


def recollection_notes(ideas: Sequence[Idea]) -> list[str]:
    """One note for each idea that may be a recollection."""
    return [
        f"“{idea.title}” may be a recollection: it resembles "
        + "; ".join(
            f"“{paper.title}” (similarity {paper.similarity:.2f}; hidden: {paper.why_hidden})"
            for paper in idea.recollections
        )
        + ". None of this was shown to the model, which may know it from its training."
        for idea in ideas
        if idea.recollections
    ]
