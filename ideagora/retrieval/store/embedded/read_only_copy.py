"""Temporary copies of a read-only store (one curator, many readers).

Each reader works on its own copy, which takes the run's new papers and is deleted when it is closed.
Nothing is written to the curator's folder, not even a lock file.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from ideagora.models.sqlite import open_read_only
from ideagora.retrieval.store.embedded.sqlite_records import RECORDS_FILE
from ideagora.retrieval.store.embedded.vector_file import is_vector_file
from ideagora.retrieval.store.errors import translate_errors


def is_read_only_store(folder: Path) -> bool:
    """Whether a folder contains a store that this user cannot write to."""
    records = folder / RECORDS_FILE
    return records.is_file() and not (os.access(folder, os.W_OK) and os.access(records, os.W_OK))


def copy_to_temp(folder: Path) -> Path:
    """Copy a store's records, texts and vectors, without Chroma's index, to a new temporary folder.

    Raises:
        FolderUnusable: the store cannot be read, or there is no space for the copy.
        StoreCorrupted: its files are damaged.
    """
    place = Path(tempfile.mkdtemp(prefix="ideagora-store-"))
    try:
        with translate_errors(folder):
            for file in sorted(folder.glob("*.sqlite")):
                _copy_database(file, place / file.name)
            for file in folder.iterdir():  # after the records, since rows are only appended
                if is_vector_file(file.name):
                    shutil.copyfile(file, place / file.name)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return place


def _copy_database(file: Path, target: Path) -> None:
    """Copy one state of a database, even while the curator writes.

    Without a log beside it, no process has the file open, and SQLite reads it without creating files.
    """
    has_log = file.with_name(f"{file.name}-wal").exists()
    with (
        closing(open_read_only(file, immutable=not has_log)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        source.backup(copy)
