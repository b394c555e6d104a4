"""Stores that an older program made: brought up to date in place, at whatever moment that is killed."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ideagora.errors import LibraryError
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.store.store import Store
from tests.support.old_store import make_version_1
from tests.support.script import Script

EMBEDDER = HashEmbedder()
PAPERS = starter_corpus().papers


class Silent(HashEmbedder):
    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise AssertionError("nothing need be embedded")


def nearest(store: Store, k: int = 10) -> list[tuple[str, float]]:
    vector = EMBEDDER.encode(["reasoning step by step"])[0]
    return [(one.paper.id, one.similarity) for one in store.search(vector, k)]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, float]]:
    with Store.open(tmp_path_factory.mktemp("expected") / "store", EMBEDDER) as store:
        store.add(PAPERS)
        return nearest(store, len(PAPERS))


def test_version_1_is_brought_up_to_date_without_embedding(
    tmp_path: Path, expected: list[tuple[str, float]]
) -> None:
    folder = tmp_path / "store"
    make_version_1(folder, EMBEDDER, PAPERS, [("x:1", PAPERS[0].id)])
    messages: list[str] = []
    with Store.open(folder, Silent(), on_wait=messages.append) as store:
        assert messages == [f"upgrading the store in {folder} to version 2; this is done once"]
        assert nearest(store, len(PAPERS)) == expected
        assert (store.stats().version, store.count()) == ("2", len(PAPERS))
        assert store.get_metadata("corpus") == "kept"
        assert store.backend.reported_citations() == [("x:1", PAPERS[0].id)]
        assert [store.get(paper.id) for paper in PAPERS] == list(PAPERS)
    with Store.open(folder, EMBEDDER, on_wait=messages.append, exact_below=0) as store:
        assert len(messages) == 1
        assert nearest(store) == expected[:10]
        assert store.add([PAPERS[0].model_copy(update={"title": "Zebra crossings"})]) == (0, 1, 0)


def test_an_empty_store_of_version_1_is_brought_up_to_date(tmp_path: Path) -> None:
    make_version_1(tmp_path / "store", EMBEDDER, [])
    with Store.open(tmp_path / "store", EMBEDDER) as store:
        assert nearest(store) == []
        assert store.add(PAPERS[:3]) == (3, 0, 0)
        assert len(nearest(store)) == 3


def test_version_1_without_whole_vectors_is_embedded_again(
    tmp_path: Path, expected: list[tuple[str, float]]
) -> None:
    folder = tmp_path / "store"
    make_version_1(folder, EMBEDDER, PAPERS)
    with closing(sqlite3.connect(folder / "records.sqlite")) as connection, connection:
        connection.execute("UPDATE manifest SET value = 'open' WHERE key = 'vectors'")
    with Store.open(folder, EMBEDDER) as store:
        assert nearest(store, len(PAPERS)) == expected


UPGRADE_AND_STOP = """
import sys
from pathlib import Path
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.store.embedded.sqlite_records import SqliteRecords
from ideagora.retrieval.store.store import Store

point = sys.argv[2]

def stop():
    print("now", flush=True)
    sys.stdin.readline()

set_places = SqliteRecords.set_places
def stopping(self, places, manifest):
    if point == "before":
        stop()
    set_places(self, places, manifest)
    stop()
SqliteRecords.set_places = stopping
Store.open(Path(sys.argv[1]), HashEmbedder())
"""


@pytest.mark.parametrize("point", ["before", "after"])
def test_killed_while_it_is_brought_up_to_date(
    tmp_path: Path, expected: list[tuple[str, float]], point: str
) -> None:
    folder = tmp_path / "store"
    make_version_1(folder, EMBEDDER, PAPERS)
    with Script(UPGRADE_AND_STOP, folder, point) as upgrading:
        assert upgrading.line() == "now\n"
    with closing(sqlite3.connect(folder / "records.sqlite")) as connection:
        (version,) = connection.execute("SELECT value FROM manifest WHERE key = 'version'").fetchone()
    assert version == ("1" if point == "before" else "2")
    with Store.open(folder, EMBEDDER, timeout=5) as store:
        assert nearest(store, len(PAPERS)) == expected
        assert store.stats().version == "2"


def test_another_embedder_is_refused_before_anything_is_changed(tmp_path: Path) -> None:
    class Other(HashEmbedder):
        name = "other"

    folder = tmp_path / "store"
    make_version_1(folder, EMBEDDER, PAPERS[:5])
    shutil.copytree(folder, tmp_path / "before")
    with pytest.raises(LibraryError, match=r"embedder hash, not other\. .*library migrate OTHER --from"):
        Store.open(folder, Other())
    assert (folder / "records.sqlite").read_bytes() == (tmp_path / "before" / "records.sqlite").read_bytes()
