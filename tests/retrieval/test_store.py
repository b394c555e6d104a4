"""The embedded store: real Chroma and SQLite files, other processes, kills and damage."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ideagora.errors import FolderUnusable, LibraryError, StoreBusy, StoreCorrupted
from ideagora.models.embeddings.cache import VectorCache
from ideagora.models.embeddings.embedder import CachedEmbedder
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.store.embedded import locking
from ideagora.retrieval.store.embedded.backend import EmbeddedBackend
from ideagora.retrieval.store.store import Store, paper_text
from ideagora.schema import Paper, ScoredPaper, last_day
from tests.support.script import Script

EMBEDDER = HashEmbedder()


class Counting:
    """The hash embedder with a list of all that it was asked."""

    name = EMBEDDER.name
    dimension = EMBEDDER.dimension

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.extend(texts)
        return EMBEDDER.encode(texts)


class Other(HashEmbedder):
    name = "other"


def paper(number: int, **fields: object) -> Paper:
    given = {"title": f"Paper {number} on subject {number % 7}", "abstract": f"It treats question {number}."}
    return Paper.model_validate({"id": f"p:{number:04}", "references": [], **given, **fields})


def query(text: str) -> NDArray[np.float32]:
    row: NDArray[np.float32] = EMBEDDER.encode([text])[0]
    return row


def pairs(results: list[ScoredPaper]) -> list[tuple[str, float]]:
    return [(one.paper.id, one.similarity) for one in results]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    with Store.open(folder, EMBEDDER) as opened:
        yield opened


# --- what goes in comes out ---------------------------------------------------------------------


def test_papers_edges_and_figures(store: Store, folder: Path) -> None:
    papers = [
        paper(1, date="2020-01"),
        paper(2, date="2021", references=["p:0001", "p:9999"]),
        paper(3, date="2021-05", references=["p:0002", "p:0001"]),
        paper(4, references=["p:0001"]),
    ]
    assert store.add(papers) == (4, 0, 0)
    assert store.get("p:0003") == papers[2]
    assert store.get("p:9999") is None
    assert store.references("p:0003") == [papers[1], papers[0]]
    assert store.references("p:0002") == [papers[0]]
    assert store.citations("p:0001") == [papers[1], papers[2], papers[3]]
    assert store.citations("p:0004") == []
    stats = store.stats()
    assert (stats.papers, stats.citations, stats.oldest, stats.newest) == (4, 4, "2020-01", "2021-05")
    assert (stats.embedder, stats.version, stats.folder) == ("hash", "2", str(folder))
    assert (stats.kind, stats.sources) == ("embedded", {"unknown": 4})
    assert stats.size_bytes is not None
    assert stats.size_bytes > 10_000


def test_an_empty_store_answers(store: Store) -> None:
    assert store.search(query("anything"), 5) == []
    assert (store.count(), store.stats().oldest) == (0, None)
    assert store.add([]) == (0, 0, 0)


def test_search_is_exact_and_ordered(store: Store) -> None:
    papers = starter_corpus().papers
    store.add(papers)
    rows = EMBEDDER.encode([paper_text(one) for one in papers]).astype(np.float64)
    for text in ("reasoning step by step", "diffusion of images", "judges that prefer the first answer"):
        cosines = rows @ query(text).astype(np.float64)
        expected = sorted(
            ((one.id, round(float(cosine), 4)) for one, cosine in zip(papers, cosines, strict=True)),
            key=lambda row: (-row[1], row[0]),
        )
        assert pairs(store.search(query(text), len(papers))) == expected
        assert pairs(store.search(query(text), 7)) == expected[:7]
    assert store.search(query("x"), 0) == []


def test_ties_are_ordered_by_id(store: Store) -> None:
    same = {"title": "The same words", "abstract": None}
    store.add([paper(number, **same) for number in (5, 3, 9, 1)])
    results = pairs(store.search(query("The same words"), 3))
    assert results == [("p:0001", 1.0), ("p:0003", 1.0), ("p:0005", 1.0)]


@pytest.mark.parametrize("exact_below", [0, 20_000])
@pytest.mark.parametrize("before", ["2000-01-01", "2021-06-01", "2023-06-15", "2024-02-29", "9999-01-01"])
def test_a_search_with_a_date_is_exact_about_it(folder: Path, exact_below: int, before: str) -> None:
    dates = (None, "2021", "2021-05", "2021-05-31", "2023-06-14", "2023-06-15", "2024-02", "2023-06")
    with Store.open(folder, EMBEDDER, exact_below=exact_below) as store:
        store.add([paper(number, date=dates[number % len(dates)]) for number in range(80)])
        with Store.open(folder, EMBEDDER) as exact:  # the index itself may miss one of all 80
            every = exact.search(query("Paper on subject 3"), 80)
        assert len(every) == 80
        allowed = [one for one in every if one.paper.date and last_day(one.paper.date) < before]
        assert pairs(store.search(query("Paper on subject 3"), 80, before)) == pairs(allowed)
        assert pairs(store.search(query("Paper on subject 3"), 4, before)) == pairs(allowed[:4])


def test_a_date_that_changes_counts_at_once(folder: Path, store: Store) -> None:
    store.add([paper(1, date="2024"), paper(2, date="2020")])
    with Store.open(folder, EMBEDDER) as other:
        assert len(other.search(query("Paper"), 5, "2022-01-01")) == 1
        assert store.add([paper(1, date="2021")]) == (0, 1, 0)
        assert len(other.search(query("Paper"), 5, "2022-01-01")) == 2


def test_what_was_embedded_before_a_stop_is_written(folder: Path) -> None:
    class Stopped(HashEmbedder):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if any("Paper 40 " in text for text in texts):
                raise KeyboardInterrupt
            return EMBEDDER.encode(texts)

    with Store.open(folder, Stopped()) as store:
        with pytest.raises(KeyboardInterrupt):
            store.add([paper(number) for number in range(100)])
        assert store.count() == 32
        assert len(store.search(query("Paper"), 100)) == 32


def test_all_is_there_after_reopening(folder: Path) -> None:
    with Store.open(folder, EMBEDDER) as store:
        store.add(starter_corpus().papers)
        store.set_metadata("corpus", "v1")
        before = pairs(store.search(query("agents that use tools"), 20))
    counting = Counting()
    with Store.open(folder, counting) as store:
        assert pairs(store.search(query("agents that use tools"), 20)) == before
        assert store.get_metadata("corpus") == "v1"
        assert store.get_metadata("another") is None
        assert store.add(starter_corpus().papers) == (0, 0, len(starter_corpus().papers))
    assert counting.asked == []


def test_only_changed_texts_are_embedded_again(folder: Path) -> None:
    counting = Counting()
    with Store.open(folder, counting) as store:
        store.add([paper(1), paper(2), paper(3)])
        counting.asked.clear()
        changed = [paper(1, citation_count=7), paper(2, abstract="Zebra crossings."), paper(3), paper(4)]
        assert store.add(changed) == (1, 2, 1)
        assert counting.asked == [paper_text(changed[1]), paper_text(changed[3])]
        assert store.get("p:0001") == changed[0]
        assert pairs(store.search(query("Zebra crossings"), 1))[0][0] == "p:0002"
        assert store.count() == 4


def test_references_that_were_not_requested_stay_stored(store: Store) -> None:
    store.add([paper(1), paper(2, references=["p:0001"])])
    store.add([paper(2, references=None, citation_count=3)])
    stored = store.get("p:0002")
    assert stored is not None
    assert (stored.references, stored.citation_count) == (("p:0001",), 3)
    assert store.citations("p:0001") == [stored]
    store.add([paper(2, references=[])])
    assert store.citations("p:0001") == []


def test_of_two_records_with_one_id_the_last_counts(store: Store) -> None:
    assert store.add([paper(1, title="First"), paper(1, title="Second")]) == (1, 0, 0)
    assert store.get("p:0001") == paper(1, title="Second")


def test_progress_counts_papers_that_are_there_already(store: Store) -> None:
    store.add([paper(number) for number in range(10)])
    messages: list[tuple[int, int]] = []
    store.add([paper(number) for number in range(50)], lambda done, total: messages.append((done, total)))
    assert messages == [(42, 50), (50, 50)]


# --- the index of large stores ------------------------------------------------------------------


def test_the_index_agrees_with_the_exact_search(folder: Path) -> None:
    with Store.open(folder, EMBEDDER) as exact, Store.open(folder, EMBEDDER, exact_below=0) as indexed:
        exact.add(starter_corpus().papers)
        for text in ("reasoning step by step", "diffusion of images"):
            wanted = pairs(exact.search(query(text), 10))
            results = pairs(indexed.search(query(text), 10))
            assert [row[0] for row in results] == [row[0] for row in wanted]
            assert [row[1] for row in results] == pytest.approx([row[1] for row in wanted], abs=1.1e-4)
        assert len(indexed.search(query("x"), 10_000)) == exact.count()


ADD = """
import sys
from pathlib import Path
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.store.store import Store
from ideagora.schema import Paper
first, last = int(sys.argv[2]), int(sys.argv[3])
with Store.open(Path(sys.argv[1]), HashEmbedder()) as store:
    print("open", flush=True)
    sys.stdin.readline()
    papers = [Paper(id=f"q:{n:05}", title=f"Added {n} by {first}", references=()) for n in range(first, last)]
    store.add(papers)
