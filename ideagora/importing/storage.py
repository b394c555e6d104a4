"""Imported ideas as they are kept: one file a name, in ``<home>/ideas``."""

from __future__ import annotations

import re
from pathlib import Path

from ideagora.errors import IdeasFileError, UsageError

FOLDER = "ideas"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def stored_file(home: Path, name: str) -> Path:
    """The file of the ideas that were imported under a name; it need not be there.

    Raises:
        UsageError: the name cannot be used.
    """
    if not is_valid_name(name):
        raise UsageError(
            f"{name[:80]!r} cannot be a name of ideas: take up to 64 letters, digits, dots, dashes and "
            "underscores, and begin with a letter or digit."
        )
    return home / FOLDER / f"{name}.jsonl"


def is_valid_name(name: str) -> bool:
    """Whether ideas can be kept under this name."""
    return _NAME.fullmatch(name) is not None


def stored_names(home: Path) -> list[str]:
    """The names under which ideas are kept, in order."""
    files = (home / FOLDER).glob("*.jsonl")
    return sorted(file.stem for file in files if is_valid_name(file.stem) and file.is_file())


def find_ideas(thing: str, home: Path) -> Path:
    """The file or folder that ``thing`` names: a path, or a name under which ideas were imported.

    Raises:
        IdeasFileError: there is neither.
    """
    path = Path(thing).expanduser()
    if path.exists():
        return path
    if is_valid_name(thing) and stored_file(home, thing).is_file():
        return stored_file(home, thing)
    known = ", ".join(stored_names(home)) or "none yet"
    raise IdeasFileError(
        f"there are no ideas {thing!r}: it is no file, and nothing was imported under that name (names: "
        f"{known}). Import some: ideagora ideas import FILE --as NAME."
    )
