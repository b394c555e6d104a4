"""Look up providers in litellm: which one serves a model, with which key, at what price.

litellm takes seconds to import, so every function here imports it when called. ``load_litellm`` disables
its network requests, output and retries, and limits the size of its responses (``response_limit.py``).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from ideagora.config import Settings
from ideagora.errors import MissingKey, NoTokenProbabilities, RealCallForbidden, SettingsError, UnknownModel
from ideagora.models.redact import one_line
from ideagora.models.transport.openai_resources import import_resources_when_used
from ideagora.models.transport.response_limit import limit_response_size

EXAMPLES = "openai/gpt-4o-mini, anthropic/claude-sonnet-4-5, gemini/gemini-2.5-flash, ollama_chat/llama3.1"
LOCAL_MODELS = ("offline", "scripted")
"""Models without a provider."""
MILLION = 1_000_000
_KEY_ENDINGS = ("_API_KEY", "_APIKEY", "_TOKEN")


@dataclass(frozen=True)
class Price:
    """US dollars per token."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Cost of a number of tokens in US dollars."""
        return self.prompt * prompt_tokens + self.completion * completion_tokens


FREE = Price(0.0, 0.0)


@dataclass(frozen=True)
class ModelTraits:
    """What limits the length of a model's answers."""

    is_reasoning: bool = False
    """Whether it reasons before it answers without being told to."""
    max_output_tokens: int | None = None
    """``None``: unknown."""


@dataclass(frozen=True)
class Provider:
    """The provider of one model."""

    model: str
    """As the user wrote it."""
    name: str
    """The provider's name of the model."""
    kind: str
    """litellm's name of the provider (``openai``, ``anthropic``, …)."""
    api_base: str | None
    api_key: str | None
    """``none`` for the user's own server without a key; ``None``: litellm finds it in the environment."""
    key_names: str
    """Environment variables that hold the key, for messages; empty if there are none."""
    price: Price | None
    """``None``: unknown."""
    price_from_map: bool
    """Whether the price is litellm's own, which includes discounts for cached tokens."""
    traits: ModelTraits = ModelTraits()


def needs_litellm(models: Iterable[str], chats: Collection[str], settings: Settings) -> bool:
    """Whether a run with these models calls a provider; ``chats`` are models that are given."""
    return not settings.replay and any(model not in (*LOCAL_MODELS, *chats) for model in models)


def load_litellm() -> ModuleType:
    """Import litellm, with network requests, output and retries disabled."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # or it reads .env files
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    import litellm

    import_resources_when_used()
    litellm.suppress_debug_info = True
    litellm.drop_params = False  # or a 422 makes it send twice and return None
    litellm.cache = None
    litellm.num_retries = 0
    limit_response_size()
    return litellm


class Connections:
    """litellm's connections, which belong to the process: closed when the last client releases them."""

    def __init__(self) -> None:
        self._clients: set[object] = set()

    def acquire(self, client: object) -> None:
        """Register a client."""
        self._clients.add(client)

    async def release(self, client: object) -> None:
        """Unregister a client; closes the connections if no other client is registered."""
        if client not in self._clients:
            return
        self._clients.discard(client)
        if not self._clients:
            litellm = load_litellm()
            await litellm.close_litellm_async_clients()
            litellm.in_memory_llm_clients_cache.flush_cache()  # or it returns closed clients


CONNECTIONS = Connections()


def resolve_provider(model: str, settings: Settings) -> Provider:
    """Find the provider of a model and check what can be checked without a request.

    Raises:
        SettingsError: the server's address contains a login.
        RealCallForbidden: real calls are disabled and the server is not on this machine.
        UnknownModel: litellm knows no provider for the name.
        MissingKey: the provider's key is not set.
    """
    _reject_login(model, settings)
    if settings.forbid_real_calls and not is_loopback(settings.api_base):
        raise RealCallForbidden(
            f"{model}: real calls are disabled (IDEAGORA_FORBID_REAL_CALLS). "
            "Use --model offline, or an IDEAGORA_API_BASE on this machine."
        )
    name, kind = _provider_of(model, settings)
    missing = _missing_keys(name, kind)
    if missing and settings.api_base is None:
        raise MissingKey(f"{model} needs an API key. Set {' or '.join(missing)} in the environment.")
    price = model_price(model, settings)
    return Provider(
        model=model,
        name=name,
        kind=kind,
        api_base=settings.api_base,
        api_key="none" if missing else None,
        key_names=" or ".join(_keys_in_use(kind)),
        price=price,
        price_from_map=price is not None and price == _map_price(name, kind),
        traits=_traits(name, kind),
    )


