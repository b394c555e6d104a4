"""External agents of installed packages, in the entry point group ``ideagora.agents``."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from ideagora.graphs.external.python_process.location import AgentLocation

GROUP = "ideagora.agents"


@cache
def installed_agents() -> dict[str, EntryPoint]:
    """The entry points by name; if a name occurs twice, the first that Python finds."""
    by_name: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        by_name.setdefault(point.name, point)
    return dict(sorted(by_name.items()))


def source_of(point: EntryPoint) -> str:
    """The distribution that provides it, and the object."""
    distribution = f"{point.dist.name} {point.dist.version}: " if point.dist else ""
    return f"{distribution}{point.value}"


def location_of(point: EntryPoint) -> AgentLocation:
    """Where the agent of an entry point is."""
    version = point.dist.version if point.dist else ""
    return AgentLocation(point.value, point.name, source_of(point), f"{version}:", True)
