"""Runs ``ideagora agents check``: tests an agent, and prints what fails and how to fix it."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.text import Text

from ideagora.commands.shared.interrupts import run_async
from ideagora.config import SettingOverrides, Settings, load_settings
from ideagora.errors import IdeagoraError
from ideagora.graphs.agent import Agent
from ideagora.graphs.conformance import Check, ConformanceBench, conformance
from ideagora.graphs.generate import library_session
from ideagora.registry import find_agent
from ideagora.report.console import plain

OFFLINE: SettingOverrides = {
    "model": "offline", "reader_model": None, "judge_model": None, "budget": None, "replay": False,
    "source": "starter",
}  # fmt: skip
_MARKS = {"passed": ("✓", "green"), "failed": ("✗", "red"), "skipped": ("–", "dim")}


def run(spec: str, topics: tuple[str, ...], flags: SettingOverrides, as_json: bool) -> int:
    """Check an agent; return 1 if a check failed, else 0."""
    errors = Console(stderr=True)
    logging.getLogger("ideagora").setLevel(logging.ERROR)
    settings = load_settings(**flags).model_copy(update=OFFLINE)
    try:
        agent = find_agent(spec, settings.home)
        checks = [Check("loads", "passed", agent.source)]
    except IdeagoraError as error:
        return _print_checks(spec, [Check("loads", "failed", str(error))], as_json)
    with errors.status("testing with the offline model …"):
        checks += _run_checks(agent, settings, topics)
    return _print_checks(spec, checks, as_json)


def _run_checks(agent: Agent, settings: Settings, topics: tuple[str, ...]) -> list[Check]:
    with (
        TemporaryDirectory(prefix="ideagora-check-", ignore_cleanup_errors=True) as scratch,
        library_session(settings, None, None) as (library, embedder),
    ):
        bench = ConformanceBench(agent, settings, library, embedder, Path(scratch))
        return run_async(conformance(bench, topics))


def _print_checks(name: str, checks: list[Check], as_json: bool) -> int:
    passed = all(check.status == "passed" for check in checks)
    if as_json:
        rows = [
            {"name": check.name, "status": check.status, "message": check.message, "fix": check.fix}
            for check in checks
        ]
        print(json.dumps({"agent": name, "passed": passed, "checks": rows}, ensure_ascii=False))
        return 0 if passed else 1
    console = Console()
    console.print(Text(plain(name), style="bold"))
    for check in checks:
        mark, style = _MARKS[check.status]
        line = Text.assemble((mark, style), f" {check.name:22} ", (plain(check.message), "dim"))
        console.print(line, soft_wrap=True)
        if check.fix:
            console.print(Text(f"  → {check.fix}"), soft_wrap=True)
    failed = sum(check.status == "failed" for check in checks)
    console.print(
        "All checks passed." if passed else f"{failed} of {len(checks)} checks failed.",
        style="bold",
        highlight=False,
    )
    return 0 if passed else 1
