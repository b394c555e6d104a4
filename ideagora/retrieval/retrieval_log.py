"""The notes and the withheld papers of a library, and of its run once it begins."""

from __future__ import annotations

from collections.abc import Sequence

from ideagora.retrieval.restrictions.withheld import WithheldPapers
from ideagora.retrieval.run_notes import RunNotes
from ideagora.schema.events import Event, Listener, NoteKind


class RetrievalLog:
    """What a library notes and withholds.

    Args:
        run_notes: those of the sources; the log has the notes that are taken from now on.
    """

    def __init__(self, run_notes: RunNotes) -> None:
        self.run_notes = run_notes
        self.withheld = WithheldPapers()
        self._first_note = len(run_notes)

    def begin(self, emit: Listener, earlier: Sequence[Event]) -> None:
        """Start a run: restore what its earlier events hold, and emit what is new as events."""
        self.withheld.begin(emit, earlier)
        self.run_notes, self._first_note = RunNotes(), 0
        self.run_notes.begin(emit, earlier)

    def end(self) -> None:
        """Stop emitting events."""
        self.withheld.end()
        self.run_notes.end()

    def note(self, kind: NoteKind, about: str, detail: str = "") -> None:
        """Take a note; see ``RunNotes``."""
        self.run_notes.note(kind, about, detail)

    @property
    def messages(self) -> list[str]:
        """The notes as sentences."""
        return self.run_notes.messages(self._first_note)

    @property
    def outages(self) -> int:
        """Number of requests to which a source did not respond."""
        return self.run_notes.count("down", self._first_note)
