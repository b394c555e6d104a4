"""From store to store: everything arrives, the source stays as it is, a stop is no loss."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ideagora.errors import LibraryError, UsageError
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.store.citation_lists import CitationLists, NeighborList
from ideagora.retrieval.store.fulltext import FullText, FullTextStore, Section
from ideagora.retrieval.store.migration import StoreLocation, migrate
from ideagora.retrieval.store.store import Store
from ideagora.schema import ScoredPaper
from tests.support.chroma_server import chroma_server, clear_server
from tests.support.command import run
from tests.support.old_store import make_version_1
from tests.support.script import Script

EMBEDDER = HashEmbedder()
PAPERS = starter_corpus().papers
TEXT = FullText(sections=(Section(kind="method", heading="Method", text="We do."),), as_of="2020-01")
REPORTED = [("x:1", PAPERS[0].id), (PAPERS[9].id, PAPERS[3].id)]


class Silent(HashEmbedder):
    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise AssertionError("nothing need be embedded")


class Other(HashEmbedder):
    name = "other"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return super().encode([text[::-1] for text in texts])


def search(store: Store) -> list[ScoredPaper]:
    return store.search(EMBEDDER.encode(["reasoning step by step"])[0], 20)


def content(folder: Path) -> dict[str, bytes]:
    """What a folder holds, without what mere reading makes and removes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-wal", "-shm")) and "store." not in path.name
    }


@pytest.fixture
def source(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "source"))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original") / "source"
    with Store.open(folder, EMBEDDER) as store:
        store.add(PAPERS)
        store.add_citations(REPORTED)
        store.set_metadata("corpus", "v1")
        with closing(CitationLists(folder)) as citation_lists:
            citation_lists.add_names({PAPERS[0].id: ["doi:10.1/x"]})
            citation_lists.save(
                PAPERS[0].id, "references", "arxiv", NeighborList((PAPERS[1].id,), "2024-01-01")
            )
        FullTextStore(folder).put([(PAPERS[0].id, TEXT)])
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with chroma_server(tmp_path_factory.mktemp("server")) as url:
        yield url


def assert_same_content(one: Store, other: Store) -> None:
    assert search(one) == search(other)
    assert [one.get(paper.id) for paper in PAPERS] == [other.get(paper.id) for paper in PAPERS]
    assert one.backend.reported_citations() == other.backend.reported_citations()
    assert one.backend.metadata() == other.backend.metadata()
    assert (
        FullTextStore(one.folder).get(PAPERS[0].id) == FullTextStore(other.folder).get(PAPERS[0].id) == TEXT
    )
    with closing(CitationLists(one.folder)) as ours, closing(CitationLists(other.folder)) as theirs:
        assert ours.names(PAPERS[0].id) == theirs.names(PAPERS[0].id) == ["doi:10.1/x"]
        assert ours.get(PAPERS[0].id, "references", "arxiv") == theirs.get(
            PAPERS[0].id, "references", "arxiv"
        )


def test_there_and_back_again(source: Path, server: str, tmp_path: Path) -> None:
    before = content(source)
    there = StoreLocation(server, tmp_path / "here")
    progress: list[tuple[int, int]] = []
    moved = migrate(
        StoreLocation(None, source), there, Silent(), lambda done, total: progress.append((done, total))
    )
    assert progress[-1] == (len(PAPERS), len(PAPERS))
    assert (moved.papers, moved.sent, moved.embedded) == (len(PAPERS), len(PAPERS), 0)
    assert (moved.citations, moved.files) == (2, ("texts.sqlite", "walks.sqlite"))
    assert content(source) == before
    back = StoreLocation(None, tmp_path / "back")
    migrate(there, back, Silent())
    with Store.open(source, EMBEDDER) as one, Store.open(back.folder, EMBEDDER) as other:
        assert_same_content(one, other)
    again = migrate(there, back, Silent())
    assert (again.papers, again.sent) == (len(PAPERS), 0)


def test_an_older_version_is_copied_and_stays_as_it_is(tmp_path: Path) -> None:
    source = tmp_path / "source"
    make_version_1(source, EMBEDDER, PAPERS, REPORTED)
    before = content(source)
    moved = migrate(StoreLocation(None, source), StoreLocation(None, tmp_path / "new"), Silent())
    assert (moved.sent, moved.embedded, moved.citations) == (len(PAPERS), 0, 2)
    assert content(source) == before
    with Store.open(tmp_path / "new", EMBEDDER) as new, Store.open(source, EMBEDDER) as old:
        assert search(new) == search(old)


