"""Agents that are Python objects: ``module:object``, ``path.py:object`` or an entry point.

Functions and other callables run in a process of their own, which also describes them. Objects with
``graph()`` and ``Agent`` instances take part in LangGraph's run, so they are loaded into this process once
the other one has described them.
"""

from __future__ import annotations

import os
from typing import Any

from ideagora.graphs.agent import Agent
from ideagora.graphs.external.adapter import AgentCode, adapt_agent, as_agent
from ideagora.graphs.external.loading.introspection import identifier
from ideagora.graphs.external.loading.loader import load_object
from ideagora.graphs.external.python_process.describe import describe_agent
from ideagora.graphs.external.python_process.location import AgentLocation

SWITCH = "IDEAGORA_AGENT_PROCESS"
"""Environment variable; ``0`` runs functions in this process, to debug an agent."""


def load_agent(location: AgentLocation) -> Agent:
    """Load the agent at a location.

    Raises:
        UsageError: the object does not exist, cannot be loaded, or is not an agent.
    """
    description = {} if os.environ.get(SWITCH) == "0" else describe_agent(location)
    if not description.get("is_call"):
        loaded = load_object(location.spec, location.is_entry_point)
        name = location.name or loaded.known_as
        fingerprint = f"{location.version}{loaded.fingerprint}"
        return as_agent(loaded.object, AgentCode(name, location.source, fingerprint))
    name = location.name or description["known_as"]
    step, code = identifier(description["step"]), description["code"]
    return adapt_agent(
        AgentCode(name, location.source, fingerprint=f"{location.version}{code}"),
        about=description["about"],
        build=lambda: _build_graph(location, name, code, step),
        steps=(step,),
        calls=description["calls"],
    )


def _build_graph(location: AgentLocation, name: str, code: str, step: str) -> Any:
    from ideagora.graphs.external.python_process.agent_process import build_graph  # LangGraph takes a second

    return build_graph(location, name, code, step)