def _reject_login(model: str, settings: Settings) -> None:
    server = settings.server_of(model)
    if server is None or "@" not in urlsplit(server).netloc:
        return
    name = (
        "--api-base (IDEAGORA_API_BASE)" if settings.api_base else "The server's address in the environment"
    )
    raise SettingsError(
        f"{name} contains a login, which is not sent to providers. Remove it, and set the key in the "
        "provider's variable (OPENAI_API_KEY) or put a proxy that logs in before the server."
    )


def model_price(model: str, settings: Settings) -> Price | None:
    """The price of a model; ``None``: unknown.

    The settings' price applies to models that litellm does not know and to the user's own server;
    otherwise litellm's price does.

    Raises:
        UnknownModel: litellm knows no provider for the name.
    """
    if model in LOCAL_MODELS:
        return FREE
    known = _map_price(*_provider_of(model, settings))
    configured = configured_price(settings, known)
    is_used = configured is not None and (known is None or settings.api_base is not None)
    return configured if is_used else known


def require_token_probabilities(models: Sequence[str], settings: Settings) -> None:
    """Check, as far as litellm knows, that models give probabilities of tokens; no request is made.

    A server of the user's own may give them or not, which only its first answer tells.

    Raises:
        NoTokenProbabilities: a model does not.
        UnknownModel: litellm knows no provider for the name.
    """
    for model in models:
        if model == "offline":
            raise NoTokenProbabilities(model)
        if model in LOCAL_MODELS:
            continue
        name, kind = _provider_of(model, settings)
        known = load_litellm().get_supported_openai_params(model=name, custom_llm_provider=kind)
        if "top_logprobs" not in (known or ()):
            raise NoTokenProbabilities(model)


def is_loopback(api_base: str | None) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(api_base).hostname if api_base else None
    try:
        return host == "localhost" or (host is not None and ip_address(host).is_loopback)
    except ValueError:
        return False


def configured_price(settings: Settings, known: Price | None = None) -> Price | None:
    """The price that the settings state, completed from a known one; ``None``: they state none, or a part."""
    prompt, completion = settings.price_prompt, settings.price_completion
    if prompt is None and completion is None:
        return None
    per_prompt = prompt / MILLION if prompt is not None else known.prompt if known else None
    per_completion = completion / MILLION if completion is not None else known.completion if known else None
    return None if per_prompt is None or per_completion is None else Price(per_prompt, per_completion)


def _provider_of(model: str, settings: Settings) -> tuple[str, str]:
    """The provider's name of the model, and the provider; ``openai`` for the user's own server."""
    litellm = load_litellm()
    try:
        name, kind, _, _ = litellm.get_llm_provider(model)
    except litellm.exceptions.BadRequestError:
        if settings.api_base is not None:
            return model, "openai"
        raise UnknownModel(
            f"unknown model {one_line(model)!r}. Use provider/model, for example {EXAMPLES}; offline for no "
            "provider; or openai/<model> with --api-base for your own server."
        ) from None
    return str(name), str(kind)


def _missing_keys(name: str, kind: str) -> list[str]:
    result: dict[str, Any] = load_litellm().validate_environment(f"{kind}/{name}")
    if result["keys_in_environment"]:
        return []
    return [key for key in result["missing_keys"] if key.endswith(_KEY_ENDINGS)]


def _keys_in_use(kind: str) -> list[str]:
    """The key variables of a provider that are set (litellm lists only the missing ones)."""
    start = kind.partition("_")[0].upper()
    return sorted(name for name in os.environ if name.startswith(start) and name.endswith(_KEY_ENDINGS))


def _map_price(name: str, kind: str) -> Price | None:
    """litellm's price, read from its table because its functions return 0.0 for unknown models."""
    for entry in _entries(name, kind):
        prompt, completion = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
        if prompt is not None and completion is not None:
            return Price(float(prompt), float(completion))
    return None


def _traits(name: str, kind: str) -> ModelTraits:
    """From litellm's table. Claude reasons only on request, and no call here requests it."""
    entry = next(iter(_entries(name, kind)), {})
    max_tokens = entry.get("max_output_tokens")
    is_reasoning = bool(entry.get("supports_reasoning")) and "claude" not in name.casefold()
    return ModelTraits(is_reasoning, max_tokens if isinstance(max_tokens, int) and max_tokens > 0 else None)


def _entries(name: str, kind: str) -> Iterator[dict[str, Any]]:
    """The entries of a model in litellm's table, under each name it may have there."""
    table: dict[str, dict[str, Any]] = load_litellm().model_cost
    for key in (f"{kind}/{name}", f"{kind.removesuffix('_chat')}/{name}", name):
        entry = table.get(key)
        if entry is not None and str(entry.get("litellm_provider", "")).startswith(kind.partition("_")[0]):
            yield entry
