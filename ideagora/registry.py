"""Agents by name. Built-in ones come in by the same table that a plug-in would use.

An entry is a function without arguments, named as ``module:function`` and imported when it is asked
for, so that listing agents costs nothing.
"""

from __future__ import annotations

import difflib
from importlib import import_module
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


def find_agent(name: str) -> Agent:
    """The agent of this name.

    Raises:
        UsageError: nobody has this name; lists the known ones.
    """
    if name.startswith("real-paper:"):
        from ideagora.graphs.real_paper.agent import agent

        return agent(name.partition(":")[2])
    if name not in AGENTS:
        near = difflib.get_close_matches(name, AGENTS, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(f"There is no agent {name!r}.{hint} Known: {', '.join(sorted(AGENTS))}.")
    maker, arguments = AGENTS[name]
    module, function = maker.split(":")
    made: Agent = getattr(import_module(module), function)(*arguments)
    return made
