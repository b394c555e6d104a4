"""What the provider was asked, and what it cost: per role, per label, in total.

The meter is fed by call events and by nothing else, so the events of a run's folder rebuild it. An
event is billed when this run asked the provider; an answer from the cache is counted apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from ideagora.schema import Usage

label: ContextVar[str | None] = ContextVar("ideagora_label", default=None)
"""On whose behalf calls are made (``branch 1``), for usage per branch."""


@contextmanager
def labelled(name: str) -> Iterator[None]:
    """Calls made inside are counted under this label."""
    token = label.set(name)
    try:
        yield
    finally:
        label.reset(token)


_used: ContextVar[dict[str, Usage] | None] = ContextVar("ideagora_used", default=None)


@contextmanager
def answers_used() -> Iterator[dict[str, Usage]]:
    """What the answers used inside were worth when they were given, by the key of their request.

    Like ``Answers``, and unlike a bill, it is the same for a run that finds them in the cache.
    """
    used: dict[str, Usage] = {}
    token = _used.set(used)
    try:
        yield used
    finally:
        _used.reset(token)


def note_answer(event: Mapping[str, Any]) -> None:
    """Count an answer for whoever has asked to know (``answers_used``)."""
    used = _used.get()
    if used is not None and event.get("worth"):
        used[str(event["key"])] = Usage.model_validate(event["worth"])


class CallEvent(TypedDict):
    """One try at a provider, or one answer from the cache, as it goes to a run's events."""

    event: Literal["call"]
    role: str
    label: str | None
    model: str
    cached: bool
    attempt: int
    """1 for the first asking; 2 and 3 after an unreadable answer."""
    retry: int
    """How many tries of this asking had failed before."""
    status: Literal["ok", "unreadable", "failed"]
    reason: str | None
    billed: bool
    """Whether ``usage`` belongs on this run's bill."""
    usage: dict[str, Any]
    """A ``Usage``; all zero when nothing is billed."""
    key: str
    """Hash of the request."""
    worth: dict[str, Any] | None
    """The ``Usage`` of the answer that was used, whoever paid for it and when; ``None``: no answer."""
    answered: str | None
    """When that answer was given (ISO, UTC)."""


BEGIN = "begin"
"""Name of the event with which a graph begins at its first node."""


@dataclass(frozen=True)
class Answers:
    """The answers used for one label: what they cost when they were given, and when the last one was.

    Unlike a bill, this is the same for a run that found them in the cache.
    """

    usage: Usage
    latest: str


class Meter:
    """Usage of one run, live.

    A cached answer that this very run paid for may be missing from its events: the process was
    killed after the answer was stored and before the event was. ``has_paid`` tells, so that the
    door bills it when it meets it.
    """

    def __init__(self) -> None:
        self._roles: dict[str, Usage] = defaultdict(Usage)
        self._labels: dict[str | None, Usage] = defaultdict(Usage)
        self._cached: Counter[str] = Counter()
        self._paid: set[str] = set()
        self._total = Usage()
        self._spent = 0.0
        self._answers: dict[str, dict[str, tuple[Usage, str]]] = defaultdict(dict)

    def record(self, event: Mapping[str, Any]) -> None:
        """Count one call event (a ``CallEvent``)."""
        role = str(event["role"])
        if event.get("worth") and event.get("label"):
            worth = (Usage.model_validate(event["worth"]), str(event["answered"]))
            self._answers[str(event["label"])][str(event["key"])] = worth
        if not event["billed"]:
            self._cached[role] += 1
            return
        usage = Usage.model_validate(event["usage"])
        self._roles[role] += usage
        self._labels[event.get("label")] += usage
        self._total += usage
        self._spent += usage.cost_usd or 0.0
        if event["status"] != "failed":
            self._paid.add(str(event["key"]))

    def restore(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Count on from a run's events; events of other kinds are passed over.

        Where the graph began anew, what it had used before stays on the bill and belongs to no result.
        """
        for event in events:
            if event.get("event") == BEGIN:
                self._answers.clear()
            elif event.get("event") == "call":
                self.record(event)

    def has_paid(self, key: str) -> bool:
        """Whether the answer to this request is already on this run's bill."""
        return key in self._paid

    @property
    def total(self) -> Usage:
        """All that was asked of providers."""
        return self._total

    @property
    def spent(self) -> float:
        """US dollars that are known to be spent; calls of unknown price are not in it."""
        return self._spent

    @property
    def cached(self) -> int:
        """Answers that came from the cache."""
        return self._cached.total()

    @property
    def by_role(self) -> dict[str, Usage]:
        """Usage per role, in the order of their names."""
        return dict(sorted(self._roles.items()))

    @property
    def answers_by_label(self) -> dict[str, Answers]:
        """What the answers used for each label cost when they were given, each answer once."""
        return {
            name: Answers(
                usage=sum((usage for _, (usage, _) in sorted(answers.items())), Usage()),
                latest=max(time for _, time in answers.values()),
            )
            for name, answers in self._answers.items()
        }

    def of_role(self, role: str) -> Usage:
        """Usage of one role."""
        return self._roles.get(role, Usage())

    def of_label(self, name: str | None) -> Usage:
        """Usage of one label."""
        return self._labels.get(name, Usage())

    def summary(self) -> dict[str, Any]:
        """For ``run.json``: ``{"total": usage, "cached": count, "roles": {role: usage}, "labels": …}``."""
        roles = {role: self.of_role(role).model_dump() for role in sorted({*self._roles, *self._cached})}
        labels = {name: usage.model_dump() for name, usage in self._labels.items() if name is not None}
        return {
            "total": self._total.model_dump(),
            "cached": self.cached,
            "roles": roles,
            "labels": dict(sorted(labels.items())),
        }
