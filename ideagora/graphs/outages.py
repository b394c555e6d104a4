"""What was down while a run was made. A run that missed an answer for that is incomplete, not done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ideagora.models.recorder import OUTAGE
from ideagora.models.usage import BEGIN
from ideagora.retrieval.run_notes import EVENT as LITERATURE


class Outages:
    """Requests without an answer and sources that were down, as the events of a run tell of them."""

    def __init__(self, earlier: Iterable[Mapping[str, Any]] = ()) -> None:
        self._open: dict[str, str] = {}
        for event in earlier:
            self.record(event)

    def record(self, event: Mapping[str, Any]) -> None:
        """Take in one event; an answer that came after all closes its request's outage."""
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
        """What was down, each reason once, in an order that time does not change."""
        return tuple(sorted(set(self._open.values())))
