"""Which files are meant by the paths that were given."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ideagora.retrieval.ingest.documents import Problem
from ideagora.retrieval.ingest.file_types import SUFFIXES, UnknownFileType, file_type_of


class ScannedFiles(NamedTuple):
    """Files to read, what is not there, and how many files of folders are of no kind that is read."""

    files: list[Path]
    problems: list[Problem]
    ignored: int


def scan_paths(paths: Sequence[Path]) -> ScannedFiles:
    """The files of paths; of a folder all below it but hidden ones, each once, in the order of names."""
    files: dict[Path, None] = {}
    problems: list[Problem] = []
    ignored = 0
    for path in paths:
        if path.is_dir():
            for file in _below(path, problems):
                if file.suffix.lower() in SUFFIXES or _is_known(file):
                    files[file] = None
                else:
                    ignored += 1
        elif path.is_file():
            files[path] = None
        else:
            what = "it is neither a file nor a folder" if path.exists() else "there is no such file or folder"
            problems.append(Problem(path=str(path), what=what, step="Look at the path."))
    return ScannedFiles(list(files), problems, ignored)


def file_digest(path: Path) -> str:
    """SHA-256 of a file's content.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _below(folder: Path, problems: list[Problem]) -> Iterator[Path]:
    def note(error: OSError) -> None:
        step = "Give the right to read it, and add it again."
        problems.append(Problem(path=str(error.filename), what=error.strerror or str(error), step=step))

    for base, folders, names in os.walk(folder, onerror=note):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(base) / name
            if not name.startswith(".") and file.is_file():
                yield file


def _is_known(file: Path) -> bool:
    """Whether a file without a suffix that we know is of a kind that we read all the same."""
    try:
        return not isinstance(file_type_of(file), UnknownFileType)
    except OSError:
        return False
