"""The client for all calls to models: cache, replay, budget, concurrency, retries, typed answers, usage.

An unreadable reply is asked again, at most twice, with what was wrong. After that the call fails with an
error that keeps every reply. No field is ever filled in.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.config import Settings
from ideagora.errors import ModelUnavailable, ReplayMiss, SettingsError, UnknownModel, UnreadableAnswer
from ideagora.models.budget import Budget, create_budget, expected_cost
from ideagora.models.cache.answers import CachedResponse, ResponseCache
from ideagora.models.cache.claims import RequestClaims
from ideagora.models.cache.group_sync import GroupSync
from ideagora.models.cache.retry_failed import UNREADABLE
from ideagora.models.call import A, Call
from ideagora.models.parsing.stored_reply import ParsedReply, parse_reply
from ideagora.models.recorder import EventLog, Turn, TurnRecorder
from ideagora.models.redact import redact_keys
from ideagora.models.request import build_request
from ideagora.models.single_flight import SingleFlight
from ideagora.models.transport.attempt import ModelAvailability, RequestAttempt
from ideagora.models.transport.providers import (
    CONNECTIONS,
    LOCAL_MODELS,
    MILLION,
    Price,
    load_litellm,
    needs_litellm,
)
from ideagora.models.transport.retry import Sleep
from ideagora.models.usage import UsageTracker
from ideagora.schema import Usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.models.offline import ExtractiveModel

__all__ = ["MAX_TURNS", "LLMClient", "expected_cost"]

POLL_SECONDS = 0.1
"""Interval at which the cache is checked for an answer that another process is fetching."""
MAX_TURNS = 3
"""Requests per call: the first, and two corrections."""


class LLMClient:
    """Makes the model calls of one run, in one event loop.

    Args:
        settings: models, limits, prices.
        cache: stored answers, shared by all runs.
        tracker: usage of this run; on a resumed run already restored from its events.
        embedder: returns the embedder of the offline model; called when first needed.
        run_id: identity of this run, stored with each answer.
        chats: chat models by model name, in place of real ones (for tests; required for ``scripted``).
        raw_folder: where unreadable replies are saved; ``None``: nowhere.
        on_event: called with a ``RequestEvent`` before each request is sent, and with a ``CallEvent`` for
            each attempt and each cached answer.
        sleep: waits between retries.
        budget: the budget of the whole command, which includes this tracker; ``None``: the settings'
            budget, for this run alone.
        retry_counts: how many times each request was retried by earlier failed runs, by its key.
        slots: limits concurrent calls of several clients together; ``None``: the settings' ``concurrency``,
            for this client alone.
        cutoff: date from which on models must not use what they know; every call states it.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        cache: ResponseCache,
        tracker: UsageTracker,
        embedder: Callable[[], Embedder],
        run_id: str,
        chats: Mapping[str, BaseChatModel] | None = None,
        raw_folder: Path | None = None,
        on_event: Callable[[dict[str, Any]], None] | None = None,
        sleep: Sleep = asyncio.sleep,
        budget: Budget | None = None,
        retry_counts: Mapping[str, int] | None = None,
        slots: asyncio.Semaphore | None = None,
        cutoff: str | None = None,
    ) -> None:
        self.settings = settings
        self.cutoff = cutoff
        self.cache = cache
        self.tracker = tracker
        self.run_id = run_id
        self.budget = create_budget(settings, {run_id: tracker}) if budget is None else budget
        self._embedder = embedder
        self._chats = dict(chats or {})
        self._injected_models = frozenset(self._chats)
        self._claims = RequestClaims(cache.path.with_name("claims.sqlite"))
        self._raw_folder = raw_folder
        self._log = EventLog(tracker, on_event)
        self._sleep = sleep
        self._slots = asyncio.Semaphore(settings.concurrency) if slots is None else slots
        self._retry_counts = retry_counts or {}
        self._sync = GroupSync(cache.sync)
        self._in_flight: SingleFlight[ParsedReply[Any]] = SingleFlight()
        self._offline: ExtractiveModel | None = None
        self._offline_lock = threading.Lock()

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
        request = replace(first, retry=self._retry_counts.get(first.key, 0))
        replies: list[ParsedReply[A]] = []
        turns = 1 if request.model == "offline" else MAX_TURNS  # the offline model would repeat itself
        for number in range(1, turns + 1):
            reply = await self._reply(Turn(call, request, number))
            if reply.answer is not None:
                return reply
            replies.append(reply)
            request = request.with_correction(reply.response.text, reply.complaint)
        self._log.emit({"event": UNREADABLE, "key": first.key, "role": call.role})
        raise self._unreadable(call, first.key, replies)

    async def check(self, models: Sequence[str] | None = None) -> None:
        """Check models without calling them: name, key, and under a budget the price.

        Args:
            models: the models to check; ``None``: all models of the settings.

        Raises:
            UnknownModel, MissingKey, RealCallForbidden, SettingsError: as ``ask`` would.
        """
        chosen = self.settings.models if models is None else models
        for model in chosen if not self.settings.replay else ():
            await self._price(self._chat(model), model)

    def warm_up(self, models: Sequence[str] | None = None) -> None:
        """Import litellm in the background if one of the models (default: the settings') needs it."""
        chosen = self.settings.models if models is None else models
        if needs_litellm(chosen, self._chats, self.settings):
            threading.Thread(target=load_litellm, name="litellm import", daemon=True).start()

    async def aclose(self) -> None:
        """Close the connections to providers and the cache. The client can be used again afterwards."""
        await CONNECTIONS.release(self)
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
            is_unbilled = self.tracker.is_open(cached.request)
            return await self._use_cached(turn, cached, cached.usage if is_unbilled else None)
        if self.settings.replay:
            raise ReplayMiss(
                f"--replay: the cache {self.cache.path} has no answer of {request.model} for the role "
                f"{turn.call.role} (request {request.key[:12]}). Run once without --replay."
            )
        return await self._send(turn)

    async def _send(self, turn: Turn[A]) -> ParsedReply[A]:
        request = turn.request
        chat = self._chat(request.model)
        price = await self._price(chat, request.model)
        recorder = TurnRecorder(turn, self._log, self.cache, self.run_id)
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

    @asynccontextmanager
    async def _claim(self, turn: Turn[Any]) -> AsyncIterator[CachedResponse | None]:
        """Claim a request among all processes; yields the answer if another process has just got it."""
        model, key = turn.request.model, turn.request.key
        if model in LOCAL_MODELS or model in self._injected_models:
            yield None
            return
        seconds = self.settings.timeout
        deadline = time.monotonic() + seconds
        cached = None
        try:
            while not await asyncio.to_thread(self._claims.take, key, 2 * seconds):
                await asyncio.sleep(POLL_SECONDS)
                cached = await asyncio.to_thread(self.cache.get, key)
                if cached is not None or time.monotonic() > deadline:
                    break
            # The previous holder of the claim may have stored the answer since the cache was last checked.
            yield cached or await asyncio.to_thread(self.cache.get, key)
        finally:
            self._claims.release(key)

    def _chat(self, model: str) -> BaseChatModel:
        if model not in self._chats:
            self._chats[model] = self._create_chat(model)
        return self._chats[model]

    def _create_chat(self, model: str) -> BaseChatModel:
        from ideagora.models.chat_models import LiteLLMChatModel, OfflineChatModel

        if model == "offline":
            return OfflineChatModel(engine=self._offline_model)
        if model == "scripted":
            raise UnknownModel(
                "the model 'scripted' is for tests only. Pass its replies as LLMClient(chats=…)."
            )
        CONNECTIONS.acquire(self)
        return LiteLLMChatModel(model=model, settings=self.settings)

    def _offline_model(self) -> ExtractiveModel:
        from ideagora.models.offline import ExtractiveModel

        with self._offline_lock:
            if self._offline is None:
                self._offline = ExtractiveModel(self._embedder())
            return self._offline

    async def _price(self, chat: BaseChatModel, model: str) -> Price | None:
        from ideagora.models.chat_models import ManagedChatModel

        if isinstance(chat, ManagedChatModel):
            price = await chat.price()
        else:
            prompt, completion = self.settings.price_prompt, self.settings.price_completion
            is_known = prompt is not None and completion is not None
            price = Price((prompt or 0.0) / MILLION, (completion or 0.0) / MILLION) if is_known else None
        if price is None and self.settings.budget is not None:
            raise SettingsError(
                f"--budget needs the price of {model}, which is unknown. Set --price-prompt and "
                "--price-completion (US dollars per million tokens)."
            )
        return price

    def _unreadable(self, call: Call[Any], key: str, replies: Sequence[ParsedReply[Any]]) -> UnreadableAnswer:
        responses = [reply.response for reply in replies]
        own_usage = sum((each.usage for each in responses if each.run_id == self.run_id), Usage())
        path = _save_raw(self._raw_folder, call.role, key, replies)
        message = (
            f"{call.role}: none of {len(replies)} replies of {responses[0].model} could be read, "
            f"the last one because {replies[-1].complaint}."
        )
        if path is not None:
            message += f" All replies are in {path}."
        return UnreadableAnswer(redact_keys(message), [each.text for each in responses], own_usage)


def _save_raw(folder: Path | None, role: str, key: str, replies: Sequence[ParsedReply[Any]]) -> Path | None:
    """Save unreadable replies; returns the file, or ``None`` if it cannot be written."""
    if folder is None:
        return None
    path = folder / f"{re.sub(r'[^A-Za-z0-9_-]+', '-', role)}-{key[:12]}.txt"
    parts = [
        f"reply {number} of {reply.response.model} ({reply.response.created}): {reply.complaint}\n\n"
        f"{reply.response.text}\n"
        for number, reply in enumerate(replies, start=1)
    ]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(redact_keys(f"{'=' * 72}\n".join(parts)), encoding="utf-8")
    except OSError:  # the replies are still in the cache and on the exception
        return None
    return path
