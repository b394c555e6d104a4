"""The chat model of every model that litellm knows, and of any OpenAI-compatible server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatResult
from pydantic import PrivateAttr

from ideagora.config import Settings
from ideagora.errors import IdeagoraError, NoTokenProbabilities
from ideagora.models.budget import completion_limit
from ideagora.models.call import FreeText
from ideagora.models.chat_models import ManagedChatModel, build_result, to_messages
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
    from ideagora.models.call import Answer

MIN_COMPLETION_LIMIT = 512
"""Tokens; with a lower completion limit no answer would be complete."""
ALTERNATIVE_NAME = {"max_tokens": "max_completion_tokens"}
"""The completion limit's other name, for servers that do not know the first."""
OnReply = Callable[[AIMessage], None]
"""Called with the reply as soon as it has arrived."""


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
        request = _litellm_request(provider, to_messages(messages), self.settings.timeout)
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
        return build_result(text, choice.finish_reason, None, _unreported_cost(provider), alternatives)
    tokens = (usage.prompt_tokens, usage.completion_tokens)
    return build_result(text, choice.finish_reason, tokens, _cost(usage, provider), alternatives)


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
