"""What SQLite, Chroma and the file system raise, turned into the errors that we name."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ideagora.errors import FolderUnusable, IdeagoraError, StoreBusy, StoreCorrupted

_UNUSABLE_PHRASES = (
    "disk is full",
    "no space left",
    "readonly database",
    "read-only",
    "permission denied",
    "unable to open database file",
    "disk i/o error",  # also what SQLite makes of a quota or a file that may not grow
    "file too large",
    "quota exceeded",
)
"""What the texts of SQLite and Chroma have in common when the folder, not its content, is at fault."""


@contextmanager
def translate_errors(folder: Path, part: Path | None = None) -> Iterator[None]:
    """Raise what goes wrong in a store's folder as an error with a next step.

    Args:
        folder: the store's folder.
        part: what is worked on, when that can be removed and made anew without losing papers.

    Raises:
        FolderUnusable: the folder cannot be made, read or written, or the disk is full.
        StoreCorrupted: the files are there, but their content cannot be read.
        StoreBusy: SQLite waited in vain for another process.
    """
    try:
        yield
    except (IdeagoraError, sqlite3.ProgrammingError):  # the latter: our own mistake, not the files'
        raise
    except OSError as error:
        raise unusable_error(folder, error.strerror or str(error)) from error
    except sqlite3.Error as error:
        raise _from_message(folder, str(error), part) from error
    except BaseException as error:
        if not _is_chroma_error(error):
            raise
        raise _from_message(folder, str(error), part) from error


def corrupted_error(folder: Path, what: str, part: Path | None = None) -> StoreCorrupted:
    """The error for a store whose files cannot be read; ``part`` as in ``translate_errors``."""
    step = (
        f"Remove {part} and run the same command again: it is then made anew, and no paper is lost."
        if part
        else "Rename this folder, which loses nothing, and run the same command again: the store is then "
        "rebuilt, and papers that you added yourself have to be added again."
    )
    return StoreCorrupted(f"the store in {folder} cannot be read: {' '.join(what.split())[:200]}. {step}")


def unusable_error(folder: Path, what: str) -> FolderUnusable:
    """The error for a folder that cannot be used at all."""
    return FolderUnusable(
        f"the folder {folder} cannot be used for the store: {' '.join(what.split())[:200]}. "
        "Make room or give the right to write there, or set IDEAGORA_STORE to another folder."
    )


def _from_message(folder: Path, text: str, part: Path | None) -> IdeagoraError:
    lowered = text.lower()
    if any(sign in lowered for sign in _UNUSABLE_PHRASES):
        return unusable_error(folder, text)
    if "database is locked" in lowered:
        return StoreBusy(f"another process holds the store in {folder}. Wait for it, then run this again.")
    return corrupted_error(folder, text, part)


def _is_chroma_error(error: BaseException) -> bool:
    """Chroma's own errors, and the panic of its Rust part, which is no ``Exception``."""
    kind = type(error)
    return kind.__module__.startswith("chromadb") or kind.__name__ == "PanicException"
