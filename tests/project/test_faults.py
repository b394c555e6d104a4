"""A short sample of ``make faults``: the whole matrix takes minutes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.faults import __main__, fuzz, matrix, worlds
from tests.faults.damage import DAMAGES
from tests.faults.outcome import Outcome
from tests.support import standin
from tests.support.loopback import Loopback


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[worlds.World]]:
    """A finished run and a killed one."""
    place, model = tmp_path_factory.mktemp("faults"), standin.Model()
    with Loopback(model) as server:
        whole = worlds.finished(place / "finished", server, model)
        yield [whole, worlds.killed(place / "killed", server, model, whole)]


def test_damaged_files_never_change_a_result_silently(made: list[worlds.World], tmp_path: Path) -> None:
    every = [case for case in matrix.cases(made) if "/store/" not in case.file]
    pick = random.Random(1)
    sample = [
        pick.choice([case for case in every if case.damage == damage and case.world is world])
        for damage in DAMAGES
        for world in made
    ]
    outcomes = [matrix.carry_out(case, tmp_path / "scratch") for case in sample]
    assert not [outcome for outcome in outcomes if not outcome.good]


def test_damaged_answers_of_a_model_end_in_ideas_or_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "COMMANDS", 1)
    outcomes = list(fuzz.commands(tmp_path))
    assert len(outcomes) == 1
    assert all(outcome.good for outcome in outcomes), outcomes


def _rows(rows: list[Outcome], place: Path) -> Iterator[Outcome]:
    yield from rows


def test_one_bad_row_is_an_exit_code_of_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for verdict, code in (("same", 0), ("ANOTHER RESULT", 1)):
        rows = [Outcome("files: a.bib", "same", 0, "", 50), Outcome("files: b.ris", verdict, 0, "", 1)]
        monkeypatch.setitem(__main__.OTHERS, "files", partial(_rows, rows))
        assert __main__.main("files") == code
        assert f"51 faults, {code} bad rows" in capsys.readouterr().out
