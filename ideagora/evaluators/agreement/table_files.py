"""Reads tables: CSV as saved by spreadsheets, or JSON lines."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from ideagora.errors import UsageError

LARGEST = 50_000_000
"""Maximum number of bytes of a table."""


def read_table(path: Path) -> list[dict[str, Any]]:
    """The rows by column, without empty cells; the format is detected from the content.

    Raises:
        UsageError: it cannot be read.
    """
    text = _text(path)
    return _json_rows(path, text) if text.lstrip().startswith("{") else _csv_rows(path, text)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{path} is over {LARGEST // 1_000_000} MB: the maximum size of a table.")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text; save it as CSV UTF-8"
        raise UsageError(f"{path} cannot be read: {reason}.") from None


def _json_rows(path: Path, text: str) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}, line {number}: it is not valid JSON ({error}).") from None
        if not isinstance(row, dict):
            raise UsageError(f"{path}, line {number}: it is not a JSON object.")
        rows.append({str(name): value for name, value in row.items() if value is not None})
    return rows


def _csv_rows(path: Path, text: str) -> list[dict[str, Any]]:
    csv.field_size_limit(LARGEST)
    header = text.split("\n", 1)[0]
    comma = max(",;\t", key=header.count)
    try:
        read = list(csv.DictReader(io.StringIO(text), delimiter=comma, strict=True))
    except csv.Error as error:
        raise UsageError(f"{path} is not readable CSV: {error}. Save it as CSV UTF-8.") from None
    return [
        {name.strip(): value for name, value in row.items() if name and value is not None} for row in read
    ]
