"""Track usage and cost of model calls: per role, per label, in total.

A tracker is updated by events only, so the events of a run folder restore it: the bill belongs to the
folder. A call is billed if this run sent the request; answers from the cache are counted separately.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypedDict

from ideagora.schema import Serialized, Usage, serialize
from ideagora.schema.events import CallEvent, Event, RequestEvent

current_label: ContextVar[str | None] = ContextVar("ideagora_label", default=None)
"""Label of the calls made in this context (``branch 1``), for usage per branch."""


_scope: ContextVar[str] = ContextVar("ideagora_label_scope", default="")


@contextmanager
def label_scope(name: str) -> Iterator[None]:
    """Count the calls made inside under a label, and put it before every label that is set inside.

    An agent that runs inside another one keeps its own labels apart (``rag, idea 1``).
    """
    scope = _scope.set(f"{name}, ")
    label = current_label.set(name)
    try:
        yield
    finally:
        current_label.reset(label)
        _scope.reset(scope)


@contextmanager
def usage_label(name: str) -> Iterator[None]:
    """Count the calls made inside under a label."""
    token = current_label.set(f"{_scope.get()}{name}")
    try:
        yield
    finally:
        current_label.reset(token)


_used: ContextVar[dict[str, Usage] | None] = ContextVar("ideagora_used", default=None)


@contextmanager
def collect_answer_usage() -> Iterator[dict[str, Usage]]:
    """Collect the original usage of the answers used inside, by request key.

    Unlike the bill, it is the same whether or not the answers come from the cache.
    """
    used: dict[str, Usage] = {}
    token = _used.set(used)
    try:
        yield used
    finally:
        _used.reset(token)


def record_answer(event: Event) -> None:
    """Add an answer to the surrounding ``collect_answer_usage``, if any."""
    used = _used.get()
    if used is not None and event["event"] == "call" and event["worth"]:
        used[event["key"]] = Usage.model_validate(event["worth"])


@dataclass(frozen=True)
class AnswerUsage:
    """The original usage of the answers used for one label.

    Unlike the bill, it is the same whether or not the answers came from the cache.
    """

    usage: Usage
    latest: str
    """When the last answer was created."""


class UsageByName(TypedDict):
    """Usage in total, by role and by label."""

    total: Serialized[Usage]
    roles: dict[str, Serialized[Usage]]
    labels: dict[str, Serialized[Usage]]


class UsageSummary(UsageByName):
    """The usage of a run, as ``run.json`` has it."""

    cached: int
    """Number of answers from the cache."""
    estimated_calls: int
    """Number of the calls behind ``total.estimated_usd``, interrupted ones included."""
    answers: UsageByName
    """The original usage of the answers used, whichever run paid for them."""


class UsageTracker:
    """Usage of one run, live.

    A request that no event has ended is open: in flight, or (after ``restore``) interrupted. If the answer
    to an interrupted request is in the cache, the client bills its real cost in place of the ceiling.
    """

    def __init__(self) -> None:
        self._roles: dict[str, Usage] = defaultdict(Usage)
        self._labels: dict[str | None, Usage] = defaultdict(Usage)
        self._cached: Counter[str] = Counter()
        self._total = Usage()
        self._spent = 0.0
        self._estimated_calls = 0
        self._unpriced: dict[str, Usage] = defaultdict(Usage)
        self._open: dict[str, RequestEvent] = {}
        self._interrupted: dict[str, RequestEvent] = {}
        self._answers: dict[str, dict[str, tuple[Usage, str]]] = defaultdict(dict)
        self._answer_usage: dict[str, dict[str, Usage]] = defaultdict(dict)

    def record_if_valid(self, event: Event) -> None:
        """Count an event that was read from a file; damaged events are ignored."""
        with suppress(KeyError, TypeError, ValueError):
            self.record(event)

    def record(self, event: Event) -> None:
        """Count a ``CallEvent`` or a ``RequestEvent``; other events are ignored."""
        if event["event"] == "request":
            self._open[str(event["request"])] = event
        elif event["event"] == "call":
            self._record_answer_usage(event)
            if event["billed"]:
                self._bill(event)
            else:
                self._cached[str(event["role"])] += 1

    def _record_answer_usage(self, event: CallEvent) -> None:
        if not event.get("worth"):
            return
        usage = Usage.model_validate(event["worth"])
        self._answer_usage[str(event["role"])][str(event["key"])] = usage
        if event.get("label"):
            self._answers[str(event["label"])][str(event["key"])] = (usage, str(event["answered"]))

    def _bill(self, event: CallEvent) -> None:
        self._open.pop(str(event.get("request")), None)
        self._interrupted.pop(str(event.get("request")), None)
        usage = Usage.model_validate(event["usage"])
        self._roles[str(event["role"])] += usage
        self._labels[event.get("label")] += usage
        self._total += usage
        self._spent += usage.cost_usd or 0.0
        self._estimated_calls += usage.estimated_usd > 0
        if usage.cost_usd is None:
            self._unpriced[str(event["model"])] += usage

    def restore(self, events: Iterable[Event]) -> None:
        """Count the events of a run's folder; requests still open at the end were interrupted.

        When the graph restarted, earlier calls stay on the bill, but their answers belong to no result.
        """
        for event in events:
            if event["event"] == "begin":
                self._answers.clear()
                self._answer_usage.clear()
            else:
                self.record_if_valid(event)
        self._interrupted = dict(self._open)

    def is_open(self, request: str) -> bool:
        """Whether a request was sent and no event has ended it."""
        return request in self._open

    @property
    def total(self) -> Usage:
        """Usage of all requests sent; interrupted ones count with their ceiling."""
        return self._total + self._interrupted_usage()

    @property
    def spent(self) -> float:
        """US dollars, estimates included, of calls with a known price; the others are in ``unpriced``."""
        return self._spent + sum(event.get("ceiling_usd") or 0.0 for event in self._interrupted.values())

    @property
    def unpriced(self) -> dict[str, Usage]:
        """Usage by model of calls with an unknown price."""
        return dict(self._unpriced)

    @property
    def cached(self) -> int:
        """Number of answers from the cache."""
        return self._cached.total()

    @property
    def by_role(self) -> dict[str, Usage]:
        """Usage per role, sorted by name."""
        names = {*self._roles, *(str(event["role"]) for event in self._interrupted.values())}
        return {name: self.of_role(name) for name in sorted(names)}

    @property
    def answers_by_label(self) -> dict[str, AnswerUsage]:
        """The original usage of the answers used for each label; each answer counts once."""
        return {
            name: AnswerUsage(
                usage=sum((usage for _, (usage, _) in sorted(answers.items())), Usage()),
                latest=max(time for _, time in answers.values()),
            )
            for name, answers in self._answers.items()
        }

    def of_role(self, role: str) -> Usage:
        """Usage of one role."""
        return self._roles.get(role, Usage()) + self._interrupted_usage(role=role)

    def of_label(self, name: str | None) -> Usage:
        """Usage of one label."""
        return self._labels.get(name, Usage()) + self._interrupted_usage(label=name)

    def summary(self) -> UsageSummary:
        """The usage so far, for ``run.json``."""
        roles = sorted({*self.by_role, *self._cached})
        labels = {
            name for name in (*self._labels, *(e.get("label") for e in self._interrupted.values())) if name
        }
        return {
            "total": serialize(self.total),
            "estimated_calls": self._estimated_calls + len(self._interrupted),
            "cached": self.cached,
            "answers": self._answers_summary(),
            "roles": {role: serialize(self.of_role(role)) for role in roles},
            "labels": {name: serialize(self.of_label(name)) for name in sorted(labels)},
        }

    def _answers_summary(self) -> UsageByName:
        roles = {role: _sum(self._answer_usage[role]) for role in sorted(self._answer_usage)}
        labels = {name: serialize(used.usage) for name, used in sorted(self.answers_by_label.items())}
        total = sum(roles.values(), Usage())
        return {
            "total": serialize(total),
            "roles": {role: serialize(usage) for role, usage in roles.items()},
            "labels": labels,
        }

    def _interrupted_usage(self, **filters: str | None) -> Usage:
        """Usage of interrupted requests of one role or label."""
        chosen = [
            e
            for e in self._interrupted.values()
            if all(e.get(name) == value for name, value in filters.items())
        ]
        return sum((_ceiling_of(event) for event in chosen), Usage())


def _sum(by_key: Mapping[str, Usage]) -> Usage:
    """Sum in the order of the keys, since a sum of floats depends on the order."""
    return sum((by_key[key] for key in sorted(by_key)), Usage())


def _ceiling_of(request: RequestEvent) -> Usage:
    ceiling = request.get("ceiling_usd")
    return Usage(calls=1, cost_usd=ceiling, estimated_usd=ceiling or 0.0)
