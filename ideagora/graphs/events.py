"""Events of a run, as ``events.jsonl`` has them and listeners get them.

The client's events (``CallEvent``, ``RequestEvent``) are defined in ``models/usage.py``, those of the library
in ``retrieval/run_notes.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NotRequired, TypedDict

Listener = Callable[[Mapping[str, Any]], None]
"""Is called with every event of a run."""


class BeginEvent(TypedDict):
    """The graph begins at its first node."""

    event: Literal["begin"]


class NoteEvent(TypedDict):
    """A step reports progress."""

    event: Literal["note"]
    label: str | None
    """The branch that the step belongs to, as in usage."""
    text: str


class StepEvent(TypedDict):
    """A step starts or ends."""

    event: Literal["step"]
    step: str
    branch: int | None
    query: NotRequired[str]
    """The query that a branch starts from."""
    status: Literal["started", "done", "failed"]
    seconds: NotRequired[float]
    """Set when the step ends."""


class RetriedEvent(TypedDict):
    """Answers in the cache that this run does not use, because they could not be read before."""

    event: Literal["asked anew"]
    keys: list[str]
