"""Small PDFs and other files for tests of the user's own papers."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

Line = tuple[float, str]
"""Font size in points, and text."""

FIRST_TITLE = "Gradual Widening of Narrow Bridges"
SECOND_TITLE = "Measuring the Width of Bridges by Sound"
ABSTRACT = (
    "Narrow bridges hold traffic up wherever two roads meet a river. We widen them by one plank a night, "
    "so that nobody has to wait, and we measure what that does to the flow of carts."
)


def pdf(pages: Sequence[Sequence[Line]], information: str = "") -> bytes:
    """A PDF with lines of text; ``information`` holds entries of its metadata."""
    kids = " ".join(f"{5 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< {information} >>",
    ]
    for number, lines in enumerate(pages):
        stream = _stream(lines)
        page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
        objects += [
            f"{page} /Contents {6 + 2 * number} 0 R >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    return _assemble(objects)


def _stream(lines: Sequence[Line]) -> str:
    height, parts = 760.0, []
    for size, text in lines:
        height -= size * 1.3
        escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        parts.append(f"BT /F1 {size} Tf 1 0 0 1 50 {height:.1f} Tm ({escaped}) Tj ET")
    return "\n".join(parts)


def _assemble(objects: Sequence[str]) -> bytes:
    out, places = BytesIO(), []
    out.write(b"%PDF-1.4\n")
    for number, body in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252", "replace"))
    start = out.tell()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode())
    trailer = f"<< /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R >>"
    out.write(f"trailer\n{trailer}\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def wrap_lines(text: str, width: int = 80) -> list[Line]:
    """Prose as lines of 10 points."""
    lines, line = list[Line](), ""
    for word in text.split():
        if len(line) + len(word) > width:
            lines.append((10, line))
            line = ""
        line = f"{line} {word}".strip()
    return [*lines, (10, line)]


def article(title: str = FIRST_TITLE, references: Sequence[str] = (), head: Sequence[Line] = ()) -> bytes:
    """A paper of two pages: title, abstract, four sections, references, appendix."""
    first: list[Line] = [
        *head,
        *((18, line) for _, line in wrap_lines(title, 30)),
        (11, "Ada Planke, Otto Steg"),
    ]
    first += [(12, "Abstract"), *wrap_lines(ABSTRACT), (12, "1 Introduction")]
    first += wrap_lines("Bridges were wide once. " * 8)
    first += [(12, "2 Method"), (10, "We add a plank to the meas-"), (10, "ured side."), (11, "2.1 Planks")]
    first += wrap_lines("Planks are cut from oak. " * 6)
    second: list[Line] = [(12, "3 Experiments"), *wrap_lines("Ten bridges were widened in a year. " * 6)]
    second += [(12, "Limitations"), *wrap_lines("Stone bridges were not tried. " * 4)]
    second += [(12, "References")]
    for number, entry in enumerate(references, start=1):
        second += wrap_lines(f"[{number}] {entry}")
    second += [(12, "A Further Planks"), *wrap_lines("Here are more planks. " * 4)]
    return pdf([first, second], "/CreationDate (D:20220517120000Z)")


def write_file(folder: Path, name: str, content: bytes | str) -> Path:
    """Write a file below a folder; returns its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
