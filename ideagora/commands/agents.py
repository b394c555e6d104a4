"""``ideagora agents``: who can make ideas."""

from __future__ import annotations

import json

from rich.console import Console
from rich.table import Table

from ideagora.registry import AGENTS, find_agent


def run(as_json: bool) -> int:
    """List the agents; ``--json`` gives ``[{"name", "source", "calls", "steps", …}]``."""
    found = [find_agent(name) for name in sorted(AGENTS)]
    rows = [
        {
            "name": agent.name,
            "about": agent.about,
            "source": agent.source,
            "calls": None if (calls := agent.expected_calls(agent.options)) is None else sum(calls.values()),
            "steps": list(agent.steps),
        }
        for agent in found
    ]
    if as_json:
        print(json.dumps(rows, ensure_ascii=False))
        return 0
    table = Table("agent", "calls", "what it does", "source", box=None, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(str(row["name"]), str(row["calls"]), str(row["about"]), str(row["source"]))
    console = Console()
    console.print(table)
    console.print("calls: what a run with default settings is expected to ask the models.", style="dim")
    return 0
