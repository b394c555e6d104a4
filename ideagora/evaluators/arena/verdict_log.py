"""Writes ``verdicts.jsonl``: each verdict is on disk before the graph continues.

A verdict may occur twice, when an interrupted step runs again; the last one counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from io import FileIO
from pathlib import Path
from types import TracebackType

from ideagora.evaluators.verdict_files import VERDICTS_FILE, recover_verdicts, verdict_lines
from ideagora.graphs.run_folder import folder_error, write_atomically
from ideagora.schema import Verdict


class VerdictLog:
    """The verdicts of one run. Use it as a context manager to add verdicts."""

    def __init__(self, folder: Path, on_verdict: Callable[[Verdict], None] | None = None) -> None:
        self.path = folder / VERDICTS_FILE
        self._heard = on_verdict
        self._by_id = recover_verdicts(self.path)
        self.was_cut = _is_cut(self.path)
        """Whether the last line of the file was incomplete."""
        self._file: FileIO | None = None

    def __enter__(self) -> VerdictLog:
        self._write_all(self._by_id.values())  # drops an incomplete line
        try:
            self._file = self.path.open("ab", buffering=0)
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
        """Append a verdict; it is written before the call returns."""
        assert self._file is not None, "the log is not open"
        try:
            self._file.write((verdict.model_dump_json() + "\n").encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise folder_error(self.path, error) from None
        self._by_id[verdict.id] = verdict
        if self._heard is not None:
            self._heard(verdict)

    def get(self, verdict_id: str) -> Verdict | None:
        """The verdict with this id, from this attempt or an earlier one."""
        return self._by_id.get(verdict_id)

    def finalize(self, ids: Iterable[str]) -> list[Verdict]:
        """Close the log and rewrite the file with these verdicts only, in this order."""
        verdicts = [self._by_id[one] for one in ids]
        self.__exit__(None, None, None)
        self._write_all(verdicts)
        return verdicts

    @property
    def verdicts(self) -> list[Verdict]:
        """All verdicts so far, in the order in which they were added."""
        return list(self._by_id.values())

    def _write_all(self, verdicts: Iterable[Verdict]) -> None:
        try:
            write_atomically(self.path, verdict_lines(verdicts))
        except OSError as error:
            raise folder_error(self.path, error) from None


def _is_cut(path: Path) -> bool:
    return path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")
