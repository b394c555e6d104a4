"""Notes on the literature of a run: failed sources, empty results, missing texts, exclusions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast, get_args

from ideagora.retrieval.current_run import current_run
from ideagora.schema.events import Event, Listener, LiteratureEvent, NoteKind

_MAX_LISTED = 5
_FAILURES: tuple[NoteKind, ...] = ("down", "refused")
_START_NOTES = ("ban", "ban missed", "read only")
_EXCLUSION, _DOWN, _REFUSED = "Exclusion “", "Source down: ", "Source refused: "
WARNING_PREFIXES = (_EXCLUSION, "Ban “", _DOWN, _REFUSED)
"""Beginnings of the messages on exclusions and failed sources; earlier versions wrote "Ban “"."""


class RunNote(NamedTuple):
    """One note."""

    kind: NoteKind
    about: str
    """Source, query, paper or exclusion."""
    detail: str = ""


class RunNotes:
    """Notes in the order in which they were taken. Failures are counted, other notes taken once."""

    def __init__(self) -> None:
        self._notes: list[RunNote] = []
        self._known: set[RunNote] = set()
        self._emit: Listener | None = None

    def __len__(self) -> int:
        return len(self._notes)

    def note(self, kind: NoteKind, about: str, detail: str = "") -> None:
        """Take a note for the current run, or for all runs outside of one; emitted as an event of the run."""
        run = current_run.get()
        (self if run is None else run.notes)._take(RunNote(kind, about, detail))

    def _take(self, note: RunNote) -> None:
        if note in self._known and note.kind not in _FAILURES:
            return
        self._add(note)
        if self._emit:
            self._emit({
                "event": "literature", "kind": note.kind, "about": note.about, "detail": note.detail,
            })  # fmt: skip

    def begin(self, emit: Listener, earlier: Iterable[Event]) -> None:
        """Start a run: restore the notes from its earlier events, and emit new notes as events."""
        self._emit = None
        self._known.clear()
        for event in earlier:
            if event["event"] == "literature" and event.get("kind") in get_args(NoteKind):
                self._add(_note_from(cast("LiteratureEvent", event)))
        self._emit = emit

    def end(self) -> None:
        """Stop emitting events."""
        self._emit = None

    def _add(self, note: RunNote) -> None:
        self._notes.append(note)
        self._known.add(note)

    def count(self, kind: NoteKind, since: int = 0) -> int:
        """The number of notes of a kind from an index on."""
        return sum(note.kind == kind for note in self._notes[since:])

    def messages(self, since: int = 0) -> list[str]:
        """The notes from an index on as sentences, without repetition, in an order independent of timing."""
        notes = self._notes[since:]
        lines = [
            line
            for kind in _FAILURES
            for line in _failure_messages(kind, [note for note in notes if note.kind == kind])
        ]
        queries = sorted({note.about for note in notes if note.kind == "nothing"})
        if queries:
            lines.append(f"Nothing found for {_join_first([f'“{query[:80]}”' for query in queries])}.")
        titles = sorted({note.about for note in notes if note.kind == "no abstract"})
        if titles:
            papers = "1 paper" if len(titles) == 1 else f"{len(titles)} papers"
            lines.append(
                f"No source has an abstract for {papers} ({_join_first(titles)}). "
                "Only their titles could be judged."
            )
        unread = sorted({(note.about, note.detail) for note in notes if note.kind == "no full text"})
        if unread:
            papers = _join_first([f"{title} ({reason})" for title, reason in unread])
            lines.append(f"No full text available, so only the abstract was read: {papers}.")
        rest = sorted({(note.about, note.detail) for note in notes if note.kind in ("cut", "as of")})
        lines += [f"{about}: {detail}." for about, detail in rest]
        return lines + sorted({message(note) for note in notes if note.kind in _START_NOTES})


def message(note: RunNote) -> str:
    """The sentence for a note on a failed source, an exclusion or a read-only store."""
    if note.kind in _FAILURES:
        return f"{_failure_prefix(note.kind)}{note.detail or note.about}"
    if note.kind == "read only":
        return f"The store {note.about} is read-only: papers that this run finds are not saved there."
    if note.kind == "ban":
        return f"{_EXCLUSION}{note.about}” excludes {note.detail}."
    hint = f"; did you mean {note.detail}?" if note.detail else ". Check its spelling."
    return f"{_EXCLUSION}{note.about}” matched no paper when the run began{hint}"


def warning_from(event: LiteratureEvent) -> str | None:
    """The message to show for a note while the run is active; ``None`` if there is none."""
    return message(_note_from(event)) if event["kind"] in (*_FAILURES, *_START_NOTES) else None


def _note_from(event: LiteratureEvent) -> RunNote:
    return RunNote(event["kind"], str(event.get("about")), str(event.get("detail", "")))


def _failure_prefix(kind: NoteKind) -> str:
    return _DOWN if kind == "down" else _REFUSED


def _failure_messages(kind: NoteKind, notes: Sequence[RunNote]) -> list[str]:
    """One message per source: the number of failed requests and the last reason."""
    counts = Counter(note.about for note in notes)
    reasons = {note.about: note.detail for note in notes}
    return [
        f"{_failure_prefix(kind)}{name}, {count} {'request' if count == 1 else 'requests'} failed "
        f"({reasons[name].rstrip('.')}). Papers that only this source has are missing."
        for name, count in sorted(counts.items())
    ]


def _join_first(names: Sequence[str]) -> str:
    more = len(names) - _MAX_LISTED
    return ", ".join(names[:_MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


def since_begin(events: Iterable[Event]) -> list[Event]:
    """The library's events from the last begin event on; empty if there is none."""
    since: list[Event] = []
    for event in events:
        if event["event"] == "literature" and event.get("kind") == "begin":
            since = [event]
        elif since and event["event"] in ("literature", "held back"):
            since.append(event)
    return since
