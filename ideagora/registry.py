"""Agents by name, and the ways in for those from outside.

Whatever is asked for as an agent is looked up here: a built-in name, an installed entry point,
``module:object``, ``path.py:object``, ``command:…``, ``ideas:FILE`` or ``real-paper:FILE_OR_ID``. Nothing
is imported before it is asked for.
"""

from __future__ import annotations

import difflib
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.errors import UsageError

if TYPE_CHECKING:
    from ideagora.graphs.agent import Agent

AGENTS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "chain-of-ideas": ("ideagora.graphs.chain_of_ideas.agent:agent", ()),
    "chain-of-ideas/no-chain": ("ideagora.graphs.chain_of_ideas.agent:agent", ("no-chain",)),
    "chain-of-ideas/no-trend": ("ideagora.graphs.chain_of_ideas.agent:agent", ("no-trend",)),
    "chain-of-ideas/no-entities": ("ideagora.graphs.chain_of_ideas.agent:agent", ("no-entities",)),
    "direct": ("ideagora.graphs.direct.agent:agent", ()),
    "real-paper": ("ideagora.graphs.real_paper.agent:agent", ()),
    "rag": ("ideagora.graphs.rag.agent:agent", ()),
}
"""Name -> (maker, its arguments)."""

SCHEMES = {
    "command": "ideagora.graphs.external.command.agent:agent_of_command",
    "ideas": "ideagora.graphs.external.ideas_file:agent_of_ideas",
    "real-paper": "ideagora.graphs.real_paper.agent:agent",
}
"""What stands before a colon -> maker; it is given what stands behind."""

AGENT_FORMS = (
    "an installed entry point by its name, path.py:object or module:object (a function or a class), "
    "'command:PROGRAM ARGUMENTS', ideas:FILE"
)


def find_agent(thing: str, home: Path | None = None) -> Agent:
    """The agent that a name or a way in stands for.

    Args:
        thing: what was asked for.
        home: where the names of imported ideas are looked up; ``None``: in the home of the settings.

    Raises:
        UsageError: nobody has this name (tells the closest, and how the ways in look), or what it
            names cannot be loaded; says why.
    """
    from ideagora.graphs.external.entry_points import agent_of_entry_point, installed_agents

    if thing in AGENTS:
        maker, arguments = AGENTS[thing]
        return _made(maker, *arguments)
    if thing in installed_agents():
        return agent_of_entry_point(installed_agents()[thing])
    scheme, colon, rest = thing.partition(":")
    if scheme in SCHEMES and colon:
        return _made(SCHEMES[scheme], rest, *([home] if scheme == "ideas" else []))
    if colon:
        from ideagora.graphs.external.python_process.description import agent_of_object

        return agent_of_object(thing)
    raise UsageError(_unknown(thing, [*AGENTS, *installed_agents()]))


def _made(maker: str, *arguments: Any) -> Agent:
    module, function = maker.split(":")
    made: Agent = getattr(import_module(module), function)(*arguments)
    return made


def _unknown(thing: str, known: list[str]) -> str:
    if thing.endswith((".py", ".jsonl", ".json", ".csv")):
        way = f"{thing}:OBJECT" if thing.endswith(".py") else f"ideas:{thing}"
        more = ", with the function's or class's name" if thing.endswith(".py") else ""
        return f"{thing!r} is no agent by itself. Write {way}{more}."
    if Path(thing).is_file():
        return f"{thing!r} is a file. To run it as a program, write 'command:PROGRAM {thing}'."
    near = difflib.get_close_matches(thing, known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"There is no agent {thing!r}.{hint} Known: {', '.join(sorted(known))}. Or: {AGENT_FORMS}."
