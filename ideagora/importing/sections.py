"""A text with headings cut into motivation, novelty and method, and a title taken from a text.

Nothing is reworded: every line of the source stands in exactly one part, with its heading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEADING = re.compile(
    r"\s{0,3}(?:#{1,6}\s++(?P<hash>\S.*)"
    r"|\*\*(?P<bold>[^*\n]{2,160})\*\*:?\s*+"
    r"|(?P<plain>[A-Z][\w /-]{2,40}):\s*+)\Z"
)
_INLINE = re.compile(r"\s{0,3}\*\*(?P<bold>[^*\n]{2,60}?):?\*\*:?\s++\S")
"""A heading with its text in the same line."""
_TITLE = re.compile(
    r"[\s#*_]*+(?:(?:research\s++)?idea(?:\s++\d{1,3})?(?:\s++title)?|title)[\s*_]*+:[\s*_]*+(?P<title>\S.*)\Z",
    re.IGNORECASE,
)
_KINDS = tuple(
    (kind, re.compile(words, re.IGNORECASE))
    for kind, words in (
        ("motivation", r"motivation|background|origin|problem|challenges?:?$|limitation|related work"),
        ("novelty", r"novel|innovat|contribution|differ|enhancements? over|advance"),
        ("method", r"method|approach|design|framework|idea|implementation|solution|architecture"),
    )
)
_MAX_HEADING = 400
"""Characters; a longer line is text, whatever it looks like."""
_MAX_TITLE_WORDS = 16
"""Words of a title that is taken from a text."""


@dataclass(frozen=True)
class Sections:
    """An idea's text in parts; ``title`` only where the text has one of its own."""

    title: str | None
    motivation: str | None
    novelty: str | None
    method: str | None


def split_sections(text: str) -> Sections:
    """Cut a text at its headings.

    A section under a heading that names no part belongs to the part before it; what stands before the
    first such heading, and all of a text without headings, is method. Sub-headings stay where they are.
    """
    title, lines = _split_title(text.split("\n"))
    found: dict[str, list[str]] = {"motivation": [], "novelty": [], "method": []}
    kind = "method"
    for line in lines:
        heading = _match_heading(line) or _INLINE.match(line)
        kind = (heading and _section_kind(heading)) or kind
        found[kind].append(line)
    told = {name: "\n".join(part).strip() or None for name, part in found.items()}
    if told["method"] is None:  # headings of the other parts only: then the text is one whole
        return Sections(title, None, None, "\n".join(lines).strip() or None)
    return Sections(title, told["motivation"], told["novelty"], told["method"])


def _section_kind(heading: re.Match[str]) -> str | None:
    name = _heading_text(heading)
    if re.match(r"\W*\d", name):  # an entry of a list, not a section
        return None
    return next((kind for kind, words in _KINDS if words.search(name)), None)


def _heading_text(heading: re.Match[str]) -> str:
    name = next(name for name in heading.groupdict().values() if name)
    return name.rstrip().rstrip("#").rstrip() or name


def _split_title(lines: list[str]) -> tuple[str | None, list[str]]:
    """The title, where the first line with words gives one, and the other lines."""
    place = next((number for number, line in enumerate(lines) if line.strip()), 0)
    line = lines[place]
    if len(line) <= _MAX_HEADING and (match := _TITLE.match(line)):
        title = match["title"].rstrip()
    elif (heading := _match_heading(line)) and not heading["plain"] and not _section_kind(heading):
        title = _heading_text(heading)
    else:
        return None, lines
    title = title.strip('*_# "“”')
    return (title, lines[:place] + lines[place + 1 :]) if title else (None, lines)


def _match_heading(line: str) -> re.Match[str] | None:
    return _HEADING.match(line) if len(line) <= _MAX_HEADING else None


def title_from_text(text: str) -> str:
    """The first sentence of a text as its title, cut after 16 words; the text's own words."""
    told = (line for line in text.split("\n") if re.search(r"\w", line) and not _match_heading(line))
    bare = re.sub(r"[*_`#]+", "", next(told, text)).strip(" -•>\t\n")
    words = re.split(r"(?<=[.!?])\s+(?=[A-Z“\"(])", bare, maxsplit=1)[0].split()
    cut = len(words) > _MAX_TITLE_WORDS
    return f"{' '.join(words[:_MAX_TITLE_WORDS]).rstrip(',;:')} …" if cut else " ".join(words).rstrip(".:")
