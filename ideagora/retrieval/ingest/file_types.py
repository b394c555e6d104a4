"""What kind of file it is, by its content; a suffix only decides where the content leaves it open."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, NamedTuple

FileType = Literal["pdf", "bibtex", "ris", "csl", "jsonl"]

SUFFIXES: dict[str, FileType] = {
    ".pdf": "pdf",
    ".bib": "bibtex",
    ".bibtex": "bibtex",
    ".ris": "ris",
    ".json": "csl",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_HEAD_BYTES = 65_536
PDF_HEADER_LIMIT = 1024
"""Bytes of rubbish that may stand before a PDF's header, as readers have always allowed."""
_HTML = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+)?(?:<!--(?:[^-]++|-(?!->))*+-->\s*+)*+<(?:!doctype\s++html|html|head|body)\b",
    re.I,
)
_RIS = re.compile(r"^[^\S\n]*+TY {1,2}-", re.M)
_BIBTEX = re.compile(r"^[ \t]*+@\s*+[A-Za-z]++\s*+[{(]", re.M)
_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_MAGIC = {
    b"PK\x03\x04": ("an archive or an office document", "Save it as PDF and add that."),
    b"\xd0\xcf\x11\xe0": ("an old office document", "Save it as PDF and add that."),
    b"{\\rtf": ("a text document (RTF)", "Save it as PDF and add that."),
    b"\x1f\x8b": ("a compressed file", "Unpack it and add what is in it."),
    b"%!PS": ("PostScript", "Turn it into PDF (ps2pdf) and add that."),
    b"\x89PNG": ("a picture", "A picture has no text: add the PDF, or a BibTeX entry for it."),
    b"\xff\xd8\xff": ("a picture", "A picture has no text: add the PDF, or a BibTeX entry for it."),
}
_SUPPORTED = "Add a PDF, BibTeX, RIS, CSL-JSON or JSONL file."


class UnknownFileType(NamedTuple):
    """A file that no reader reads; what it is, and what to do."""

    what: str
    step: str


def file_type_of(path: Path) -> FileType | UnknownFileType:
    """The kind of a file, from its first bytes.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if not head.strip():
        return UnknownFileType("the file is empty", "Get it again, or remove it.")
    if b"%PDF-" in head[:PDF_HEADER_LIMIT]:
        return "pdf"
    for magic, (what, step) in _MAGIC.items():
        if head.startswith(magic):
            return UnknownFileType(f"it is {what}", step)
    if _is_binary(head, path.suffix.lower()):
        return UnknownFileType("it is a binary file of no kind that is known", _SUPPORTED)
    return _text_file_type(decode(head), path.suffix.lower())


def _is_binary(head: bytes, suffix: str) -> bool:
    """Whether a file is no text; in one that is called a bibliography a few bytes of zero are damage."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    allowed = len(head) // 20 if SUFFIXES.get(suffix, "pdf") != "pdf" else 0
    return head.count(b"\0") > allowed


def is_pdf(path: Path) -> bool:
    """Whether a file has a PDF's beginning; not when it cannot be read."""
    try:
        return file_type_of(path) == "pdf"
    except OSError:
        return False


def looks_like_html(head: bytes) -> bool:
    """Whether a body begins as a web page does."""
    return bool(_HTML.match(head[:_HEAD_BYTES].decode("utf-8", "replace").lstrip("\ufeff")))


def decode(content: bytes) -> str:
    """Text as its mark of byte order says, else UTF-8, else what Windows wrote for decades."""
    for mark, encoding in _BOMS.items():
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        is_only_cut = len(content) == _HEAD_BYTES and error.start > _HEAD_BYTES - 4
        return content.decode("utf-8" if is_only_cut else "cp1252", "replace")


def _text_file_type(head: str, suffix: str) -> FileType | UnknownFileType:
    if _HTML.match(head):
        called = "it is called a PDF and is" if suffix == ".pdf" else "it is"
        step = "Open it in a browser (often it asks for a login) and save the PDF itself."
        return UnknownFileType(f"{called} a web page (HTML)", step)
    if head.lstrip().startswith(("{", "[")):
        return _json_file_type(head.lstrip(), suffix)
    ris, bibtex = _RIS.search(head), _BIBTEX.search(head)
    if ris and (not bibtex or ris.start() < bibtex.start()):
        return "ris"
    if bibtex:
        return "bibtex"
    expected = SUFFIXES.get(suffix)
    if expected == "pdf":
        return UnknownFileType("it is called a PDF and has no PDF in it", "Get it again.")
    named = {"csl": "CSL-JSON", "jsonl": "JSON", "bibtex": "BibTeX", "ris": "RIS"}
    if expected:
        return UnknownFileType(f"no {named[expected]} could be found in it", _SUPPORTED)
    return UnknownFileType("it is text of no kind that is known", _SUPPORTED)


def _json_file_type(head: str, suffix: str) -> FileType:
    """JSON lines have a whole object a line; CSL-JSON is a list, or an object with words of its own."""
    if head.startswith("["):
        return "csl"
    first, _, rest = head.partition("\n")
    is_whole_line = first.rstrip().endswith("}")
    is_csl = SUFFIXES.get(suffix) == "csl" or re.search(r'"(?:issued|container-title|DOI)"\s*:', first)
    return (
        "jsonl"
        if is_whole_line and (rest.strip() or not is_csl)
        else "csl"
        if suffix != ".jsonl"
        else "jsonl"
    )
