"""Damage to the cache of answers costs what is damaged and nothing else, and never a traceback."""

from __future__ import annotations

import logging
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ideagora.models.cache.answers import CachedResponse, ResponseCache
from ideagora.schema import Usage

ROWS = 40


def stored(number: int) -> CachedResponse:
    usage = Usage(calls=1, prompt_tokens=5, completion_tokens=2, cost_usd=0.25)
    text = f"answer {number} " + "word " * 300
    return CachedResponse(
        model="m", text=text, finish_reason="stop", usage=usage, run_id="r", created="2026-01-01"
    )


def key(number: int) -> str:
    return f"{number:064x}"


def saved(path: Path) -> set[int]:
    """The answers that are still there, each as it was written."""
    cache = ResponseCache(path)
    try:
        answers = {number: cache.get(key(number)) for number in range(ROWS)}
        assert all(answer in (None, stored(number)) for number, answer in answers.items())
        assert cache.put(key(ROWS), stored(ROWS)) == stored(ROWS), "new answers can be stored"
        return {number for number, answer in answers.items() if answer is not None}
    finally:
        cache.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A cache with answers in it, all in the one file."""
    place = tmp_path / "answers.sqlite"
    cache = ResponseCache(place)
    for number in range(ROWS):
        cache.put(key(number), stored(number))
    cache.close()
    assert not place.with_name("answers.sqlite-wal").exists()
    return place


def test_one_changed_byte_costs_at_most_the_rows_of_its_page(
    path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole, chance = path.read_bytes(), random.Random(1)
    places = [*range(0, 100, 3), *(chance.randrange(len(whole)) for _ in range(60))]
    lost = []
    for number, place in enumerate(places):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << chance.randrange(8)
        other = tmp_path / str(number) / "answers.sqlite"
        other.parent.mkdir()
        other.write_bytes(damaged)
        left = saved(other)
        lost.append(ROWS - len(left))
        assert lost[-1] <= 4, f"byte {place}: {lost[-1]} of {ROWS} are lost"
        shutil.rmtree(other.parent)
    assert sum(lost) < len(places)


def test_a_changed_byte_in_an_answer_costs_that_answer_and_says_so(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    content = bytearray(path.read_bytes())
    content[content.index(b"answer 7 word word") + 12] ^= 4
    path.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert saved(path) == set(range(ROWS)) - {7}
    (message,) = caplog.messages
    assert "will be requested again, for about $0.2500" in message
    cache = ResponseCache(path)
    assert cache.put(key(7), stored(7)) == cache.get(key(7)) == stored(7)
    cache.close()


def test_bad_pages_cost_their_own_answers(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole = path.read_bytes()
    for page in (1, 2, 3, 10, 19):
        path.write_bytes(whole[: 4096 * page] + b"\xff" * 4096 + whole[4096 * (page + 1) :])
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            left = saved(path)
        assert len(left) >= 34, f"page {page}: only {len(left)} are left"
        for aside in path.parent.glob("answers.sqlite.corrupt*"):
            lost = ROWS - len(left)
            assert (
                f"{len(left)} answers were recovered; {lost} are lost" in caplog.text
                or "unknown" in caplog.text
            )
            aside.unlink()


def test_a_file_whose_beginning_is_gone_is_read_all_the_same(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = path.read_bytes()
    path.write_bytes(b"\x00" * 4096 + whole[4096:])
    with caplog.at_level(logging.WARNING):
        assert saved(path) == set(range(ROWS))
    assert f"{ROWS} answers were recovered; an unknown number is lost" in caplog.text
    (aside,) = path.parent.glob("answers.sqlite.corrupt*")
    assert aside.read_bytes()[4096:] == whole[4096:]


def test_a_cache_of_an_older_version_gets_its_checksums_in_place(path: Path) -> None:
    rows = [(key(n), stored(n).model_dump_json(exclude={"request"}), "2026-01-01", "r") for n in range(ROWS)]
    path.unlink()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "CREATE TABLE answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL, created TEXT NOT NULL, "
            "run_id TEXT NOT NULL)"
        )
        db.executemany("INSERT INTO answers VALUES (?, ?, ?, ?)", [*rows, ("half", '{"mod', "", "")])
    assert saved(path) == set(range(ROWS))
    cache = ResponseCache(path)
    assert cache.get("half") is None
    cache.close()
    with closing(sqlite3.connect(path)) as db:
        checksums = [row[0] for row in db.execute("SELECT checksum FROM answers")]
    assert len(checksums) == ROWS + 1
    assert all(checksums)
    assert not list(path.parent.glob("*corrupt*"))
