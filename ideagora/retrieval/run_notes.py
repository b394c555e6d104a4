"""What a run has to tell about the literature: who did not answer, what was not found, what is thin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

_SHOWN = 5
Kind = Literal[
    "down",
    "refused",
    "nothing",
    "no abstract",
    "no full text",
    "cut",
    "as of",
    "ban",
    "ban missed",
    "read only",
]
_FAILURES: tuple[Kind, ...] = ("down", "refused")
BAN, DOWN, REFUSED = "Ban “", "Source down: ", "Source refused: "
"""How the sentences on bans and on sources that are down or refuse begin."""
_AT_BEGIN = ("ban", "ban missed", "read only")
EVENT = "literature"
"""Of the events in which a run keeps what was noted."""


class RunNote(NamedTuple):
    """One thing that happened."""

    kind: Kind
    about: str
    """Source, query or paper."""
    detail: str = ""


class RunNotes:
    """Entries in the order in which they came; readers remember from where on they read."""

    def __init__(self) -> None:
        self._entries: list[RunNote] = []
        self._known: set[RunNote] = set()
        self._tell: Callable[[Mapping[str, Any]], None] | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def note(self, kind: Kind, about: str, detail: str = "") -> None:
        """Write an entry; but for failures, which are counted, each one once."""
        entry = RunNote(kind, about, detail)
        if entry in self._known and kind not in _FAILURES:
            return
        self._put(entry)
        if self._tell:
            self._tell({"event": EVENT, **entry._asdict()})

    def begin(self, tell: Callable[[Mapping[str, Any]], None], earlier: Iterable[Mapping[str, Any]]) -> None:
        """Start a run's part: its events are told from now on, and those of before a stop count again."""
        self._tell = None
        self._known.clear()
        for event in earlier:
            if event.get("event") == EVENT and event.get("kind") in get_args(Kind):
                self._put(RunNote(event["kind"], str(event.get("about")), str(event.get("detail", ""))))
        self._tell = tell

    def end(self) -> None:
        """The run is over."""
        self._tell = None

    def _put(self, entry: RunNote) -> None:
        self._entries.append(entry)
        self._known.add(entry)

    def told(self, since: int = 0) -> list[str]:
        """The entries from a place on as sentences, each thing once, in an order that time doesn't change."""
        entries = self._entries[since:]
        lines = [
            line for kind in _FAILURES for line in _downs(kind, [one for one in entries if one.kind == kind])
        ]
        nothing = sorted({entry.about for entry in entries if entry.kind == "nothing"})
        lines += (
            [f"Nothing found for {_listed([f'“{query[:80]}”' for query in nothing])}."] if nothing else []
        )
        thin = sorted({entry.about for entry in entries if entry.kind == "no abstract"})
        if thin:
            lines.append(
                f"Found but without abstract in any source asked: {len(thin)} papers ({_listed(thin)}). "
                "They could only be judged by their titles."
            )
        unread = sorted({(entry.about, entry.detail) for entry in entries if entry.kind == "no full text"})
        if unread:
            told = _listed([f"{about} ({why})" for about, why in unread])
            lines.append(f"Read by their abstracts, since no full text could be had: {told}.")
        rest = sorted({(entry.about, entry.detail) for entry in entries if entry.kind in ("cut", "as of")})
        lines += [f"{about}: {detail}." for about, detail in rest]
        return lines + sorted({sentence(entry) for entry in entries if entry.kind in _AT_BEGIN})


def sentence(entry: RunNote) -> str:
    """One entry on a source that is down or on a ban, for the screen and the report."""
    if entry.kind in _FAILURES:
        return f"{_head(entry.kind)}{entry.detail or entry.about}"
    if entry.kind == "read only":
        return f"The store in {entry.about} may only be read: what this run finds is not kept there."
    if entry.kind == "ban":
        return f"{BAN}{entry.about}” holds back {entry.detail}."
    hint = f"; did you mean {entry.detail}?" if entry.detail else ": look at its spelling."
    return f"{BAN}{entry.about}” matched no paper when the run began{hint}"


def warning_of(event: Mapping[str, Any]) -> str | None:
    """What an event tells that a person should know while the run goes on; ``None``: nothing."""
    if event.get("event") != EVENT or event.get("kind") not in (*_FAILURES, *_AT_BEGIN):
        return None
    return sentence(RunNote(event["kind"], str(event.get("about")), str(event.get("detail", ""))))


def _head(kind: Kind) -> str:
    return DOWN if kind == "down" else REFUSED


def _downs(kind: Kind, entries: Sequence[RunNote]) -> list[str]:
    """Per source: how often, and the reason that it gave last."""
    counts = Counter(entry.about for entry in entries)
    reasons = {entry.about: entry.detail for entry in entries}
    return [
        f"{_head(kind)}{name}, {count} {'question' if count == 1 else 'questions'} without an answer "
        f"({reasons[name].rstrip('.')}). What only it knows is missing here."
        for name, count in sorted(counts.items())
    ]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
