"""The client for all calls to models: cache, replay, budget, concurrency, retries, typed answers, usage.

An unreadable reply is asked again, at most twice, with what was wrong. After that the call fails with an
error that keeps every reply. No field is ever filled in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import Any

from ideagora.errors import ModelUnavailable, ReplayMiss, UnreadableAnswer
from ideagora.models.budget import Budget, create_budget
from ideagora.models.cache.answers import CachedResponse, ResponseCache
from ideagora.models.cache.claims import RequestClaims
from ideagora.models.cache.group_sync import GroupSync
from ideagora.models.call import A, Call
from ideagora.models.model_registry import ModelRegistry
from ideagora.models.parsing.stored_reply import ParsedReply, parse_reply
from ideagora.models.recorder import CallLog, Turn, TurnRecorder
from ideagora.models.redact import redact_keys
from ideagora.models.request import build_request
from ideagora.models.single_flight import SingleFlight
from ideagora.models.transport.attempt import ModelAvailability, RequestAttempt
from ideagora.models.transport.retry import Sleep
from ideagora.schema import Usage

MAX_TURNS = 3
"""Requests per call: the first, and two corrections."""


class LLMClient:
    """Makes the model calls of one run, in one event loop.

    Args:
        models: the models and their settings.
        log: where the calls are recorded.
        budget: the budget of the whole command, which includes the log's tracker; ``None``: the settings'
            budget, for this run alone.
        slots: limits concurrent calls of several clients together; ``None``: the settings' ``concurrency``,
            for this client alone.
        cutoff: date from which on models must not use what they know; every call states it.
        sleep: waits between retries.
    """

    def __init__(
        self,
        models: ModelRegistry,
        log: CallLog,
        *,
        budget: Budget | None = None,
        slots: asyncio.Semaphore | None = None,
        cutoff: str | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        settings = models.settings
        self.settings = settings
        self.models = models
        self.cutoff = cutoff
        self.cache = ResponseCache.for_home(settings.home)
        self.budget = create_budget(settings, {log.run_id: log.tracker}) if budget is None else budget
        self._log = log
        self._sleep = sleep
        self._slots = asyncio.Semaphore(settings.concurrency) if slots is None else slots
        self._claims = RequestClaims(self.cache.path.with_name("claims.sqlite"))
        self._sync = GroupSync(self.cache.sync)
        self._in_flight: SingleFlight[ParsedReply[Any]] = SingleFlight()

    async def ask(self, call: Call[A]) -> A:
        """Return the typed answer to a call.

        Raises:
            ReplayMiss: ``--replay`` is set and the answer is not in the cache.
            BudgetExhausted: the budget has no room; the run can be resumed.
            ModelUnavailable: transient failures outlasted the retries.
            UnknownModel, MissingKey, RequestRejected, RealCallForbidden: the provider cannot be called,
                or rejected the request.
            UnreadableAnswer: no reply could be parsed; ``raw`` and a file keep them all.
            SettingsError: a budget is set and the model's price is unknown.
        """
        answer = (await self.reply(call)).answer
        assert answer is not None
        return answer

    async def reply(self, call: Call[A]) -> ParsedReply[A]:
        """Like ``ask``, with the stored response beside the answer, which is not ``None``."""
        first = build_request(call, self.settings, self.cutoff)
        request = replace(first, retry=self._log.retry_counts.get(first.key, 0))
        replies: list[ParsedReply[A]] = []
        turns = 1 if request.model == "offline" else MAX_TURNS  # the offline model would repeat itself
        for number in range(1, turns + 1):
            reply = await self._reply(Turn(call, request, number))
            if reply.answer is not None:
                return reply
            replies.append(reply)
            request = request.with_correction(reply.response.text, reply.complaint)
        self._log.emit({"event": "unreadable", "key": first.key, "role": call.role})
        raise self._unreadable(call, first.key, replies)

    async def aclose(self) -> None:
        """Close the connections to providers and the cache. The client can be used again afterwards."""
        await self.models.aclose()
        self.cache.close()
        self._claims.close()

    async def _reply(self, turn: Turn[A]) -> ParsedReply[A]:
        """The reply to a request; concurrent identical requests are sent once."""
        reply, is_first = await self._in_flight.run(turn.request.key, lambda: self._cached_or_sent(turn))
        return reply if is_first else await self._use_cached(turn, reply.response)

    async def _cached_or_sent(self, turn: Turn[A]) -> ParsedReply[A]:
        request = turn.request
        cached = await asyncio.to_thread(self.cache.get, request.key)
        if cached is not None:
            # If the process was killed after it stored the answer and before it logged the call, the
            # request is still on the bill with its ceiling.
            is_unbilled = self._log.tracker.is_open(cached.request)
            return await self._use_cached(turn, cached, cached.usage if is_unbilled else None)
        if self.settings.replay:
            raise ReplayMiss(
                f"--replay: the cache {self.cache.path} has no answer of {request.model} for the role "
                f"{turn.call.role} (request {request.key[:12]}). Run once without --replay."
            )
        return await self._send(turn)

    async def _send(self, turn: Turn[A]) -> ParsedReply[A]:
        request = turn.request
        chat = self.models.chat(request.model)
        price = await self.models.price(request.model)
        recorder = TurnRecorder(turn, self._log, self.cache)
        async with self._slots, self._claim(turn) as cached:
            if cached is not None:
                return await self._use_cached(turn, cached)
            attempt = RequestAttempt(chat, turn.call, request, price, self.budget, recorder)
            availability = ModelAvailability(request.model, self.settings.api_base)
            try:
                await attempt.run(availability.retries(self.settings.retries), self._sleep)
            except ModelUnavailable as error:
                availability.update(False)
                self._log.emit_outage(turn, str(error))
                raise
            availability.update(True)
        await self._sync()  # outside the slot, so that the next request need not wait for the disk
        assert recorder.reply is not None
        return recorder.reply

    async def _use_cached(
        self, turn: Turn[A], response: CachedResponse, usage: Usage | None = None
    ) -> ParsedReply[A]:
        reply = await parse_reply(turn.call, response)
        self._log.emit_cached(turn, reply, usage)
        return reply

    def _claim(self, turn: Turn[Any]) -> AbstractAsyncContextManager[CachedResponse | None]:
        """Claim a request among all processes; gives the answer if another process has just got it."""
        if not self.models.has_provider(turn.request.model):
            return nullcontext()
        return self._claims.hold(turn.request.key, self.cache, self.settings.timeout)

    def _unreadable(self, call: Call[Any], key: str, replies: Sequence[ParsedReply[Any]]) -> UnreadableAnswer:
        responses = [reply.response for reply in replies]
        own_usage = sum((each.usage for each in responses if each.run_id == self._log.run_id), Usage())
        path = self._log.save_unreadable(call.role, key, replies)
        message = (
            f"{call.role}: none of {len(replies)} replies of {responses[0].model} could be read, "
            f"the last one because {replies[-1].complaint}."
        )
        if path is not None:
            message += f" All replies are in {path}."
        return UnreadableAnswer(redact_keys(message), [each.text for each in responses], own_usage)