"""


@pytest.mark.parametrize(("exact_below", "added"), [(0, 1050), (20_000, 50)])
def test_search_returns_what_another_process_adds(folder: Path, exact_below: int, added: int) -> None:
    """Past 1,000 vectors Chroma writes its index anew, which a client of before does not survive."""
    with Store.open(folder, EMBEDDER, exact_below=exact_below) as store:
        store.add([paper(number) for number in range(40)])
        assert store.search(query("Added 42 by 0"), 1)[0].paper.id.startswith("p:")
        with Script(ADD, folder, 0, added) as writer:
            writer.go_on()
            assert writer.end() == (0, "open\n")
        assert pairs(store.search(query("Added 42 by 0"), 1)) == [("q:00042", 1.0)]
        store.add([paper(9000, title="Zebra crossings")])
        assert store.search(query("Zebra crossings"), 1)[0].paper.id == "p:9000"
        assert store.count() == 41 + added


# --- several processes and threads --------------------------------------------------------------


def test_processes_that_write_at_once_lose_nothing(folder: Path) -> None:
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(Script(ADD, folder, first, first + 100)) for first in (0, 100, 200)]
        assert [writer.line() for writer in writers] == ["open\n"] * 3
        for writer in writers:
            writer.go_on()
        assert [writer.end() for writer in writers] == [(0, "")] * 3
    with Store.open(folder, EMBEDDER) as store:
        results = store.search(query("Added"), 2000)
        assert {one.paper.id for one in results} == {f"q:{number:05}" for number in range(300)}


def test_threads_share_a_store(store: Store) -> None:
    def work(number: int) -> list[ScoredPaper]:
        store.add([paper(number, title=f"Thread {number}", abstract=None)])
        return store.search(query(f"Thread {number}"), 1)

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(work, range(30)))
    assert [pairs(one) for one in results] == [[(f"p:{number:04}", 1.0)] for number in range(30)]
    assert store.count() == 30


HOLD = """
import sys
from pathlib import Path
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.store.store import Store
with Store.open(Path(sys.argv[1]), HashEmbedder()) as store, store.write_lock():
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[Script]:
    """A process that holds the store until a line comes, or it is killed."""
    with Script(HOLD, folder, "--a-flag") as holder:
        assert holder.line() == "held\n"
        yield holder


