"""Checks that a folder belongs to a store of this version."""

from __future__ import annotations

from pathlib import Path

from ideagora.retrieval.store.backend import STORE_VERSION
from ideagora.retrieval.store.embedded.chroma_index import CHROMA_FOLDER
from ideagora.retrieval.store.embedded.locking import HOLDER_FILE, LOCK_FILE
from ideagora.retrieval.store.embedded.sqlite_records import RECORDS_FILE
from ideagora.retrieval.store.embedded.vector_file import is_vector_file
from ideagora.retrieval.store.errors import unusable_error

_OWN_FILES = {
    RECORDS_FILE,
    f"{RECORDS_FILE}-wal",
    f"{RECORDS_FILE}-shm",
    CHROMA_FOLDER,
    LOCK_FILE,
    HOLDER_FILE,
}


def unsupported_version(folder: Path, version: str | None) -> str:
    """The error message for a store of another version."""
    later = version is not None and version.isdecimal() and int(version) > int(STORE_VERSION)
    step = "Use the newer ideagora that made it" if later else "It cannot be upgraded"
    return (
        f"the store in {folder} has version {version}, this program reads {STORE_VERSION}. {step}, "
        "set IDEAGORA_STORE to another folder, or remove this one (it is rebuilt)."
    )


def require_store_folder(folder: Path) -> None:
    """Raise ``FolderUnusable`` if the folder holds other files and no store."""
    names = {path.name for path in folder.iterdir() if not is_vector_file(path.name)}
    if RECORDS_FILE not in names and names - _OWN_FILES:
        raise unusable_error(folder, f"it contains {sorted(names - _OWN_FILES)[0]} and no store")
