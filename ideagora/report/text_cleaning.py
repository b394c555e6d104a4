"""Prepares external text for a page: cleans it, splits it into blocks, escapes and wraps it.

All functions are pure and accept any string, since titles, quotes and ideas come from papers and models.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlsplit

# --- cleaning ---------------------------------------------------------------------------------

_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls: no place in HTML
    "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that reorder the text around them
    "\ufeff\ufff9-\ufffb\ufffe\uffff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_FOLDERS = re.compile(
    r"""(?:file://|(?<![\w.:/]))/(?:[^\s/:'"<>|]+/)+"""  # /a/b/ in front of a name
    r"""|(?<!\w)[A-Za-z]:\\(?:[^\s\\:'"<>|]+\\)*"""  # C:\a\b\
)


def clean(text: str) -> str:
    """Remove control characters and direction overrides; lone surrogates become U+FFFD."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATE.sub("\ufffd", _UNPRINTABLE.sub("", unified))


def hide_folders(text: str) -> str:
    """Shorten every absolute path to ``…/name``, so that reports reveal no local folders."""
    return _FOLDERS.sub("…/", text)


# --- blocks -----------------------------------------------------------------------------------

_NUMBERED = re.compile(r"^\s*(?:\(?(\d{1,3})[.)]|[Ss]tep\s+(\d{1,3})\s*[.:)])\s+(\S.*)$")
_BULLET = re.compile(r"^\s*[-*•–]\s+(\S.*)$")


@dataclass(frozen=True)
class Item:
    """One entry of a list, with its own number where the text gave one."""

    number: int | None
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """A paragraph (``lines``) or a list (``items``)."""

    kind: Literal["paragraph", "numbered", "bullets"]
    lines: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()


def without_number(text: str) -> str:
    """Return an entry of a numbered list without a number or bullet of its own."""
    match = _NUMBERED.match(text) or _BULLET.match(text)
    return match[match.lastindex or 1] + text[match.end() :] if match else text


def split_blocks(text: str) -> tuple[Block, ...]:
    """Split plain text into paragraphs and lists; line breaks inside a paragraph are kept.

    Two or more consecutive lines that begin with ``1.``, ``1)``, ``(1)``, ``Step 1:`` or a bullet form a
    list; an unmarked line in between continues the entry above it.
    """
    runs: list[_Run] = []
    for run in (run for paragraph in _paragraphs(text) for run in _split_runs(paragraph)):
        if runs and run[0] == runs[-1][0] != "paragraph":
            runs[-1][1].extend(run[1])
        else:
            runs.append(run)
    return tuple(_unwrap_single_item(_block(*run)) for run in runs)


def _paragraphs(text: str) -> list[list[str]]:
    parts = re.split(r"\n[^\S\n]*\n", text.strip())
    return [[line.strip() for line in part.split("\n") if line.strip()] for part in parts if part.strip()]


_Run = tuple[Literal["paragraph", "numbered", "bullets"], list[tuple[int | None, list[str]]]]
"""A kind of block and its entries: an optional number, and lines."""


def _split_runs(lines: list[str]) -> list[_Run]:
    """Split a paragraph into runs of plain lines, numbered lines and bullets."""
    runs: list[_Run] = []
    for line in lines:
        kind, item = _parse_item(line)
        if item is None and runs:
            runs[-1][1][-1][1].append(line)
        elif item is None:
            runs.append(("paragraph", [(None, [line])]))
        elif runs and runs[-1][0] == kind:
            runs[-1][1].append((item.number, [*item.lines]))
        else:
            runs.append((kind, [(item.number, [*item.lines])]))
    return runs


def _block(
    kind: Literal["paragraph", "numbered", "bullets"], entries: list[tuple[int | None, list[str]]]
) -> Block:
    if kind == "paragraph":
        return Block(kind, lines=tuple(entries[0][1]))
    return Block(kind, items=tuple(Item(number, tuple(lines)) for number, lines in entries))


def _parse_item(line: str) -> tuple[Literal["numbered", "bullets"], Item | None]:
    if match := _NUMBERED.match(line):
        return "numbered", Item(int(match[1] or match[2]), (match[3].strip(),))
    if match := _BULLET.match(line):
        return "bullets", Item(None, (match[1].strip(),))
    return "numbered", None


def _unwrap_single_item(block: Block) -> Block:
    """Turn a list with one entry back into the paragraph that was written."""
    if len(block.items) != 1:
        return block
    (item,) = block.items
    mark = "•" if item.number is None else f"{item.number}."
    return Block("paragraph", lines=(f"{mark} {item.lines[0]}", *item.lines[1:]))


# --- links ------------------------------------------------------------------------------------

_ARXIV = re.compile(r"^arxiv:([\w.-]+(?:/\d+)?(?:v\d+)?)$", re.IGNORECASE)
_DOI = re.compile(r"^doi:(10\.\S+)$", re.IGNORECASE)


def safe_url(url: str | None) -> str | None:
    """Return the URL, quoted, if a page may link to it (http or https, with a host)."""
    if url is None or any(mark.isspace() for mark in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        return None
    return quote(url, safe=":/?#&=;,+~%-._")


def paper_url(paper_id: str) -> str | None:
    """Return the URL for an ``arxiv:…`` or ``doi:…`` id, ``None`` for any other id."""
    if match := _ARXIV.match(paper_id):
        return safe_url(f"https://arxiv.org/abs/{match[1]}")
    if match := _DOI.match(paper_id):
        return safe_url(f"https://doi.org/{match[1]}")
    return None


# --- names, Markdown ---------------------------------------------------------------------------------

_SPECIAL = {mark: f"\\{mark}" for mark in "\\*_[]~#$|"} | {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "`": "&#96;",
}
_ADDRESS = re.compile(r"://|www\.|@[^@]*\.\w", re.IGNORECASE)
_AT_START = re.compile(r"^(?:([-+=])|(\d{1,9})([.)])(?=\s|$))")


def short_name(title: str) -> str:
    """Return the name before the colon of a title, or the title's first words."""
    head, colon, _ = title.partition(":")
    if colon and 2 <= len(head.strip()) <= 40:
        return head.strip()
    return title if len(title) <= 64 else f"{title[:60].rsplit(' ', 1)[0].rstrip(' ,;:.-')}…"