def test_a_killed_process_releases_the_lock_and_the_waiting_one_reports_it(
    folder: Path, store: Store
) -> None:
    messages: list[str] = []
    with locked(folder) as holder:

        def kill(message: str) -> None:
            messages.append(message)
            holder.kill()

        with Store.open(folder, EMBEDDER, on_wait=kill) as waiting:
            assert waiting.add([paper(1)]) == (1, 0, 0)
    assert len(messages) == 1
    assert f"process {holder.pid} (-c {folder} --a-flag) since 20" in messages[0]
    assert str(folder) in messages[0]


def test_a_lock_timeout_names_the_holder(folder: Path, store: Store) -> None:
    store.add([paper(1)])
    with locked(folder) as holder, Store.open(folder, EMBEDDER, timeout=0.05) as waiting:
        assert waiting.get("p:0001") == paper(1)  # records can be read all the time
        with pytest.raises(StoreBusy) as caught:
            waiting.add([paper(2)])
        message = str(caught.value)
        assert f"process {holder.pid} (-c {folder} --a-flag) since 20" in message
        assert str(folder) in message
        assert "\n" not in message
        holder.go_on()
        assert holder.end() == (0, "")
        assert waiting.add([paper(2)]) == (1, 0, 0)
    assert not (folder / "store.holder.json").exists()


