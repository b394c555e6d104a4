"""Describe an agent's object in a process of its own, so that loading it cannot harm the run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile
from typing import IO, Any

from ideagora.errors import UsageError
from ideagora.graphs.external.command.subprocess import MAX_ERROR_LINES, describe_exit
from ideagora.graphs.external.python_process.location import (
    LOADING_TIMEOUT,
    AgentLocation,
    child_command,
    make_order,
)
from ideagora.graphs.external.python_process.messages import AgentDescription, DescribeOrder
from ideagora.models.redact import one_line

MAX_BYTES = 100_000
"""Bytes of a description."""


def describe_agent(location: AgentLocation) -> AgentDescription:
    """Load the object in a child process and return its description.

    Raises:
        UsageError: the object does not exist, cannot be loaded, or is not an agent.
    """
    with TemporaryFile() as stderr:
        try:
            line, code = _first_line({"do": "describe", **make_order(location)}, stderr)
        except TimeoutError:
            raise UsageError(
                f"{location.spec} cannot be loaded: it takes over {LOADING_TIMEOUT:g} s."
            ) from None
        except OSError as error:
            raise UsageError(f"{sys.executable} cannot be run: {error.strerror}.") from None
        reply = _parse(line)
        if "refused" in reply:
            raise UsageError(str(reply["refused"]))
        if "described" not in reply:
            reason = f"{describe_exit(code)}{_last_lines(stderr)}"
            raise UsageError(f"{location.spec} cannot be loaded: its process {reason}.")
    description: AgentDescription = reply["described"]
    return description


def _first_line(order: DescribeOrder, stderr: IO[bytes]) -> tuple[bytes, int]:
    """The child's reply and its exit code; processes that the agent's code started are not waited for."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        child_command(), stdin=pipe, stdout=pipe, stderr=stderr, start_new_session=True
    )
    alarm = threading.Timer(LOADING_TIMEOUT, _kill, (process,))
    with process, _running(alarm):
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(ConnectionError):  # it has ended already
                process.stdin.write(json.dumps(order).encode() + b"\n")
                process.stdin.flush()
            line = process.stdout.readline(MAX_BYTES)
            code = 0 if line else process.wait()
            if not line and alarm.finished.is_set():
                raise TimeoutError
            return line, code
        finally:
            _kill(process)


@contextmanager
def _running(alarm: threading.Timer) -> Iterator[None]:
    alarm.daemon = True
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _parse(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _last_lines(stderr: IO[bytes]) -> str:
    stderr.seek(0, os.SEEK_END)
    stderr.seek(max(0, stderr.tell() - 2_000))
    text = stderr.read().decode(errors="replace")
    lines = [one_line(line) for line in text.splitlines() if line.strip()]
    return f": {' / '.join(lines[-MAX_ERROR_LINES:])}" if lines else ""
