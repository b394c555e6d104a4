"""Outages during a run; a run that misses an answer because of one is incomplete, not done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ideagora.models.recorder import OUTAGE
from ideagora.models.usage import BEGIN
from ideagora.retrieval.run_notes import EVENT as LITERATURE


class Outages:
    """Requests without an answer and sources that were down, collected from the events of a run."""

    def __init__(self, earlier: Iterable[Mapping[str, Any]] = ()) -> None:
        self._open: dict[str, str] = {}
        for event in earlier:
            self.record(event)

    def record(self, event: Mapping[str, Any]) -> None:
        """Process one event; a later answer ends the outage of its request."""
        kind = event.get("event")
        if kind == BEGIN:
            self._open.clear()
        elif kind == OUTAGE:
            self._open[f"call {event.get('key')}"] = str(event.get("reason"))
        elif kind == "call" and event.get("status") != "failed":
            self._open.pop(f"call {event.get('key')}", None)
        elif kind == LITERATURE and event.get("kind") == "down":
            self._open[f"source {event.get('about')}"] = str(event.get("detail"))

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons, each once, sorted."""
        return tuple(sorted(set(self._open.values())))
