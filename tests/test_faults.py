"""A short sample of ``make faults``: the whole matrix takes minutes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import standin
from tests.faults import matrix, worlds
from tests.loopback import Loopback

CASES = 12
"""Of some hundred, drawn by a fixed seed, each world and each damage at least once."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[worlds.World]]:
    """A finished run and a killed one."""
    place, model = tmp_path_factory.mktemp("faults"), standin.Model()
    with Loopback(model) as server:
        whole = worlds.finished(place / "finished", server, model)
        yield [whole, worlds.killed(place / "killed", server, model, whole)]


def test_damaged_files_never_change_a_result_silently(made: list[worlds.World], tmp_path: Path) -> None:
    every = [case for case in matrix.cases(made) if "/store/" not in case.file]
    sample = random.Random(1).sample(every, CASES)
    outcomes = [matrix.carry_out(case, tmp_path / "scratch") for case in sample]
    assert {case.world.name for case in sample} == {"finished run", "killed run"}
    assert len({case.damage for case in sample}) == 5
    assert not [outcome for outcome in outcomes if not outcome.good]