def cut_middle(text: str, longest: int) -> str:
    """Return the text with ``…`` for its middle if it is too long: names often differ at their ends."""
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}…{text[len(text) - end :]}"


def escape_markdown(text: str) -> str:
    """Escape a text as inline Markdown that shows exactly these words.

    Whitespace becomes single spaces, so no block can start. HTML becomes entities. URLs become code
    spans, because GitHub links bare URLs even if they are escaped.
    """
    pieces = re.split(r"(\s+|[`|])", " ".join(text.split()))
    plain = "".join(_code(piece) if _ADDRESS.search(piece) else _escape(piece) for piece in pieces)
    return _AT_START.sub(_escape_start, plain)


def _code(piece: str) -> str:
    return f"`{piece}`"


def _escape(piece: str) -> str:
    return "".join(_SPECIAL.get(mark, mark) for mark in piece)


def _escape_start(match: re.Match[str]) -> str:
    return f"\\{match[1]}" if match[1] else f"{match[2]}\\{match[3]}"


# --- measuring --------------------------------------------------------------------------------

_GROUPS = {
    280: "'ijl",
    320: " ,.",
    340: ":;I",
    360: "f",
    380: "-/\\",
    400: "()[]t",
    420: "!r",
    460: '"',
    500: "J`",
    540: "sz",
    560: "*?L_c|",
    580: "k",
    600: "vxy",
    620: "FTaeo",
    640: "$0123456789bdghnpqu{}",
    680: "EKPSY",
    700: "ABVXZ",
    740: "CRU",
    760: "HN",
    780: "&DG",
    800: "OQ",
    820: "w",
    840: "#+<=>^~",
    920: "M",
    960: "%",
    980: "m",
    1000: "W",
    1020: "@",
}
_ASCII = {mark: width for width, marks in _GROUPS.items() for mark in marks}
"""Advance widths in thousandths of the font size: of each character the widest among DejaVu Sans,
Liberation Sans (Arial's metrics) and Noto Sans, so that a line fits whatever sans-serif is there."""

_SCRIPTS = (("HEBREW", 720), ("ARABIC", 900), ("GREEK", 860), ("CYRILLIC", 960), ("LATIN", 1000))


def text_width(text: str, size: float) -> float:
    """Return the maximum width in pixels of a line of sans-serif text."""
    return sum(_width(mark) for mark in text) * size / 1000


def _width(mark: str) -> int:
    if mark in _ASCII:
        return _ASCII[mark]
    if unicodedata.category(mark) in ("Mn", "Me", "Cf"):
        return 0
    base = unicodedata.normalize("NFD", mark)[0]
    if base in _ASCII:
        return _ASCII[base]
    if unicodedata.east_asian_width(mark) in "WF":
        return 1400 if ord(mark) >= 0x1F000 else 1050
    name = unicodedata.name(mark, "")
    return next((width for script, width in _SCRIPTS if name.startswith(script)), 1100)


def wrap(text: str, width: float, size: float, most: int) -> tuple[str, ...]:
    """Wrap a text into at most ``most`` lines of ``width`` pixels; omitted text becomes ``…``.

    Lines break at spaces and after hyphens, and inside words that are too long for a line.
    """
    lines: list[str] = []
    line = ""
    for blank, word in _split_pieces(text, width, size):
        joined = f"{line} {word}" if blank and line else line + word
        if line and text_width(joined, size) > width:
            lines.append(line)
            joined = word
            if len(lines) > most:
                break
        line = joined
    lines.append(line)
    if len(lines) <= most:
        return tuple(line for line in lines if line)
    return (*lines[: most - 1], _shorten(lines[most - 1], width, size))


def _split_pieces(text: str, width: float, size: float) -> list[tuple[bool, str]]:
    """Return (whether a space precedes it, piece) for each unbreakable piece."""
    pieces = []
    for word in unicodedata.normalize("NFKC", text[:4000]).split():
        for number, part in enumerate(re.findall(r"[^-]+-*|-+", word)):
            for place, piece in enumerate(_break_word(part, width, size)):
                pieces.append((number == 0 and place == 0, piece))
    return pieces


def _break_word(word: str, width: float, size: float) -> list[str]:
    """Break a word into pieces that fit; combining characters stay with their letter."""
    pieces = [""]
    taken = 0.0
    for mark in word:
        wide = text_width(mark, size)
        if pieces[-1] and wide and taken + wide > width:
            pieces.append("")
            taken = 0.0
        pieces[-1] += mark
        taken += wide
    return pieces


def _shorten(line: str, width: float, size: float) -> str:
    while line and text_width(f"{line}…", size) > width:
        line = line[:-1]
    return f"{line.rstrip(' ,;:.-–')}…"


def is_right_to_left(text: str) -> bool:
    """Return whether the first letter with a direction runs from right to left."""
    strong = (unicodedata.bidirectional(mark) for mark in text)
    return next((kind != "L" for kind in strong if kind in ("L", "R", "AL")), False)
