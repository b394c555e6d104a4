"""Live progress of an arena in the terminal.

Everything from a model, a file or a plug-in is printed as plain text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from ideagora.report.arena.terminal import LONGEST_NAME, short_name
from ideagora.report.console import plain
from ideagora.report.live_view import LiveView
from ideagora.report.run.terminal import RunProgress
from ideagora.schema.events import ComparisonsEvent, Event, GenerationEvent

TOP = 5
"""Contestants that the live view shows."""
SHOWN_RUNS = 12
"""Agents' runs that the live view shows while ideas are generated."""


class ArenaProgress(LiveView):
    """Progress of the runs that generate ideas; then the verdicts per judge and the standing."""

    def __init__(self, console: Console, quiet: bool = False) -> None:
        super().__init__(console, quiet)
        self._console = console
        self._totals = RunProgress(console, quiet=True)  # of all runs; only its footer is drawn
        self._runs: dict[int, tuple[str, RunProgress]] = {}
        self._stage = ""
        self._total = 0
        self._judges: Counter[str] = Counter()
        self._unscored = 0
        self._standing: Sequence[tuple[str, float, int]] = ()

    def update(self, event: Event) -> None:
        """Update the view from one event of the arena, or of an agent's run."""
        if event["event"] == "arena":
            self._begin(event)
        elif event["event"] == "verdict":
            self._judges[event["judge"]] += 1
            self._unscored += event["status"] == "unscored"
            self._standing = event["standing"]
        else:
            self._totals.update(event)
            if (run := event.get("run")) in self._runs:
                self._runs[run][1].update(event)

    def set_status(self, text: str) -> None:
        """Show what the arena waits for as the headline."""
        self._stage = text

    def _begin(self, event: GenerationEvent | ComparisonsEvent) -> None:
        if event["stage"] == "ideas":
            self._stage = f"ideas: {event['done']} of {event['total']} runs done"
            title = f"{short_name(event['agent'])} on “{plain(event['topic'])[:LONGEST_NAME]}”"
            self._runs.pop(event["number"], None)
            if event["status"] == "started":
                self._runs[event["number"]] = title, RunProgress(self._console, quiet=True)
        else:
            self._runs.clear()
            self._total = event["total"]
            self._judges = Counter(dict.fromkeys(event["judges"], 0))
            self._stage = "judging"

    def __rich__(self) -> Group:
        head = Text(plain(self._stage), style="bold")
        if not self._total:
            return Group(head, *self._running(), self._totals.footer())
        done = sum(self._judges.values())
        lines = [Text(f"{done} of at most {self._total} verdicts in {self.seconds} s")]
        if self._unscored:
            lines.append(Text(f"{self._unscored} unscored", style="yellow"))
        lines += [
            Text(f"  {short_name(judge)}: {count}", style="dim") for judge, count in self._judges.items()
        ]
        return Group(head, *lines, self._top(), self._totals.footer())

    def _running(self) -> list[RenderableType]:
        """The branches of a single run, or one row for each of several."""
        if len(self._runs) == 1:
            ((title, run),) = self._runs.values()
            return [Text(title), run.rows()]
        table = Table.grid(padding=(0, 2))
        for title, run in list(self._runs.values())[:SHOWN_RUNS]:
            table.add_row(Text(title, style="bold"), Text(run.last_step, style="cyan"))
        more = len(self._runs) - SHOWN_RUNS
        return [table, Text(f"and {more} more", style="dim")] if more > 0 else [table]

    def _top(self) -> Table:
        table = Table.grid(padding=(0, 2))
        for name, share, count in self._standing[:TOP]:
            table.add_row(
                Text(short_name(name)),
                Text(f"{share:.0%} of points", style="cyan"),
                Text(f"{count}", style="dim"),
            )
        return table
