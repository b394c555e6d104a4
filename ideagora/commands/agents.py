"""Runs ``ideagora agents``: lists and draws agents, and writes a template for a new one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import NotRequired, TypedDict

from pydantic import ValidationError
from rich.console import Console
from rich.text import Text

from ideagora.errors import IdeagoraError, SettingsError, UsageError
from ideagora.graphs.agent import Agent
from ideagora.graphs.external.loading.entry_points import installed_agents, source_of
from ideagora.graphs.files import folder_error
from ideagora.registry import AGENTS, find_agent
from ideagora.report.console import plain, print_error
from ideagora.report.drawings.graph_drawing import LEGEND, draw_graph, to_mermaid, to_svg, to_text

KINDS = {"function": "{}.py:ideate", "graph": "{}.py:Agent", "command": "command:python3 {}.py"}
"""How an agent of each kind is named on the command line."""


class AgentRow(TypedDict):
    """An agent as ``--json`` lists it."""

    name: str
    about: str | None
    source: str | None
    calls: int | None
    """Expected model calls; ``None`` if the agent does not state them."""
    steps: list[str]
    error: NotRequired[str]
    """Why it cannot be loaded or used."""


def list_all(as_json: bool, options: Mapping[str, int]) -> int:
    """List the agents; with ``--json`` as ``[{"name", "source", "calls", "steps", …}]``.

    ``calls`` is ``null`` if an agent does not state its number of calls. An agent that cannot be loaded
    has ``error``.
    """
    rows = [_agent_row(name, options) for name in sorted(AGENTS)]
    rows += [
        _agent_row(name, options, source_of(point))
        for name, point in installed_agents().items()
        if name not in AGENTS
    ]
    rows += [_shadowed_row(name) for name in installed_agents() if name in AGENTS]
    if as_json:
        print(json.dumps(rows, ensure_ascii=False))
        return 0
    console = Console()
    for row in rows:
        for line in _entry_lines(row):
            console.print(line, soft_wrap=True)
    console.print(
        "\nCalls: model calls expected of a run with these options; fewer if little is found or ideas repeat "
        "one another, more if an idea is rejected and written again.\n"
        "Create your own with: ideagora agents new NAME. --agent also accepts path.py:object, "
        "module:object, 'command:…' and ideas:FILE.",
        style="dim",
        highlight=False,
    )
    return 0


def _agent_row(name: str, options: Mapping[str, int], source: str | None = None) -> AgentRow:
    try:
        agent = find_agent(name)
    except IdeagoraError as error:  # list the others all the same
        return {
            "name": name, "about": None, "source": source, "calls": None, "steps": [], "error": str(error),
        }  # fmt: skip
    return {
        "name": agent.name,
        "about": agent.about,
        "source": agent.source,
        "calls": expected_calls(agent, options),
        "steps": list(agent.steps),
    }


def _shadowed_row(name: str) -> AgentRow:
    source = source_of(installed_agents()[name])
    message = f"An installed package has the name of the built-in agent {name} ({source})."
    return {
        "name": f"{name} (hidden)",
        "about": None,
        "source": None,
        "calls": None,
        "steps": [],
        "error": message,
    }


def expected_calls(agent: Agent, options: Mapping[str, int]) -> int | None:
    """Return the expected calls under the options that the agent has, ``None`` if unknown."""
    own = {name: value for name, value in options.items() if name in type(agent.options).model_fields}
    try:
        chosen = type(agent.options)(**{**agent.options.model_dump(), **own})
    except ValidationError as error:
        first = error.errors()[0]
        raise SettingsError(f"--{first['loc'][0]} is {first['input']}: {first['msg'].lower()}.") from None
    calls = agent.expected_calls(chosen)
    return None if calls is None else sum(calls.values())


def _entry_lines(row: AgentRow) -> Iterator[Text]:
    calls = "calls unknown" if row["calls"] is None else f"{row['calls']} calls"
    yield Text.assemble((plain(row["name"]), "bold"), f"   {calls}   ", (plain(row["source"] or ""), "dim"))
    if error := row.get("error"):
        yield Text(f"  {plain(error)}", style="red")
    else:
        yield Text(f"  {plain(row['about'] or '')}")
        yield Text(f"  {plain(' → '.join(row['steps']))}", style="dim")


def show(spec: str, mermaid: bool, svg: Path | None) -> int:
    """Draw an agent's graph as text, Mermaid or an SVG file."""
    agent = find_agent(spec)
    drawing = draw_graph(agent.build(), agent.subgraphs)
    if mermaid:
        print(to_mermaid(drawing), end="")
    if svg is not None:
        try:
            svg.write_text(to_svg(drawing), encoding="utf-8")
        except OSError as error:
            print_error(Console(stderr=True), str(folder_error(svg, error)))
            return 1
        Console(stderr=True).print(Text(f"written: {svg}"), soft_wrap=True)
    if not mermaid and svg is None:
        _print_graph(agent, to_text(drawing))
    return 0


def _print_graph(agent: Agent, lines: list[str]) -> None:
    console = Console()
    calls = agent.expected_calls(agent.options)
    count = "number of calls unknown" if calls is None else f"{sum(calls.values())} calls"
    console.print(Text(plain(agent.name), style="bold"))
    console.print(Text(f"{plain(agent.about)}\n{plain(agent.source)}; {count}\n"), soft_wrap=True)
    for line in lines:
        console.print(Text(line), soft_wrap=True)
    console.print(Text(f"\n{LEGEND}", style="dim"), soft_wrap=True)
    for name, field in type(agent.options).model_fields.items():
        value = getattr(agent.options, name)
        written = ",".join(map(str, value)) if isinstance(value, tuple) else value
        about = f"   {plain(' '.join(field.description.split()))}" if field.description else ""
        console.print(Text.assemble((f"--set {name}={written}", "bold"), about), soft_wrap=True)


def new(name: str, kind: str) -> int:
    """Write the template ``NAME.py`` into the current folder, and print the next steps."""
    if kind not in KINDS:
        raise UsageError(f"--kind is {kind!r}. Choose one of {', '.join(KINDS)}.")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,60}", name):
        raise UsageError(f"The name is {name!r}. Use letters, digits and _, starting with a letter.")
    path = Path(f"{name}.py")
    text = (resources.files("ideagora.commands") / "starting_points" / f"{kind}.txt").read_text(
        encoding="utf-8"
    )
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} already exists. Choose another name.") from None
    except OSError as error:
        print_error(Console(stderr=True), str(folder_error(path, error)))
        return 1
    spec = KINDS[kind].format(name)
    quoted = f"'{spec}'" if " " in spec else spec
    console = Console()
    lines = (
        f"written: {path}",
        f"  ideagora agents check {quoted}",
        f"  ideagora generate 'tool use by language models' --agent {quoted}",
    )
    for line in lines:
        console.print(Text(line), soft_wrap=True)
    return 0
