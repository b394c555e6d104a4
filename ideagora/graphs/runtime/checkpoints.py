"""A run's checkpoints: LangGraph's SQLite saver, restricted to plain values.

A run folder may come from someone else. LangGraph's serializer would import and call whatever the file
names; here only LangGraph's own list of safe types is allowed, and any other name is rejected.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.errors import UntrustedCheckpoints
from ideagora.models.redact import one_line

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

FILE = "checkpoints.sqlite"
CLOSING_SECONDS = 10.0
"""Maximum seconds to wait for statements that run when a run is cancelled."""
_CONSTRUCTORS = range(6)
"""Codes of LangGraph's MessagePack extensions whose body begins with a module and a name in it."""


class DamagedCheckpoints(Exception):
    """The checkpoints cannot be read; the graph has to begin again, with calls from the cache."""


def plain_serializer(path: Path) -> JsonPlusSerializer:
    """LangGraph's serializer for the checkpoints at a path; rejects every type that is not safe."""
    import ormsgpack
    from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_TYPES
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    def named_types(body: bytes) -> set[tuple[str, str]]:
        found: set[tuple[str, str]] = set()

        def look(code: int, inner: bytes) -> Any:
            value = ormsgpack.unpackb(inner, ext_hook=look, option=ormsgpack.OPT_NON_STR_KEYS)
            if code in _CONSTRUCTORS:
                found.add((str(value[0]), str(value[1])))
            return value

        ormsgpack.unpackb(body, ext_hook=look, option=ormsgpack.OPT_NON_STR_KEYS)
        return found

    class PlainSerializer(JsonPlusSerializer):
        def loads_typed(self, data: tuple[str, bytes]) -> Any:
            kind, body = data
            if kind not in ("null", "bytes", "bytearray", "msgpack"):
                raise _refused(path, f"a value of kind {kind!r}")
            try:
                strange = named_types(body) - SAFE_MSGPACK_TYPES if kind == "msgpack" else None
                if not strange:
                    return super().loads_typed(data)
            except Exception as error:  # noqa: BLE001  (a bad disk's bytes fail in any way)
                raise DamagedCheckpoints(f"{type(error).__name__}: {error}") from None
            raise _refused(path, ".".join(min(strange)))

    return PlainSerializer(pickle_fallback=False, allowed_msgpack_modules=None)


def _refused(path: Path, what: str) -> UntrustedCheckpoints:
    return UntrustedCheckpoints(
        f"{path} is rejected: it contains {one_line(what, 80)}, but checkpoints contain plain values only. "
        "None of its code was run. Run the same command again to start from the cache."
    )


class _Database(sqlite3.Connection):
    """Ends its transaction when it is closed; SQLite waits for statements that are still referred to."""

    def close(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # it is closed
            self.rollback()
        super().close()


@asynccontextmanager
async def open_saver(folder: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """Open the saver of a run folder; close it also if the run is cancelled.

    Raises:
        sqlite3.DatabaseError: the file is not a database.
    """
    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    path = folder / FILE
    opened: list[tuple[sqlite3.Connection, threading.Thread]] = []

    def connect() -> sqlite3.Connection:
        database = sqlite3.connect(path, check_same_thread=False, factory=_Database)
        opened.append((database, threading.current_thread()))
        return database

    try:
        async with aiosqlite.Connection(connect, iter_chunk_size=64) as connection:
            yield AsyncSqliteSaver(connection, serde=plain_serializer(path))
    finally:
        for (
            database,
            worker,
        ) in opened:  # aiosqlite skips a close that is cancelled: the file would stay locked
            worker.join(CLOSING_SECONDS)
            database.close()


async def last_state(graph: Any, config: Any) -> Any:
    """The latest ``StateSnapshot`` of the graph.

    Raises:
        DamagedCheckpoints: they cannot be read, or are newer than the clock.
        UntrustedCheckpoints: they contain something that would run code.
    """
    from langgraph.checkpoint.base.id import uuid6

    try:
        known = await graph.aget_state(config)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedCheckpoints(f"{type(error).__name__}: {error}") from None
    newest = known.config["configurable"].get("checkpoint_id", "")
    # LangGraph finds the latest by their ids, which begin with the time: later ones would come before it.
    if newest >= str(uuid6()):
        raise DamagedCheckpoints("they are newer than the clock; it may have been set back")
    return known
