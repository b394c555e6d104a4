"""The second way in: agents of installed packages, by the entry point group ``ideagora.agents``."""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from ideagora.graphs.agent import Agent
from ideagora.graphs.plugged.adapting import as_agent
from ideagora.graphs.plugged.loading import fingerprint, loaded

GROUP = "ideagora.agents"


@cache
def installed() -> dict[str, EntryPoint]:
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
    thing = loaded(point.load, point.value)
    module = sys.modules[point.module]
    version = point.dist.version if point.dist else ""
    return as_agent(thing, point.name, source_of(point), f"{version}:{fingerprint(module)}")
