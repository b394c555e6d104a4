"""One request on its way to a chat model, tried until it is answered; each try is reserved and billed."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from weakref import WeakKeyDictionary

from ideagora.errors import IdeagoraError, ModelError, ModelUnavailable, SettingsError
from ideagora.models.budget import Budget, prompt_tokens_at_most
from ideagora.models.call import Call
from ideagora.models.providers import Price
from ideagora.models.request import Request
from ideagora.models.retry import SettingRejected, Sleep, TransientError, to_model_error, with_retries
from ideagora.schema import Usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

ABSURD = 10
"""A usage that is so many times what it can be at most is no usage."""


_UNAVAILABLE: WeakKeyDictionary[asyncio.AbstractEventLoop, set[tuple[str, str]]] = WeakKeyDictionary()


class Availability:
    """Whether a model was given up for now, known to all runs of a command (they share an event loop).

    A request that used up its retries says that further ones need none: they are tried once, until one
    is answered. So twenty topics do not each wait for a provider that is down.
    """

    def __init__(self, model: str, server: str | None) -> None:
        self._name = (model, server or "")
        self._gone = _UNAVAILABLE.setdefault(asyncio.get_running_loop(), set())

    def retries(self, wanted: int) -> int:
        """How often a request may be tried again."""
        return 0 if self._name in self._gone else wanted

    def note(self, is_available: bool) -> None:
        """How a request ended."""
        (self._gone.discard if is_available else self._gone.add)(self._name)


@dataclass(frozen=True)
class Ceiling:
    """The most that one try can come to."""

    prompt: int
    completion: int
    usd: float | None
    """``None``: nobody knows the price."""

    @property
    def usage(self) -> Usage:
        """What a try counts as, of which it is not known what it cost."""
        return Usage(calls=1, cost_usd=self.usd, estimated_usd=self.usd or 0.0)


@dataclass(frozen=True)
class AttemptRecord:
    """One request to a provider."""

    request: str
    """Unique."""
    number: int
    """How many tries of the same question went before."""
    ceiling: Ceiling
    limit: int | None
    """Tokens that the answer may have at most."""
    started: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        """Seconds since it was sent."""
        return round(time.perf_counter() - self.started, 3)


@dataclass
class RequestAttempt:
    """Carries one request out."""

    chat: BaseChatModel
    call: Call[Any]
    request: Request
    price: Price | None
    budget: Budget
    sent: Callable[[AttemptRecord], None]
    """Hears of each try before it goes out."""
    received: Callable[[AttemptRecord, AIMessage, Usage], None]
    """Hears of the reply as soon as it has arrived; has to store it."""
    answered: Callable[[AttemptRecord, Usage], Awaitable[None]]
    """Puts the answered try on the bill."""
    failed: Callable[[AttemptRecord, Usage, str], None]
    """Hears of each try that brought no reply, with what it may have cost and the reason."""
    tries: int = 0
    wasted: Usage = field(default_factory=Usage)
    _usage: Usage | None = None
    """Of the reply, once it is stored."""

    async def carry_out(self, retries: int, sleep: Sleep) -> None:
        """Try until ``received`` has heard of a reply.

        Raises:
            BudgetExhausted: no room for (another) try.
            ModelUnavailable: transient failures outlasted the retries.
            ModelError: the provider rejected the request; ``usage`` is what the tries cost.
            SettingsError: there is a budget, and the server takes no completion limit.
        """
        try:
            await with_retries(self._try, retries, sleep)
        except TransientError as error:
            times = "once" if self.tries == 1 else f"{self.tries} times"
            raise ModelUnavailable(
                f"{self.request.model} gave no answer, tried {times}, last error: {error}. "
                "Try again later, or raise --retries.",
                self.wasted,
            ) from None

    async def _try(self) -> None:
        while self._usage is None:
            with suppress(SettingRejected):  # not the server's bad day: ask at once without that setting
                await self._try_once()

    async def _try_once(self) -> None:
        limit = await self._limit()
        ceiling = self._ceiling(limit)
        async with self.budget.reserved(ceiling.usd or 0.0):
            one = AttemptRecord(uuid4().hex, self.tries, ceiling, limit)
            self.tries += 1
            self.sent(one)
            try:
                message = await self._reply(one)
                usage = self._receive(one, message)
            except (TransientError, ModelError) as error:
                self._fail(one, str(error), error.may_be_billed)
                if isinstance(error, ModelError):
                    error.usage = self.wasted
                raise
            except asyncio.CancelledError:
                self._fail(one, "interrupted", True)
                raise
            await self.answered(one, usage)

    def _receive(self, one: AttemptRecord, message: AIMessage) -> Usage:
        if self._usage is None:
            usage = usage_of(message, one, self.price)
            self.received(one, message, usage)
            self._usage = usage
        return self._usage

    def _fail(self, one: AttemptRecord, reason: str, may_be_billed: bool) -> None:
        cost = self._usage or (one.ceiling.usage if may_be_billed else Usage(calls=1))
        usage = cost.model_copy(update={"seconds": one.seconds})
        self.wasted += usage
        self.failed(one, usage, reason)

    async def _limit(self) -> int | None:
        from ideagora.models.chat_models import ManagedChatModel

        if not isinstance(self.chat, ManagedChatModel):
            return self.call.completion_limit
        limit = await self.chat.limit(self.call.completion_limit)
        if limit is None and self.budget.limit is not None:
            raise SettingsError(
                f"--budget cannot be kept: the server of {self.request.model} takes no limit for the length "
                "of an answer (max_tokens). Leave --budget out, or ask another server."
            )
        return limit

    def _ceiling(self, limit: int | None) -> Ceiling:
        prompt = prompt_tokens_at_most(self.request)
        completion = self.call.completion_limit if limit is None else limit
        price = self.price
        return Ceiling(prompt, completion, None if price is None else round(price.of(prompt, completion), 9))

    async def _reply(self, one: AttemptRecord) -> AIMessage:
        from ideagora.models.chat_models import ManagedChatModel

        ours = isinstance(self.chat, ManagedChatModel)
        try:
            return await self.chat.ainvoke(self._messages(), **(self._extras(one) if ours else {}))
        except (TransientError, IdeagoraError):
            raise
        except Exception as error:
            if isinstance(error, OSError) or hasattr(error, "status_code"):
                raise to_model_error(error, self.request.model) from None
            raise  # a mistake in a recipe or a script is no failure of a provider

    def _messages(self) -> list[BaseMessage]:
        from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

        kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
        return [kinds[role](content=text) for role, text in self.request.messages]

    def _extras(self, one: AttemptRecord) -> dict[str, Any]:
        return {
            "role": self.call.role,
            "inputs": self.call.inputs,
            "handler": self.call.handler,
            "answer": self.call.answer,
            "temperature": self.request.temperature,
            "limit": one.limit,
            "received": partial(self._receive, one),
        }


def usage_of(message: AIMessage, one: AttemptRecord, price: Price | None) -> Usage:
    """What one answered try cost; where the provider says nothing that can be, the most that it can be."""
    tokens = message.usage_metadata
    prompt, completion = (tokens["input_tokens"], tokens["output_tokens"]) if tokens else (0, 0)
    if "cost_usd" in message.response_metadata:
        cost = message.response_metadata["cost_usd"]
    else:
        cost = price.of(prompt, completion) if price is not None and tokens else None
    seconds = one.seconds
    if one.ceiling.usd == 0 and not tokens:  # free, whatever it was
        return Usage(calls=1, cost_usd=cost or 0.0, seconds=seconds)
    is_told = tokens is not None and _can_be(prompt, completion, cost, one.ceiling, bool(message.text))
    if not is_told:
        return one.ceiling.usage.model_copy(update={"seconds": seconds})
    return Usage(
        calls=1,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost_usd=None if cost is None else round(float(cost), 9),
        seconds=seconds,
    )


def _can_be(prompt: int, completion: int, cost: float | None, ceiling: Ceiling, says: bool) -> bool:
    """Whether a reported usage is one: no negative numbers, nothing for free, nothing out of all measure."""
    if not (0 < prompt <= ABSURD * ceiling.prompt and int(says) <= completion <= ABSURD * ceiling.completion):
        return False
    most = ABSURD * ceiling.usd if ceiling.usd else None
    return cost is None or (math.isfinite(cost) and cost >= 0 and (most is None or cost <= most))
