"""Live terminal views: warnings are always printed, progress only if it is wanted."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from ideagora.report.live_view import WarningPrinter
from ideagora.report.run.terminal import RunProgress
from ideagora.schema.events import LiteratureEvent

MISSED: LiteratureEvent = {"event": "literature", "kind": "ban missed", "about": "A Paper", "detail": ""}
EFFECTIVE: LiteratureEvent = {
    "event": "literature",
    "kind": "ban",
    "about": "A Paper",
    "detail": "“A Paper” (p1)",
}


@pytest.mark.parametrize("quiet", [False, True])
def test_quiet_hides_information_and_no_warning(quiet: bool) -> None:
    output = StringIO()
    printer = WarningPrinter(Console(file=output, width=200), quiet)
    for event in (MISSED, EFFECTIVE, MISSED):
        printer.on_event(event)
    assert output.getvalue().count("matched no paper") == 1
    assert len(output.getvalue().splitlines()) == (1 if quiet else 2)


def test_a_quiet_view_draws_nothing_but_warnings() -> None:
    output = StringIO()
    console = Console(file=output, width=200, force_terminal=True, color_system=None)
    with RunProgress(console, quiet=True) as progress:
        progress.set_status("filling the store")
        progress.on_event({"event": "note", "label": None, "text": "a note"})
        progress.on_event(MISSED)
    assert output.getvalue().count("\n") == 1
    assert "matched no paper" in output.getvalue()


def test_without_a_terminal_every_step_is_one_line() -> None:
    output = StringIO()
    progress = RunProgress(Console(file=output, width=200))
    for branch in (None, 1, 1):
        step = "draft_idea" if branch else "plan_queries"
        progress.on_event({"event": "step", "status": "started", "step": step, "branch": branch})
    progress.on_event({"event": "step", "status": "done", "step": "draft_idea", "branch": 1})
    lines = [line.partition("s  ")[2] for line in output.getvalue().splitlines()]
    assert lines == ["shared: planning queries", "branch 1: drafting the idea"]
