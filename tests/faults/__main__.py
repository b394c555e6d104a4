"""All faults, with a table at the end: ``make faults``. Exit code 1 when one is bad."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from tests.faults import budget, fuzz, matrix, worlds
from tests.faults.kills import kill_often
from tests.faults.outcome import Outcome
from tests.support import standin
from tests.support.loopback import Loopback

KILLS = 20
OTHERS = {
    "services": fuzz.services,
    "files": fuzz.files,
    "commands": fuzz.commands,
    "budget": budget.bills,
}


@dataclass
class Clock:
    """Seconds since it was last asked."""

    started: float

    def lap(self) -> float:
        """Seconds since the last lap."""
        before, self.started = self.started, time.monotonic()
        return self.started - before


def main(only: str = "") -> int:
    """Run the cases whose name contains ``only`` (all: empty), or a group's; 0 when every one is good."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or its import asks the network for prices
    clock, outcomes, seconds = Clock(time.monotonic()), list[Outcome](), dict[str, float]()
    with TemporaryDirectory(prefix="ideagora-faults-") as folder:
        for outcome in _all(only, Path(folder)):
            outcomes.append(outcome)
            seconds[outcome.group] = seconds.get(outcome.group, 0.0) + clock.lap()
            if sys.stderr.isatty() or not outcome.good:
                print(f"{len(outcomes)} {outcome.verdict}: {outcome.case}", file=sys.stderr)
    _show(outcomes, seconds, every=bool(only))
    return int(not outcomes or any(not outcome.good for outcome in outcomes))


def _all(only: str, place: Path) -> Iterator[Outcome]:
    group = only.partition(":")[0]
    if group not in OTHERS:
        yield from _in_worlds(only, place)
    for name, faults in OTHERS.items():
        if group in ("", name):
            yield from faults(place / name)


def _in_worlds(only: str, place: Path) -> Iterator[Outcome]:
    model = standin.Model()
    with Loopback(model) as server:
        whole = worlds.finished(place / "finished", server, model)
        killed = worlds.killed(place / "killed", server, model, whole)
        arena = worlds.arena(place / "arena", server, model)
        for case in matrix.cases([whole, worlds.repeated(whole), killed, arena]):
            if only in case.name:
                yield matrix.carry_out(case, place / "scratch")
        if only in ("", "kills"):
            yield kill_often(killed, place / "kills", KILLS).outcome


def _show(outcomes: Sequence[Outcome], seconds: Mapping[str, float], every: bool) -> None:
    console = Console(width=None if sys.stdout.isatty() else 180)
    rows = [outcome for outcome in outcomes if every or not outcome.good or outcome.group == "budget"]
    if rows:
        console.print(_cases(rows))
    console.print(_groups(outcomes, seconds))
    total = sum(outcome.cases for outcome in outcomes)
    bad = sum(not outcome.good for outcome in outcomes)
    console.print(f"{total} faults, {bad} bad rows, {sum(seconds.values()):.0f} s.")


def _cases(outcomes: Sequence[Outcome]) -> Table:
    table = Table("case", "verdict", "asked again", "said")
    for outcome in outcomes:
        table.add_row(outcome.case, outcome.verdict, str(outcome.asked), outcome.line[:100])
    return table


def _groups(outcomes: Sequence[Outcome], seconds: Mapping[str, float]) -> Table:
    table = Table("group", "faults", "same", "said", "kept", "bad rows", "asked again", "seconds")
    for group in dict.fromkeys(outcome.group for outcome in outcomes):
        own = [outcome for outcome in outcomes if outcome.group == group]
        by_verdict = [
            str(sum(one.cases for one in own if one.verdict == verdict))
            for verdict in ("same", "said", "kept")
        ]
        table.add_row(
            group,
            str(sum(outcome.cases for outcome in own)),
            *by_verdict,
            str(sum(not outcome.good for outcome in own)),
            str(sum(outcome.asked for outcome in own)),
            f"{seconds[group]:.0f}",
        )
    return table


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:2]))