def test_to_another_embedder(source: Path, tmp_path: Path) -> None:
    moved = migrate(StoreLocation(None, source), StoreLocation(None, tmp_path / "new"), Other())
    assert (moved.sent, moved.embedded) == (len(PAPERS), len(PAPERS))
    with Store.open(tmp_path / "new", Other()) as new:
        assert new.count() == len(PAPERS)
        results = new.search(Other().encode([PAPERS[3].title])[0], 1)
        assert results[0].similarity > 0.5


def test_rows_that_are_gone_are_embedded_in_the_target(source: Path, tmp_path: Path) -> None:
    (source / "vectors.1.f32").unlink()
    before = content(source)
    moved = migrate(StoreLocation(None, source), StoreLocation(None, tmp_path / "new"), EMBEDDER)
    assert (moved.sent, moved.embedded) == (len(PAPERS), len(PAPERS))
    assert content(source) == before


def test_into_a_store_with_papers_of_its_own(source: Path, tmp_path: Path) -> None:
    own = PAPERS[0].model_copy(update={"id": "own:1", "title": "Widths of bridges"})
    older = PAPERS[1].model_copy(update={"title": "Before it was corrected"})
    with Store.open(tmp_path / "new", EMBEDDER) as new:
        new.add([own, older, PAPERS[2]])
        FullTextStore(new.folder).put([("own:1", TEXT)])
    moved = migrate(StoreLocation(None, source), StoreLocation(None, tmp_path / "new"), EMBEDDER)
    assert moved.sent == len(PAPERS) - 1
    with Store.open(tmp_path / "new", EMBEDDER) as new:
        assert new.count() == len(PAPERS) + 1
        assert new.get("own:1") == own
        assert new.get(older.id) == PAPERS[1]
        assert FullTextStore(new.folder).count() == 2


MOVE_AND_STOP = """
import sys
from pathlib import Path
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.store import migration
migration._BATCH = 50

def tell(done, total):
    if done >= 100:
        print("now", flush=True)
        sys.stdin.readline()

places = [migration.StoreLocation(None, Path(folder)) for folder in sys.argv[1:]]
migration.migrate(*places, HashEmbedder(), tell)
"""


def test_a_killed_migration_goes_on(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "new"
    with Script(MOVE_AND_STOP, source, target) as moving:
        assert moving.line() == "now\n"
    moved = migrate(StoreLocation(None, source), StoreLocation(None, target), Silent())
    assert moved.sent == len(PAPERS) - 100
    with Store.open(source, EMBEDDER) as one, Store.open(target, EMBEDDER) as other:
        assert_same_content(one, other)


def test_from_a_folder_that_cannot_be_written(source: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    source.chmod(0o500)
    try:
        assert migrate(
            StoreLocation(None, source), StoreLocation(None, tmp_path / "new"), Silent()
        ).sent == len(PAPERS)
    finally:
        source.chmod(0o700)


def test_what_cannot_be_migrated(source: Path, server: str, tmp_path: Path) -> None:
    here, nowhere = StoreLocation(None, source), StoreLocation(None, tmp_path / "nowhere")
    with pytest.raises(UsageError, match="cannot be copied to itself"):
        migrate(here, StoreLocation(None, tmp_path / "x" / ".." / "source"), EMBEDDER)
    with pytest.raises(LibraryError, match=r"there is no store in .*nowhere"):
        migrate(nowhere, here, EMBEDDER)
    assert not nowhere.folder.exists()
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("precious")
    with pytest.raises(Exception, match=r"thesis\.tex"):
        migrate(here, StoreLocation(None, tmp_path / "thesis"), EMBEDDER)


def test_the_command(source: Path, server: str, tmp_path: Path) -> None:
    url = server
    clear_server(url)
    environment = {"IDEAGORA_EMBEDDER": "hash", "IDEAGORA_HOME": str(tmp_path / "home")}
    none = run(["library", "migrate", str(tmp_path / "x"), "--from", url], environment)
    assert (none.code, none.out) == (1, "")
    assert f"there is no ideagora store on {url}" in none.err
    done = run(["library", "migrate", url, "--store", str(source)], environment)
    assert done.code == 0, done.err
    assert f"all {len(PAPERS)} of {source} are in {url}" in done.out
    back = run(["library", "migrate", str(tmp_path / "back"), "--from", url, "--json"], environment)
    assert json.loads(back.out)["sent"] == len(PAPERS)
    itself = run(["library", "migrate", url, "--store", url], environment)
    assert (itself.code, itself.out) == (2, "")