def test_one_holder_is_announced_once(folder: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "_POLL_SECONDS", 0.01)
    messages: list[str] = []
    with locked(folder), Store.open(folder, EMBEDDER, timeout=0.2, on_wait=messages.append) as waiting:
        for times in (1, 2):
            with pytest.raises(StoreBusy):
                waiting.add([paper(1)])
            assert len(messages) == times


def test_a_note_of_a_dead_process_holds_nobody_up(folder: Path, store: Store) -> None:
    note = {"pid": 999_999_999, "command": "gone", "since": "1999"}
    (folder / "store.holder.json").write_text(json.dumps(note))
    with Store.open(folder, EMBEDDER, timeout=0) as other:
        assert other.add([paper(1)]) == (1, 0, 0)


def test_an_unreadable_note_is_no_name(folder: Path, store: Store) -> None:
    with locked(folder):
        (folder / "store.holder.json").write_text('{"pid": 1')
        with (
            Store.open(folder, EMBEDDER, timeout=0) as other,
            pytest.raises(StoreBusy, match="another process"),
        ):
            other.add([paper(1)])


def test_an_embedder_that_fails_leaves_the_lock_open(folder: Path, store: Store) -> None:
    class Failing(HashEmbedder):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise OSError("no weights here")

    with (
        Store.open(folder, Failing()) as failing,
        pytest.raises(OSError, match="no weights"),
        failing.write_lock(),
    ):
        failing.add([paper(1)])
    with Store.open(folder, EMBEDDER, timeout=0) as other:
        assert other.add([paper(1)]) == (1, 0, 0)


ADD_AND_TELL = """
import sys
from pathlib import Path
from ideagora.models.embeddings.embedder import CachedEmbedder
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.models.embeddings.cache import VectorCache
from ideagora.retrieval.store import embedding
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.store.store import Store
from ideagora.retrieval.store.embedded.chroma_index import ChromaIndex

point = sys.argv[2]

def stop(*_):
    print("now", flush=True)
    sys.stdin.readline()

class Stopping(ChromaIndex):
    writes = 0
    def upsert(self, ids, vectors):
        Stopping.writes += 1
        if point == "before vectors" and self.writes == 3:
            stop()
        super().upsert(ids, vectors)
        if point == "between vectors and records" and self.writes == 3:
            stop()

embedder = CachedEmbedder(HashEmbedder(), VectorCache(Path(sys.argv[3])))
with Store.open(Path(sys.argv[1]), embedder) as store:
    store.backend._vectors._index = Stopping(store.folder)
    embedding.WRITE_BATCH = 64
    store.add(starter_corpus().papers, lambda done, total: point == "after records" and done > 200 and stop())
"""


@pytest.mark.parametrize("point", ["before vectors", "between vectors and records", "after records"])
def test_a_killed_writer_breaks_nothing(folder: Path, tmp_path: Path, point: str) -> None:
    with Script(ADD_AND_TELL, folder, point, tmp_path / "cache") as writer:
        assert writer.line() == "now\n"
    counting = Counting()
    embedder = CachedEmbedder(counting, VectorCache(tmp_path / "cache"))
    with Store.open(folder, embedder, timeout=5) as store:
        written = store.count()
        assert written == (192 if point == "after records" else 128)
        assert len(store.search(query("models"), 1000)) == written
        corpus = starter_corpus().papers
        assert store.add(corpus) == (len(corpus) - written, 0, written)
        embedded = 224 if point == "after records" else 192  # of which the cache kept the vectors
        assert len(counting.asked) == len(corpus) - embedded
        assert len(store.search(query("models"), 1000)) == len(corpus)


# --- stores that are not ours to open -----------------------------------------------------------


def test_another_embedder_is_refused(folder: Path, store: Store) -> None:
    with pytest.raises(LibraryError, match=r"made with the embedder hash, not other\..*IDEAGORA_STORE"):
        Store.open(folder, Other())
    assert store.add([paper(1)]) == (1, 0, 0)


