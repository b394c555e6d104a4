"""Split a text with headings into motivation, novelty and method, and derive titles from texts.

The text is not changed: every line of the source is in exactly one section, with its heading.
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
"""A heading with its text on the same line."""
_TITLE = re.compile(
    r"[\s#*_]*+(?:(?:research\s++)?idea(?:\s++\d{1,3})?(?:\s++title)?|title)[\s*_]*+:[\s*_]*+(?P<title>\S.*)\Z",
    re.IGNORECASE,
)
_KINDS = tuple(
    (kind, re.compile(words, re.IGNORECASE))
    for kind, words in (
        ("motivation", r"motivation|background|origin|problem|challenges?:?$|limitation|related work"),
        ("novelty", r"novel|innovat|contribution|differ|enhancements? over|\badvances?\b|advancement"),
        ("experiment", r"experiment|evaluation plan|test case|fallback plan"),
        (
            "method",
            r"method|approach|design|framework|\bideas?\b|implementation|solution|architecture"
            r"|proposed study",
        ),
    )
)
_NAMED = re.compile(
    r"[ \t]{0,3}(?:\d{1,2}[.)][ \t]{1,3})?[*_]{0,3}(?P<name>problem(?: statement)?|existing methods"
    r"|motivation|background|novelty|contributions?|(?:proposed )?(?:method|approach|study|idea)"
    r"|(?:step-by-step )?experiment(?:s|al)?(?: plan| design)?|evaluation plan|test case examples"
    r"|fallback plan)"
    r"[*_]{0,3}[ \t]?:",
    re.IGNORECASE,
)
"""The name of a part with its text on the same line, numbered or not, as in proposals."""
_ARTICLE = re.compile(r"(?:an?|the|towards?|on)\b", re.IGNORECASE)
_LIST_NUMBER = re.compile(r"\(?\d{1,3}[.):]\s+")
_MAX_HEADING = 400
"""Maximum characters of a heading; a longer line is text."""
_MAX_SECTION_WORDS = 4
"""Maximum words of a first line that names a section; a longer one is a title."""
_MAX_TITLE_WORDS = 16
"""Maximum words of a title derived from a text."""


@dataclass(frozen=True)
class Sections:
    """The sections of an idea's text; ``title`` only if the text has one."""

    title: str | None
    motivation: str | None
    novelty: str | None
    method: str | None
    experiment: str | None = None


def split_sections(text: str, *, with_experiment: bool = False) -> Sections:
    """Split a text at its headings.

    Text under an unknown heading belongs to the section before it. Text before the first known heading, and
    a text without headings, is method. Subheadings stay in place. ``with_experiment``: the plan of the
    experiment is a section of its own, else it belongs to the method.
    """
    title, lines = _split_title(text.split("\n"))
    lines_of: dict[str, list[str]] = {"motivation": [], "novelty": [], "method": [], "experiment": []}
    kind = "method"
    for line in lines:
        heading = _match_heading(line) or _INLINE.match(line)
        named = (heading and _section_kind(heading)) or (with_experiment and _named_kind(line)) or kind
        kind = "method" if named == "experiment" and not with_experiment else named
        lines_of[kind].append(line)
    sections = {name: "\n".join(part).strip() or None for name, part in lines_of.items()}
    if sections["method"] is None:  # without a method, the whole text is the method
        return Sections(title, None, None, "\n".join(lines).strip() or None)
    return Sections(title, *(sections[name] for name in ("motivation", "novelty", "method", "experiment")))


def _named_kind(line: str) -> str | None:
    named = _NAMED.match(line)
    return _kind_of(named["name"]) if named else None


def _kind_of(name: str) -> str | None:
    return next((kind for kind, words in _KINDS if words.search(name)), None)


def _section_kind(heading: re.Match[str]) -> str | None:
    name = _heading_text(heading)
    if re.match(r"\W*\d", name):  # a list entry, not a section
        return None
    return _kind_of(name)


def _is_section_name(heading: re.Match[str]) -> bool:
    """Whether the first line names a section; a title may have the same words in it."""
    name = _heading_text(heading)
    is_short = len(name.split()) <= _MAX_SECTION_WORDS and ":" not in name.rstrip(":")
    return is_short and not _ARTICLE.match(name) and _section_kind(heading) is not None


def _heading_text(heading: re.Match[str]) -> str:
    name = next(name for name in heading.groupdict().values() if name)
    return name.rstrip().rstrip("#").rstrip() or name


def _split_title(lines: list[str]) -> tuple[str | None, list[str]]:
    """Return the title, if the first non-empty line is one, and the other lines."""
    place = next((number for number, line in enumerate(lines) if line.strip()), 0)
    line = lines[place]
    if len(line) <= _MAX_HEADING and (match := _TITLE.match(line)):
        title = match["title"].rstrip()
    elif (heading := _match_heading(line)) and not heading["plain"] and not _is_section_name(heading):
        title = _heading_text(heading)
    else:
        return None, lines
    title = title.strip('*_# "“”')
    return (title, lines[:place] + lines[place + 1 :]) if title else (None, lines)


def _match_heading(line: str) -> re.Match[str] | None:
    return _HEADING.match(line) if len(line) <= _MAX_HEADING else None


def title_from_text(text: str) -> str:
    """Return the first sentence of a text, cut after 16 words, as its title."""
    candidates = (line for line in text.split("\n") if re.search(r"\w", line) and not _match_heading(line))
    bare = re.sub(r"[*_`#]+", "", next(candidates, text)).strip(" -•>\t\n")
    bare = _LIST_NUMBER.sub("", bare, count=1) if _LIST_NUMBER.match(bare) else bare
    words = re.split(r"(?<=[.!?])\s+(?=[A-Z“\"(])", bare, maxsplit=1)[0].split()
    cut = len(words) > _MAX_TITLE_WORDS
    return f"{' '.join(words[:_MAX_TITLE_WORDS]).rstrip(',;:')} …" if cut else " ".join(words).rstrip(".:")
