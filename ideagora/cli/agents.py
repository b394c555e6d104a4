"""Declares ``ideagora agents`` with ``list``, ``show``, ``check`` and ``new``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ideagora.cli import options

if TYPE_CHECKING:
    from ideagora.config import SettingOverrides

COUNTS = "Expected calls"

app = options.CommandGroup(
    help="List, draw and check agents, or create your own.",
    epilog="Examples:\n\n  ideagora agents\n\n  ideagora agents new mine\n\n"
    "  ideagora agents check mine.py:ideate\n\n  ideagora generate 'grokking' --agent mine.py:ideate",
    invoke_without_command=True,
)

Branches = Annotated[int | None, typer.Option(help="Number of branches to assume.", rich_help_panel=COUNTS)]
Length = Annotated[int | None, typer.Option(help="Chain length to assume.", rich_help_panel=COUNTS)]
Refinements = Annotated[int | None, typer.Option(help="Rounds of review to assume.", rich_help_panel=COUNTS)]
Rewrites = Annotated[
    int | None, typer.Option(help="Maximum number of rewrites to assume.", rich_help_panel=COUNTS)
]
AgentName = Annotated[
    str,
    typer.Argument(
        metavar="AGENT",
        help="Name listed by 'ideagora agents', path.py:object, module:object, 'command:PROGRAM ARGUMENTS' "
        "or ideas:FILE.",
        show_default=False,
    ),
]


@app.callback()
def agents(
    context: typer.Context,
    as_json: options.AsJson = False,
    branches: Branches = None,
    length: Length = None,
    refinements: Refinements = None,
    rewrites: Rewrites = None,
) -> None:
    """List, draw and check agents, or create your own. Without a command: list them."""
    if context.invoked_subcommand is None:
        _list(as_json, branches, length, refinements, rewrites)


@app.command(
    "list", epilog="Examples:\n\n  ideagora agents list\n\n  ideagora agents list --branches 5 --json"
)
def list_agents(
    as_json: options.AsJson = False,
    branches: Branches = None,
    length: Length = None,
    refinements: Refinements = None,
    rewrites: Rewrites = None,
) -> None:
    """List built-in and installed agents with their steps and expected model calls."""
    _list(as_json, branches, length, refinements, rewrites)


def _list(as_json: bool, branches: int | None, length: int | None, *more: int | None) -> None:
    from ideagora.commands.agents import list_all

    names = ("branches", "length", "refinements", "rewrites")
    values = dict(zip(names, (branches, length, *more), strict=True))
    raise typer.Exit(list_all(as_json, options.without_none(values)))


@app.command(
    epilog="Examples:\n\n  ideagora agents show chain-of-ideas\n\n"
    "  ideagora agents show chain-of-ideas --mermaid > graph.mmd\n\n"
    "  ideagora agents show mine.py:Mine --svg graph.svg"
)
def show(
    agent: AgentName,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print Mermaid text.")] = False,
    svg: Annotated[Path | None, typer.Option(help="Write an SVG file.")] = None,
) -> None:
    """Draw an agent's compiled graph."""
    from ideagora.commands.agents import show as run

    raise typer.Exit(run(agent, mermaid, svg))


@app.command(
    epilog="Examples:\n\n  ideagora agents check mine.py:ideate\n\n"
    "  ideagora agents check 'command:python3 mine.py' --json"
)
def check(
    agent: AgentName,
    topic: Annotated[
        list[str] | None,
        typer.Option(help="Topic to try; give it twice for two topics.", show_default="two built-in topics"),
    ] = None,
    agent_timeout: Annotated[
        float,
        typer.Option(
            help="Seconds that the agent may run without any activity.",
            min=0.1,
            rich_help_panel=options.AGENTS,
        ),
    ] = 60.0,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Test an agent against everything that the arena requires, and explain how to fix what fails.

    Uses the offline model and the starter corpus, so it costs nothing. Exits with 1 if a check fails.
    """
    from ideagora.commands.checks.agent import run

    flags: SettingOverrides = {"home": home, "agent_timeout": agent_timeout}
    raise typer.Exit(run(agent, tuple(topic or ()), flags, as_json))


@app.command(
    epilog="Examples:\n\n  ideagora agents new mine\n\n  ideagora agents new mine --kind graph\n\n"
    "  ideagora agents new mine --kind command"
)
def new(
    name: Annotated[str, typer.Argument(help="Name of the agent and its file: letters, digits and _.")],
    kind: Annotated[str, typer.Option(help="What to write: function, graph or command.")] = "function",
) -> None:
    """Write a template for your own agent that passes 'ideagora agents check'."""
    from ideagora.commands.agents import new as run

    raise typer.Exit(run(name, kind))
