"""The chat models of ``LLMClient``, as langchain-core chat models.

``ainvoke`` takes the rest of a call (role, inputs, handler, answer type, temperature) as keyword
arguments. A reply's ``response_metadata`` has ``finish_reason``, ``cost_usd`` (``None``: unknown) and
``alternatives`` to its choices (``None``: unknown), its ``usage_metadata`` the tokens (absent: not reported).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel, PrivateAttr

from ideagora.config import Settings
from ideagora.errors import IdeagoraError, NoTokenProbabilities
from ideagora.models.budget import completion_limit
from ideagora.models.call import FreeText
from ideagora.models.parsing.json_extract import fix_surrogates
from ideagora.models.parsing.token_probabilities import (
    MOST_TOKENS,
    choice_fields,
    find_alternatives,
    read_tokens,
)
from ideagora.models.redact import one_line
from ideagora.models.request import Message
from ideagora.models.transport.providers import FREE, Price, Provider, load_litellm, resolve_provider
from ideagora.models.transport.retry import (
    SettingRejected,
    TransientError,
    is_unknown_setting,
    rejected_setting,
    to_model_error,
)

if TYPE_CHECKING:
    from ideagora.models.call import Answer, Inputs, OfflineHandler
    from ideagora.models.offline import ExtractiveModel

CHARACTERS_PER_TOKEN = 4
"""Approximation for the scripted model."""
MIN_COMPLETION_LIMIT = 512
"""Tokens; with a lower completion limit no answer would be complete."""
ALTERNATIVE_NAME = {"max_tokens": "max_completion_tokens"}
"""The completion limit's other name, for servers that do not know the first."""
OnReply = Callable[[AIMessage], None]
"""Called with the reply as soon as it has arrived."""
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
        return _result(text, "stop", (0, 0), 0.0)


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
        call = ScriptedCall(role, tuple(_to_messages(messages)), inputs, temperature)
        self._calls.append(call)
        reply = self.replies(call) if callable(self.replies) else self._next(role)
        if isinstance(reply, BaseException):
            raise reply
        text = _to_text(reply)
        prompt_length = sum(len(content) for _, content in call.messages)
        tokens = (prompt_length // CHARACTERS_PER_TOKEN, len(text) // CHARACTERS_PER_TOKEN)
        return _result(text, "stop", tokens, self.cost_usd)

    def _next(self, role: str | None) -> Script:
        remaining = self.replies.get(role)
        if not remaining:
            raise LookupError(f"the script has no further reply for the role {role!r}")
        return cast("Script", remaining.pop(0))


class LiteLLMChatModel(ManagedChatModel):
    """Any model that litellm knows, or any OpenAI-compatible server. Sends one request per call.

    ``ainvoke`` raises ``TransientError`` for failures worth a retry; otherwise ``MissingKey``,
    ``UnknownModel``, ``RequestRejected`` or ``RealCallForbidden``.
    """

    model: str
    settings: Settings
    _provider: Provider | None = PrivateAttr(default=None)
    _rejected: set[str] = PrivateAttr(default_factory=set)
    """Settings that the server has rejected and that are no longer sent; prompts describe the form, too."""
    _limit_name: str | None = PrivateAttr(default="max_tokens")
    """The server's name of the completion limit. litellm translates it for models that it knows."""
    _max_limit: int | None = PrivateAttr(default=None)
    """The highest completion limit that the server may accept, after it has rejected a higher one."""

    @property
    def _llm_type(self) -> str:
        return "litellm"

    async def price(self) -> Price | None:
        """litellm's price, or that of the settings."""
        return (await self.provider()).price

    async def limit(self, wanted: int) -> int | None:
        """The lowest of the limits of role, settings, model and server."""
        if self._limit_name is None:
            return None
        chosen = completion_limit(wanted, self.settings, (await self.provider()).traits)
        return chosen if self._max_limit is None else min(chosen, self._max_limit)

    async def provider(self) -> Provider:
        """The model's provider; looked up once, in a thread because litellm takes seconds to import."""
        if self._provider is None:
            self._provider = await asyncio.to_thread(resolve_provider, self.model, self.settings)
        return self._provider

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        *,
        answer: type[Answer] | None = None,
        temperature: float | None = None,
        limit: int | None = None,
        token_probabilities: bool = False,
        received: OnReply | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        from openai import OpenAIError

        provider = await self.provider()
        request = _litellm_request(provider, _to_messages(messages), self.settings.timeout)
        schema = None if answer is not None and issubclass(answer, FreeText) else answer
        optional = {"temperature": temperature, "response_format": schema}
        options = {n: v for n, v in optional.items() if v is not None and n not in self._rejected}
        if self._limit_name is not None and limit is not None:
            options[self._limit_name] = limit
        if token_probabilities:
            options |= {"logprobs": True, "top_logprobs": MOST_TOKENS}
        try:
            async with asyncio.timeout(self.settings.timeout):  # litellm's own limits each read only
                response = await _complete(request | options)
        except (OpenAIError, OSError) as error:
            raise self._convert(error, provider, options) from None
        result = _litellm_result(response, provider, choice_fields(schema) if schema is not None else ())
        if received is not None:  # at once: any await from here on lets other tasks run first
            received(cast("AIMessage", result.generations[0].message))
        return result

    def _convert(
        self, error: Exception, provider: Provider, sent: Mapping[str, Any]
    ) -> TransientError | IdeagoraError:
        if "logprobs" in sent and "logprob" in str(error):
            return NoTokenProbabilities(self.model, one_line(str(error), 120))
        setting = rejected_setting(error, sent)
        if setting is None or (setting == self._limit_name and not self._lower_limit(error, sent[setting])):
            return to_model_error(error, self.model, provider.key_names)
        if setting != self._limit_name:
            self._rejected.add(setting)
        return SettingRejected(f"the server rejected {setting} ({one_line(str(error), 120)})")

    def _lower_limit(self, error: Exception, limit: int) -> bool:
        """Adapt to a rejected completion limit; returns whether another attempt may succeed."""
        if is_unknown_setting(error):
            self._limit_name = ALTERNATIVE_NAME.get(str(self._limit_name))
        elif limit > MIN_COMPLETION_LIMIT:
            self._max_limit = max(limit // 2, MIN_COMPLETION_LIMIT)
        else:
            return False
        return True


def _litellm_request(provider: Provider, messages: list[Message], timeout: float) -> dict[str, Any]:
    request: dict[str, Any] = {
        "model": f"{provider.kind}/{provider.name}",
        "messages": [{"role": role, "content": text} for role, text in messages],
        "timeout": timeout,
        "api_base": provider.api_base,
        "api_key": provider.api_key,
    }
    no_retries = {"max_retries": 0, "num_retries": 0, "drop_params": False}  # LLMClient retries
    return {name: value for name, value in request.items() if value is not None} | no_retries


async def _complete(request: dict[str, Any]) -> Any:
    """litellm's response; drops settings that litellm refuses before it sends anything."""
    litellm = load_litellm()
    try:
        return await litellm.acompletion(**request)
    except litellm.UnsupportedParamsError as error:
        name = next((n for n in ("temperature", "response_format") if n in request and n in str(error)), None)
        if name is None:
            raise
        return await _complete({other: value for other, value in request.items() if other != name})


def _litellm_result(response: Any, provider: Provider, choices: Sequence[str]) -> ChatResult:
    if not response.choices:
        raise TransientError("the response has no choices", may_be_billed=True)
    choice = response.choices[0]
    fields = getattr(choice.message, "provider_specific_fields", None) or {}
    text = choice.message.content or fields.get("refusal") or ""
    alternatives = find_alternatives(text, read_tokens(getattr(choice, "logprobs", None)), choices)
    usage = getattr(response, "usage", None)
    if usage is None or not usage.total_tokens:
        return _result(text, choice.finish_reason, None, _unreported_cost(provider), alternatives)
    tokens = (usage.prompt_tokens, usage.completion_tokens)
    return _result(text, choice.finish_reason, tokens, _cost(usage, provider), alternatives)


def _unreported_cost(provider: Provider) -> float | None:
    return 0.0 if provider.price == FREE else None


def _cost(usage: Any, provider: Provider) -> float | None:
    if provider.price is None:
        return None
    if not provider.price_from_map:
        return provider.price.of(usage.prompt_tokens, usage.completion_tokens)
    costs = load_litellm().cost_per_token(
        model=provider.name,
        custom_llm_provider=provider.kind.removesuffix("_chat"),
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        usage_object=usage,
    )
    return float(sum(costs))


def _result(
    text: str,
    finish_reason: str | None,
    tokens: tuple[int, int] | None,
    cost_usd: float | None,
    alternatives: Mapping[str, Mapping[str, float]] | None = None,
) -> ChatResult:
    usage = None
    if tokens is not None:
        usage = UsageMetadata(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens))
    metadata = {"finish_reason": finish_reason, "cost_usd": cost_usd, "alternatives": alternatives}
    message = AIMessage(content=fix_surrogates(text), response_metadata=metadata, usage_metadata=usage)
    return ChatResult(generations=[ChatGeneration(message=message)])


def _to_messages(messages: list[BaseMessage]) -> list[Message]:
    return [(_ROLES.get(message.type, message.type), str(message.content)) for message in messages]


def _to_text(reply: Any) -> str:
    if isinstance(reply, BaseModel):
        return reply.model_dump_json()
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
