"""Store replies and emit the events of requests and calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict

from ideagora.models.cache.answers import CachedResponse, ResponseCache, utc_now
from ideagora.models.call import A, Call
from ideagora.models.parsing.json_extract import fix_surrogates
from ideagora.models.parsing.stored_reply import ParsedReply, parse_reply
from ideagora.models.redact import redact_keys
from ideagora.models.request import Request
from ideagora.models.transport.attempt import AttemptRecord
from ideagora.models.usage import CallEvent, RequestEvent, UsageTracker, current_label, record_answer
from ideagora.schema import Serialized, Usage, serialize

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

OUTAGE = "outage"
"""Name of the event of a request that was given up because its provider is down."""


@dataclass(frozen=True)
class Turn(Generic[A]):
    """One request of a call: the first, or a correction after an unreadable reply."""

    call: Call[A]
    request: Request
    number: int
    """Counts from 1."""


class Outcome(TypedDict):
    """The fields of a ``CallEvent`` that a reply decides."""

    status: Literal["ok", "unreadable"]
    reason: str | None
    worth: Serialized[Usage]
    answered: str | None


class EventLog:
    """Passes every event to the usage tracker and to the run's own log."""

    def __init__(self, tracker: UsageTracker, on_event: Callable[[dict[str, Any]], None] | None) -> None:
        self._tracker = tracker
        self._on_event = on_event

    def emit(self, event: Mapping[str, Any]) -> None:
        """Count an event and log it."""
        self._tracker.record(event)
        record_answer(event)
        if self._on_event is not None:
            self._on_event(dict(event))

    def emit_outage(self, turn: Turn[Any], reason: str) -> None:
        """Log that a request was given up for now: results made without its answer are incomplete."""
        if self._on_event is not None:
            where = {"role": turn.call.role, "label": current_label.get(), "model": turn.request.model}
            self._on_event({"event": OUTAGE, **where, "key": turn.request.key, "reason": reason})

    def emit_failure(self, turn: Turn[Any], attempt: AttemptRecord, usage: Usage, reason: str) -> None:
        """Log an attempt that brought no answer."""
        event = _attempt_event(turn, attempt, usage)
        self.emit({**event, "status": "failed", "reason": reason})

    def emit_answer(
        self, turn: Turn[Any], reply: ParsedReply[Any], attempt: AttemptRecord, usage: Usage
    ) -> None:
        """Log an attempt that was answered."""
        self.emit({**_attempt_event(turn, attempt, usage), **_outcome(reply)})

    def emit_cached(self, turn: Turn[Any], reply: ParsedReply[Any], usage: Usage | None = None) -> None:
        """Log an answer that came from the cache; ``usage`` goes on this run's bill."""
        event: CallEvent = {**_call_event(turn), **_outcome(reply), "cached": True}
        if usage is not None:
            event["billed"], event["usage"] = True, serialize(usage)
            event["request"] = reply.response.request
        self.emit(event)


class TurnRecorder(Generic[A]):
    """Stores the reply to one request, parses it and logs its attempts: an ``AttemptObserver``."""

    def __init__(self, turn: Turn[A], log: EventLog, cache: ResponseCache, run_id: str) -> None:
        self.reply: ParsedReply[A] | None = None
        self._turn = turn
        self._log = log
        self._cache = cache
        self._run_id = run_id
        self._response: CachedResponse | None = None

    def on_send(self, attempt: AttemptRecord) -> None:
        """Log the request."""
        self._log.emit(_request_event(self._turn, attempt))

    def on_reply(self, attempt: AttemptRecord, message: AIMessage, usage: Usage) -> None:
        """Store the reply before anything else runs, in the event loop's own thread."""
        response = CachedResponse(
            model=self._turn.request.model,
            text=fix_surrogates(redact_keys(str(message.text))),
            finish_reason=message.response_metadata.get("finish_reason"),
            usage=usage,
            run_id=self._run_id,
            created=utc_now(),
            request=attempt.request,
            alternatives=message.response_metadata.get("alternatives"),
        )
        self._response = self._cache.put(self._turn.request.key, response)

    async def on_success(self, attempt: AttemptRecord, usage: Usage) -> None:
        """Parse the stored reply and log the call."""
        assert self._response is not None
        try:
            self.reply = await parse_reply(self._turn.call, self._response)
        except asyncio.CancelledError:  # the reply is stored and paid for
            self._log.emit_failure(self._turn, attempt, usage, "interrupted")
            raise
        self._log.emit_answer(self._turn, self.reply, attempt, usage)

    def on_failure(self, attempt: AttemptRecord, usage: Usage, reason: str) -> None:
        """Log the failed attempt."""
        self._log.emit_failure(self._turn, attempt, usage, reason)


def _request_event(turn: Turn[Any], attempt: AttemptRecord) -> RequestEvent:
    return {
        "event": "request",
        "request": attempt.request,
        "role": turn.call.role,
        "label": current_label.get(),
        "model": turn.request.model,
        "key": turn.request.key,
        "ceiling_usd": attempt.ceiling.usd,
    }


def _attempt_event(turn: Turn[Any], attempt: AttemptRecord, usage: Usage) -> CallEvent:
    return {
        **_call_event(turn),
        "billed": True,
        "usage": serialize(usage),
        "retry": attempt.number,
        "request": attempt.request,
    }


def _call_event(turn: Turn[Any]) -> CallEvent:
    return {
        "event": "call",
        "role": turn.call.role,
        "label": current_label.get(),
        "model": turn.request.model,
        "cached": False,
        "attempt": turn.number,
        "retry": 0,
        "status": "ok",
        "reason": None,
        "billed": False,
        "usage": serialize(Usage()),
        "key": turn.request.key,
        "request": None,
        "worth": None,
        "answered": None,
    }


def _outcome(reply: ParsedReply[Any]) -> Outcome:
    is_readable = reply.answer is not None
    return {
        "status": "ok" if is_readable else "unreadable",
        "reason": None if is_readable else reply.complaint,
        "worth": serialize(reply.response.usage),
        "answered": reply.response.created,
    }
