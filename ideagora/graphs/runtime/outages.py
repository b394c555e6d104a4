"""Outages during a run; a run that misses an answer because of one is incomplete, not done."""

from __future__ import annotations

from collections.abc import Iterable

from ideagora.schema.events import Event


class Outages:
    """Requests without an answer and sources that were down, collected from the events of a run."""

    def __init__(self, earlier: Iterable[Event] = ()) -> None:
        self._open: dict[str, str] = {}
        for event in earlier:
            self.record(event)

    def record(self, event: Event) -> None:
        """Process one event; a later answer ends the outage of its request."""
        if event["event"] == "begin":
            self._open.clear()
        elif event["event"] == "outage":
            self._open[f"call {event.get('key')}"] = str(event.get("reason"))
        elif event["event"] == "call" and event.get("status") != "failed":
            self._open.pop(f"call {event.get('key')}", None)
        elif event["event"] == "literature" and event.get("kind") == "down":
            self._open[f"source {event.get('about')}"] = str(event.get("detail"))

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons, each once, sorted."""
        return tuple(sorted(set(self._open.values())))
