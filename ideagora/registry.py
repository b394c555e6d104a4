"""Find an agent by name or specification.

A specification is a built-in name, an installed entry point, ``module:object``, ``path.py:object``,
``command:…``, ``ideas:FILE``, ``model:NAME`` or ``real-paper:FILE_OR_ID``. Modules are imported on demand.
"""

from __future__ import annotations

import difflib
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.errors import UsageError

if TYPE_CHECKING:
    from ideagora.graphs.agent import Agent
    from ideagora.graphs.external.python_process.location import AgentLocation

AGENTS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "chain-of-ideas": ("ideagora.graphs.chain_of_ideas.agent:agent", ()),
    "chain-of-ideas/no-chain": ("ideagora.graphs.chain_of_ideas.agent:agent", ("no-chain",)),
    "chain-of-ideas/no-trend": ("ideagora.graphs.chain_of_ideas.agent:agent", ("no-trend",)),
    "chain-of-ideas/no-entities": ("ideagora.graphs.chain_of_ideas.agent:agent", ("no-entities",)),
    "direct": ("ideagora.graphs.direct.agent:agent", ()),
    "real-paper": ("ideagora.graphs.real_paper.agent:agent", ()),
    "rag": ("ideagora.graphs.rag.agent:agent", ()),
    "ai-researcher": ("ideagora.graphs.ai_researcher.agent:agent", ()),
    "ai-scientist": ("ideagora.graphs.ai_scientist.agent:agent", ()),
    "research-agent": ("ideagora.graphs.research_agent.agent:agent", ()),
    "scipip": ("ideagora.graphs.scipip.agent:agent", ()),
    "virsci": ("ideagora.graphs.virsci.agent:agent", ()),
    "sci-agents": ("ideagora.graphs.sci_agents.agent:agent", ()),
    "gpt-researcher": ("ideagora.graphs.gpt_researcher.agent:agent", ()),
    "portfolio": ("ideagora.graphs.portfolio.agent:agent", ()),
}
"""Name -> (factory, its arguments)."""

SCHEMES = {
    "command": "ideagora.graphs.external.command.agent:load_agent",
    "model": "ideagora.graphs.plain_model.agent:agent",
    "ideas": "ideagora.graphs.external.ideas_file:load_agent",
    "real-paper": "ideagora.graphs.real_paper.agent:agent",
}
"""Prefix before a colon -> factory, which is called with the rest."""

AGENT_FORMS = (
    "the name of an installed entry point, path.py:object or module:object (a function or a class), "
    "'command:PROGRAM ARGUMENTS', ideas:FILE, model:NAME"
)


def find_agent(spec: str, home: Path | None = None) -> Agent:
    """Find or load an agent.

    Args:
        spec: a name, or one of the forms of an external agent.
        home: folder with imported ideas; ``None`` for the home of the settings.

    Raises:
        UsageError: there is no such agent, or it cannot be loaded.
    """
    from ideagora.graphs.external.loading.entry_points import installed_agents, location_of

    if spec in AGENTS:
        factory, arguments = AGENTS[spec]
        return _create(factory, *arguments)
    if spec in installed_agents():
        return _load(location_of(installed_agents()[spec]))
    scheme, colon, rest = spec.partition(":")
    if scheme in SCHEMES and colon:
        return _create(SCHEMES[scheme], rest, *([home] if scheme == "ideas" else []))
    if colon:
        from ideagora.graphs.external.python_process.location import AgentLocation

        return _load(AgentLocation(spec, source=spec))
    raise UsageError(_unknown(spec, [*AGENTS, *installed_agents()]))


def _load(location: AgentLocation) -> Agent:
    from ideagora.graphs.external.python_agent import load_agent

    return load_agent(location)


def _create(factory: str, *arguments: Any) -> Agent:
    module, function = factory.split(":")
    agent: Agent = getattr(import_module(module), function)(*arguments)
    return agent


def _unknown(spec: str, known: list[str]) -> str:
    if spec.endswith((".py", ".jsonl", ".json", ".csv")):
        form = f"{spec}:OBJECT" if spec.endswith(".py") else f"ideas:{spec}"
        hint = ", with the name of the function or class" if spec.endswith(".py") else ""
        return f"{spec!r} is not an agent. Write {form}{hint}."
    if Path(spec).is_file():
        return f"{spec!r} is a file. To run it as a program, write 'command:PROGRAM {spec}'."
    near = difflib.get_close_matches(spec, known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"There is no agent {spec!r}.{hint} Known: {', '.join(sorted(known))}. Or use {AGENT_FORMS}."
