"""A run's folder: its lock and its files, which stay consistent if the process is killed.

run.json             settings, versions, prompt hashes, seed, usage, status
events.jsonl         the events, see ``event_log``
ideas.jsonl          ideas, best first
report.md, .html     written from the files above
checkpoints.sqlite   LangGraph's checkpoints
raw/                 replies that could not be parsed
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import cast

from filelock import FileLock, Timeout

from ideagora.errors import RunBusy, RunError
from ideagora.graphs.event_log import EventLog
from ideagora.graphs.files import folder_error, make_private, write_atomically
from ideagora.graphs.run_fields import RunFields
from ideagora.models.redact import one_line
from ideagora.schema import Idea
from ideagora.schema.events import Event

log = logging.getLogger(__name__)
OWNER = ".owner"
"""File that names the process using the folder, and marks a run's folder before ``run.json`` exists."""


def now() -> str:
    """The current time in UTC as ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class RunFolder:
    """One run on disk; as a context manager it holds the folder's lock, which a crash releases."""

    def __init__(self, path: Path, identity: str, replaces: str | None = None) -> None:
        self.path, self.identity = path, identity
        self._replaces = replaces
        """The identity of an earlier run that this one may replace in the folder."""
        self._lock: FileLock | None = None
        self._events = EventLog(path / "events.jsonl")

    def __enter__(self) -> RunFolder:
        try:
            make_private(self.path)
            self._check_content()  # before the lock, which leaves a file
            self._lock = FileLock(self.path / ".lock", timeout=0)
            self._lock.acquire()
            self._prepare()
        except Timeout:
            raise RunBusy(
                f"{self.path} is in use by another process ({self._owner()}). Wait for it, or stop it."
            ) from None
        except OSError as error:
            self.__exit__(None, None, None)
            raise folder_error(self.path, error) from None
        except RunError:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._events.close()
        if self._lock is not None:
            self._lock.release()

    def _check_content(self) -> None:
        """Raise ``RunError`` if the folder has another run, or files but no run."""
        record, names = self.read(), {path.name for path in self.path.iterdir()}
        if record is None and OWNER not in names and names - {".lock"}:
            raise RunError(f"{self.path} is not empty and is not a run folder. Choose another --out folder.")
        if record is not None and record.get("id") not in (self.identity, self._replaces or self.identity):
            raise RunError(
                f"{self.path} has a different run (topic “{_topic_of(record)}”, or other settings). "
                "Choose another --out folder."
            )

    def _prepare(self) -> None:
        """Write the owner, and open the events."""
        self._check_content()
        if (self.path / "run.json").exists() and self.read() is None:
            self._set_aside()
        command = one_line(shlex.join(["ideagora", *_without_queries(sys.argv[1:])]), 200)
        (self.path / OWNER).write_text(f"process {os.getpid()}: {command}\n", encoding="utf-8")
        self._events.open()

    def _set_aside(self) -> None:
        """Rename an unreadable record, and the ideas beside it."""
        suffix = f"damaged-{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}"
        for name in ("run.json", "ideas.jsonl"):
            if (self.path / name).exists():
                (self.path / name).rename(self.path / f"{name}.{suffix}")
        self.delete_checkpoints()
        log.warning(
            "%s could not be read and was renamed to run.json.%s; the run starts over, from the cache",
            self.path / "run.json",
            suffix,
        )

    def _owner(self) -> str:
        try:
            return (self.path / OWNER).read_text(encoding="utf-8").strip() or "unknown process"
        except OSError:
            return "unknown process"

    def read(self) -> RunFields | None:
        """``run.json``, or ``None`` for a folder without a readable one."""
        try:
            record = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None
        return cast("RunFields", record) if isinstance(record, dict) else None

    def write(self, record: RunFields) -> None:
        """Replace ``run.json`` in one step."""
        self._write("run.json", json.dumps(record, indent=1, ensure_ascii=False) + "\n")

    def write_ideas(self, ideas: list[Idea]) -> None:
        """Replace ``ideas.jsonl`` in one step."""
        self._write("ideas.jsonl", "".join(idea.model_dump_json() + "\n" for idea in ideas))

    def ideas_hash(self) -> str | None:
        """The hash of ``ideas.jsonl``, or ``None`` if there is no such file."""
        path = self.path / "ideas.jsonl"
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None

    def finished_ideas(self) -> list[Idea] | None:
        """The ideas of a finished run; ``None`` if it is not finished, or its ideas have changed since."""
        record = self.read() or {}
        if record.get("status") != "done":
            return None
        try:
            if record.get("ideas_sha256", self.ideas_hash()) != self.ideas_hash():
                log.warning(
                    "%s has changed since it was written: the run starts over", self.path / "ideas.jsonl"
                )
                return None
            text = (self.path / "ideas.jsonl").read_text(encoding="utf-8")
            return [Idea.model_validate_json(line) for line in text.split("\n") if line]
        except (FileNotFoundError, ValueError):
            return None
        except OSError as error:
            raise folder_error(self.path, error) from None

    def log(self, event: Event) -> None:
        """Append an event with the time."""
        try:
            self._events.append({"time": now(), **event})
        except OSError as error:
            raise folder_error(self.path, error) from None

    def events(self) -> Iterator[Event]:
        """All events so far, read from the disk one by one."""
        return self._events.read()

    @property
    def has_lost_events(self) -> bool:
        """Whether events from before the checkpoints were missing or unreadable when it was opened."""
        return self._events.is_damaged and self.has_checkpoints()

    def clear(self) -> None:
        """Delete checkpoints, events and results, to begin again; cached answers are not in the folder."""
        # run.json first: without it the run begins again, whatever a kill leaves behind.
        for name in ("run.json", "ideas.jsonl", "report.md", "report.html"):
            (self.path / name).unlink(missing_ok=True)
        retried = [event for event in self.events() if event["event"] == "asked anew"]
        self._events.clear()
        for event in retried:  # part of the keys of this run's answers
            self.log(event)
        self.delete_checkpoints()

    def has_checkpoints(self) -> bool:
        """Whether the graph has checkpoints from which it can continue."""
        return any(self._checkpoints())

    def delete_checkpoints(self) -> None:
        """Delete the graph's checkpoints, so that it begins at its first node."""
        for file in self._checkpoints():
            file.unlink()

    def _checkpoints(self) -> Iterator[Path]:
        return self.path.glob("checkpoints.sqlite*")

    def _write(self, name: str, text: str) -> None:
        try:
            write_atomically(self.path / name, text)
        except OSError as error:
            raise folder_error(self.path, error) from None


def _without_queries(arguments: Sequence[str]) -> list[str]:
    """The arguments without the queries of URLs, which may contain keys."""
    return [re.sub(r"(?<=://)([^?\s]*)\?\S*", r"\1", argument) for argument in arguments]


def _topic_of(record: RunFields) -> str:
    topic = record.get("topic")
    return str(topic.get("text", "?"))[:60] if isinstance(topic, dict) else "?"
