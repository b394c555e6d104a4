"""The second way in: agents of installed packages, by the entry point group ``ideagora.agents``."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from ideagora.graphs.agent import Agent
from ideagora.graphs.external.python_process.description import AgentDescription, agent_of_description

GROUP = "ideagora.agents"


@cache
def installed_agents() -> dict[str, EntryPoint]:
    """The entry points by name; of two with one name the first that Python finds."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, point)
    return dict(sorted(found.items()))


def source_of(point: EntryPoint) -> str:
    """The distribution that brings it, and the object."""
    distribution = f"{point.dist.name} {point.dist.version}: " if point.dist else ""
    return f"{distribution}{point.value}"


def agent_of_entry_point(point: EntryPoint) -> Agent:
    """The agent that an entry point names.

    Raises:
        UsageError: it cannot be loaded.
    """
    version = point.dist.version if point.dist else ""
    return agent_of_description(
        AgentDescription(point.value, point.name, source_of(point), f"{version}:", True)
    )
