"""Send one request to a chat model, retry transient failures, and account for every attempt."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4
from weakref import WeakKeyDictionary

from ideagora.errors import IdeagoraError, ModelError, ModelUnavailable, SettingsError
from ideagora.models.budget import Budget, max_prompt_tokens
from ideagora.models.call import Call
from ideagora.models.request import Request
from ideagora.models.transport.providers import Price
from ideagora.models.transport.retry import (
    SettingRejected,
    Sleep,
    TransientError,
    to_model_error,
    with_retries,
)
from ideagora.schema import Usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

MAX_RATIO = 10
"""A reported usage of more than this many times its ceiling is not believed."""

_UNAVAILABLE: WeakKeyDictionary[asyncio.AbstractEventLoop, set[tuple[str, str]]] = WeakKeyDictionary()


class ModelAvailability:
    """Whether a model is down, shared by all runs of a command (they share an event loop).

    After a request has used up its retries, further requests are tried once only, until one succeeds.
    So twenty topics do not each wait for a provider that is down.
    """

    def __init__(self, model: str, server: str | None) -> None:
        self._name = (model, server or "")
        self._unavailable = _UNAVAILABLE.setdefault(asyncio.get_running_loop(), set())

    def retries(self, configured: int) -> int:
        """The number of retries for the next request: ``configured``, or 0 while the model is down."""
        return 0 if self._name in self._unavailable else configured

    def update(self, is_available: bool) -> None:
        """Record whether a request succeeded."""
        (self._unavailable.discard if is_available else self._unavailable.add)(self._name)


@dataclass(frozen=True)
class CostCeiling:
    """Upper bounds for the tokens and the cost of one attempt."""

    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    """``None``: the price is unknown."""

    @property
    def usage(self) -> Usage:
        """The usage to record for an attempt whose real cost is unknown."""
        return Usage(calls=1, cost_usd=self.usd, estimated_usd=self.usd or 0.0)


@dataclass(frozen=True)
class AttemptRecord:
    """One HTTP request to a provider."""

    request: str
    """Unique id."""
    number: int
    """How many attempts preceded it."""
    ceiling: CostCeiling
    completion_limit: int | None
    """Maximum tokens of the answer."""
    started: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        """Seconds since the request was sent."""
        return round(time.perf_counter() - self.started, 3)


class AttemptObserver(Protocol):
    """What ``RequestAttempt`` calls as attempts start and end."""

    def on_send(self, attempt: AttemptRecord) -> None:
        """Called before the request goes out."""
        ...

    def on_reply(self, attempt: AttemptRecord, message: AIMessage, usage: Usage) -> None:
        """Called as soon as the reply has arrived. Must store it before it returns."""
        ...

    async def on_success(self, attempt: AttemptRecord, usage: Usage) -> None:
        """Called after the reply is stored, while its budget is still reserved."""
        ...

    def on_failure(self, attempt: AttemptRecord, usage: Usage, reason: str) -> None:
        """Called when an attempt brought no reply; ``usage`` is what it may have cost."""
        ...


@dataclass
class RequestAttempt:
    """Sends one request, with retries. Each attempt reserves budget and is reported to the observer."""

    chat: BaseChatModel
    call: Call[Any]
    request: Request
    price: Price | None
    budget: Budget
    observer: AttemptObserver
    attempts: int = 0
    failed_usage: Usage = field(default_factory=Usage)
    """What failed attempts may have cost."""
    _usage: Usage | None = None
    """Usage of the reply, once it is stored."""

    async def run(self, retries: int, sleep: Sleep) -> None:
        """Send the request until the observer has got a reply.

        Raises:
            BudgetExhausted: the budget has no room for an attempt.
            ModelUnavailable: transient failures outlasted the retries.
            ModelError: the provider rejected the request; ``usage`` is what the attempts cost.
            SettingsError: a budget is set, and the server accepts no completion limit.
        """
        try:
            await with_retries(self._attempt, retries, sleep)
        except TransientError as error:
            times = "1 attempt" if self.attempts == 1 else f"{self.attempts} attempts"
            raise ModelUnavailable(
                f"{self.request.model} did not respond in {times}; last error: {error}. "
                "Try again later, or raise --retries.",
                self.failed_usage,
            ) from None

    async def _attempt(self) -> None:
        while self._usage is None:
            with suppress(SettingRejected):  # not an outage: repeat at once without that setting
                await self._send_once()

    async def _send_once(self) -> None:
        limit = await self._completion_limit()
        ceiling = self._ceiling(limit)
        async with self.budget.reserve(ceiling.usd or 0.0):
            attempt = AttemptRecord(uuid4().hex, self.attempts, ceiling, limit)
            self.attempts += 1
            self.observer.on_send(attempt)
            try:
                message = await self._invoke(attempt)
                usage = self._receive(attempt, message)
            except (TransientError, ModelError) as error:
                self._fail(attempt, str(error), error.may_be_billed)
                if isinstance(error, ModelError):
                    error.usage = self.failed_usage
                raise
            except asyncio.CancelledError:
                self._fail(attempt, "interrupted", True)
                raise
            await self.observer.on_success(attempt, usage)

    def _receive(self, attempt: AttemptRecord, message: AIMessage) -> Usage:
        if self._usage is None:
            usage = usage_of(message, attempt, self.price)
            self.observer.on_reply(attempt, message, usage)
            self._usage = usage
        return self._usage

    def _fail(self, attempt: AttemptRecord, reason: str, may_be_billed: bool) -> None:
        cost = self._usage or (attempt.ceiling.usage if may_be_billed else Usage(calls=1))
        usage = cost.model_copy(update={"seconds": attempt.seconds})
        self.failed_usage += usage
        self.observer.on_failure(attempt, usage, reason)

    async def _completion_limit(self) -> int | None:
        from ideagora.models.chat_models import ManagedChatModel

        if not isinstance(self.chat, ManagedChatModel):
            return self.call.completion_limit
        limit = await self.chat.limit(self.call.completion_limit)
        if limit is None and self.budget.limit is not None:
            raise SettingsError(
                f"--budget needs a limit on the length of answers, and the server of {self.request.model} "
                "accepts none (max_tokens). Run without --budget, or use another server."
            )
        return limit

    def _ceiling(self, limit: int | None) -> CostCeiling:
        prompt = max_prompt_tokens(self.request)
        completion = self.call.completion_limit if limit is None else limit
        price = self.price
        usd = None if price is None else round(price.of(prompt, completion), 9)
        return CostCeiling(prompt, completion, usd)

    async def _invoke(self, attempt: AttemptRecord) -> AIMessage:
        from ideagora.models.chat_models import ManagedChatModel

        is_managed = isinstance(self.chat, ManagedChatModel)
        try:
            return await self.chat.ainvoke(self._messages(), **(self._options(attempt) if is_managed else {}))
        except (TransientError, IdeagoraError):
            raise
        except Exception as error:
            if isinstance(error, OSError) or hasattr(error, "status_code"):
                raise to_model_error(error, self.request.model) from None
            raise  # a bug in an offline handler or a script, not a failure of the provider

    def _messages(self) -> list[BaseMessage]:
        from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

        kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
        return [kinds[role](content=text) for role, text in self.request.messages]

    def _options(self, attempt: AttemptRecord) -> dict[str, Any]:
        return {
            "role": self.call.role,
            "inputs": self.call.inputs,
            "handler": self.call.handler,
            "answer": self.call.answer,
            "temperature": self.request.temperature,
            "limit": attempt.completion_limit,
            "token_probabilities": self.request.token_probabilities,
            "received": partial(self._receive, attempt),
        }


def usage_of(message: AIMessage, attempt: AttemptRecord, price: Price | None) -> Usage:
    """The usage of an answered attempt; its ceiling where the provider reports nothing plausible."""
    tokens = message.usage_metadata
    prompt, completion = (tokens["input_tokens"], tokens["output_tokens"]) if tokens else (0, 0)
    if "cost_usd" in message.response_metadata:
        cost = message.response_metadata["cost_usd"]
    else:
        cost = price.of(prompt, completion) if price is not None and tokens else None
    ceiling, seconds = attempt.ceiling, attempt.seconds
    if ceiling.usd == 0 and not tokens:  # a free model that reports no tokens
        return Usage(calls=1, cost_usd=cost or 0.0, seconds=seconds)
    if tokens is None or not _is_plausible(prompt, completion, cost, ceiling, bool(message.text)):
        return ceiling.usage.model_copy(update={"seconds": seconds})
    return Usage(
        calls=1,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost_usd=None if cost is None else round(float(cost), 9),
        seconds=seconds,
    )


def _is_plausible(
    prompt: int, completion: int, cost: float | None, ceiling: CostCeiling, has_text: bool
) -> bool:
    """Whether a reported usage can be true: not negative, not far too high, no text without tokens."""
    if not 0 < prompt <= MAX_RATIO * ceiling.prompt_tokens:
        return False
    if not int(has_text) <= completion <= MAX_RATIO * ceiling.completion_tokens:
        return False
    max_cost = MAX_RATIO * ceiling.usd if ceiling.usd else None
    return cost is None or (math.isfinite(cost) and cost >= 0 and (max_cost is None or cost <= max_cost))
