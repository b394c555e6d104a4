"""The chat models behind the door, as langchain-core chat models.

What a role's call has besides its messages (role, inputs, recipe, answer type, temperature) comes as
keyword arguments of ``ainvoke``. A reply's ``response_metadata`` has ``finish_reason`` and
``cost_usd`` (``None``: not known), its ``usage_metadata`` the tokens (absent: not reported).
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

from ideagora.config import Settings
from ideagora.errors import IdeagoraError
from ideagora.models.providers import FREE, Price, Provider, load_litellm, resolve
from ideagora.models.request import Message, schema_of
from ideagora.models.retry import FormatRefused, Transient, complains_of_format, named
from ideagora.models.scrub import one_line, without_keys

if TYPE_CHECKING:
    from ideagora.models.call import Answer, Inputs, Recipe
    from ideagora.models.offline import Engine

CHARACTERS_PER_TOKEN = 4
"""A rough count, for reservations and for the scripted model."""
_ROLES = {"system": "system", "human": "user", "ai": "assistant"}


class DoorChat(BaseChatModel):
    """Base of our chat models: asynchronous only, never cached by langchain (the door caches)."""

    cache: bool | None = False

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError(f"{type(self).__name__} is asynchronous: use ainvoke")

    async def price(self) -> Price | None:
        """US dollars per token; ``None`` when nobody knows."""
        return FREE


class OfflineChat(DoorChat):
    """No language model: the role's recipe answers from the call's inputs. Deterministic, free."""

    engine: Callable[[], Any]
    """Gives the ``Engine``; called for every answer, in a thread, so it should keep it."""

    @property
    def _llm_type(self) -> str:
        return "offline"

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        *,
        recipe: Recipe | None = None,
        inputs: Inputs | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if recipe is None:
            raise TypeError("the offline model needs the call's recipe and inputs")
        answered = await asyncio.to_thread(lambda: recipe(cast("Engine", self.engine()), inputs))
        return _result(json.dumps(answered, ensure_ascii=False), "stop", (0, 0), 0.0)


@dataclass(frozen=True)
class ScriptedCall:
    """What the scripted model was asked."""

    role: str | None
    messages: tuple[Message, ...]
    inputs: Any
    temperature: float | None


Script = str | BaseModel | Mapping[str, Any] | BaseException
"""A reply: text, or what is to be its JSON; an exception is raised."""


class ScriptedChat(DoorChat):
    """A model for tests: says what it is told to, and keeps what it was asked in ``calls``.

    ``replies`` is a function of the call, or a list of replies per role, given one after the other.
    Tokens are counted at four characters each.
    """

    replies: Any
    """``Callable[[ScriptedCall], Script] | dict[str, list[Script]]``."""
    cost_usd: float | None = 0.0
    """What every reply costs."""
    _calls: list[ScriptedCall] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def calls(self) -> list[ScriptedCall]:
        """What was asked, in order."""
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
        call = ScriptedCall(role, tuple(_plain(messages)), inputs, temperature)
        self._calls.append(call)
        reply = self.replies(call) if callable(self.replies) else self._next(role)
        if isinstance(reply, BaseException):
            raise reply
        text = _text_of(reply)
        asked = sum(len(said) for _, said in call.messages)
        tokens = (asked // CHARACTERS_PER_TOKEN, len(text) // CHARACTERS_PER_TOKEN)
        return _result(text, "stop", tokens, self.cost_usd)

    def _next(self, role: str | None) -> Script:
        left = self.replies.get(role)
        if not left:
            raise LookupError(f"the script has no (further) reply for the role {role!r}")
        return cast("Script", left.pop(0))


class LiteLLMChat(DoorChat):
    """Any model that litellm knows, or any OpenAI-compatible server. One try a call: the door retries.

    Raises (from ``ainvoke``): ``Transient`` for what may pass; ``MissingKey``, ``UnknownModel``,
    ``ModelRefused``, ``RealCallForbidden`` for what won't.
    """

    model: str
    settings: Settings
    _provider: Provider | None = PrivateAttr(default=None)
    _schema_refused: bool = PrivateAttr(default=False)
    """The server has turned the response format down: the prompt alone says it from then on."""

    @property
    def _llm_type(self) -> str:
        return "litellm"

    async def price(self) -> Price | None:
        """litellm's price, or the settings'."""
        return (await self.provider()).price

    async def provider(self) -> Provider:
        """Who answers; looked up once, in a thread because litellm takes seconds to import."""
        if self._provider is None:
            self._provider = await asyncio.to_thread(resolve, self.model, self.settings)
        return self._provider

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        *,
        answer: type[Answer] | None = None,
        temperature: float | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        provider = await self.provider()
        formatted = answer is not None and not self._schema_refused
        asked = _plain(messages)
        if answer is not None and not (formatted and _is_sure_of_schema(provider)):
            asked = with_format(asked, schema_of(answer))
        request = _litellm_request(provider, asked, temperature, self.settings.timeout)
        if formatted:
            request["response_format"] = answer
        try:
            async with asyncio.timeout(self.settings.timeout):
                response = await load_litellm().acompletion(**request)
        except Exception as error:
            raise self._named(error, provider, formatted) from None
        return _litellm_result(response, provider)

    def _named(self, error: Exception, provider: Provider, formatted: bool) -> Transient | IdeagoraError:
        if formatted and complains_of_format(error):
            self._schema_refused = True
            return FormatRefused(f"the server takes no JSON schema ({one_line(str(error), 120)})", 0.0)
        return named(error, self.model, provider.key_names)


def with_format(messages: list[Message], schema: str) -> list[Message]:
    """The messages with the answer's form in words, for models that don't take it as a setting."""
    told = (
        "Answer with one JSON object and nothing else, no explanation and no code fence. "
        f"It has to fit this JSON schema:\n{schema}"
    )
    if messages and messages[0][0] == "system":
        return [("system", f"{messages[0][1]}\n\n{told}"), *messages[1:]]
    return [("system", told), *messages]


def _is_sure_of_schema(provider: Provider) -> bool:
    """A server of the user's own may take a response format and not heed it."""
    return provider.takes_schema and provider.api_base is None