@pytest.mark.parametrize(
    ("version", "step"), [("0", "It cannot be upgraded"), ("3", "the newer"), ("?", "It cannot")]
)
def test_a_version_that_is_not_ours_is_refused(folder: Path, version: str, step: str) -> None:
    Store.open(folder, EMBEDDER).close()
    with closing(sqlite3.connect(folder / "records.sqlite")) as connection, connection:
        connection.execute("UPDATE manifest SET value = ? WHERE key = 'version'", (version,))
    with pytest.raises(LibraryError, match=rf"has version .*{step}.*remove this one"):
        Store.open(folder, EMBEDDER)


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(FolderUnusable, match=r"thesis\.tex"):
        Store.open(tmp_path, EMBEDDER)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FolderUnusable, match="IDEAGORA_STORE"):
        Store.open(tmp_path / "file" / "store", EMBEDDER)


FILL_UP = """
import resource, signal, sys
from pathlib import Path
from ideagora.errors import FolderUnusable
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.store.store import Store
import chromadb  # before the limit: it writes compiled modules

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    with Store.open(Path(sys.argv[1]), HashEmbedder()) as store:
        store.add(starter_corpus().papers)
except FolderUnusable as error:
    print(error)
"""


@pytest.mark.parametrize("limit", [20_000, 200_000, 1_000_000])
def test_files_that_may_not_grow_are_an_error_and_not_damage(folder: Path, limit: int) -> None:
    """A limit on the size of files looks to SQLite as a full disk with a quota does."""
    with Script(FILL_UP, folder, limit) as filling:
        code, said = filling.end()
    assert code == 0
    assert said.startswith(f"the folder {folder} cannot be used for the store: ")
    with Store.open(folder, EMBEDDER) as store:  # there is room again
        corpus = starter_corpus().papers
        store.add(corpus)
        assert len(store.search(query("models"), 1000)) == len(corpus)


