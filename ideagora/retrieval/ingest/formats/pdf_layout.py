"""Extraction of title, abstract, sections and references from the text of a paper's pages.

A part that cannot be identified is missing from the result.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ideagora.retrieval.ingest.bibliographic import clean_line
from ideagora.retrieval.ingest.identifiers import find_arxiv_id, find_doi, find_year
from ideagora.retrieval.restrictions.cutoff import title_key
from ideagora.retrieval.store.fulltext import CitedWork, Section, SectionKind

_MAX_TITLE = 300
_MAX_ABSTRACT = 5_000
_MAX_REFERENCES = 1_000
_MAX_ENTRY = 1_500
_SAME_SIZE = 0.5
"""Points by which font sizes within a title may differ."""
_NO_TITLE = re.compile(
    r"^(?:untitled|microsoft word|paper|manuscript|main|template)\b|\.(?:dvi|tex|pdf|docx?|indd)$|^\W*$",
    re.I,
)
_KNOWN_HEADING = re.compile(
    r"(?:abstract|introduction|(?:related|prior|previous) works?|background|preliminaries|methods?|"
    r"methodology|approach|materials and methods|experiments?|experimental (?:setup|results)|"
    r"results(?: and discussion)?|"
    r"evaluation|discussion|limitations?|conclusions?(?: and future work)?|future work|acknowledge?ments?|"
    r"ethics statement|references|bibliography|literature cited|appendix|appendices|supplementary material)",
    re.I,
)
_NUMBERED = re.compile(r"(\d{1,2}|[IVX]{1,5}|[A-H])\.?\s+(\S.{1,90})")
_ABSTRACT_IN_LINE = re.compile(r"abstract\s*(?:[.:—–-]+\s*|$)(.*)", re.I)
_AFTER_ABSTRACT = re.compile(r"(?:key ?words|index terms|ccs concepts|categories and subject)\b", re.I)
_REFERENCES = re.compile(
    r"(?:\d{1,2}\.?\s+|[IVX]+\.\s+)?(?:references|bibliography|literature cited)[.:]?", re.I
)
_APPENDIX = re.compile(r"(?:appendix|appendices|supplementary material)\b|[A-H]\.?\s+[A-Z]\w+", re.I)
_SECTION_WORDS: tuple[tuple[str, SectionKind], ...] = (
    (r"introduc|motivation", "introduction"),
    (r"related|prior work|previous work|background|literature", "related"),
    (r"limitation|conclu|discussion|future|broader impact|failure", "limitation"),
    (r"experiment|result|evaluat|ablation|analys|empiric|case stud", "experiment"),
    (r"method|approach|model|framework|algorithm|architect|our |propos|design|system", "method"),
)
_KINDS = tuple((re.compile(words, re.I), kind) for words, kind in _SECTION_WORDS)
_OMITTED = re.compile(
    r"acknowledge?ment|author contribution|funding|ethics statement|references|bibliography", re.I
)
_NUMBER_IN_BRACKETS = re.compile(r"(?m)^[^\S\n]*+\[(\d{1,3})\]")
_NUMBER_WITH_DOT = re.compile(r"(?m)^[^\S\n]*+(\d{1,3})\.(?=\s++\D)")


_LINK = re.compile(r"https?:|doi:|10\.\d{4}")
_BULLET = re.compile(r"(?m)^[^\S\n]*+[•–-]\s++(?=[\[A-Z])")
_NEAR_BEGINNING = 300
"""Characters; numbering that starts later does not number the references."""


class TextRun(NamedTuple):
    """A piece of upright text and its font size in points."""

    text: str
    size: float


class Page(NamedTuple):
    """The text of one page; ``runs`` is filled for the first page only."""

    number: int
    text: str
    runs: tuple[TextRun, ...] = ()
    failed: bool = False


class _Heading(NamedTuple):
    start: int
    """Index of its line."""
    text: str
    is_appendix: bool


def extract_title(first: Page, metadata_title: str) -> str:
    """The title from the metadata if page 1 has it too, else the largest text on page 1; or ``""``."""
    metadata_title = clean_line(metadata_title)
    is_usable = _can_be_title(metadata_title) and not _NO_TITLE.search(metadata_title)
    if is_usable and title_key(metadata_title) in title_key(first.text):
        return metadata_title
    return _largest_text(first.runs) or (metadata_title if is_usable else "")


def extract_abstract(text: str) -> str | None:
    """The abstract; ``None`` if its start or end cannot be found."""
    lines = text.split("\n")[:400]
    for number, line in enumerate(lines):
        match = _ABSTRACT_IN_LINE.fullmatch(line.strip())
        if match:
            rest = [match[1], *_until_heading(lines[number + 1 :])]
            abstract = reflow("\n".join(rest))
            return abstract if 80 <= len(abstract) <= _MAX_ABSTRACT else None
    return None


def extract_sections(text: str) -> list[Section]:
    """The sections without the references; one section without a heading if no headings are found."""
    lines = text.split("\n")
    headings = list(_headings(lines))
    ends = [*(heading.start for heading in headings[1:]), len(lines)][: len(headings)]
    sections = []
    for heading, end in zip(headings, ends, strict=True):
        body = reflow("\n".join(lines[heading.start + 1 : end]))
        if body and not _OMITTED.search(heading.text) and not re.fullmatch(r"abstract", heading.text, re.I):
            kind = "appendix" if heading.is_appendix else _kind(heading.text)
            sections.append(Section(kind=kind, heading=heading.text, text=body))
    if sections:
        return sections
    body = reflow("\n".join(lines[: _references_start(lines)]))
    return [Section(kind="other", heading="", text=body)] if body else []


def extract_references(text: str) -> tuple[CitedWork, ...] | None:
    """The entries of the reference list; ``None`` if there is none."""
    lines = text.split("\n")
    start = _references_start(lines)
    if start is None:
        return None
    end = next((n for n in range(start + 3, len(lines)) if _begins_appendix(lines[n].strip())), len(lines))
    entries = [reflow(entry)[:_MAX_ENTRY] for entry in _entries("\n".join(lines[start + 1 : end]))]
    return tuple(_cited(entry) for entry in entries[:_MAX_REFERENCES] if len(entry) > 15)


def reflow(text: str) -> str:
    """Join lines into running text, with ligatures expanded and hyphenated words rejoined."""
    plain = unicodedata.normalize("NFKC", text)
    return clean_line(re.sub(r"(?<=[a-z])[-\u00ad]\s*\n\s*(?=[a-z])", "", plain))


def _largest_text(runs: Sequence[TextRun]) -> str:
    """The text in the largest font size that can be a title."""
    sizes = sorted({round(run.size, 1) for run in runs}, reverse=True)
    for size in sizes[:4]:
        joined = reflow("\n".join(run.text for run in runs if abs(run.size - size) <= _SAME_SIZE))
        if _can_be_title(joined):
            return joined
    return ""


def _can_be_title(text: str) -> bool:
    letters = sum(character.isalpha() for character in text)
    is_sized = 8 <= len(text) <= _MAX_TITLE and " " in text
    return is_sized and letters > 0.6 * len(text) and "@" not in text


def _until_heading(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        plain = line.strip()
        if _AFTER_ABSTRACT.match(plain) or _is_known_heading(plain) or re.match(r"(?:1|I)\.?\s+[A-Z]", plain):
            return
        yield line


def _headings(lines: Sequence[str]) -> Iterator[_Heading]:
    """Section headings: well-known names, and numbers that continue those of the previous heading."""
    last, is_appendix, references = 0, False, _references_start(lines)
    for number, line in enumerate(lines):
        plain = clean_line(unicodedata.normalize("NFKC", line))
        after_references = references is not None and number > references
        match = _NUMBERED.fullmatch(plain)
        count = _section_number(match[1]) if match else None
        if match and count == last + 1 and not after_references and _looks_like_heading(match[2]):
            last = count
            yield _Heading(number, match[2], is_appendix=False)
        elif match and match[1] in "ABCDEFGH" and after_references and _looks_like_heading(match[2]):
            yield _Heading(number, match[2], is_appendix=True)
        elif _is_known_heading(plain) and (not after_references or _APPENDIX.match(plain)):
            is_appendix = bool(_APPENDIX.match(plain))
            yield _Heading(number, match[2] if match else plain, is_appendix)


def _section_number(number: str) -> int | None:
    if number.isdecimal():
        return int(number)
    roman = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]
    return roman.index(number) + 1 if number in roman else None


def _looks_like_heading(text: str) -> bool:
    words = text.split()
    is_prose = text.endswith((".", ",", ";")) or len(words) > 10
    return (
        not is_prose and text[0].isupper() and sum(c.isalpha() or c.isspace() for c in text) > 0.8 * len(text)
    )


def _is_known_heading(plain: str) -> bool:
    return bool(_KNOWN_HEADING.fullmatch(plain.rstrip(".:"))) and plain[:1].isupper()


def _kind(heading: str) -> SectionKind:
    return next((kind for words, kind in _KINDS if words.search(heading)), "other")


def _references_start(lines: Sequence[str]) -> int | None:
    """Index of the last heading of a reference list (a table of contents may have one too)."""
    headings = [number for number, line in enumerate(lines) if _REFERENCES.fullmatch(line.strip())]
    return headings[-1] if headings else None


def _begins_appendix(line: str) -> bool:
    match = _NUMBERED.fullmatch(line)
    return bool(_APPENDIX.fullmatch(line)) or bool(
        match and match[1] in "ABCDEFGH" and _looks_like_heading(match[2])
    )


def _entries(text: str) -> list[str]:
    """Split a reference list into entries: by consecutive numbers, bullets, or sentences."""
    for pattern, least in ((_NUMBER_IN_BRACKETS, 1), (_NUMBER_WITH_DOT, 2)):
        starts = _consecutive_numbers(pattern, text)
        if len(starts) >= least and starts[0][0] < _NEAR_BEGINNING:
            ends = [start for start, _ in starts[1:]] + [len(text)]
            return [text[begin:end] for (_, begin), end in zip(starts, ends, strict=True)]
    bullets = _BULLET.split(text)[1:]
    return bullets if len(bullets) >= 2 else _split_by_sentence(text.split("\n"))


def _consecutive_numbers(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Start and end of each number, counting up from 1 without a gap."""
    starts: list[tuple[int, int]] = []
    for match in pattern.finditer(text):
        if int(match[1]) == len(starts) + 1:
            starts.append((match.start(), match.end()))
    return starts


def _split_by_sentence(lines: Sequence[str]) -> list[str]:
    """Split unnumbered entries: a new one starts after a line that ends a sentence in one with a year."""
    entries: list[list[str]] = [[]]
    has_year, is_ended = False, False
    for line in filter(None, (line.strip() for line in lines)):
        if is_ended and has_year and line[0].isupper():
            entries.append([])
            has_year = False
        entries[-1].append(line)
        has_year = has_year or find_year(line) is not None
        is_ended = line.endswith((".", "]")) or _LINK.search(line.rsplit(None, 1)[-1]) is not None
    return ["\n".join(entry) for entry in entries if entry]


def _cited(entry: str) -> CitedWork:
    joined = re.sub(r"(?<=[/.])\s+(?=[\w(]+[/.])", "", entry)  # rejoin links broken across lines
    return CitedWork(
        text=entry,
        year=find_year(entry),
        arxiv_id=find_arxiv_id(entry),
        doi=find_doi(entry) or find_doi(joined),
    )
