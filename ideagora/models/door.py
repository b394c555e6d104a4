"""The one door for calls to models: every role's call goes through ``Door.ask``.

In order: cache, replay, budget, concurrency, the chat model with its retries, the cache again, the
typed answer, usage. An answer that cannot be read is asked for again, twice at most, with what was
wrong; after that it is an error that keeps every reply. Nothing is filled in.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.config import Settings
from ideagora.errors import ModelUnavailable, ReplayMiss, SettingsError, UnknownModel, UnreadableAnswer
from ideagora.models.budget import USUAL_COMPLETION, Budget, expected_cost
from ideagora.models.cache import Cache, Stored, now
from ideagora.models.call import A, Call
from ideagora.models.json_text import paired
from ideagora.models.providers import CONNECTIONS, FREE, MILLION, WITHOUT_PROVIDER, Price, load_litellm
from ideagora.models.reading import read_reply
from ideagora.models.request import Request, request_of
from ideagora.models.retry import Sleep
from ideagora.models.scrub import without_keys
from ideagora.models.sharing import Shared
from ideagora.models.trying import Trying
from ideagora.models.usage import CallEvent, Meter, label, note_answer
from ideagora.schema import Usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.models.embeddings import Embedder
    from ideagora.models.offline import Engine

__all__ = ["ATTEMPTS", "Door", "expected_cost"]

ATTEMPTS = 3
"""Askings for one readable answer: the first, and two that are told what was wrong."""
CHARACTERS_PER_TOKEN = 4
OUTAGE = "outage"
"""Name of the event of a request that was given up, since its provider is down."""


class Door:
    """Carries out calls of one run, in one event loop.

    Args:
        settings: models, limits, prices.
        cache: all answers ever paid for.
        meter: this run's usage; on a resumed run already restored from its events.
        embedder: gives the embedder of the offline model; called when it is first needed.
        run_id: who pays, in the cache.
        chats: chat models that stand in for a model name (tests; ``scripted`` has no other source).
        raw_folder: where replies that could not be read are kept; ``None``: nowhere.
        on_event: hears of every try and every cached answer (a ``CallEvent``) as it happens.
        sleep: waits between tries.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        cache: Cache,
        meter: Meter,
        embedder: Callable[[], Embedder],
        run_id: str,
        chats: Mapping[str, BaseChatModel] | None = None,
        raw_folder: Path | None = None,
        on_event: Callable[[dict[str, Any]], None] | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.settings = settings
        self.cache = cache
        self.meter = meter
        self.run_id = run_id
        self._embedder = embedder
        self._chats = dict(chats or {})
        self._raw_folder = raw_folder
        self._on_event = on_event
        self._sleep = sleep
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._budget = Budget(settings.budget, meter)
        self._shared: Shared[Stored] = Shared()
        self._engine: Engine | None = None
        self._engine_lock = threading.Lock()

    async def ask(self, call: Call[A]) -> A:
        """The typed answer to a call.

        Raises:
            ReplayMiss: ``--replay``, and the answer is not in the cache.
            BudgetExhausted: no room in the budget; the run can be resumed.
            ModelUnavailable: transient failures outlasted the retries.
            UnknownModel, MissingKey, ModelRefused, RealCallForbidden: the provider can't be asked,
                or rejected the request for good.
            UnreadableAnswer: no reply could be read; ``raw`` and a file keep them all.
            SettingsError: a budget is set and the model's price is not known.
        """
        request = request_of(call, self.settings)
        replies: list[tuple[Stored, str]] = []
        # The offline model would only say the same again.
        for attempt in range(1, (1 if request.model == "offline" else ATTEMPTS) + 1):
            stored = await self._stored(call, request, attempt)
            answer, complaint = await read_reply(call, stored)
            if answer is not None:
                return answer
            replies.append((stored, complaint))
            request = request.asked_again(stored.text, complaint)
        raise self._unreadable(call, replies)

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
        real = [m for m in chosen if m not in WITHOUT_PROVIDER and m not in self._chats]
        if real and not self.settings.replay:
            threading.Thread(target=load_litellm, name="litellm import", daemon=True).start()

    async def aclose(self) -> None:
        """Close the connections to providers and the cache. The door can be used again afterwards."""
        await CONNECTIONS.leave(self)
        self.cache.close()

    async def _stored(self, call: Call[Any], request: Request, attempt: int) -> Stored:
        """The reply to a request; the same request at the same time is asked once."""
        stored, begun = await self._shared.run(request.key, lambda: self._obtained(call, request, attempt))
        if not begun:
            await self._note(call, request, attempt, stored, cached=True)
        return stored

    async def _obtained(self, call: Call[Any], request: Request, attempt: int) -> Stored:
        kept = await asyncio.to_thread(self.cache.get, request.key)
        if kept is not None:
            # Killed between storing the answer and writing the event: not on the bill yet.
            owed = kept.run_id == self.run_id and not self.meter.has_paid(request.key)
            await self._note(call, request, attempt, kept, kept.usage if owed else None, cached=True)
            return kept
        if self.settings.replay:
            raise ReplayMiss(
                f"--replay: the cache {self.cache.path} has no answer of {request.model} for the role "
                f"{call.role} (request {request.key[:12]}). Run it once without --replay."
            )
        return await self._asked(call, request, attempt)

    async def _asked(self, call: Call[Any], request: Request, attempt: int) -> Stored:
        chat = self._chat(request.model)
        price = await self._price(chat, request.model)
        expected = self._expected_cost(call, request, price)
        self._budget.check(expected)
        async with self._slots, self._budget.reserved(expected):
            trying = Trying(chat, call, request, price, self._on_failure(call, request, attempt))
            try:
                message, usage = await trying.reply(self.settings.retries, self._sleep)
            except ModelUnavailable as error:
                self._report_outage(call, request, str(error))
                raise
            stored = Stored(
                model=request.model,
                text=paired(without_keys(str(message.text))),
                finish_reason=message.response_metadata.get("finish_reason"),
                usage=usage,
                run_id=self.run_id,
                created=now(),
            )
            kept = await asyncio.to_thread(self.cache.put, request.key, stored)
            if usage.cost_usd is None:
                self._budget.add_unreported(expected)
            await self._note(call, request, attempt, kept, usage, retry=trying.tries - 1)
        return kept

    def _chat(self, model: str) -> BaseChatModel:
        if model not in self._chats:
            self._chats[model] = self._new_chat(model)
        return self._chats[model]

    def _new_chat(self, model: str) -> BaseChatModel:
        from ideagora.models.chat import LiteLLMChat, OfflineChat

        if model == "offline":
            return OfflineChat(engine=self._offline_engine)
        if model == "scripted":
            raise UnknownModel("the model 'scripted' is for tests: give the door its replies as chats=…")
        CONNECTIONS.use(self)
        return LiteLLMChat(model=model, settings=self.settings)

    def _offline_engine(self) -> Engine:
        from ideagora.models.offline import Engine

        with self._engine_lock:
            if self._engine is None:
                self._engine = Engine(self._embedder())
            return self._engine

    async def _price(self, chat: BaseChatModel, model: str) -> Price | None:
        from ideagora.models.chat import DoorChat

        if isinstance(chat, DoorChat):
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

    def _expected_cost(self, call: Call[Any], request: Request, price: Price | None) -> float:
        """US dollars a request will cost: four characters a token, and the role's mean so far."""
        so_far = self.meter.of_role(call.role)
        completion = so_far.completion_tokens / so_far.calls if so_far.completion_tokens else USUAL_COMPLETION
        return (price or FREE).of(request.characters / CHARACTERS_PER_TOKEN, completion)

    def _on_failure(
        self, call: Call[Any], request: Request, attempt: int
    ) -> Callable[[Usage, str, int], None]:
        def note(usage: Usage, reason: str, retry: int) -> None:
            self._emit(_event(call, request, attempt, "failed", reason, usage, retry=retry))

        return note

    async def _note(
        self,
        call: Call[Any],
        request: Request,
        attempt: int,
        stored: Stored,
        usage: Usage | None = None,
        *,
        cached: bool = False,
        retry: int = 0,
    ) -> None:
        answer, complaint = await read_reply(call, stored)
        event = _event(call, request, attempt, "unreadable", complaint, usage, cached=cached, retry=retry)
        if answer is not None:
            event = {**event, "status": "ok", "reason": None}
        event = {**event, "worth": stored.usage.model_dump(), "answered": stored.created}
        self._emit(event)

    def _emit(self, event: CallEvent) -> None:
        self.meter.record(event)
        note_answer(event)
        if self._on_event is not None:
            self._on_event(dict(event))

    def _report_outage(self, call: Call[Any], request: Request, reason: str) -> None:
        """Tell that a request was given up for now: whatever is made without its answer is incomplete."""
        if self._on_event is not None:
            told = {"role": call.role, "label": label.get(), "model": request.model}
            self._on_event({"event": OUTAGE, **told, "key": request.key, "reason": reason})

    def _unreadable(self, call: Call[Any], replies: list[tuple[Stored, str]]) -> UnreadableAnswer:
        ours = [stored.usage for stored, _ in replies if stored.run_id == self.run_id]
        model, key = replies[0][0].model, request_of(call, self.settings).key
        place = _save_raw(self._raw_folder, call.role, key, replies)
        message = (
            f"{call.role}: none of {len(replies)} replies of {model} could be read, "
            f"the last one because {replies[-1][1]}."
        )
        if place is not None:
            message += f" All replies are in {place}."
        raw = [stored.text for stored, _ in replies]
        return UnreadableAnswer(without_keys(message), raw, sum(ours, Usage()))


def _event(
    call: Call[Any],
    request: Request,
    attempt: int,
    status: Any,
    reason: str,
    usage: Usage | None,
    *,
    cached: bool = False,
    retry: int = 0,
) -> CallEvent:
    return {
        "event": "call",
        "role": call.role,
        "label": label.get(),
        "model": request.model,
        "cached": cached,
        "attempt": attempt,
        "retry": retry,
        "status": status,
        "reason": reason,
        "billed": usage is not None,
        "usage": (usage or Usage()).model_dump(),
        "key": request.key,
        "worth": None,
        "answered": None,
    }


def _save_raw(folder: Path | None, role: str, key: str, replies: list[tuple[Stored, str]]) -> Path | None:
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
        place.write_text(without_keys(f"{'=' * 72}\n".join(parts)), encoding="utf-8")
    except OSError:  # the replies are still in the cache and on the exception
        return None
    return place
