"""The store on a real Chroma server: the same answers as from a folder, for several users at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

from ideagora.config import load_settings, server_url
from ideagora.errors import LibraryError, SettingsError, StoreCorrupted
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.store.chroma_server import CITATIONS, MARKS, PAPERS, ChromaServerBackend
from ideagora.retrieval.store.migration import StoreLocation
from ideagora.retrieval.store.store import Store, paper_text
from ideagora.schema import Paper, ScoredPaper
from tests.support.chroma_server import chroma_server, clear_server, connect_client, free_port
from tests.support.command import run

EMBEDDER = HashEmbedder()
CORPUS = starter_corpus().papers
LOGIN = "http://me:" + "secret@host:8000"


class Other(HashEmbedder):
    name = "other"


def paper(number: int, **fields: object) -> Paper:
    given = {"title": f"Paper {number} on subject {number % 7}", "references": []}
    return Paper.model_validate({"id": f"p:{number:04}", **given, **fields})


def pairs(results: list[ScoredPaper]) -> list[tuple[str, float]]:
    return [(one.paper.id, one.similarity) for one in results]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with chroma_server(tmp_path_factory.mktemp("server")) as url:
        yield url


@pytest.fixture
def url(server: str) -> str:
    """The server without a store."""
    clear_server(server)
    return server


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Store]:
    with Store.open_at(url, tmp_path / "here", EMBEDDER) as opened:
        yield opened


def test_a_server_answers_as_a_folder_does(store: Store, tmp_path: Path) -> None:
    with Store.open(tmp_path / "folder", EMBEDDER) as folder:
        for one in (store, folder):
            assert one.add(CORPUS) == (len(CORPUS), 0, 0)
            assert one.add(CORPUS) == (0, 0, len(CORPUS))
            one.add_citations([(CORPUS[5].id, "x:1"), ("x:2", CORPUS[5].id), (CORPUS[9].id, CORPUS[5].id)])
        for text in ("reasoning step by step", "diffusion of images"):
            vector = EMBEDDER.encode([text])[0]
            assert pairs(store.search(vector, 10)) == pairs(folder.search(vector, 10))
            for day in ("2019-06-15", "1990-01-01", "9999-01-01"):
                assert pairs(store.search(vector, 10, day)) == pairs(folder.search(vector, 10, day))
        for known in CORPUS[:12]:
            assert store.get(known.id) == folder.get(known.id) == known
            assert store.references(known.id) == folder.references(known.id)
            assert store.citations(known.id) == folder.citations(known.id)
        theirs, ours = (one.stats().model_dump() for one in (store, folder))
        assert list(store.identities()) == list(folder.identities())
        assert store.backend.reported_citations() == folder.backend.reported_citations()
    differ = {"kind", "folder", "size_bytes"}
    assert {name: value for name, value in theirs.items() if name not in differ} == {
        name: value for name, value in ours.items() if name not in differ
    }
    assert (theirs["kind"], theirs["size_bytes"]) == ("server", None)


def test_what_one_user_adds_another_one_sees(url: str, store: Store, tmp_path: Path) -> None:
    with Store.open_at(url, tmp_path / "another home", EMBEDDER) as other:
        assert other.search(EMBEDDER.encode(["Paper"])[0], 3) == []
        assert store.add([paper(1, date="2020-01"), paper(2, references=["p:0001"])]) == (2, 0, 0)
        store.set_metadata("corpus", "v1")
        assert other.get("p:0001") == paper(1, date="2020-01")
        assert other.citations("p:0001") == [paper(2, references=["p:0001"])]
        assert other.has(["p:0001", "p:0009"]) == [True, False]
        assert other.get_metadata("corpus") == "v1"
        assert other.get_metadata("another") is None
        assert other.generation == 2


def test_records_are_brought_up_to_date(store: Store) -> None:
    store.add([paper(1, date="2020"), paper(2, references=["p:0001"], date="2021")])
    assert store.add([paper(2, date=None, citation_count=3)]) == (0, 1, 0)  # its references are none now
    assert store.get("p:0002") == paper(2, citation_count=3)
    assert store.citations("p:0001") == []
    assert pairs(store.search(EMBEDDER.encode(["Paper"])[0], 5, "2022-01-01"))[0][0] == "p:0001"
    assert len(store.search(EMBEDDER.encode(["Paper"])[0], 5, "2022-01-01")) == 1
    store.add([paper(3, references=None)])
    store.add_citations([("p:0003", "p:0001")])
    assert store.citations("p:0001") == [paper(3, references=None)]
    assert store.add([paper(3, references=["p:0002"])]) == (0, 1, 0)  # its own list counts from now on
    assert store.citations("p:0001") == []
    assert store.references("p:0003") == [paper(2, citation_count=3)]


def test_ties_are_ordered_by_id(store: Store) -> None:
    store.add([paper(number, title="The same words") for number in (5, 3, 9, 1)])
    results = pairs(store.search(EMBEDDER.encode(["The same words"])[0], 3))
    assert results == [("p:0001", 1.0), ("p:0003", 1.0), ("p:0005", 1.0)]


def test_threads_and_users_write_at_once(url: str, store: Store, tmp_path: Path) -> None:
    def work(number: int) -> list[ScoredPaper]:
        with Store.open_at(url, tmp_path / f"user {number % 3}", EMBEDDER) as mine:
            mine.add([paper(number, title=f"Thread {number}")])
            return mine.search(EMBEDDER.encode([f"Thread {number}"])[0], 1)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(12)))
    assert [pairs(one) for one in results] == [[(f"p:{number:04}", 1.0)] for number in range(12)]
    assert store.count() == 12


def test_another_embedder_is_refused(url: str, store: Store, tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match=r"made with the embedder hash, not other\. Set IDEAGORA_EMB"):
        Store.open_at(url, tmp_path / "other", Other())


def test_another_version_is_refused(url: str, tmp_path: Path) -> None:
    with connect_client(url) as client:
        client.create_collection(PAPERS, metadata={"ideagora-version": "9", "ideagora-embedder": "hash"})
    with pytest.raises(LibraryError, match=r"has version 9, this program reads 2\."):
        Store.open_at(url, tmp_path / "other", EMBEDDER)


def test_a_damaged_record_is_named(url: str, store: Store) -> None:
    store.add([paper(1)])
    with connect_client(url) as client:
        client.get_collection(PAPERS).update(ids=["p:0001"], metadatas=[{"record": "{}"}])
    with pytest.raises(StoreCorrupted, match=r"record of p:0001 in the store on http.* is damaged"):
        store.get("p:0001")


def test_collections_that_go_are_named(url: str, store: Store) -> None:
    store.add([paper(1)])
    with connect_client(url) as client:
        for name in (PAPERS, CITATIONS, MARKS):
            client.delete_collection(name)
    with pytest.raises(LibraryError, match=rf"{url} refused a request \(NotFoundError: "):
        store.get("p:0001")


def test_a_server_that_goes_is_named(tmp_path: Path) -> None:
    with chroma_server(tmp_path / "server") as url:
        store = Store.open_at(url, tmp_path / "here", EMBEDDER)
        store.add([paper(1)])
    with pytest.raises(LibraryError, match=rf"no Chroma server answers at {url} \(.*chroma run --path"):
        store.get("p:0001")
    store.close()
    with pytest.raises(LibraryError, match=rf"no Chroma server answers at {url} "):
        Store.open_at(url, tmp_path / "here", EMBEDDER)


class Web(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>Welcome</html>")

    def log_message(self, *_: object) -> None:
        pass


def test_a_server_of_another_kind_is_named(tmp_path: Path) -> None:
    with HTTPServer(("127.0.0.1", 0), Web) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        with pytest.raises(LibraryError, match=r"is not a Chroma server of version 1"):
            Store.open_at(f"http://127.0.0.1:{web.server_port}", tmp_path / "here", EMBEDDER)
        web.shutdown()


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (LOGIN, "a URL with a login"),
        ("ftp://host", "is 'ftp://host'. Use a folder, or a Chroma server as http://host:port"),
        ("http://host:port", "as http://host:port"),
        ("http://host:8000/store", "as http://host:port"),
        ("http://", "as http://host:port"),
    ],
)
def test_invalid_store_locations(place: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDEAGORA_STORE", place)
    with pytest.raises(SettingsError, match=message) as caught:
        load_settings()
    assert "secret" not in str(caught.value)
    done = run(["library", "stats"], {"IDEAGORA_STORE": place, "IDEAGORA_EMBEDDER": "hash"})
    assert (done.code, done.out) == (2, "")
    assert "secret" not in done.err


def test_places(tmp_path: Path) -> None:
    assert server_url("HTTP://Host.Example:8000/") == "http://host.example:8000"
    assert server_url("https://host") == "https://host"
    assert server_url("~/papers") is None
    settings = load_settings(store="http://127.0.0.1:8000", home=tmp_path)
    assert settings.store_folder == tmp_path / "servers" / "127.0.0.1-8000"
    assert str(StoreLocation(settings.store_url, settings.store_folder)) == "http://127.0.0.1:8000"


def test_the_command_line_on_a_server(url: str, tmp_path: Path) -> None:
    environment = {"IDEAGORA_EMBEDDER": "hash", "IDEAGORA_STORE": url, "IDEAGORA_HOME": str(tmp_path)}
    (tmp_path / "own.jsonl").write_text('{"title": "Widths of bridges in Ghent", "date": "2019"}\n')
    added = run(["library", "add", str(tmp_path / "own.jsonl")], environment)
    assert added.code == 0, added.err
    assert f"Store: {url}" in added.out
    result = run(["library", "search", "widths of bridges in Ghent", "--k", "1"], environment)
    assert "Widths of bridges" in result.out
    early = run(["library", "search", "widths of bridges", "--k", "3", "--before", "2018"], environment)
    assert early.code == 0
    assert "Widths" not in early.out
    stats = run(["library", "stats"], environment)
    assert stats.code == 0, stats.err
    for text in ("server", url, f"{len(CORPUS) + 1}", "jsonl 1"):
        assert text in stats.out
    down = f"http://127.0.0.1:{free_port()}"
    for command in (["library", "stats"], ["library", "search", "x"], ["generate", "bridges"]):
        done = run([*command, "--store", down], environment)
        assert (done.code, done.out) == (4, "")
        assert f"no Chroma server answers at {down}" in done.err
        assert "Traceback" not in done.err


def test_pages_of_a_server_contain_all_rows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ideagora.retrieval.store.chroma_collection._PAGE_SIZE", 7)
    monkeypatch.setattr("ideagora.retrieval.store.chroma_collection._WRITE_SIZE", 4)
    papers = [paper(number, references=[f"p:{number - 1:04}"]) for number in range(30)]
    store.add(papers)
    backend = store.backend
    assert isinstance(backend, ChromaServerBackend)
    assert backend.ids() == {one.id for one in papers}
    assert backend.papers([one.id for one in papers]) == {one.id: one for one in papers}
    wanted = dict(
        zip([one.id for one in papers], EMBEDDER.encode(list(map(paper_text, papers))), strict=True)
    )
    got = backend.vectors([one.id for one in papers])
    assert all(np.allclose(got[name], wanted[name], atol=1e-6) for name in wanted)  # Chroma norms them
    assert store.stats().citations == 29
