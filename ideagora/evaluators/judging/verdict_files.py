"""Reads and writes files of verdicts, one JSON object per line, such as ``verdicts.jsonl``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from ideagora.errors import UsageError
from ideagora.graphs.files import folder_error
from ideagora.schema import Verdict

VERDICTS_FILE = "verdicts.jsonl"


def read_verdicts(path: Path) -> list[Verdict]:
    """The verdicts of a file, or of the run in a folder; the last one counts for each id.

    Raises:
        UsageError: the file cannot be read, or a line is not a verdict.
    """
    file = path / VERDICTS_FILE if path.is_dir() else path
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(
            f"{file} cannot be read: {reason}. An arena, a benchmark or a jury writes {VERDICTS_FILE}."
        ) from None
    verdicts = [_verdict(file, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    return list({verdict.id: verdict for verdict in verdicts}.values())


def recover_verdicts(file: Path) -> dict[str, Verdict]:
    """The verdicts of a run's own file by id; unreadable lines, such as an incomplete last one, are skipped.

    Raises:
        RunError: the file cannot be read.
    """
    if not file.exists():
        return {}
    verdicts: dict[str, Verdict] = {}
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError as error:
        raise folder_error(file, error) from None
    for line in lines:
        try:
            verdict = Verdict.model_validate_json(line)
        except ValidationError:
            continue
        verdicts[verdict.id] = verdict
    return verdicts


def verdict_lines(verdicts: Iterable[Verdict]) -> str:
    """The content of a file of verdicts."""
    return "".join(verdict.model_dump_json() + "\n" for verdict in verdicts)


def _verdict(file: Path, number: int, line: str) -> Verdict:
    try:
        return Verdict.model_validate(json.loads(line))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{file}, line {number}: {field}: {first['msg'].lower()}.") from None
    except ValueError as error:
        raise UsageError(f"{file}, line {number}: it is not valid JSON ({error}).") from None
