"""The chat models of ``LLMClient``, as langchain-core chat models.

``ainvoke`` takes the rest of a call (role, inputs, handler, answer type, temperature) as keyword
arguments. A reply's ``response_metadata`` has ``finish_reason``, ``cost_usd`` (``None``: unknown) and
``alternatives`` to its choices (``None``: unknown), its ``usage_metadata`` the tokens (absent: not reported).

``transport/litellm_chat.py`` has the one that calls providers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel, PrivateAttr

from ideagora.models.call import FreeText
from ideagora.models.parsing.json_text import fix_surrogates
from ideagora.models.request import Message
from ideagora.models.transport.providers import FREE, Price

if TYPE_CHECKING:
    from ideagora.models.call import Inputs, OfflineHandler
    from ideagora.models.offline import ExtractiveModel

CHARACTERS_PER_TOKEN = 4
"""Approximation for the scripted model."""
_ROLES = {"system": "system", "human": "user", "ai": "assistant"}


class ManagedChatModel(BaseChatModel):
    """Base of these chat models: asynchronous only, not cached by langchain (``LLMClient`` caches)."""

    cache: bool | None = False

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError(f"{type(self).__name__} is asynchronous. Use ainvoke.")

    async def price(self) -> Price | None:
        """The price per token; ``None``: unknown."""
        return FREE

    async def limit(self, wanted: int) -> int | None:
        """Maximum tokens of the next answer; ``None``: the server accepts no limit."""
        return wanted


class OfflineChatModel(ManagedChatModel):
    """Not a language model: the role's offline handler computes the answer. Deterministic and free."""

    engine: Callable[[], Any]
    """Returns the ``ExtractiveModel``; called in a thread for every answer, so it should cache it."""

    @property
    def _llm_type(self) -> str:
        return "offline"

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        *,
        handler: OfflineHandler | None = None,
        inputs: Inputs | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if handler is None:
            raise TypeError("the offline model needs the call's handler and inputs")
        answer = await asyncio.to_thread(lambda: handler(cast("ExtractiveModel", self.engine()), inputs))
        text = answer.text if isinstance(answer, FreeText) else _to_text(answer)
        return build_result(text, "stop", (0, 0), 0.0)


@dataclass(frozen=True)
class ScriptedCall:
    """One call of the scripted model."""

    role: str | None
    messages: tuple[Message, ...]
    inputs: Any
    temperature: float | None


Script = str | BaseModel | Mapping[str, Any] | BaseException
"""A reply: text, or a value to send as JSON; an exception is raised."""


class ScriptedChatModel(ManagedChatModel):
    """A model for tests: returns predefined replies and records its calls in ``calls``.

    ``replies`` is a function of the call, or a list of replies per role, returned in order.
    Tokens are counted at four characters each.
    """

    replies: Any
    """``Callable[[ScriptedCall], Script] | dict[str, list[Script]]``."""
    cost_usd: float | None = 0.0
    """Cost of each reply."""
    _calls: list[ScriptedCall] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def calls(self) -> list[ScriptedCall]:
        """The recorded calls, in order."""
        return self._calls

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        *,
        role: str | None = None,
        inputs: Any = None,
        temperature: float | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        call = ScriptedCall(role, tuple(to_messages(messages)), inputs, temperature)
        self._calls.append(call)
        reply = self.replies(call) if callable(self.replies) else self._next(role)
        if isinstance(reply, BaseException):
            raise reply
        text = _to_text(reply)
        prompt_length = sum(len(content) for _, content in call.messages)
        tokens = (prompt_length // CHARACTERS_PER_TOKEN, len(text) // CHARACTERS_PER_TOKEN)
        return build_result(text, "stop", tokens, self.cost_usd)

    def _next(self, role: str | None) -> Script:
        remaining = self.replies.get(role)
        if not remaining:
            raise LookupError(f"the script has no further reply for the role {role!r}")
        return cast("Script", remaining.pop(0))


def build_result(
    text: str,
    finish_reason: str | None,
    tokens: tuple[int, int] | None,
    cost_usd: float | None,
    alternatives: Mapping[str, Mapping[str, float]] | None = None,
) -> ChatResult:
    """A reply with its metadata; ``tokens`` of prompt and answer, ``None``: not reported."""
    usage = None
    if tokens is not None:
        usage = UsageMetadata(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens))
    metadata = {"finish_reason": finish_reason, "cost_usd": cost_usd, "alternatives": alternatives}
    message = AIMessage(content=fix_surrogates(text), response_metadata=metadata, usage_metadata=usage)
    return ChatResult(generations=[ChatGeneration(message=message)])


def to_messages(messages: list[BaseMessage]) -> list[Message]:
    """Role and text of each message."""
    return [(_ROLES.get(message.type, message.type), str(message.content)) for message in messages]


def _to_text(reply: Any) -> str:
    if isinstance(reply, BaseModel):
        return reply.model_dump_json()
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
