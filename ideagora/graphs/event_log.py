"""The events of a run on disk, one JSON object per line with a checksum, so that damage is noticed."""

from __future__ import annotations

import json
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
        lines = list(_lines(self._path))
        events = [event for event in lines if event is not None]
        begins = any(event.get("event") == "begin" for event in events)
        self.is_damaged = len(events) < len(lines) or not begins
        if len(events) < len(lines):
            write_atomically(self._path, (_line(event) for event in events))
        # Unbuffered, or a full disk would show only when the file is closed.
        self._file = FileIO(self._path, "ab", opener=private)

    def append(self, event: Mapping[str, object]) -> None:
        """Write an event, unbuffered."""
        assert self._file is not None, "the folder is not open"
        self._file.write(_line(event).encode("utf-8", "backslashreplace"))

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
    text = json.dumps(event, ensure_ascii=False)
    return f'{text[:-1]}, "{_CHECKSUM}": {_checksum(text)}}}\n'


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
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    checksum = value.pop(_CHECKSUM, None)
    is_intact = checksum is None or checksum == _checksum(json.dumps(value, ensure_ascii=False))
    return value if is_intact else None


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "backslashreplace"))
