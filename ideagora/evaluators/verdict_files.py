"""Verdicts on disk: one JSON object a line, as ``verdicts.jsonl`` in a run's folder has them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from ideagora.errors import UsageError
from ideagora.schema import Verdict

VERDICTS_FILE = "verdicts.jsonl"


def read_verdicts(path: Path) -> list[Verdict]:
    """The verdicts of a file, or of the run in a folder; of several with one id the last.

    Raises:
        UsageError: there is no such file, or a line is no verdict; names file, line and field.
    """
    file = path / VERDICTS_FILE if path.is_dir() else path
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise UsageError(
            f"{file} cannot be read: {reason}. A run of the arena writes {VERDICTS_FILE}."
        ) from None
    found = [_verdict(file, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    return list({verdict.id: verdict for verdict in found}.values())


def verdict_lines(verdicts: Iterable[Verdict]) -> str:
    """The text of a file of verdicts."""
    return "".join(verdict.model_dump_json() + "\n" for verdict in verdicts)


def _verdict(file: Path, number: int, line: str) -> Verdict:
    try:
        return Verdict.model_validate(json.loads(line))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{file}, line {number}: {field}: {first['msg'].lower()}.") from None
    except ValueError as error:
        raise UsageError(f"{file}, line {number}: it is no JSON ({error}).") from None
