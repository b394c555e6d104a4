"""Store replies, and log requests and calls as events of the run."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict

from ideagora.models.cache.answers import CachedResponse, ResponseCache, utc_now
from ideagora.models.call import A, Call
from ideagora.models.parsing.json_text import fix_surrogates
from ideagora.models.parsing.stored_reply import ParsedReply, parse_reply
from ideagora.models.redact import redact_keys
from ideagora.models.request import Request
from ideagora.models.transport.attempt import AttemptRecord
from ideagora.models.usage import UsageTracker, current_label, record_answer
from ideagora.schema import Serialized, Usage, serialize
from ideagora.schema.events import CallEvent, Event, Listener, RequestEvent

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage


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


@dataclass(frozen=True)
class CallLog:
    """What a run keeps of its calls: usage, events, and replies that cannot be read."""

    run_id: str
    """Identity of the run, stored with each answer."""
    tracker: UsageTracker = field(default_factory=UsageTracker)
    """Usage of this run; on a resumed run already restored from its events."""
    on_event: Listener | None = None
    """Called with a ``RequestEvent`` before each request is sent, with a ``CallEvent`` for each attempt and
    each cached answer, and with an ``OutageEvent`` or ``UnreadableEvent`` for a call without an answer."""
    raw_folder: Path | None = None
    """Where unreadable replies are saved; ``None``: nowhere."""
    retry_counts: Mapping[str, int] = field(default_factory=dict)
    """How many times each request was retried by earlier failed runs, by its key."""

    def emit(self, event: Event) -> None:
        """Count an event and log it."""
        self.tracker.record(event)
        record_answer(event)
        if self.on_event is not None:
            self.on_event(event)

    def emit_outage(self, turn: Turn[Any], reason: str) -> None:
        """Log that a request was given up for now: results made without its answer are incomplete."""
        if self.on_event is not None:
            self.on_event({
                "event": "outage", "role": turn.call.role, "label": current_label.get(),
                "model": turn.request.model, "key": turn.request.key, "reason": reason,
            })  # fmt: skip

    def emit_failure(self, turn: Turn[Any], attempt: AttemptRecord, usage: Usage, reason: str) -> None:
        """Log an attempt that brought no answer."""
        event = _attempt_event(turn, attempt, usage)
        event["status"], event["reason"] = "failed", reason
        self.emit(event)

    def emit_answer(
        self, turn: Turn[Any], reply: ParsedReply[Any], attempt: AttemptRecord, usage: Usage
    ) -> None:
        """Log an attempt that was answered."""
        event: CallEvent = {**_attempt_event(turn, attempt, usage), **_outcome(reply)}
        self.emit(event)

    def emit_cached(self, turn: Turn[Any], reply: ParsedReply[Any], usage: Usage | None = None) -> None:
        """Log an answer that came from the cache; ``usage`` goes on this run's bill."""
        event: CallEvent = {**_call_event(turn), **_outcome(reply), "cached": True}
        if usage is not None:
            event["billed"], event["usage"] = True, serialize(usage)
            event["request"] = reply.response.request
        self.emit(event)

    def save_unreadable(self, role: str, key: str, replies: Sequence[ParsedReply[Any]]) -> Path | None:
        """Save unreadable replies; returns the file, or ``None`` if there is no folder or it is unusable."""
        if self.raw_folder is None:
            return None
        path = self.raw_folder / f"{re.sub(r'[^A-Za-z0-9_-]+', '-', role)}-{key[:12]}.txt"
        parts = [
            f"reply {number} of {reply.response.model} ({reply.response.created}): {reply.complaint}\n\n"
            f"{reply.response.text}\n"
            for number, reply in enumerate(replies, start=1)
        ]
        try:
            self.raw_folder.mkdir(parents=True, exist_ok=True)
            path.write_text(redact_keys(f"{'=' * 72}\n".join(parts)), encoding="utf-8")
        except OSError:  # the replies are still in the cache and on the exception
            return None
        return path


class TurnRecorder(Generic[A]):
    """Stores the reply to one request, parses it and logs its attempts: an ``AttemptObserver``."""

    def __init__(self, turn: Turn[A], log: CallLog, cache: ResponseCache) -> None:
        self.reply: ParsedReply[A] | None = None
        self._turn = turn
        self._log = log
        self._cache = cache
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
            run_id=self._log.run_id,
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