# --- damage -------------------------------------------------------------------------------------


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def garbage(path: Path) -> None:
    path.write_bytes(b"no database " * (path.stat().st_size // 12))


def middle(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xa5" * 20_000)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def remove(path: Path) -> None:
    path.unlink()


def use(folder: Path) -> None:
    with Store.open(folder, EMBEDDER, exact_below=0) as store:
        store.search(query("models"), 10)


def rebuilds(folder: Path, *, embedding: bool = False) -> None:
    """All papers are found again, by the index too, and nothing is embedded that need not be."""
    counting = Counting()
    with Store.open(folder, counting) as exact, Store.open(folder, counting, exact_below=0) as indexed:
        assert len(exact.search(query("models"), 2000)) == exact.count() > 0
        assert len(indexed.search(query("models"), 10)) == 10
        assert len(counting.asked) == (exact.count() if embedding else 0)


@pytest.mark.parametrize("damage", [cut, garbage, middle, empty, remove])
def test_damaged_records_are_named_and_the_store_can_be_rebuilt(
    folder: Path, damage: Callable[[Path], None]
) -> None:
    with Store.open(folder, EMBEDDER) as store:
        store.add(starter_corpus().papers)
    damage(folder / "records.sqlite")
    with pytest.raises(StoreCorrupted) as caught:
        use(folder)
    message = str(caught.value)
    assert f"the store in {folder} cannot be read" in message
    assert "Rename this folder" in message
    assert "\n" not in message
    shutil.rmtree(folder)
    use(folder)


@pytest.mark.parametrize("damage", [cut, garbage, middle, empty, remove])
def test_damaged_vectors_are_named_and_made_anew_from_the_records(
    folder: Path, damage: Callable[[Path], None]
) -> None:
    with Store.open(folder, EMBEDDER) as store:
        store.add(starter_corpus().papers)
    damage(folder / "chroma" / "chroma.sqlite3")
    with pytest.raises(StoreCorrupted) as caught:
        use(folder)
    message = str(caught.value)
    assert f"the store in {folder} cannot be read" in message
    assert f"Remove {folder}/chroma" in message
    assert "\n" not in message
    shutil.rmtree(folder / "chroma")
    rebuilds(folder)


def test_a_lock_that_is_none_is_named(folder: Path) -> None:
    with Store.open(folder, EMBEDDER) as store:
        store.add([paper(1)])
    (folder / "store.lock").write_bytes(b"no lock " * 1000)
    with pytest.raises(StoreCorrupted, match=f"Remove {folder}/store.lock"):
        use(folder)
    (folder / "store.lock").unlink()
    use(folder)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("data_level0.bin", garbage),
        ("header.bin", cut),
        ("index_metadata.pickle", remove),
        ("length.bin", middle),
    ],
)
def test_a_damaged_index_is_named_before_chroma_sees_it(
    folder: Path, large_store: Path, name: str, damage: Callable[[Path], None]
) -> None:
    """Chroma writes an index past 1,000 vectors, and some of these damages end the process that reads it."""
    shutil.copytree(large_store, folder)
    (index,) = folder.glob(f"chroma/*/{name}")
    damage(index)
    with pytest.raises(StoreCorrupted, match=f"Remove {folder}/chroma"):
        use(folder)
    shutil.rmtree(folder / "chroma")
    rebuilds(folder)


@pytest.fixture(scope="module")
def large_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large") / "store"
    with Store.open(folder, EMBEDDER) as store:
        store.add([paper(number) for number in range(1010)])
    return folder


def test_a_damaged_record_is_named(folder: Path) -> None:
    with Store.open(folder, EMBEDDER) as store:
        store.add([paper(1)])
    with closing(sqlite3.connect(folder / "records.sqlite")) as connection, connection:
        connection.execute("UPDATE papers SET record = '{}'")
    with Store.open(folder, EMBEDDER) as store, pytest.raises(StoreCorrupted, match="record of p:0001"):
        store.get("p:0001")


@pytest.mark.parametrize("damage", [cut, garbage, middle, empty])
def test_damaged_rows_are_named_and_made_anew_from_chroma(
    folder: Path, damage: Callable[[Path], None]
) -> None:
    with Store.open(folder, EMBEDDER) as store:
        store.add(starter_corpus().papers)
    damage(folder / "vectors.1.f32")
    with (
        pytest.raises(StoreCorrupted, match=f"Remove {folder}/vectors.1.f32 and run"),
        Store.open(folder, EMBEDDER) as store,
    ):
        store.search(query("x"), 1)
    (folder / "vectors.1.f32").unlink()
    rebuilds(folder)
    assert [path.name for path in folder.glob("*.f32")] == ["vectors.2.f32"]


def test_rows_that_were_cut_get_no_new_ones(folder: Path) -> None:
    with Store.open(folder, EMBEDDER) as store:
        store.add([paper(1), paper(2)])
    cut(folder / "vectors.1.f32")
    with Store.open(folder, EMBEDDER) as store, pytest.raises(StoreCorrupted, match="shorter"):
        store.add([paper(3)])


def test_without_any_vectors_all_are_embedded_again(folder: Path) -> None:
    with Store.open(folder, EMBEDDER) as store:
        store.add(starter_corpus().papers)
    (folder / "vectors.1.f32").unlink()
    shutil.rmtree(folder / "chroma")
    rebuilds(folder, embedding=True)


def test_a_vector_that_chroma_lost_is_embedded_again(folder: Path) -> None:
    with Store.open(folder, EMBEDDER) as store:
        store.add([paper(1), paper(2)])
        backend = store.backend
        assert isinstance(backend, EmbeddedBackend)
        with backend.write_lock(), backend._vectors._index._client() as client:
            backend._vectors._mark_chroma_open()
            backend._vectors._index._collection(client).delete(ids=["p:0002"])
    (folder / "vectors.1.f32").unlink()
    counting = Counting()
    with Store.open(folder, counting) as store:
        assert {one.paper.id for one in store.search(query("x"), 5)} == {"p:0001", "p:0002"}
    assert counting.asked == [paper_text(paper(2))]


def test_a_reader_of_before_outlives_rows_made_anew(folder: Path, store: Store) -> None:
    store.add([paper(1), paper(2)])
    wanted = pairs(store.search(query("Paper 2"), 2))
    (folder / "vectors.1.f32").unlink()
    with Store.open(folder, EMBEDDER) as other:
        assert other.add([paper(3)]) == (1, 0, 0)
    assert pairs(store.search(query("Paper 2"), 3)) == sorted(
        [*wanted, *[row for row in pairs(store.search(query("Paper 2"), 3)) if row[0] == "p:0003"]],
        key=lambda row: (-row[1], row[0]),
    )


def test_a_closed_store_is_our_mistake_and_not_damage(folder: Path) -> None:
    store = Store.open(folder, EMBEDDER)
    store.close()
    with pytest.raises(sqlite3.ProgrammingError):
        store.get("p:0001")
