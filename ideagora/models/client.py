"""The one door for calls to models: every role's call goes through ``LLMClient.ask``.

In order: cache, replay, budget, concurrency, the chat model with its retries, the cache again, the
typed answer, usage. An answer that cannot be read is asked for again, twice at most, with what was
wrong; after that it is an error that keeps every reply. Nothing is filled in.
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
from ideagora.models.attempt import AttemptRecord, Availability, RequestAttempt
from ideagora.models.budget import Budget, create_budget, expected_cost
from ideagora.models.cache.answers import CachedResponse, ResponseCache, utc_now
from ideagora.models.cache.claims import RequestClaims
from ideagora.models.cache.retry_failed import UNREADABLE
from ideagora.models.call import A, Call
from ideagora.models.parsing.json_extract import paired
from ideagora.models.parsing.read_reply import parse_reply
from ideagora.models.providers import CONNECTIONS, LOCAL_MODELS, MILLION, Price, load_litellm
from ideagora.models.redact import redact_keys
from ideagora.models.request import Request, build_request
from ideagora.models.retry import Sleep
from ideagora.models.single_flight import SingleFlight
from ideagora.models.usage import CallEvent, RequestEvent, UsageTracker, current_label, record_answer
from ideagora.schema import Usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage

    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.models.offline import ExtractiveModel

__all__ = ["ATTEMPTS", "LLMClient", "expected_cost"]

POLL = 0.1
"""Seconds between two looks for the answer to a question that another process is asking."""
ATTEMPTS = 3
"""Askings for one readable answer: the first, and two that are told what was wrong."""
OUTAGE = "outage"
"""Name of the event of a request that was given up, since its provider is down."""


class LLMClient:
    """Carries out calls of one run, in one event loop.

    Args:
        settings: models, limits, prices.
        cache: all answers ever paid for.
        meter: this run's usage; on a resumed run already restored from its events.
        embedder: gives the embedder of the offline model; called when it is first needed.
        run_id: identity of the run that asks, for the cache's records.
        chats: chat models that stand in for a model name (tests; ``scripted`` has no other source).
        raw_folder: where replies that could not be read are kept; ``None``: nowhere.
        on_event: hears of every request before it goes out (a ``RequestEvent``), and of every try and every
            cached answer (a ``CallEvent``) as it happens.
        sleep: waits between tries.
        budget: of the whole command, with this meter in it; ``None``: the settings', for this run alone.
        retry_counts: how many times a question was asked anew, by the key of its first request.
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
    ) -> None:
        self.settings = settings
        self.cache = cache
        self.tracker = tracker
        self.run_id = run_id
        self._embedder = embedder
        self._chats = dict(chats or {})
        self._given = frozenset(self._chats)
        self._claims = RequestClaims(cache.path.with_name("claims.sqlite"))
        self._raw_folder = raw_folder
        self._on_event = on_event
        self._sleep = sleep
        self._slots = asyncio.Semaphore(settings.concurrency)
        self.budget = create_budget(settings, {run_id: tracker}) if budget is None else budget
        self._retry_counts = retry_counts or {}
        self._shared: SingleFlight[CachedResponse] = SingleFlight()
        self._engine: ExtractiveModel | None = None
        self._engine_lock = threading.Lock()

    async def ask(self, call: Call[A]) -> A:
        """The typed answer to a call.

        Raises:
            ReplayMiss: ``--replay``, and the answer is not in the cache.
            BudgetExhausted: no room in the budget; the run can be resumed.
            ModelUnavailable: transient failures outlasted the retries.
            UnknownModel, MissingKey, RequestRejected, RealCallForbidden: the provider can't be asked,
                or rejected the request for good.
            UnreadableAnswer: no reply could be read; ``raw`` and a file keep them all.
            SettingsError: a budget is set and the model's price is not known.
        """
        first = build_request(call, self.settings)
        request = replace(first, asking=self._retry_counts.get(first.key, 0))
        replies: list[tuple[CachedResponse, str]] = []
        # The offline model would only say the same again.
        for attempt in range(1, (1 if request.model == "offline" else ATTEMPTS) + 1):
            stored = await self._stored(call, request, attempt)
            answer, complaint = await parse_reply(call, stored)
            if answer is not None:
                return answer
            replies.append((stored, complaint))
            request = request.asked_again(stored.text, complaint)
        self._emit({"event": UNREADABLE, "key": first.key, "role": call.role})
        raise self._unreadable(call, first.key, replies)

    async def check(self, models: Sequence[str] | None = None) -> None:
        """Look at models (else: all of the settings) without asking them: name, key, price under a budget.

        Raises:
            UnknownModel, MissingKey, RealCallForbidden, SettingsError: as ``ask`` would.
        """
        chosen = self.settings.models if models is None else models
        for model in chosen if not self.settings.replay else ():
            await self._price(self._chat(model), model)

    def warm_up(self, models: Sequence[str] | None = None) -> None:
        """Start importing litellm in the background, when a model (else: one of the settings') needs it."""
        chosen = self.settings.models if models is None else models
        real = [m for m in chosen if m not in LOCAL_MODELS and m not in self._chats]
        if real and not self.settings.replay:
            threading.Thread(target=load_litellm, name="litellm import", daemon=True).start()

    async def aclose(self) -> None:
        """Close the connections to providers and the cache. The door can be used again afterwards."""
        await CONNECTIONS.leave(self)
        self.cache.close()
        self._claims.close()

    async def _stored(self, call: Call[Any], request: Request, attempt: int) -> CachedResponse:
        """The reply to a request; the same request at the same time is asked once."""
        stored, begun = await self._shared.run(request.key, lambda: self._obtained(call, request, attempt))
        if not begun:
            await self._note(call, request, attempt, stored, cached=True)
        return stored

    async def _obtained(self, call: Call[Any], request: Request, attempt: int) -> CachedResponse:
        kept = await asyncio.to_thread(self.cache.get, request.key)
        if kept is not None:
            # Killed between storing the answer and writing the event: it is on the bill with its ceiling.
            owed = self.tracker.is_open(kept.request)
            await self._note(call, request, attempt, kept, kept.usage if owed else None, cached=True)
            return kept
        if self.settings.replay:
            raise ReplayMiss(
                f"--replay: the cache {self.cache.path} has no answer of {request.model} for the role "
                f"{call.role} (request {request.key[:12]}). Run it once without --replay."
            )
        return await self._asked(call, request, attempt)

    async def _asked(self, call: Call[Any], request: Request, attempt: int) -> CachedResponse:
        chat = self._chat(request.model)
        price = await self._price(chat, request.model)
        answers: list[CachedResponse] = []

        def sent(one: AttemptRecord) -> None:
            self._emit(_request_event(call, request, one))

        def received(one: AttemptRecord, message: AIMessage, usage: Usage) -> None:
            """Store the answer before anything else runs, on the event loop itself."""
            kept = self.cache.put(request.key, self._answer(request, one, message, usage))
            answers.append(kept)

        async def answered(one: AttemptRecord, usage: Usage) -> None:
            try:
                await self._note(call, request, attempt, answers[0], usage, one=one)
            except asyncio.CancelledError:  # stored and paid for, whatever comes of it
                self._emit(_event(call, request, attempt, "failed", "interrupted", usage, one=one))
                raise

        def failed(one: AttemptRecord, usage: Usage, reason: str) -> None:
            self._emit(_event(call, request, attempt, "failed", reason, usage, one=one))

        async with self._slots, self._claimed(request) as kept:
            if kept is not None:
                await self._note(call, request, attempt, kept, cached=True)
                return kept
            trying = RequestAttempt(chat, call, request, price, self.budget, sent, received, answered, failed)
            availability = Availability(request.model, self.settings.api_base)
            try:
                await trying.carry_out(availability.retries(self.settings.retries), self._sleep)
                availability.note(True)
            except ModelUnavailable as error:
                availability.note(False)
                self._report_outage(call, request, str(error))
                raise
        return answers[0]

    @asynccontextmanager
    async def _claimed(self, request: Request) -> AsyncIterator[CachedResponse | None]:
        """The answer that another process was asking for just now; ``None``: it is for this one to ask."""
        if request.model in LOCAL_MODELS or request.model in self._given:
            yield None
            return
        seconds = self.settings.timeout
        until = time.monotonic() + seconds
        kept = None
        try:
            while not await asyncio.to_thread(self._claims.take, request.key, 2 * seconds):
                await asyncio.sleep(POLL)
                if (kept := await asyncio.to_thread(self.cache.get, request.key)) or time.monotonic() > until:
                    break
            # Whoever had the claim may have stored the answer since the first look.
            yield kept or await asyncio.to_thread(self.cache.get, request.key)
        finally:
            self._claims.release(request.key)

    def _answer(
        self, request: Request, one: AttemptRecord, message: AIMessage, usage: Usage
    ) -> CachedResponse:
        return CachedResponse(
            model=request.model,
            text=paired(redact_keys(str(message.text))),
            finish_reason=message.response_metadata.get("finish_reason"),
            usage=usage,
            run_id=self.run_id,
            created=utc_now(),
            request=one.request,
        )

    def _chat(self, model: str) -> BaseChatModel:
        if model not in self._chats:
            self._chats[model] = self._new_chat(model)
        return self._chats[model]

    def _new_chat(self, model: str) -> BaseChatModel:
        from ideagora.models.chat_models import LiteLLMChatModel, OfflineChatModel

        if model == "offline":
            return OfflineChatModel(engine=self._offline_engine)
        if model == "scripted":
            raise UnknownModel("the model 'scripted' is for tests: give the door its replies as chats=…")
        CONNECTIONS.use(self)
        return LiteLLMChatModel(model=model, settings=self.settings)

    def _offline_engine(self) -> ExtractiveModel:
        from ideagora.models.offline import ExtractiveModel

        with self._engine_lock:
            if self._engine is None:
                self._engine = ExtractiveModel(self._embedder())
            return self._engine

    async def _price(self, chat: BaseChatModel, model: str) -> Price | None:
        from ideagora.models.chat_models import ManagedChatModel

        if isinstance(chat, ManagedChatModel):
            price = await chat.price()
        else:
            said = (self.settings.price_prompt, self.settings.price_completion)
            price = None if None in said else Price(*((part or 0.0) / MILLION for part in said))
        if price is None and self.settings.budget is not None:
            raise SettingsError(
                f"--budget needs a price, and nobody knows one for {model}: give --price-prompt and "
                "--price-completion (US dollars per million tokens)."
            )
        return price

    async def _note(
        self,
        call: Call[Any],
        request: Request,
        attempt: int,
        stored: CachedResponse,
        usage: Usage | None = None,
        *,
        cached: bool = False,
        one: AttemptRecord | None = None,
    ) -> None:
        answer, complaint = await parse_reply(call, stored)
        event = _event(call, request, attempt, "unreadable", complaint, usage, cached=cached, one=one)
        if cached and usage is not None:
            event = {**event, "request": stored.request}
        if answer is not None:
            event = {**event, "status": "ok", "reason": None}
        event = {**event, "worth": stored.usage.model_dump(), "answered": stored.created}
        self._emit(event)

    def _emit(self, event: Mapping[str, Any]) -> None:
        self.tracker.record(event)
        record_answer(event)
        if self._on_event is not None:
            self._on_event(dict(event))

    def _report_outage(self, call: Call[Any], request: Request, reason: str) -> None:
        """Tell that a request was given up for now: whatever is made without its answer is incomplete."""
        if self._on_event is not None:
            told = {"role": call.role, "label": current_label.get(), "model": request.model}
            self._on_event({"event": OUTAGE, **told, "key": request.key, "reason": reason})

    def _unreadable(
        self, call: Call[Any], key: str, replies: list[tuple[CachedResponse, str]]
    ) -> UnreadableAnswer:
        ours = [stored.usage for stored, _ in replies if stored.run_id == self.run_id]
        model = replies[0][0].model
        place = _save_raw(self._raw_folder, call.role, key, replies)
        message = (
            f"{call.role}: none of {len(replies)} replies of {model} could be read, "
            f"the last one because {replies[-1][1]}."
        )
        if place is not None:
            message += f" All replies are in {place}."
        raw = [stored.text for stored, _ in replies]
        return UnreadableAnswer(redact_keys(message), raw, sum(ours, Usage()))


