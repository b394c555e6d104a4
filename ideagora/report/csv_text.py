"""CSV that spreadsheets read as text and numbers, never as formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a text that a spreadsheet would calculate."""


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The rows below their header; white space in texts is collapsed."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_csv_cell(value) for value in row] for row in rows)
    return file.getvalue()


def _csv_cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = " ".join(value.split())
    return f"'{text}" if text.startswith(_FORMULA) else text
