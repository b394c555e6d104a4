"""What the provider was asked, and what it cost: per role, per label, in total.

The meter is fed by the events of requests and calls and by nothing else, so the events of a run's folder
rebuild it: the bill belongs to the folder. A call is billed when this run asked the provider; an answer
from the cache is counted apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from ideagora.schema import Usage

current_label: ContextVar[str | None] = ContextVar("ideagora_label", default=None)
"""On whose behalf calls are made (``branch 1``), for usage per branch."""


@contextmanager
def usage_label(name: str) -> Iterator[None]:
    """Calls made inside are counted under this label."""
    token = current_label.set(name)
    try:
        yield
    finally:
        current_label.reset(token)


_used: ContextVar[dict[str, Usage] | None] = ContextVar("ideagora_used", default=None)


@contextmanager
def collect_answer_usage() -> Iterator[dict[str, Usage]]:
    """What the answers used inside were worth when they were given, by the key of their request.

    Like ``Answers``, and unlike a bill, it is the same for a run that finds them in the cache.
    """
    used: dict[str, Usage] = {}
    token = _used.set(used)
    try:
        yield used
    finally:
        _used.reset(token)


def record_answer(event: Mapping[str, Any]) -> None:
    """Count an answer for whoever has asked to know (``collect_answer_usage``)."""
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
    request: str | None
    """Which ``RequestEvent`` this ends; ``None``: the provider was not asked."""
    worth: dict[str, Any] | None
    """The ``Usage`` of the answer that was used, whoever paid for it and when; ``None``: no answer."""
    answered: str | None
    """When that answer was given (ISO, UTC)."""


BEGIN = "begin"
"""Name of the event with which a graph begins at its first node."""


class RequestEvent(TypedDict):
    """One request, written before it is sent. The ``CallEvent`` with the same ``request`` ends it.

    One that nothing ends was lost in a stop: the provider may bill it, so it counts with its ceiling.
    """

    event: Literal["request"]
    request: str
    """Unique; the stored answer has it too."""
    role: str
    label: str | None
    model: str
    key: str
    ceiling_usd: float | None
    """The most that it may cost; ``None``: nobody knows the price."""


@dataclass(frozen=True)
class Answers:
    """The answers used for one label: what they cost when they were given, and when the last one was.

    Unlike a bill, this is the same for a run that found them in the cache.
    """

    usage: Usage
    latest: str


class UsageTracker:
    """Usage of one run, live.

    A request that was sent and that no event ends is open: in flight, or (after ``restore``) lost in a
    stop. The answer to a lost one may still be in the cache; ``is_open`` tells the client to put what it
    really cost on the bill in place of the ceiling.
    """

    def __init__(self) -> None:
        self._roles: dict[str, Usage] = defaultdict(Usage)
        self._labels: dict[str | None, Usage] = defaultdict(Usage)
        self._cached: Counter[str] = Counter()
        self._total = Usage()
        self._spent = 0.0
        self._estimated_calls = 0
        self._unpriced: dict[str, Usage] = defaultdict(Usage)
        self._open: dict[str, Mapping[str, Any]] = {}
        self._lost: dict[str, Mapping[str, Any]] = {}
        self._answers: dict[str, dict[str, tuple[Usage, str]]] = defaultdict(dict)
        self._worth: dict[str, dict[str, Usage]] = defaultdict(dict)

    def record_readable(self, event: Mapping[str, Any]) -> None:
        """Count one event of a file, unless a bad disk has made it no such event."""
        with suppress(KeyError, TypeError, ValueError):
            self.record(event)

    def record(self, event: Mapping[str, Any]) -> None:
        """Count one event: a ``CallEvent`` or a ``RequestEvent``; others are passed over."""
        if event.get("event") == "request":
            self._open[str(event["request"])] = event
        elif event.get("event") == "call":
            self._note_worth(event)
            if event["billed"]:
                self._bill(event)
            else:
                self._cached[str(event["role"])] += 1

    def _note_worth(self, event: Mapping[str, Any]) -> None:
        if not event.get("worth"):
            return
        worth = Usage.model_validate(event["worth"])
        self._worth[str(event["role"])][str(event["key"])] = worth
        if event.get("label"):
            self._answers[str(event["label"])][str(event["key"])] = (worth, str(event["answered"]))

    def _bill(self, event: Mapping[str, Any]) -> None:
        self._open.pop(str(event.get("request")), None)
        self._lost.pop(str(event.get("request")), None)
        usage = Usage.model_validate(event["usage"])
        self._roles[str(event["role"])] += usage
        self._labels[event.get("label")] += usage
        self._total += usage
        self._spent += usage.cost_usd or 0.0
        self._estimated_calls += usage.estimated_usd > 0
        if usage.cost_usd is None:
            self._unpriced[str(event["model"])] += usage

    def restore(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Count on from a run's events; what is still open then was lost.

        Where the graph began anew, what it had used before stays on the bill and belongs to no result.
        """
        for event in events:
            if event.get("event") == BEGIN:
                self._answers.clear()
                self._worth.clear()
            else:
                self.record_readable(event)
        self._lost = dict(self._open)

    def is_open(self, request: str) -> bool:
        """Whether a request was sent and nothing has ended it."""
        return request in self._open

    @property
    def total(self) -> Usage:
        """All that was asked of providers; what was lost in a stop counts with its ceiling."""
        return self._total + self._lost_where()

    @property
    def spent(self) -> float:
        """US dollars as far as prices are known, estimates included; the rest is ``unpriced``."""
        return self._spent + sum(event.get("ceiling_usd") or 0.0 for event in self._lost.values())

    @property
    def unpriced(self) -> dict[str, Usage]:
        """Usage, by model, of calls whose price was not known."""
        return dict(self._unpriced)

    @property
    def cached(self) -> int:
        """Answers that came from the cache."""
        return self._cached.total()

    @property
    def by_role(self) -> dict[str, Usage]:
        """Usage per role, in the order of their names."""
        names = {*self._roles, *(str(event["role"]) for event in self._lost.values())}
        return {name: self.of_role(name) for name in sorted(names)}

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
        return self._roles.get(role, Usage()) + self._lost_where(role=role)

    def of_label(self, name: str | None) -> Usage:
        """Usage of one label."""
        return self._labels.get(name, Usage()) + self._lost_where(label=name)

    def summary(self) -> dict[str, Any]:
        """For ``run.json``: ``{"total": usage, "cached": count, "roles": {role: usage}, "labels": …}``.

        ``estimated_calls`` counts the calls behind ``total.estimated_usd``, those that were lost among them.
        ``answers`` has what the answers that were used cost when they were given, whoever paid for them.
        """
        roles = sorted({*self.by_role, *self._cached})
        labels = {name for name in (*self._labels, *(e.get("label") for e in self._lost.values())) if name}
        return {
            "total": self.total.model_dump(),
            "estimated_calls": self._estimated_calls + len(self._lost),
            "cached": self.cached,
            "answers": self._answers_summary(),
            "roles": {role: self.of_role(role).model_dump() for role in roles},
            "labels": {name: self.of_label(name).model_dump() for name in sorted(labels)},
        }

    def _answers_summary(self) -> dict[str, Any]:
        roles = {role: _sum(self._worth[role]) for role in sorted(self._worth)}
        labels = {name: used.usage.model_dump() for name, used in sorted(self.answers_by_label.items())}
        total = sum(roles.values(), Usage())
        return {
            "total": total.model_dump(),
            "roles": {role: usage.model_dump() for role, usage in roles.items()},
            "labels": labels,
        }

    def _lost_where(self, **wanted: str | None) -> Usage:
        """What was lost in a stop, of one role or label."""
        chosen = [e for e in self._lost.values() if all(e.get(name) == wanted[name] for name in wanted)]
        return sum((_at_most(event) for event in chosen), Usage())


def _sum(by_key: Mapping[str, Usage]) -> Usage:
    """In the order of the keys: the sum of floats depends on it."""
    return sum((by_key[key] for key in sorted(by_key)), Usage())


def _at_most(lost: Mapping[str, Any]) -> Usage:
    ceiling = lost.get("ceiling_usd")
    return Usage(calls=1, cost_usd=ceiling, estimated_usd=ceiling or 0.0)
