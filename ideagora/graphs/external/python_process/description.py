"""Where an agent of Python code is, and what it is: told by a process of its own that loads it.

Objects with ``graph()`` and finished ``Agent``s are part of LangGraph's run: they are loaded in this process
too, once the other one has told that they are such.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import Any

from ideagora.errors import UsageError
from ideagora.graphs.agent import Agent
from ideagora.graphs.external.adapter import adapt_agent, as_agent, identifier
from ideagora.graphs.external.command.subprocess import KEPT_NOTES, how_it_ended
from ideagora.graphs.external.loader import load_object
from ideagora.models.redact import one_line

LONGEST_DESCRIPTION = 100_000
"""Bytes."""
SWITCH = "IDEAGORA_AGENT_PROCESS"
"""Environment variable; ``0``: in this process, to debug an agent."""
LOADING = 600.0
"""Seconds that an agent's code may take to be loaded, whatever ``agent_timeout`` says."""
_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv.pop()); "
    "from ideagora.graphs.external.python_process.child import main; main()"
)


@dataclass(frozen=True)
class AgentDescription:
    """Where an agent's object is."""

    thing: str
    """``path.py:object``, ``module:object``, or the value of an entry point."""
    name: str = ""
    """How the agent is known; empty: by its place, without folders."""
    source: str = ""
    version: str = ""
    """Stands before the fingerprint."""
    is_entry_point: bool = False


def agent_of_object(thing: str) -> Agent:
    """The agent of ``module:object`` or ``path.py:object``; its name does not tell the folder.

    Raises:
        UsageError: there is no such file, module or object, or it cannot be loaded; says why.
    """
    return agent_of_description(AgentDescription(thing, source=thing))


def agent_of_description(place: AgentDescription) -> Agent:
    """The agent whose object is at a place.

    Raises:
        UsageError: there is no such object, or it cannot be loaded; says why.
    """
    told = None if os.environ.get(SWITCH) == "0" else _described(place)
    if told is None or not told["is_call"]:
        here = load_object(place.thing, place.is_entry_point)
        name = place.name or here.known_as
        return as_agent(here.thing, name, place.source, f"{place.version}{here.fingerprint}")
    name = place.name or str(told["known_as"])
    step, code = identifier(str(told["step"])), str(told["code"])
    return adapt_agent(
        name=name,
        about=str(told["about"]),
        source=place.source,
        fingerprint=f"{place.version}{code}",
        build=lambda: _graph(place, name, code, step),
        steps=(step,),
        calls=told["calls"],
    )


def _graph(place: AgentDescription, name: str, code: str, step: str) -> Any:
    from ideagora.graphs.external.python_process.parent import build_graph  # LangGraph takes a second

    return build_graph(place, name, code, step)


def words_of_child() -> list[str]:
    """Program and arguments of a process that loads agents."""
    return [sys.executable, "-P", "-X", "faulthandler", "-c", _BOOT, json.dumps(sys.path)]


def order_of(place: AgentDescription, do: str) -> dict[str, Any]:
    """What such a process reads first."""
    told = {"thing": place.thing, "name": place.name, "is_entry_point": place.is_entry_point}
    return {"do": do, "parent": os.getpid(), **told}


def _described(place: AgentDescription) -> dict[str, Any]:
    """What the child tells of an object after loading it."""
    with TemporaryFile() as notes:
        try:
            line, code = _first_line(json.dumps(order_of(place, "describe")) + "\n", notes)
        except TimeoutError:
            raise UsageError(f"{place.thing} cannot be loaded: it takes over {LOADING:g} s.") from None
        except OSError as error:
            raise UsageError(f"{sys.executable} cannot be run: {error.strerror}.") from None
        told = _object(line)
        if "refused" in told:
            raise UsageError(str(told["refused"]))
        if "described" not in told:
            said = _end_of(notes)
            raise UsageError(f"{place.thing} cannot be loaded: its process {how_it_ended(code)}{said}.")
    described: dict[str, Any] = told["described"]
    return described


def _first_line(order: str, notes: Any) -> tuple[bytes, int]:
    """What the child writes, and its exit code; what the agent's code started is not waited for."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        words_of_child(), stdin=pipe, stdout=pipe, stderr=notes, start_new_session=True
    )
    alarm = threading.Timer(LOADING, _kill, (process,))
    with process, _alarm_set(alarm):
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(ConnectionError):  # it ended at once
                process.stdin.write(order.encode())
                process.stdin.flush()
            line = process.stdout.readline(LONGEST_DESCRIPTION)
            code = 0 if line else process.wait()
            if not line and alarm.finished.is_set():
                raise TimeoutError
            return line, code
        finally:
            _kill(process)


@contextmanager
def _alarm_set(alarm: threading.Timer) -> Iterator[None]:
    alarm.daemon = True
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _end_of(notes: Any) -> str:
    notes.seek(0, os.SEEK_END)
    notes.seek(max(0, notes.tell() - 2_000))
    lines = [one_line(line) for line in notes.read().decode(errors="replace").splitlines() if line.strip()]
    return f": {' / '.join(lines[-KEPT_NOTES:])}" if lines else ""