def _litellm_request(
    provider: Provider, messages: list[Message], temperature: float | None, timeout: float
) -> dict[str, Any]:
    request: dict[str, Any] = {
        "model": f"{provider.kind}/{provider.name}",
        "messages": [{"role": role, "content": text} for role, text in messages],
        "temperature": temperature,
        "timeout": timeout,
        "api_base": provider.api_base,
        "api_key": provider.api_key,
    }
    bounded = {"max_retries": 0, "num_retries": 0, "drop_params": True}  # the door retries
    return {name: value for name, value in request.items() if value is not None} | bounded


def _litellm_result(response: Any, provider: Provider) -> ChatResult:
    if not response.choices:
        raise Transient("an answer without a choice in it")
    choice = response.choices[0]
    fields = getattr(choice.message, "provider_specific_fields", None) or {}
    text = choice.message.content or fields.get("refusal") or ""
    usage = getattr(response, "usage", None)
    if usage is None or not usage.total_tokens:
        return _result(without_keys(text), choice.finish_reason, None, _unreported_cost(provider))
    tokens = (usage.prompt_tokens, usage.completion_tokens)
    return _result(without_keys(text), choice.finish_reason, tokens, _cost(usage, provider))


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
    text: str, finish_reason: str | None, tokens: tuple[int, int] | None, cost_usd: float | None
) -> ChatResult:
    usage = None
    if tokens is not None:
        usage = UsageMetadata(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens))
    metadata = {"finish_reason": finish_reason, "cost_usd": cost_usd}
    message = AIMessage(content=text, response_metadata=metadata, usage_metadata=usage)
    return ChatResult(generations=[ChatGeneration(message=message)])


def _plain(messages: list[BaseMessage]) -> list[Message]:
    return [(_ROLES.get(message.type, message.type), str(message.content)) for message in messages]


def _text_of(reply: Any) -> str:
    if isinstance(reply, BaseModel):
        return reply.model_dump_json()
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
