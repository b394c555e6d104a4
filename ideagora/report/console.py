"""Prints errors and third-party text on a terminal, without control characters or console markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

MAX_TOPICS = 3
"""Topics that the line on an incomplete run names."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """Return the text without control characters, which a terminal would act on."""
    return _CONTROL.sub(" ", text)


def cell(text: object) -> str:
    """Return a text for one table row: no control characters, and no line breaks that could forge a row."""
    return " ".join(plain(str(text)).split())


def print_error(console: Console, text: str) -> None:
    """Print an error as one line."""
    console.print(f"[red]error:[/red] {escape(plain(text))}", soft_wrap=True, highlight=False, emoji=False)


def print_incomplete(console: Console, outages: Sequence[str], topics: Sequence[str] = ()) -> None:
    """Print which providers or sources are down, for which topics, and that the command can be resumed."""
    names = ", ".join(f"“{topic[:60]}”" for topic in topics[:MAX_TOPICS])
    more = f" and {len(topics) - MAX_TOPICS} more" if len(topics) > MAX_TOPICS else ""
    where = f" {escape(plain(names))}{more}:" if topics else ""
    hint = "Run the same command again to fetch only what is missing."
    console.print(
        f"[yellow]incomplete:[/yellow]{where} {escape(plain(' '.join(outages)))} {hint}",
        soft_wrap=True,
        highlight=False,
        emoji=False,
    )
