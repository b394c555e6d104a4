"""The papers that a run's library found but did not show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ideagora.schema.events import Event, Listener


class WithheldPaper(NamedTuple):
    """A paper that was found but not shown."""

    paper_id: str
    title: str
    why: str


class WithheldPapers:
    """Records each withheld paper or text once, and emits it as an event while a run is active."""

    def __init__(self) -> None:
        self._by_key: dict[str, WithheldPaper] = {}
        self._emit: Listener | None = None

    def begin(self, emit: Listener, earlier: Iterable[Event]) -> None:
        """Start a run: restore the papers from its earlier events, and emit new ones as events."""
        for event in earlier:
            if event["event"] == "held back":
                fields = (event.get("paper_id"), event.get("title"), event.get("why"))
                paper = WithheldPaper(*map(str, fields))
                self._by_key[str(event.get("key"))] = paper
        self._emit = emit

    def end(self) -> None:
        """Stop emitting events."""
        self._emit = None

    def add(self, key: str, paper: WithheldPaper) -> None:
        """Record a paper or text."""
        if key in self._by_key:
            return
        self._by_key[key] = paper
        if self._emit:
            self._emit({
                "event": "held back", "key": key,
                "paper_id": paper.paper_id, "title": paper.title, "why": paper.why,
            })  # fmt: skip

    def sorted(self) -> list[WithheldPaper]:
        """The papers so far, each once, ordered by id."""
        return sorted(self._by_key.values())
