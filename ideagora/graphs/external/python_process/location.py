"""Where an agent's object is, and how a process that loads it is started."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass

from ideagora.graphs.external.python_process.messages import ObjectOrder

LOADING_TIMEOUT = 600.0
"""Seconds that an agent's code may take to load, independent of ``agent_timeout``."""
_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv.pop()); "
    "from ideagora.graphs.external.python_process.child import main; main()"
)


@dataclass(frozen=True)
class AgentLocation:
    """Where an agent's object is."""

    spec: str
    """``path.py:object``, ``module:object``, or the value of an entry point."""
    name: str = ""
    """Name of the agent; if empty, the spec without folders."""
    source: str = ""
    version: str = ""
    """Prefix of the fingerprint."""
    is_entry_point: bool = False


def child_command() -> list[str]:
    """Program and arguments of a process that loads agents."""
    return [sys.executable, "-P", "-X", "faulthandler", "-c", _BOOT, json.dumps(sys.path)]


def make_order(location: AgentLocation) -> ObjectOrder:
    """The part of the first message to such a process that says what it loads."""
    return {
        "parent": os.getpid(),
        "spec": location.spec,
        "name": location.name,
        "is_entry_point": location.is_entry_point,
    }
