"""The events of a run: ``events.jsonl`` holds most of them, one per line, and listeners get all of them.

An event that is read from a file may lack fields, since earlier versions wrote fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NotRequired, TypedDict

from ideagora.schema.serialized import Serialized
from ideagora.schema.usage import Usage


class _Event(TypedDict):
    time: NotRequired[str]
    """When it was logged; only in ``events.jsonl``."""
    run: NotRequired[int]
    """Number of the agent's run, for listeners of a command with several."""


class BeginEvent(_Event):
    """The graph begins at its first node."""

    event: Literal["begin"]


class StepEvent(_Event):
    """A step starts or ends."""

    event: Literal["step"]
    step: str
    branch: int | None
    query: NotRequired[str]
    """The query that a branch starts from."""
    status: Literal["started", "done", "failed"]
    seconds: NotRequired[float]
    """Set when the step ends."""


class NoteEvent(_Event):
    """A step reports progress."""

    event: Literal["note"]
    label: str | None
    """The branch that the step belongs to, as in usage."""
    text: str


class RequestEvent(_Event):
    """One request, logged before it is sent. The ``CallEvent`` with the same ``request`` ends it.

    A request without such an event was interrupted. The provider may bill it, so it counts with its ceiling.
    """

    event: Literal["request"]
    request: str
    """Unique id, also stored with the answer."""
    role: str
    label: str | None
    model: str
    key: str
    ceiling_usd: float | None
    """The most that it may cost; ``None``: the price is unknown."""


class CallEvent(_Event):
    """One attempt at a provider, or one answer from the cache."""

    event: Literal["call"]
    role: str
    label: str | None
    model: str
    cached: bool
    attempt: int
    """1 for the first request of a call; 2 and 3 after an unreadable reply."""
    retry: int
    """How many attempts at this request had failed before."""
    status: Literal["ok", "unreadable", "failed"]
    reason: str | None
    billed: bool
    """Whether ``usage`` is on this run's bill."""
    usage: Serialized[Usage]
    """All zero if nothing is billed."""
    key: str
    """Hash of the request."""
    request: str | None
    """The ``RequestEvent`` that this ends; ``None``: no request was sent."""
    worth: Serialized[Usage] | None
    """The original usage of the answer, whichever run paid for it; ``None``: no answer."""
    answered: str | None
    """When the answer was created (ISO, UTC)."""


class OutageEvent(_Event):
    """A request was given up because its provider is down."""

    event: Literal["outage"]
    role: str
    label: str | None
    model: str
    key: str
    reason: str


class UnreadableEvent(_Event):
    """A call got no readable reply."""

    event: Literal["unreadable"]
    key: str
    """That of its first request."""
    role: str


class RetriedEvent(_Event):
    """Answers in the cache that this run does not use, because they could not be read before."""

    event: Literal["asked anew"]
    keys: list[str]


class LiteratureBeginEvent(_Event):
    """The library's part of a run begins; its earlier events belong to a discarded attempt."""

    event: Literal["literature"]
    kind: Literal["begin"]


NoteKind = Literal[
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
"""As written to ``events.jsonl``; "ban" is an exclusion and "nothing" a query without results."""


class LiteratureEvent(_Event):
    """A note on the literature."""

    event: Literal["literature"]
    kind: NoteKind
    about: str
    """Source, query, paper or exclusion."""
    detail: str


class WithheldEvent(_Event):
    """A paper or text was found but not shown."""

    event: Literal["held back"]
    key: str
    paper_id: str
    title: str
    why: str


class GenerationEvent(_Event):
    """The run of an agent for an arena or a benchmark starts or ends; only listeners get it."""

    event: Literal["arena"]
    stage: Literal["ideas"]
    status: Literal["started", "done", "failed"]
    reason: str | None
    agent: str
    topic: str
    number: int
    """That of the run, from 1."""
    total: int
    done: int


class ComparisonsEvent(_Event):
    """The judging begins; sent to listeners, not written to a file."""

    event: Literal["arena"]
    stage: Literal["comparisons"]
    total: int
    """Maximum number of verdicts."""
    judges: list[str]


class VerdictEvent(_Event):
    """A verdict was given; sent to listeners, not written to a file."""

    event: Literal["verdict"]
    judge: str
    status: str
    reason: str | None
    kind: str
    standing: Sequence[tuple[str, float, int]]
    """(name, share of points, verdicts) of the contestants so far, best first."""


Event = (
    BeginEvent
    | StepEvent
    | NoteEvent
    | RequestEvent
    | CallEvent
    | OutageEvent
    | UnreadableEvent
    | RetriedEvent
    | LiteratureBeginEvent
    | LiteratureEvent
    | WithheldEvent
    | GenerationEvent
    | ComparisonsEvent
    | VerdictEvent
)
Listener = Callable[[Event], None]
"""Is called with every event of a run."""
