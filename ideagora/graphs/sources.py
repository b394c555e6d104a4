"""Turn a quote that a model gave for a part of an idea into a checked source."""

from __future__ import annotations

from ideagora.agents.text.quotes import is_quoted, verify_quote
from ideagora.schema import Source


def quoted_source(part: str, paper_id: str, quote: str, text: str) -> Source:
    """A source that says whether its quote occurs in the text that the model was shown."""
    return Source(
        part=part, paper_id=paper_id, quote=verify_quote(quote, text), verbatim=is_quoted(quote, text)
    )
