"""One request on its way to a chat model: tried until it is answered, each try on the bill."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ideagora.errors import IdeagoraError, ModelError, ModelUnavailable
from ideagora.models.call import Call
from ideagora.models.providers import Price
from ideagora.models.request import Request
from ideagora.models.retry import SettingRefused, Sleep, Transient, named, retried
from ideagora.schema import Usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage


@dataclass
class Trying:
    """Carries one request out. ``failed`` hears of each try that brought no answer."""

    chat: BaseChatModel
    call: Call[Any]
    request: Request
    price: Price | None
    failed: Callable[[Usage, str, int], None]
    """(usage of the try, reason, how many tries had failed before)."""
    tries: int = 0
    wasted: Usage = field(default_factory=Usage)

    async def reply(self, retries: int, sleep: Sleep) -> tuple[AIMessage, Usage]:
        """The model's reply and what this try of it cost.

        Raises:
            ModelUnavailable: transient failures outlasted the retries.
            ModelError: the provider rejected the request; ``usage`` is what the tries cost.
        """
        try:
            return await retried(self._try, retries, sleep)
        except Transient as error:
            times = "once" if self.tries == 1 else f"{self.tries} times"
            raise ModelUnavailable(
                f"{self.request.model} gave no answer, tried {times}, last error: {error}. "
                "Run the same command again to go on, or raise --retries.",
                self.wasted,
            ) from None

    async def _try(self) -> tuple[AIMessage, Usage]:
        while True:
            with suppress(SettingRefused):  # not the server's bad day: ask at once without that setting
                return await self._try_once()

    async def _try_once(self) -> tuple[AIMessage, Usage]:
        started = time.perf_counter()
        self.tries += 1
        try:
            message = await self._sent()
        except (Transient, ModelError) as error:
            self._count_failure(started, str(error))
            if isinstance(error, ModelError):
                error.usage = self.wasted
            raise
        except asyncio.CancelledError:
            self._count_failure(started, "interrupted")
            raise
        return message, usage_of(message, time.perf_counter() - started, self.price)

    def _count_failure(self, started: float, reason: str) -> None:
        usage = Usage(calls=1, seconds=round(time.perf_counter() - started, 3))
        self.wasted += usage
        self.failed(usage, reason, self.tries - 1)

    async def _sent(self) -> AIMessage:
        from ideagora.models.chat import DoorChat

        ours = isinstance(self.chat, DoorChat)
        try:
            return await self.chat.ainvoke(self._messages(), **(self._extras() if ours else {}))
        except (Transient, IdeagoraError):
            raise
        except Exception as error:
            if isinstance(error, OSError) or hasattr(error, "status_code"):
                raise named(error, self.request.model) from None
            raise  # a mistake in a recipe or a script is no failure of a provider

    def _messages(self) -> list[BaseMessage]:
        from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

        kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
        return [kinds[role](content=text) for role, text in self.request.messages]

    def _extras(self) -> dict[str, Any]:
        return {
            "role": self.call.role,
            "inputs": self.call.inputs,
            "recipe": self.call.recipe,
            "answer": self.call.answer,
            "temperature": self.request.temperature,
        }


def usage_of(message: AIMessage, seconds: float, price: Price | None) -> Usage:
    """What one answered try cost; the cost is ``None`` when it can't be known."""
    tokens = message.usage_metadata
    prompt, completion = (tokens["input_tokens"], tokens["output_tokens"]) if tokens else (0, 0)
    if "cost_usd" in message.response_metadata:
        cost = message.response_metadata["cost_usd"]
    else:
        cost = price.of(prompt, completion) if price is not None and tokens else None
    return Usage(
        calls=1,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost_usd=None if cost is None else round(float(cost), 9),
        seconds=round(seconds, 3),
    )
