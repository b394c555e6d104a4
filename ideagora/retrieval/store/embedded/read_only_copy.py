"""A store that may only be read (one curator, many readers): each reader works on a copy of its own.

The copy takes what a run brings, as any store does, and goes when it is closed. Nothing of it reaches
the curator's folder, in which not even a lock is made.
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
    """Whether a folder holds a store to which nothing can be written."""
    records = folder / RECORDS_FILE
    return records.is_file() and not (os.access(folder, os.W_OK) and os.access(records, os.W_OK))


def copy_to_temp(folder: Path) -> Path:
    """A new folder with the store's records, texts and vectors; its index of vectors is left out.

    Raises:
        FolderUnusable: the store cannot be read, or there is no room for the copy.
        StoreCorrupted: its files are damaged.
    """
    place = Path(tempfile.mkdtemp(prefix="ideagora-store-"))
    try:
        with translate_errors(folder):
            for file in sorted(folder.glob("*.sqlite")):
                _copy_database(file, place / file.name)
            for file in folder.iterdir():  # after the records: rows are only ever added
                if is_vector_file(file.name):
                    shutil.copyfile(file, place / file.name)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return place


def _copy_database(file: Path, target: Path) -> None:
    """A copy as of one moment, also while the curator writes.

    Without a log beside it nobody has the file open; SQLite then reads it without making files there.
    """
    has_log = file.with_name(f"{file.name}-wal").exists()
    with (
        closing(open_read_only(file, immutable=not has_log)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        source.backup(copy)
