"""The events of a run on disk, one JSON object per line with a checksum, so that damage is noticed."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from io import FileIO
from pathlib import Path
from typing import Any, cast

from ideagora.graphs.files import private, write_atomically
from ideagora.schema.events import Event

_CHECKSUM = "crc32"
"""Field of a line: the checksum of the others. Lines of earlier versions have none."""


class EventLog:
    """``events.jsonl``; open it to append.

    ``is_damaged``: a line could not be read when the file was opened, or its first event was missing. A kill
    may cut the last line short, which counts as damage.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: FileIO | None = None
        self.is_damaged = False

    def open(self) -> None:
        """Drop unreadable lines and prepare to append."""
        is_whole, begins = _ends_with_newline(self._path), False
        is_readable = True
        for event in _lines(self._path):
            is_readable = is_readable and event is not None
            begins = begins or (event is not None and event.get("event") == "begin")
        self.is_damaged = not (is_readable and begins)
        if not (is_readable and is_whole):
            write_atomically(self._path, (_line(event) for event in _lines(self._path) if event is not None))
        # Unbuffered, or a full disk would show only when the file is closed.
        self._file = FileIO(self._path, "ab", opener=private)

    def append(self, event: Mapping[str, object]) -> None:
        """Write an event, unbuffered."""
        assert self._file is not None, "the folder is not open"
        self._file.write(_line(event).encode())

    def read(self) -> Iterator[Event]:
        """All events so far, read from the disk one by one."""
        return read_events(self._path)

    def clear(self) -> None:
        """Drop all events."""
        assert self._file is not None, "the folder is not open"
        self._file.truncate(0)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read_events(path: Path) -> Iterator[Event]:
    """Yield the events of a file, without unreadable lines such as an incomplete last one."""
    events = (event for event in _lines(path) if event is not None)
    return (cast("Event", event) for event in events if isinstance(event.get("event"), str))


def _line(event: Mapping[str, object]) -> str:
    text = json.dumps({**event, _CHECKSUM: _checksum(event)}, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair becomes JSON's escape


def _lines(path: Path) -> Iterator[dict[str, Any] | None]:
    """The object of each line without its checksum; ``None`` for a line that cannot be read."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        for line in file:
            yield _object(line)


def _object(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    checksum = value.pop(_CHECKSUM, None)
    return value if checksum in (None, _checksum(value)) else None


def _checksum(event: Mapping[str, object]) -> int:
    """The CRC-32 of an event as ASCII, which is the same before and after it is written and read."""
    return zlib.crc32(json.dumps(event).encode())


def _ends_with_newline(path: Path) -> bool:
    """Whether the last line is complete; also true of a file that is empty or missing."""
    if not path.exists() or path.stat().st_size == 0:
        return True
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"
