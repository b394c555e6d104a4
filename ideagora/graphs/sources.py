"""Turn a quote that a model gave for a part of an idea into a checked source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from ideagora.agents.idea_parts import IdeaSource, SourcedIdea
from ideagora.agents.text.quotes import is_quoted, verify_quote
from ideagora.graphs.drafts import Draft
from ideagora.schema import Paper, Serialized, Source, deserialize, serialize


def quoted_source(part: str, paper_id: str, quote: str, text: str) -> Source:
    """A source that says whether its quote occurs in the text that the model was shown."""
    return Source(
        part=part, paper_id=paper_id, quote=verify_quote(quote, text), verbatim=is_quoted(quote, text)
    )


def checked_sources(
    sources: Iterable[IdeaSource], papers: Sequence[Serialized[Paper]]
) -> list[Serialized[Source]]:
    """Sources with their papers' ids in place of the numbers, and whether each quote occurs in its paper.

    Args:
        sources: as a role answers them.
        papers: the papers in the order of their numbers, as title and abstract were shown.
    """
    checked = []
    for source in sources:
        paper = deserialize(Paper, papers[source.paper])
        text = f"{paper.title} {paper.abstract or ''}"
        checked.append(serialize(quoted_source(source.part, paper.id, source.quote, text)))
    return checked


def sourced_draft(answer: SourcedIdea, papers: Sequence[Serialized[Paper]]) -> Draft:
    """A role's answer as a draft, with checked sources (``checked_sources``)."""
    draft = cast("Draft", answer.model_dump(mode="json"))
    return {**draft, "sources": checked_sources(answer.sources, papers)}
