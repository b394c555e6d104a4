"""A run's checkpoints as a stranger, a bad disk or a clock that was set back leave them."""

from __future__ import annotations

import json
import pickle
import re
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import ormsgpack
import pytest

import ideagora
from ideagora.errors import BudgetExhausted, UntrustedCheckpoints
from ideagora.graphs.runtime.checkpoints import plain_serializer
from tests.graphs.test_runtime import Ran, task_of


def stop(call: Any) -> Any:
    raise BudgetExhausted("enough")


def ext(code: int, *parts: Any) -> Any:
    return ormsgpack.Ext(code, ormsgpack.packb(parts))


def crafted() -> dict[str, tuple[str, bytes]]:
    """Values that a permissive reader turns into a call."""
    calls = {
        "one argument": ext(0, "os", "mkdir", "broken-in"),
        "arguments": ext(1, "os", "mkdir", ("broken-in",)),
        "named arguments": ext(2, "os", "mkdir", {"path": "broken-in"}),
        "method": ext(3, "tests.graphs.test_checkpoints", "stop", "broken-in", "mkdir"),
        "pydantic": ext(5, "tests.graphs.test_checkpoints", "stop", {}, "model_validate"),
        "nested": ext(0, "builtins", "set", ext(0, "os", "mkdir", "broken-in")),
    }
    values = {name: ("msgpack", ormsgpack.packb({"deep": [call]})) for name, call in calls.items()}
    payload = {"lc": 2, "type": "constructor", "id": ["os", "mkdir"], "args": ["broken-in"]}
    return values | {"json": ("json", json.dumps(payload).encode()), "pickle": ("pickle", pickle.dumps({}))}


def test_whatever_names_code_is_refused_and_not_run(tmp_path: Path) -> None:
    reader = plain_serializer(tmp_path / "checkpoints.sqlite")
    for name, value in crafted().items():
        with pytest.raises(UntrustedCheckpoints) as caught:
            reader.loads_typed(value)
        assert "\n" not in str(caught.value), name
    assert not Path("broken-in").exists()
    plain = {"rows": [[1, 2]], "told": {"a": None, "b": 0.5}, "kinds": {"x"}}
    assert reader.loads_typed(reader.dumps_typed(plain)) == plain


def interrupted(work: Callable[[sqlite3.Connection], Any]) -> Any:
    """A task whose run was stopped at its choice, its checkpoints changed."""
    task = task_of(branches=2, length=2)
    with pytest.raises(BudgetExhausted):
        Ran(task, idea_judge=stop)
    assert json.loads(Path("run/run.json").read_text())["status"] == "budget"
    with closing(sqlite3.connect("run/checkpoints.sqlite")) as db:
        work(db)
        db.commit()
    return task


def replace(db: sqlite3.Connection, change: str, values: tuple[str, bytes]) -> None:
    db.execute(change, values)


def test_a_folder_of_a_stranger_runs_no_code() -> None:
    kind, value = crafted()["arguments"]
    for table, column in (("checkpoints", "checkpoint"), ("writes", "value")):
        shutil.rmtree("run", ignore_errors=True)
        change = f"UPDATE {table} SET type = ?, {column} = ?"
        task = interrupted(partial(replace, change=change, values=(kind, value)))
        with pytest.raises(UntrustedCheckpoints, match=r"sqlite is rejected: it contains os\.mkdir"):
            Ran(task)
        assert not Path("broken-in").exists()
        assert len(Ran(task).ideas) == 2, "the same command then begins anew"


def test_damaged_checkpoints_begin_anew_from_the_cache() -> None:
    def cut(db: sqlite3.Connection) -> None:
        db.execute("UPDATE checkpoints SET checkpoint = substr(checkpoint, 1, length(checkpoint) / 2)")

    def empty(db: sqlite3.Connection) -> None:
        db.execute("UPDATE checkpoints SET checkpoint = x'80'")

    def flipped(db: sqlite3.Connection) -> None:
        db.execute("UPDATE writes SET value = x'c1' || substr(value, 2)")

    for damage in (cut, empty, flipped):
        shutil.rmtree("run", ignore_errors=True)
        task = interrupted(damage)
        again = Ran(task)
        assert len(again.ideas) == 2
        assert set(again.roles) <= {
            "idea_judge", "duplicate_judge", "experiment_designer", "experiment_reviewer",
            "experiment_refiner",
        }, damage  # fmt: skip


def test_a_clock_that_was_set_back_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from langgraph.checkpoint.base import id as ids

    now = time.time_ns
    with monkeypatch.context() as patch:
        patch.setattr(time, "time_ns", lambda: now() + 60_000_000_000)
        task = interrupted(lambda db: None)
    monkeypatch.setattr(ids, "_last_v6_timestamp", None)  # of a process that is gone
    again = Ran(task)
    assert len(again.ideas) == 2
    assert "trend_analyst" not in again.roles
    assert json.loads(Path("run/run.json").read_text())["status"] == "done"


def test_no_file_that_is_read_back_is_read_by_what_can_run_code() -> None:
    readers = re.compile(
        r"\b(pickle|marshal|shelve|dill|joblib)\b\.?\w*\(|\b(np|numpy|torch)\.load\(|yaml\.load|(?<![\w.])(eval|exec)\("
    )
    package = Path(ideagora.__file__).parent
    unsafe = [path.name for path in package.rglob("*.py") if readers.search(path.read_text(encoding="utf-8"))]
    assert unsafe == []
