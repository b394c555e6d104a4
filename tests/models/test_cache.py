"""The cache of answers: what is put stays, for every process, and a broken file stops nobody."""

from __future__ import annotations

import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ideagora.errors import FolderUnusable
from ideagora.models.cache.answers import CachedResponse, ResponseCache, utc_now
from ideagora.schema import Usage

WRITER = """
import sys
from pathlib import Path
from ideagora.models.cache.answers import ResponseCache, CachedResponse
from ideagora.schema import Usage
cache = ResponseCache(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    key = f"{sys.argv[2]}-{number}"
    usage = Usage(calls=1)
    answer = CachedResponse(model="m", text=key, finish_reason="stop", usage=usage, run_id="r", created="t")
    cache.put(key, answer)
    print(number, flush=True)
"""


def stored(text: str = "hello", run_id: str = "run") -> CachedResponse:
    usage = Usage(calls=1, prompt_tokens=5, completion_tokens=2, cost_usd=None, seconds=0.25)
    return CachedResponse(
        model="m", text=text, finish_reason="stop", usage=usage, run_id=run_id, created=utc_now()
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "cache" / "answers.sqlite"


def writer(path: Path, name: str, number: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), name, str(number)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_what_is_put_is_got_also_later(path: Path) -> None:
    answer = stored("“ü”\n\x00 \u2028")
    cache = ResponseCache(path)
    assert cache.get("k") is None
    assert cache.put("k", answer) == answer
    assert cache.get("k") == answer
    assert cache.get("other") is None
    cache.close()
    assert cache.get("k") == answer
    cache.close()


def test_the_first_answer_to_a_request_stays(path: Path) -> None:
    cache, other = ResponseCache(path), ResponseCache(path)
    first = cache.put("k", stored("first", "one"))
    assert other.put("k", stored("second", "two")) == first
    assert cache.get("k") == first
    cache.close()
    other.close()


def test_it_lives_under_the_home(tmp_path: Path) -> None:
    cache = ResponseCache.for_home(tmp_path)
    cache.put("k", stored())
    cache.close()
    assert (tmp_path / "cache" / "answers.sqlite").is_file()


def test_several_processes_and_threads_write_at_once(path: Path) -> None:
    others = [writer(path, name, 30) for name in ("a", "b")]
    cache = ResponseCache(path)
    threads = [
        threading.Thread(target=lambda n=n: cache.put(f"here-{n}", stored(f"here-{n}"))) for n in range(30)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for process in others:
        process.communicate()
        assert process.returncode == 0
    for key in (f"{name}-{number}" for name in ("a", "b", "here") for number in range(30)):
        answer = cache.get(key)
        assert answer is not None
        assert answer.text == key
    cache.close()


def test_kill_9_takes_no_answer_back(path: Path) -> None:
    process = writer(path, "killed", 1_000_000)
    assert process.stdout is not None
    written = [int(process.stdout.readline()) for _ in range(20)]
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    cache = ResponseCache(path)
    assert all(cache.get(f"killed-{number}") is not None for number in written)
    cache.close()


@pytest.mark.parametrize("garbage", [b"this is no database", b"SQLite format 3\x00" + b"\xff" * 4096])
def test_a_corrupt_file_is_set_aside(path: Path, garbage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(garbage)
    cache = ResponseCache(path)
    with caplog.at_level(logging.WARNING):
        assert cache.get("k") is None
    answer = cache.put("k", stored())
    assert cache.get("k") == answer
    cache.close()
    aside = [other for other in path.parent.iterdir() if "corrupt" in other.name]
    assert [other.read_bytes() for other in aside] == [garbage]
    assert str(aside[0]) in caplog.text


def test_a_file_that_turns_corrupt_while_open_is_set_aside(path: Path) -> None:
    cache = ResponseCache(path)
    for number in range(200):
        cache.put(f"k{number}", stored("x" * 1_000))
    cache.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    assert cache.get("k100") is None
    assert cache.put("k100", stored("new")).text == "new"
    cache.close()


def test_a_file_that_another_process_has_replaced_is_not_set_aside_again(path: Path) -> None:
    cache = ResponseCache(path)
    cache.put("k", stored())
    cache._recover(sqlite3.DatabaseError("malformed"))
    other = ResponseCache(path)
    other.put("new", stored("new"))
    cache._inode = -1  # as of the file before
    cache._recover(sqlite3.DatabaseError("malformed"))
    assert cache.get("new") == other.get("new")
    cache.close()
    other.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file stands here")
    with pytest.raises(FolderUnusable, match=r"answers\.sqlite.*IDEAGORA_HOME"):
        ResponseCache.for_home(tmp_path).get("k")


def test_a_full_disk_is_named_and_what_was_stored_stays(path: Path) -> None:
    cache = ResponseCache(path)
    first = cache.put("k", stored())
    with cache._database.use() as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(FolderUnusable, match="full"):
        cache.put("big", stored("x" * 100_000))
    assert cache.get("k") == first
    cache.close()


def test_a_new_file_is_opened_by_many_at_once(tmp_path: Path) -> None:
    """The switch to write-ahead mode fails at once, whatever the timeout, where another is at it."""
    for number in range(20):
        path = tmp_path / str(number) / "answers.sqlite"
        path.parent.mkdir()
        together, caches = threading.Barrier(8), [ResponseCache(path) for _ in range(8)]

        def ask(cache: ResponseCache, together: threading.Barrier = together) -> None:
            together.wait()
            assert cache.get("nothing") is None

        with ThreadPoolExecutor(8) as pool:
            for done in [pool.submit(ask, cache) for cache in caches]:
                done.result()
        for cache in caches:
            cache.close()
