"""Every file × every damage × every moment: what the same command makes of it.

Good: the same result, or one line that says what is wrong. Bad: a traceback, another result without
a word, a hang, or advice to remove more than the damaged file.
"""

from __future__ import annotations

import random
import re
import shutil
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.faults.damage import DAMAGES
from tests.faults.outcome import Outcome, bad_end, first_line
from tests.faults.worlds import World, result, run

IGNORED = re.compile(r"(\.lock|-shm|\.log|report\.(md|html)|/raw/.*|\.svg|\.png)$")
"""Locks and views: they hold nothing, or are made anew by every command."""


@dataclass(frozen=True)
class Case:
    """One damage to one file of one world."""

    world: World
    file: str
    damage: str

    @property
    def name(self) -> str:
        """For the table, and for picking one case."""
        return f"{self.world.name}: {self.file} {self.damage}"


def cases(worlds: Iterable[World]) -> Iterator[Case]:
    """All cases, in a fixed order."""
    for world in worlds:
        files = sorted(
            str(path.relative_to(world.place)) for path in world.place.rglob("*") if path.is_file()
        )
        for file in files:
            if not IGNORED.search(file):
                yield from (Case(world, file, damage) for damage in DAMAGES)


def carry_out(case: Case, scratch: Path) -> Outcome:
    """Damage a copy of the world, run its command again, and look at what comes."""
    shutil.rmtree(scratch, ignore_errors=True)
    place = case.world.copy(scratch)
    path = place / case.file
    chance = random.Random(zlib.crc32(f"{case.file} {case.damage}".encode()))
    content = DAMAGES[case.damage](path.read_bytes(), chance)
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    before = len(case.world.model.asked)
    try:
        done = run(place, case.world.arguments)
    except AssertionError as error:  # the command hangs
        return Outcome(case.name, "HANGS", 0, str(error)[:200])
    asked = len(case.world.model.asked) - before
    verdict = bad_end(done)
    if verdict is None and done.code != 0:
        verdict = "said"
    if verdict is None:
        verdict = "same" if result(place, case.world.arguments) == case.world.result else "ANOTHER RESULT"
    return Outcome(case.name, verdict, asked, first_line(done.err))
