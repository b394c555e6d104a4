"""Turn a quote that a model gave for a part of an idea into a checked source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ideagora.agents.text.quotes import is_quoted, verify_quote
from ideagora.schema import Paper, Source


def quoted_source(part: str, paper_id: str, quote: str, text: str) -> Source:
    """A source that says whether its quote occurs in the text that the model was shown."""
    return Source(
        part=part, paper_id=paper_id, quote=verify_quote(quote, text), verbatim=is_quoted(quote, text)
    )


def checked_sources(
    sources: Iterable[Mapping[str, Any]], papers: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Sources with their papers' ids in place of the numbers, and whether each quote occurs in its paper.

    Args:
        sources: ``part``, ``paper`` (a number) and ``quote`` of each, as a role answers them.
        papers: the papers in the order of their numbers, as title and abstract were shown.
    """
    checked = []
    for source in sources:
        paper = Paper.model_validate(papers[source["paper"]])
        text = f"{paper.title} {paper.abstract or ''}"
        checked.append(quoted_source(source["part"], paper.id, source["quote"], text).model_dump(mode="json"))
    return checked
