"""The agent's end of the pipes to the run: one JSON object per line."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from typing import BinaryIO

from ideagora.errors import AgentFailed
from ideagora.graphs.external.python_process.messages import Message, Order, Reply


class Pipe:
    """Reads and writes lines; usable from any thread, but only in the agent's own process."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source, self._sink = source, sink
        self._lock = threading.Lock()
        self._process = os.getpid()

    def read_order(self) -> Order:
        """The first line."""
        order: Order = json.loads(self._source.readline())
        return order

    def replies(self) -> Iterator[Reply]:
        """The lines after it."""
        return (json.loads(line) for line in self._source)

    def send(self, value: Message) -> None:
        """Write one line.

        Raises:
            AgentFailed: this is a process that the agent has started.
        """
        if os.getpid() != self._process:
            raise AgentFailed("library and model can only be used in the agent's own process")
        line = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with self._lock:
            self._sink.write(line)
            self._sink.flush()
