"""Translation of errors of SQLite, Chroma and the file system into the store's errors."""

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
    "disk i/o error",  # SQLite's message for an exceeded quota or file size limit, too
    "file too large",
    "quota exceeded",
)
"""Phrases in messages of SQLite and Chroma that mean that the folder, not its content, is at fault."""


@contextmanager
def translate_errors(folder: Path, part: Path | None = None) -> Iterator[None]:
    """Translate errors in a store's folder into errors with a next step.

    Args:
        folder: the store's folder.
        part: the file or folder in use, if it can be removed and rebuilt without losing papers.

    Raises:
        FolderUnusable: the folder cannot be created, read or written, or the disk is full.
        StoreCorrupted: the content of the files cannot be read.
        StoreBusy: SQLite timed out waiting for another process.
    """
    try:
        yield
    except (IdeagoraError, sqlite3.ProgrammingError):  # the latter is a bug in this program
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
        f"Remove {part} and run the same command again: it is rebuilt, and no paper is lost."
        if part
        else "Rename this folder, which loses nothing, and run the same command again: the store is "
        "rebuilt, and papers that you added yourself have to be added again."
    )
    return StoreCorrupted(f"the store in {folder} cannot be read: {' '.join(what.split())[:200]}. {step}")


def unusable_error(folder: Path, what: str) -> FolderUnusable:
    """The error for a folder that cannot be used."""
    return FolderUnusable(
        f"the folder {folder} cannot be used for the store: {' '.join(what.split())[:200]}. "
        "Free some space, make it writable, or set IDEAGORA_STORE to another folder."
    )


def _from_message(folder: Path, text: str, part: Path | None) -> IdeagoraError:
    lowered = text.lower()
    if any(sign in lowered for sign in _UNUSABLE_PHRASES):
        return unusable_error(folder, text)
    if "database is locked" in lowered:
        return StoreBusy(
            f"the store in {folder} is in use by another process. Wait for it, then run this again."
        )
    return corrupted_error(folder, text, part)


def _is_chroma_error(error: BaseException) -> bool:
    """Whether it is Chroma's own error or a panic of its Rust code, which is not an ``Exception``."""
    kind = type(error)
    return kind.__module__.startswith("chromadb") or kind.__name__ == "PanicException"
