"""Writes ``verdicts.jsonl``: each verdict is on disk before the graph continues.

When an interrupted step runs again, its verdicts are in the file already: the same verdict is not written
again, and another one replaces it. Only the places of the verdicts are in memory, so a log may be longer than
memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from errno import ENOSPC
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from pydantic import ValidationError

from ideagora.evaluators.judging.verdict_files import VERDICTS_FILE
from ideagora.graphs.files import folder_error, write_atomically
from ideagora.schema import Verdict


class _Place(NamedTuple):
    """Where a line is in the file, in bytes."""

    start: int
    length: int


class VerdictLog:
    """The verdicts of one run. Use it as a context manager to add verdicts.

    Raises:
        RunError: the file cannot be read.
    """

    def __init__(self, folder: Path, on_verdict: Callable[[Verdict], None] | None = None) -> None:
        self.path = folder / VERDICTS_FILE
        self._on_verdict = on_verdict
        self._file: FileIO | None = None
        try:
            self._places, self._end, size = _index(self.path)
        except OSError as error:
            raise folder_error(self.path, error) from None
        self.was_cut = size > self._end
        """Whether the last line of the file was incomplete."""

    def __enter__(self) -> VerdictLog:
        try:
            self._file = self.path.open("ab", buffering=0)
            self._file.truncate(self._end)  # drops an incomplete line
        except OSError as error:
            raise folder_error(self.path, error) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, verdict: Verdict) -> None:
        """Append a verdict; it is written before the call returns. Its id stays unique in the file."""
        assert self._file is not None, "the log is not open"
        line = (verdict.model_dump_json() + "\n").encode("utf-8", "backslashreplace")
        if verdict.id not in self:
            self._append(verdict.id, line)
        elif not self._is_logged(verdict):
            self._replace(verdict.id, line)
        if self._on_verdict is not None:
            self._on_verdict(verdict)

    def _append(self, verdict_id: str, line: bytes) -> None:
        assert self._file is not None, "the log is not open"
        try:
            if self._file.write(line) != len(line):
                raise OSError(ENOSPC, os.strerror(ENOSPC))
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(self._end)
            raise folder_error(self.path, error) from None
        self._places[verdict_id] = _Place(self._end, len(line))
        self._end += len(line)

    def _is_logged(self, verdict: Verdict) -> bool:
        """Whether the file has this verdict; a repeated answer from the cache differs in its usage only."""
        (logged,) = self.read([verdict.id])
        return logged.model_copy(update={"usage": verdict.usage}) == verdict

    def _replace(self, verdict_id: str, line: bytes) -> None:
        """Put another verdict in the place of the logged one."""
        lines = [line if one == verdict_id else next(self._lines([one])) for one in self._places]
        self.__exit__(None, None, None)
        try:
            write_atomically(self.path, (one.decode() for one in lines))
            self._places, self._end, _ = _index(self.path)
        except OSError as error:
            raise folder_error(self.path, error) from None
        self.__enter__()

    def __contains__(self, verdict_id: str) -> bool:
        return verdict_id in self._places

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Verdict]:
        """All verdicts, from this attempt and earlier ones, in the order in which they were first added."""
        yield from self.read(self._places)

    def read(self, ids: Iterable[str]) -> Iterator[Verdict]:
        """The verdicts with these ids, which the log must have."""
        yield from map(Verdict.model_validate_json, self._lines(ids))

    def finalize(self, ids: Iterable[str]) -> None:
        """Close the log and rewrite the file with these verdicts only, in this order."""
        self.__exit__(None, None, None)
        try:
            write_atomically(self.path, (line.decode() for line in self._lines(ids)))
            self._places, self._end, _ = _index(self.path)
        except OSError as error:
            raise folder_error(self.path, error) from None

    def _lines(self, ids: Iterable[str]) -> Iterator[bytes]:
        if not self._places:
            return
        with self.path.open("rb") as file:
            for verdict_id in ids:
                start, length = self._places[verdict_id]
                file.seek(start)
                yield file.read(length)


def _index(path: Path) -> tuple[dict[str, _Place], int, int]:
    """The places of the readable verdicts by id, the end of the last whole line, and the file's size."""
    places: dict[str, _Place] = {}
    end = start = 0
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    end = start + len(line)
                    if (verdict_id := _id_of(line)) is not None:
                        places[verdict_id] = _Place(start, len(line))
                start += len(line)
    return places, end, start


def _id_of(line: bytes) -> str | None:
    try:
        return Verdict.model_validate_json(line).id
    except ValidationError:
        return None
