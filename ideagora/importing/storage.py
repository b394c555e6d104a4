"""Storage of imported ideas: one file per name in ``<home>/ideas``."""

from __future__ import annotations

import re
from pathlib import Path

from ideagora.errors import IdeasFileError, UsageError

FOLDER = "ideas"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def stored_file(home: Path, name: str) -> Path:
    """Return the file for ideas imported under a name; it may not exist.

    Raises:
        UsageError: the name is invalid.
    """
    if not is_valid_name(name):
        raise UsageError(
            f"{name[:80]!r} is not a valid name for ideas. Use up to 64 letters, digits, dots, dashes and "
            "underscores, starting with a letter or digit."
        )
    return home / FOLDER / f"{name}.jsonl"


def is_valid_name(name: str) -> bool:
    """Return whether ideas can be stored under this name."""
    return _NAME.fullmatch(name) is not None


def stored_names(home: Path) -> list[str]:
    """Return the names of all stored ideas, sorted."""
    files = (home / FOLDER).glob("*.jsonl")
    return sorted(file.stem for file in files if is_valid_name(file.stem) and file.is_file())


def find_ideas(source: str, home: Path) -> Path:
    """Return the file or folder of ``source``, a path or the name of imported ideas.

    Raises:
        IdeasFileError: it is neither.
    """
    path = Path(source).expanduser()
    if path.exists():
        return path
    if is_valid_name(source) and stored_file(home, source).is_file():
        return stored_file(home, source)
    known = ", ".join(stored_names(home)) or "none"
    raise IdeasFileError(
        f"No ideas found for {source!r}, which is neither a file nor the name of imported ideas (imported: "
        f"{known}). Import a file with: ideagora ideas import FILE --as NAME."
    )
