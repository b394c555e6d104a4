"""Detection of a file's type from its content; the suffix decides only ambiguous cases."""

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
"""Bytes that may precede a PDF's header; PDF readers tolerate as many."""
_HTML = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+)?(?:<!--(?:(?!-->)[\s\S])*?-->\s*+)*<(?:!doctype\s++html|html|head|body)\b",
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
    """A file without a reader: what it is, and how to fix that."""

    what: str
    step: str


def file_type_of(path: Path) -> FileType | UnknownFileType:
    """The type of a file, from its first bytes.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if not head.strip():
        return UnknownFileType("the file is empty", "Download it again, or remove it.")
    if b"%PDF-" in head[:PDF_HEADER_LIMIT]:
        return "pdf"
    for magic, (what, step) in _MAGIC.items():
        if head.startswith(magic):
            return UnknownFileType(f"it is {what}", step)
    if _is_binary(head, path.suffix.lower()):
        return UnknownFileType("it is a binary file of an unknown type", _SUPPORTED)
    return _text_file_type(decode(head), path.suffix.lower())


def _is_binary(head: bytes, suffix: str) -> bool:
    """Whether a file is not text; a few zero bytes in a file named as a bibliography are damage."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    allowed = len(head) // 20 if SUFFIXES.get(suffix, "pdf") != "pdf" else 0
    return head.count(b"\0") > allowed


def is_pdf(path: Path) -> bool:
    """Whether a file starts as a PDF; false if it cannot be read."""
    try:
        return file_type_of(path) == "pdf"
    except OSError:
        return False


def looks_like_html(head: bytes) -> bool:
    """Whether a body starts as an HTML page."""
    return bool(_HTML.match(head[:_HEAD_BYTES].decode("utf-8", "replace").lstrip("\ufeff")))


def decode(content: bytes) -> str:
    """Decode text by its byte order mark, else as UTF-8, else as Windows-1252."""
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
        what = "it has the suffix .pdf, but is" if suffix == ".pdf" else "it is"
        step = "Open it in a browser (it often asks for a login) and save the PDF itself."
        return UnknownFileType(f"{what} a web page (HTML)", step)
    if head.lstrip().startswith(("{", "[")):
        return _json_file_type(head.lstrip(), suffix)
    ris, bibtex = _RIS.search(head), _BIBTEX.search(head)
    if ris and (not bibtex or ris.start() < bibtex.start()):
        return "ris"
    if bibtex:
        return "bibtex"
    expected = SUFFIXES.get(suffix)
    if expected == "pdf":
        return UnknownFileType("it has the suffix .pdf, but is not a PDF", "Download it again.")
    named = {"csl": "CSL-JSON", "jsonl": "JSON", "bibtex": "BibTeX", "ris": "RIS"}
    if expected:
        return UnknownFileType(f"it contains no {named[expected]}", _SUPPORTED)
    return UnknownFileType("it is text in an unknown format", _SUPPORTED)


def _json_file_type(head: str, suffix: str) -> FileType:
    """JSON Lines has one object per line; CSL-JSON is a list, or an object with CSL's own fields."""
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
