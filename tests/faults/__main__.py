"""All faults, with a table at the end: ``make faults``. Exit code 1 when one is bad."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from tests import standin
from tests.faults import matrix, worlds
from tests.faults.kills import Kills, kill_often
from tests.loopback import Loopback

KILLS = 20


def main(only: str = "") -> int:
    """Run the cases whose name contains ``only`` (all: empty); 0 when every one is good."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or its import asks the network for prices
    started, model = time.monotonic(), standin.Model()
    with TemporaryDirectory(prefix="ideagora-faults-") as folder, Loopback(model) as server:
        place = Path(folder)
        whole = worlds.finished(place / "finished", server, model)
        made = [
            whole,
            worlds.killed(place / "killed", server, model, whole),
            worlds.arena(place / "arena", server, model),
        ]
        chosen = [case for case in matrix.cases(made) if only in case.name]
        outcomes = [_told(number, len(chosen), case, place) for number, case in enumerate(chosen, 1)]
        kills = None if only else kill_often(made[1], place / "kills", KILLS)
    _show(outcomes, kills, time.monotonic() - started)
    return int(any(not outcome.good for outcome in outcomes) or (kills is not None and not kills.same_result))


def _told(number: int, of: int, case: matrix.Case, place: Path) -> matrix.Outcome:
    outcome = matrix.carry_out(case, place / "scratch")
    if sys.stderr.isatty() or not outcome.good:
        print(f"{number}/{of} {outcome.verdict}: {case.name}", file=sys.stderr)
    return outcome


def _show(outcomes: Sequence[matrix.Outcome], kills: Kills | None, seconds: float) -> None:
    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table("world", "file", "damage", "verdict", "asked again", "said")
    for outcome in outcomes:
        world, _, rest = outcome.case.partition(": ")
        file, _, damage = rest.rpartition(" ")
        table.add_row(world, file, damage, outcome.verdict, str(outcome.asked), outcome.line[:60])
    console.print(table)
    bad = [outcome for outcome in outcomes if not outcome.good]
    console.print(f"{len(outcomes)} damaged files: {len(outcomes) - len(bad)} good, {len(bad)} bad.")
    if kills is not None:
        console.print(
            f"{kills.kills} kills: {'the same result' if kills.same_result else 'ANOTHER RESULT'}, "
            f"{kills.twice} of {kills.asked} calls asked twice."
        )
    console.print(f"{seconds:.0f} s.")


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:2]))
