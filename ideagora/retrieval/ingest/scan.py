"""Expansion of the given paths into files to read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ideagora.retrieval.ingest.documents import Problem
from ideagora.retrieval.ingest.file_types import SUFFIXES, UnknownFileType, file_type_of


class ScannedFiles(NamedTuple):
    """Files to read, problems with paths, and the number of unsupported files in folders."""

    files: list[Path]
    problems: list[Problem]
    ignored: int


def scan_paths(paths: Sequence[Path]) -> ScannedFiles:
    """The files of paths, each once; a folder stands for all supported files below it except hidden ones."""
    files: dict[Path, None] = {}
    problems: list[Problem] = []
    ignored = 0
    for path in paths:
        if path.is_dir():
            for file in _below(path, problems):
                if file.suffix.lower() in SUFFIXES or _is_supported(file):
                    files[file] = None
                else:
                    ignored += 1
        elif path.is_file():
            files[path] = None
        else:
            what = "it is neither a file nor a folder" if path.exists() else "there is no such file or folder"
            problems.append(Problem(path=str(path), what=what, step="Check the path."))
    return ScannedFiles(list(files), problems, ignored)


def file_digest(path: Path) -> str:
    """SHA-256 of a file's content.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _below(folder: Path, problems: list[Problem]) -> Iterator[Path]:
    def add_problem(error: OSError) -> None:
        step = "Make it readable, and add it again."
        problems.append(Problem(path=str(error.filename), what=error.strerror or str(error), step=step))

    for base, folders, names in os.walk(folder, onerror=add_problem):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(base) / name
            if not name.startswith(".") and file.is_file():
                yield file


def _is_supported(file: Path) -> bool:
    """Whether a file with an unknown suffix has a supported type by its content."""
    try:
        return not isinstance(file_type_of(file), UnknownFileType)
    except OSError:
        return False
