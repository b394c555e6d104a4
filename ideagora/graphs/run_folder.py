"""A run's folder: who may write in it, what it holds, and how it is written so that a kill hurts nothing.

run.json             settings, versions, prompt hashes, seed, usage, status
events.jsonl         what happened, one JSON object a line
ideas.jsonl          best first
report.md, .html     made from the two above
checkpoints.sqlite   LangGraph's
raw/                 replies that could not be read
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shlex
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout

from ideagora.errors import FolderUnusable, RunBusy, RunError
from ideagora.models.cache.retry_failed import RETRIED
from ideagora.models.redact import one_line
from ideagora.schema import Idea

log = logging.getLogger(__name__)
IDEAS_HASH = "ideas_sha256"
"""Of ``run.json``: what tells that ``ideas.jsonl`` of a finished run was changed since."""
OWNER = ".owner"
"""Says who works here, and that the folder is a run's even where a kill came before ``run.json``."""


def now() -> str:
    """The time as ISO 8601, UTC, in seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class RunFolder:
    """One run on disk; entered as a context it holds the folder's lock, which a crash releases."""

    def __init__(self, path: Path, identity: str, replaces: str | None = None) -> None:
        self.path, self.identity = path, identity
        self._replaces = replaces
        """The identity of another run that may be in the folder, since this one takes its place."""
        self._lock: FileLock | None = None
        self._events: FileIO | None = None

    def __enter__(self) -> RunFolder:
        try:
            make_private(self.path)
            self._demand_own()  # before the lock, which leaves a file
            self._lock = FileLock(self.path / ".lock", timeout=0)
            self._lock.acquire()
            self._take_over()
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
        if self._events is not None:
            self._events.close()
            self._events = None
        if self._lock is not None:
            self._lock.release()

    def _demand_own(self) -> None:
        """Refuse a folder that is not empty and holds no run, another one, or an unreadable one."""
        held, found = self.read(), {path.name for path in self.path.iterdir()}
        if held is None and OWNER not in found and found - {".lock"}:
            raise RunError(f"{self.path} is not empty and holds no run. Choose another --out folder.")
        if held is not None and held.get("id") not in (self.identity, self._replaces or self.identity):
            raise RunError(
                f"{self.path} holds another run (topic “{_topic_of(held)}”, other settings). Choose another "
                "--out folder."
            )

    def _take_over(self) -> None:
        """Say who we are, and mend a line that a kill cut short."""
        self._demand_own()
        if (self.path / "run.json").exists() and self.read() is None:
            self._set_aside()
        command = one_line(shlex.join(["ideagora", *_without_queries(sys.argv[1:])]), 200)
        (self.path / OWNER).write_text(f"process {os.getpid()}: {command}\n", encoding="utf-8")
        events = self.path / "events.jsonl"
        whole = [json.dumps(event, ensure_ascii=False) + "\n" for event in read_events(events)]
        write_atomically(events, "".join(whole))
        self._events = events.open("ab", buffering=0)  # so that a full disk leaves nothing for later

    def _set_aside(self) -> None:
        """Keep a record that cannot be read, and the ideas beside it, under other names."""
        ending = f"damaged-{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}"
        for name in ("run.json", "ideas.jsonl"):
            if (self.path / name).exists():
                (self.path / name).rename(self.path / f"{name}.{ending}")
        self.delete_checkpoints()
        log.warning(
            "%s could not be read and is set aside as run.json.%s; the run is made anew from the cache",
            self.path / "run.json",
            ending,
        )

    def _owner(self) -> str:
        try:
            return (self.path / OWNER).read_text(encoding="utf-8").strip() or "unknown process"
        except OSError:
            return "unknown process"

    def read(self) -> dict[str, Any] | None:
        """``run.json``, or ``None`` for a folder without a readable one."""
        try:
            held = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None
        return held if isinstance(held, dict) else None

    def write(self, record: Mapping[str, Any]) -> None:
        """Replace ``run.json`` in one step."""
        self._write("run.json", json.dumps(record, indent=1, ensure_ascii=False) + "\n")

    def write_ideas(self, ideas: list[Idea]) -> None:
        """Replace ``ideas.jsonl`` in one step."""
        self._write("ideas.jsonl", "".join(idea.model_dump_json() + "\n" for idea in ideas))

    def ideas_hash(self) -> str | None:
        """The hash of ``ideas.jsonl``, for the record; ``None``: there is none."""
        path = self.path / "ideas.jsonl"
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None

    def finished_ideas(self) -> list[Idea] | None:
        """The ideas of a run that is done; ``None``: it is not, or its ideas are not as they were written."""
        record = self.read() or {}
        if record.get("status") != "done":
            return None
        try:
            if record.get(IDEAS_HASH, self.ideas_hash()) != self.ideas_hash():
                log.warning("%s is not as it was written: it is made again", self.path / "ideas.jsonl")
                return None
            text = (self.path / "ideas.jsonl").read_text(encoding="utf-8")
            return [Idea.model_validate_json(line) for line in text.split("\n") if line]
        except (FileNotFoundError, ValueError):
            return None
        except OSError as error:
            raise folder_error(self.path, error) from None

    def log(self, event: Mapping[str, Any]) -> None:
        """Append an event; it is out of this process before the call returns."""
        assert self._events is not None, "the folder is not open"
        line = json.dumps({"time": now(), **event}, ensure_ascii=False) + "\n"
        try:
            self._events.write(line.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise folder_error(self.path, error) from None

    def events(self) -> list[dict[str, Any]]:
        """All events so far."""
        return list(read_events(self.path / "events.jsonl"))

    def clear(self) -> None:
        """Drop checkpoints, events and results, to begin anew (the cache of answers is elsewhere)."""
        assert self._events is not None, "the folder is not open"
        # run.json first: without it a folder is taken up anew, whatever else a kill leaves behind.
        for name in ("run.json", "ideas.jsonl", "report.md", "report.html"):
            (self.path / name).unlink(missing_ok=True)
        retried = [event for event in self.events() if event.get("event") == RETRIED]
        self._events.truncate(0)
        for event in retried:  # which answers are this folder's
            self.log(event)
        self.delete_checkpoints()

    def delete_checkpoints(self) -> None:
        """Drop the graph's checkpoints: the next start begins at the first node."""
        for file in self.path.glob("checkpoints.sqlite*"):
            file.unlink()

    def _write(self, name: str, text: str) -> None:
        try:
            write_atomically(self.path / name, text)
        except OSError as error:
            raise folder_error(self.path, error) from None


def _without_queries(arguments: Sequence[str]) -> list[str]:
    """Arguments without what follows the question mark of an address: keys may stand there."""
    return [re.sub(r"(?<=://)([^?\s]*)\?\S*", r"\1", argument) for argument in arguments]


def _topic_of(record: Mapping[str, Any]) -> str:
    topic = record.get("topic")
    return str(topic.get("text", "?"))[:60] if isinstance(topic, dict) else "?"


def folder_error(path: Path, error: OSError | sqlite3.Error) -> FolderUnusable:
    """The error in one line, with what to do."""
    reason = getattr(error, "strerror", None) or error
    return FolderUnusable(
        f"{path} cannot be used: {reason}. Free space or choose a folder that can be written (--out, --home)."
    )


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for its owner alone."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=0o700, exist_ok=True)
    if not folder.is_dir():
        folder.mkdir()  # raises what is the matter


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def write_atomically(path: Path, text: str) -> None:
    """Write beside and rename, so that a reader sees the old text or the new, never a part."""
    beside = path.with_name(f".{path.name}.new")
    with open(beside, "w", encoding="utf-8", opener=_private) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def read_events(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a file; a last line that was cut short is left out."""
    if not path.exists():
        return
    # Not splitlines: JSON leaves U+2028 and its like as they are.
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event
