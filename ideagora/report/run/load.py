"""Reads ``run.json`` and ``ideas.jsonl`` from a run's folder.

A broken line of ``ideas.jsonl`` (a run may be killed while it writes) is listed in ``RunFiles.unread``
and does not stop the report.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ideagora.errors import FolderUnusable, RunError
from ideagora.graphs.portfolio.records import PortfolioRecord
from ideagora.report.text_cleaning import clean, hide_folders
from ideagora.schema import Idea, Topic, Usage

RUN_FILE = "run.json"
IDEAS_FILE = "ideas.jsonl"


class RunPart(BaseModel):
    """A part of ``run.json``. ``None`` means not recorded; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Failure(RunPart):
    """A branch that produced no idea, and why."""

    branch: int | None = None
    query: str | None = None
    error: str | None = None


class WithheldPaper(RunPart):
    """A paper that the library withheld from the agents, and why."""

    id: str | None = None
    title: str | None = None
    why: str | None = None


class AnswerUsage(RunPart):
    """What all used answers cost when they were requested, cached ones included."""

    total: Usage | None = None
    roles: dict[str, Usage] = {}
    labels: dict[str, Usage] = {}


class RecordedUsage(RunPart):
    """Requests to providers: in total, by role, and by label."""

    total: Usage | None = None
    roles: dict[str, Usage] = {}
    labels: dict[str, Usage] = {}
    cached: int | None = None
    """Answers that came from the cache."""
    estimated_calls: int = 0
    """Calls without reported cost; they count with an upper estimate."""
    answers: AnswerUsage | None = None


class RunRecord(RunPart):
    """``run.json``: the inputs of a run, its usage and its outcome."""

    topic: Topic | None = None
    agent: str | None = None
    options: dict[str, Any] = {}
    """Options of the agent (branches, chain length …)."""
    settings: dict[str, Any] = {}
    seed: int | None = None
    versions: dict[str, str | None] = {}
    prompts: dict[str, str | None] = {}
    usage: RecordedUsage = RecordedUsage()
    status: str | None = None
    error: str | None = None
    failures: tuple[Failure, ...] = ()
    held_back: tuple[WithheldPaper, ...] = ()
    offline: bool | None = None
    notes: tuple[str, ...] = ()
    portfolio: PortfolioRecord | None = None


@dataclass(frozen=True)
class RunFiles:
    """The contents of a run's folder, ideas best first."""

    run: RunRecord
    ideas: tuple[Idea, ...]
    unread: tuple[str, ...] = ()
    """One line per missing or unreadable record."""


def load_run(folder: Path) -> RunFiles:
    """Read a run's folder.

    Raises:
        RunError: ``run.json`` is missing or invalid.
        FolderUnusable: a file exists but cannot be opened.
    """
    run = _load_record(folder)
    path = folder / IDEAS_FILE
    if not path.exists():
        return RunFiles(run, (), (f"There is no {IDEAS_FILE}.",))
    read = [
        _parse_idea(number, line)
        for number, line in enumerate(_read_bytes(path).split(b"\n"), 1)
        if line.strip()
    ]
    ideas = tuple(idea for idea in read if isinstance(idea, Idea))
    return RunFiles(run, ideas, tuple(problem for problem in read if isinstance(problem, str)))


def _load_record(folder: Path) -> RunRecord:
    path = folder / RUN_FILE
    if not path.exists():
        raise RunError(f"{folder} is not the folder of a run: it has no {RUN_FILE}.")
    try:
        record = json.loads(_read_bytes(path).decode())
        topic = record.get("topic") if isinstance(record, dict) else None
        cleaned = map_strings(record, lambda text: hide_folders(clean(text)))
        if isinstance(cleaned, dict):
            cleaned["topic"] = map_strings(topic, clean)
        return RunRecord.model_validate(cleaned)
    except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, not ours
        raise RunError(
            f"{path} cannot be read ({_first_error(error)}): repair it, or run the same command again."
        ) from None


def _parse_idea(number: int, line: bytes) -> Idea | str:
    try:
        record = map_strings(json.loads(line.decode()), clean)
        idea = Idea.model_validate(record)
    except (ValueError, RecursionError) as error:
        return f"Line {number} of {IDEAS_FILE} could not be read: {_first_error(error)}."
    extra = map_strings(idea.extra, hide_folders)
    return idea.model_copy(update={"agent": hide_folders(idea.agent), "extra": extra})


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FolderUnusable(f"{path} cannot be opened ({error.strerror}): check its permissions.") from None


def map_strings(value: Any, change: Callable[[str], str]) -> Any:
    """Return a JSON value with ``change`` applied to every string, keys included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [map_strings(entry, change) for entry in value]
    if isinstance(value, dict):
        return {change(key): map_strings(entry, change) for key, entry in value.items()}
    return value


def _first_error(error: Exception) -> str:
    """Return the first error in one line, without the value that caused it."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return clean(f"{'.'.join(str(part) for part in first['loc']) or 'it'}: {first['msg'].lower()}")
    if isinstance(error, json.JSONDecodeError):
        return f"invalid JSON at character {error.pos + 1}"
    return "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else type(error).__name__