def _event(
    call: Call[Any],
    request: Request,
    attempt: int,
    status: Any,
    reason: str,
    usage: Usage | None,
    *,
    cached: bool = False,
    one: AttemptRecord | None = None,
) -> CallEvent:
    return {
        "event": "call",
        "role": call.role,
        "label": current_label.get(),
        "model": request.model,
        "cached": cached,
        "attempt": attempt,
        "retry": 0 if one is None else one.number,
        "status": status,
        "reason": reason,
        "billed": usage is not None,
        "usage": (usage or Usage()).model_dump(),
        "key": request.key,
        "request": None if one is None else one.request,
        "worth": None,
        "answered": None,
    }


def _request_event(call: Call[Any], request: Request, one: AttemptRecord) -> RequestEvent:
    return {
        "event": "request",
        "request": one.request,
        "role": call.role,
        "label": current_label.get(),
        "model": request.model,
        "key": request.key,
        "ceiling_usd": one.ceiling.usd,
    }


def _save_raw(
    folder: Path | None, role: str, key: str, replies: list[tuple[CachedResponse, str]]
) -> Path | None:
    """Keep unreadable replies; ``None`` when there is no place for them."""
    if folder is None:
        return None
    place = folder / f"{re.sub(r'[^A-Za-z0-9_-]+', '-', role)}-{key[:12]}.txt"
    parts = [
        f"reply {number} of {stored.model} ({stored.created}): {complaint}\n\n{stored.text}\n"
        for number, (stored, complaint) in enumerate(replies, start=1)
    ]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        place.write_text(redact_keys(f"{'=' * 72}\n".join(parts)), encoding="utf-8")
    except OSError:  # the replies are still in the cache and on the exception
        return None
    return place
