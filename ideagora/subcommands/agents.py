"""``ideagora agents``: list, show, check, new. Declarations only; the work is in ``commands/``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ideagora.subcommands import options

app = typer.Typer(
    help="Who can make ideas: list them, look at one, check your own, begin a new one.",
    epilog="Examples:\n\n  ideagora agents\n\n  ideagora agents new mine\n\n"
    "  ideagora agents check mine.py:ideate\n\n  ideagora generate '…' --agent mine.py:ideate",
    invoke_without_command=True,
)

BRANCHES = Annotated[int | None, typer.Option(help="Count the calls for this many branches.")]
LENGTH = Annotated[int | None, typer.Option(help="… for chains of this length.")]
REFINEMENTS = Annotated[int | None, typer.Option(help="… for this many rounds of review.")]
REWRITES = Annotated[int | None, typer.Option(help="… for this many rewrites.")]
THING = Annotated[
    str,
    typer.Argument(
        help="A name of the list, path.py:object, module:object, 'command:PROGRAM ARGUMENTS' or ideas:FILE.",
        show_default=False,
    ),
]


@app.callback()
def agents(
    context: typer.Context,
    as_json: options.AsJson = False,
    branches: BRANCHES = None,
    length: LENGTH = None,
    refinements: REFINEMENTS = None,
    rewrites: REWRITES = None,
) -> None:
    """List the agents that can make ideas, with their source, steps and expected calls."""
    if context.invoked_subcommand is None:
        _list(as_json, branches, length, refinements, rewrites)


@app.command(
    "list", epilog="Examples:\n\n  ideagora agents list\n\n  ideagora agents list --branches 5 --json"
)
def list_agents(
    as_json: options.AsJson = False,
    branches: BRANCHES = None,
    length: LENGTH = None,
    refinements: REFINEMENTS = None,
    rewrites: REWRITES = None,
) -> None:
    """List the built-in agents and those of installed packages (the same as without a command)."""
    _list(as_json, branches, length, refinements, rewrites)


def _list(as_json: bool, branches: int | None, length: int | None, *more: int | None) -> None:
    from ideagora.commands.agents import list_all

    names = ("branches", "length", "refinements", "rewrites")
    given = {
        name: value for name, value in zip(names, (branches, length, *more), strict=True) if value is not None
    }
    raise typer.Exit(list_all(as_json, given))


@app.command(
    epilog="Examples:\n\n  ideagora agents show chain-of-ideas\n\n"
    "  ideagora agents show chain-of-ideas --mermaid > graph.mmd\n\n"
    "  ideagora agents show mine.py:Mine --svg graph.svg"
)
def show(
    thing: THING,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="As Mermaid text.")] = False,
    svg: Annotated[Path | None, typer.Option(help="Write a picture to this file.")] = None,
) -> None:
    """Draw the graph of an agent, made from the graph itself."""
    from ideagora.commands.agents import show as run

    raise typer.Exit(run(thing, mermaid, svg))


@app.command(
    epilog="Examples:\n\n  ideagora agents check mine.py:ideate\n\n"
    "  ideagora agents check 'command:python3 mine.py' --json"
)
def check(
    thing: THING,
    topic: Annotated[
        list[str] | None, typer.Option(help="Try it on this topic; give two.", show_default=False)
    ] = None,
    agent_timeout: Annotated[
        float, typer.Option(help="Seconds that it may go without a sign of life.", min=0.1)
    ] = 60.0,
    home: options.Home = None,
    as_json: options.AsJson = False,
) -> None:
    """Try an agent in all that the arena will ask of it, and say how to mend what fails.

    It runs on the offline model and the starter corpus, so it costs nothing. Exit code 1: something failed.
    """
    from ideagora.commands.check_agent import run

    given = {"home": home, "agent_timeout": agent_timeout}
    raise typer.Exit(run(thing, tuple(topic or ()), options.given(given), as_json))


@app.command(
    epilog="Examples:\n\n  ideagora agents new mine\n\n  ideagora agents new mine --kind graph\n\n"
    "  ideagora agents new mine --kind command"
)
def new(
    name: Annotated[str, typer.Argument(help="What it shall be called: letters, digits and _.")],
    kind: Annotated[str, typer.Option(help="function, graph or command.")] = "function",
) -> None:
    """Write a starting point for an agent of your own that passes the check."""
    from ideagora.commands.agents import new as run

    raise typer.Exit(run(name, kind))
