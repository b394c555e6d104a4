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
from tests.faults.worlds import World, result, run

IGNORED = re.compile(r"(\.lock|-shm|\.log|report\.(md|html)|/raw/.*|\.svg|\.png)$")
"""Locks and views: they hold nothing, or are made anew by every command."""
REMOVES_MORE = re.compile(r"(?i)\b(remove|delete)\b[^.]*\b(folder|home|store)\b")


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


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    case: str
    verdict: str
    """``same``, ``said`` (an error that names the problem), or what is wrong, in capitals."""
    asked: int
    """Calls that the model was asked again."""
    line: str
    """The first line that the command said."""

    @property
    def good(self) -> bool:
        """Whether a user lost nothing silently."""
        return self.verdict in ("same", "said")


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
    said = _first_line(done.err)
    if "Traceback" in done.err:
        verdict = "TRACEBACK"
    elif REMOVES_MORE.search(done.err):
        verdict = "ADVICE TO REMOVE TOO MUCH"
    elif done.code != 0:
        verdict = "said" if "error:" in done.err else "FAILS WITHOUT A WORD"
    else:
        verdict = "same" if result(place, case.world.arguments) == case.world.result else "ANOTHER RESULT"
    return Outcome(case.name, verdict, asked, said)


def _first_line(err: str) -> str:
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    told = [line for line in lines if re.match(r"(error|warning|note):|Traceback", line)]
    return (told or lines or [""])[0][:160]
