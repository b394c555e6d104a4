"""A store that may only be read: one curator, many readers."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from ideagora.commands import library as library_command
from ideagora.commands.generate import Request, run
from ideagora.config import SettingOverrides
from ideagora.retrieval.store import store as store_module
from ideagora.retrieval.store.embedded.read_only_copy import copy_to_temp, is_read_only_store
from tests.support import command
from tests.support.local_files import write_file

LINE = json.dumps({"title": "Planks that tell when they tire", "abstract": "A plank hums when it bends."})


@pytest.fixture
def curated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A curator's store with a paper of its own, to which nothing can be written from now on."""
    shutil.copytree(command.filled_home() / "store", tmp_path / "curated")
    flags: SettingOverrides = {
        "home": tmp_path / "curator",
        "store": str(tmp_path / "curated"),
        "embedder": "hash",
    }
    assert library_command.add([write_file(tmp_path, "a.jsonl", LINE)], flags, False, True) == 0
    for path in [tmp_path / "curated", *(tmp_path / "curated").rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    if os.access(tmp_path / "curated", os.W_OK):  # root may write everywhere
        monkeypatch.setattr(store_module, "is_read_only_store", lambda folder: folder == tmp_path / "curated")
    return tmp_path / "curated"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_run_reads_it_and_says_that_nothing_is_stored(
    curated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(curated)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    asked = Request(
        topic="self-correction of language models",
        settings={"embedder": "hash", "store": str(curated), "home": tmp_path / "reader"},
        options={"allow_thin": True, "branches": 1, "length": 2},
        out=tmp_path / "run",
    )
    assert run(asked) == 0
    message = f"The store {curated} is read-only: papers that this run finds are not saved there."
    assert message in " ".join(capsys.readouterr().err.replace("\n", " ").split())
    assert message in json.loads((tmp_path / "run" / "run.json").read_text())["notes"]
    assert contents(curated) == before
    assert not list(tmp_path.glob("ideagora-store-*")), "the copy is gone"


def test_search_and_stats_read_it_and_add_is_refused(
    curated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(curated)
    flags: SettingOverrides = {"home": tmp_path / "reader", "store": str(curated), "embedder": "hash"}
    assert library_command.search("planks that tell when they tire", 1, None, flags, True) == 0
    assert json.loads(capsys.readouterr().out)[0]["paper"]["title"] == "Planks that tell when they tire"
    assert library_command.stats(flags, True) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["folder"], figures["own_papers"]) == (str(curated), 1)
    assert contents(curated) == before
    if os.geteuid() != 0:
        assert library_command.add([write_file(tmp_path, "b.jsonl", LINE)], flags, False, True) == 1


def test_a_copy_is_of_one_moment_while_the_curator_writes(curated: Path) -> None:
    for path in [curated, *curated.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    with closing(sqlite3.connect(curated / "records.sqlite")) as curator:
        curator.execute("BEGIN IMMEDIATE")
        curator.execute("DELETE FROM papers")
        copy = copy_to_temp(curated)
        with closing(sqlite3.connect(copy / "records.sqlite")) as reader:
            assert reader.execute("SELECT count(*) > 100 FROM papers").fetchone()[0]
        curator.rollback()
    shutil.rmtree(copy)
    assert not is_read_only_store(curated / "nothing here")
