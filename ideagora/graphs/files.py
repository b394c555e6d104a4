"""Files of runs: for the user alone, replaced in one step, and with errors that say what to do."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from ideagora.errors import FolderUnusable


def folder_error(path: Path, error: OSError | sqlite3.Error) -> FolderUnusable:
    """The error as one line, with advice."""
    reason = getattr(error, "strerror", None) or error
    return FolderUnusable(
        f"{path} cannot be used: {reason}. Free space or choose a writable folder (--out, --home)."
    )


def make_private(folder: Path) -> None:
    """Create a folder and its missing parents, accessible only to the user."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    if not folder.is_dir():
        folder.mkdir()  # raises the reason


def private(path: str, flags: int) -> int:
    """Open a file that only the user can read and write; an ``opener`` for ``open``."""
    return os.open(path, flags, 0o600)


def write_atomically(path: Path, text: str | Iterable[str]) -> None:
    """Write a temporary file and rename it, so that readers see either the old or the new text."""
    temporary = path.with_name(f".{path.name}.new")
    with open(temporary, "w", encoding="utf-8", opener=private) as file:
        file.writelines([text] if isinstance(text, str) else text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
