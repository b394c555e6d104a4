"""Ideas and proposals in Markdown or plain text, one or several in a file.

Headings name the parts (problem, motivation, proposed method, experiment plan …). Headings such as "Idea 2"
begin a further idea. Folders of ScholarIdeas, with a text file per research plan, are read as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ideagora.importing.fields import parse_experiment, required_text
from ideagora.importing.file_rows import DOCUMENT
from ideagora.importing.records import Format, ParsedIdea, ParsedItem, Problem, Row, read_each
from ideagora.importing.sections import split_sections

_NUMBERED = re.compile(
    r"^[ \t]{0,3}(?:#{1,4}[ \t]+|\*\*)(?:research )?idea[ \t]{0,2}#?\d{1,3}\b", re.I | re.M
)
_TOPIC = re.compile(
    r"^[ \t#*_]{0,8}(?:research[ \t]+)?topic[ \t*_]{0,4}:[ \t*_]{0,4}(\S.{0,400})$", re.I | re.M
)
_ONLY_NUMBER = re.compile(r"\A\s{0,20}[#* \t]{0,8}(?:research )?idea[ \t]{0,2}#?\d{1,3}[ \t:.*]{0,8}\n", re.I)
_FEWEST_WORDS = 12
"""A text without headings and with fewer words is a note."""
_CUTOFF = re.compile(r"\s*\d{4}[-/.]?\d{0,2}[-/.]?\d{0,2}\s*\Z")


def _read(row: Row) -> Iterator[ParsedItem]:
    text = required_text(row.value, DOCUMENT)
    if _CUTOFF.match(text):
        yield row.problem(None, "skipped: a date, not an idea")
        return
    topic = _TOPIC.search(text)
    text = _TOPIC.sub("", text) if topic else text
    starts = [found.start() for found in _NUMBERED.finditer(text)]
    bounds = [*starts, len(text)] if len(starts) > 1 else [0, len(text)]
    for number, (start, end) in enumerate(pairwise(bounds), 1):
        place = row.nested(f"idea {number}", row.value) if len(starts) > 1 else row
        yield _idea(place, text[start:end], topic[1].strip(" *_") if topic else None)


def _idea(row: Row, text: str, topic: str | None) -> ParsedIdea | Problem:
    parts = split_sections(_ONLY_NUMBER.sub("", text, count=1), with_experiment=True)
    if not (parts.title or parts.motivation or parts.experiment) and len(text.split()) < _FEWEST_WORDS:
        return row.problem(None, f"no idea: no headings and fewer than {_FEWEST_WORDS} words")
    return ParsedIdea(
        row=row,
        topic=topic,
        title=parts.title,
        motivation=parts.motivation,
        novelty=parts.novelty,
        method=parts.method,
        experiment=parse_experiment(parts.experiment),
        original=text,
    )


FORMATS = (
    Format(
        name="text",
        about="Markdown or plain text with headings",
        looks_for="a text file",
        matches=lambda value: set(value) == {DOCUMENT},
        read=read_each(_read),
    ),
)
