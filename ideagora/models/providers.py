"""What litellm knows of providers: who serves a model, with which key, at what price.

litellm takes seconds to import, so every function here imports it when it is called; ``load_litellm``
does it once, with everything switched off that would ask the network, print or retry, and
its clients bounded (``bodies.py``).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from ideagora.config import Settings
from ideagora.errors import MissingKey, RealCallForbidden, SettingsError, UnknownModel
from ideagora.models.redact import one_line
from ideagora.models.response_limit import bound_bodies

EXAMPLES = "openai/gpt-4o-mini, anthropic/claude-sonnet-4-5, gemini/gemini-2.5-flash, ollama_chat/llama3.1"
LOCAL_MODELS = ("offline", "scripted")
"""Models that ask nobody."""
MILLION = 1_000_000
_KEY_ENDINGS = ("_API_KEY", "_APIKEY", "_TOKEN")


@dataclass(frozen=True)
class Price:
    """US dollars per token."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """US dollars for these tokens."""
        return self.prompt * prompt_tokens + self.completion * completion_tokens


FREE = Price(0.0, 0.0)


@dataclass(frozen=True)
class ModelTraits:
    """What bounds the answers of a model."""

    reasons: bool = False
    """Whether it thinks before it answers without being told to."""
    longest: int | None = None
    """Tokens that it can answer with at most; ``None``: not known."""


@dataclass(frozen=True)
class Provider:
    """Who answers for one model."""

    model: str
    """As the user wrote it."""
    name: str
    """As the provider knows it."""
    kind: str
    """litellm's name of the provider (``openai``, ``anthropic`` …)."""
    api_base: str | None
    api_key: str | None
    """``none`` for a server of the user's own that needs no key; ``None``: litellm finds it."""
    key_names: str
    """Environment variables of its key, for messages; empty when it has none."""
    price: Price | None
    """``None``: not known."""
    price_from_map: bool
    """The price is litellm's own, which also knows discounts of cached tokens."""
    traits: ModelTraits = ModelTraits()


def load_litellm() -> ModuleType:
    """litellm, imported once and tamed."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # otherwise it reads .env files
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    import litellm

    litellm.suppress_debug_info = True
    litellm.drop_params = False  # on a 422 it would ask twice and return None
    litellm.cache = None
    litellm.num_retries = 0
    bound_bodies()
    return litellm


class Connections:
    """litellm keeps its connections for the whole process: the last door that goes closes them."""

    def __init__(self) -> None:
        self._doors: set[object] = set()

    def use(self, client: object) -> None:
        """Note that a door uses them."""
        self._doors.add(client)

    async def leave(self, client: object) -> None:
        """Close them, unless another door uses them or this one never did."""
        if client not in self._doors:
            return
        self._doors.discard(client)
        if not self._doors:
            litellm = load_litellm()
            await litellm.close_litellm_async_clients()
            litellm.in_memory_llm_clients_cache.flush_cache()  # it would hand out closed ones


CONNECTIONS = Connections()


def resolve_provider(model: str, settings: Settings) -> Provider:
    """Who answers for a model, with everything checked that can be checked without asking.

    Raises:
        SettingsError: the server's address has a login in it.
        RealCallForbidden: real calls are switched off and the server is not on this machine.
        UnknownModel: no provider goes by that name.
        MissingKey: the provider's key is not set.
    """
    _refuse_login(model, settings)
    if settings.forbid_real_calls and not is_loopback(settings.api_base):
        raise RealCallForbidden(
            f"{model}: real calls are switched off (IDEAGORA_FORBID_REAL_CALLS); "
            "use --model offline, or an IDEAGORA_API_BASE on this machine."
        )
    name, kind = _provider_of(model, settings)
    missing = _missing_keys(name, kind)
    if missing and settings.api_base is None:
        raise MissingKey(f"{model} needs a key: set {' or '.join(missing)} in the environment.")
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


def _refuse_login(model: str, settings: Settings) -> None:
    server = settings.server_of(model)
    if server is None or "@" not in urlsplit(server).netloc:
        return
    name = (
        "--api-base (IDEAGORA_API_BASE)" if settings.api_base else "The server's address in the environment"
    )
    raise SettingsError(
        f"{name} has a login in it, which no provider is sent. Leave it out: put the key into the provider's "
        "variable (OPENAI_API_KEY), or a proxy that logs in before the server."
    )


def model_price(model: str, settings: Settings) -> Price | None:
    """The price of a model: litellm's, or for a model it does not know (and for your own server,
    where its prices are somebody else's) what the settings say; ``None`` when nobody knows.

    Raises:
        UnknownModel: no provider goes by that name.
    """
    if model in LOCAL_MODELS:
        return FREE
    known = _map_price(*_provider_of(model, settings))
    said = _said_price(settings, known)
    return said if said is not None and (known is None or settings.api_base is not None) else known


def is_loopback(api_base: str | None) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(api_base).hostname if api_base else None
    try:
        return host == "localhost" or (host is not None and ip_address(host).is_loopback)
    except ValueError:
        return False


def _said_price(settings: Settings, known: Price | None) -> Price | None:
    prompt, completion = settings.price_prompt, settings.price_completion
    if prompt is None and completion is None:
        return None
    per_prompt = prompt / MILLION if prompt is not None else known.prompt if known else None
    per_completion = completion / MILLION if completion is not None else known.completion if known else None
    return None if per_prompt is None or per_completion is None else Price(per_prompt, per_completion)


def _provider_of(model: str, settings: Settings) -> tuple[str, str]:
    """The model's name at its provider, and the provider; without one, a server of the user's own."""
    litellm = load_litellm()
    try:
        name, kind, _, _ = litellm.get_llm_provider(model)
    except litellm.exceptions.BadRequestError:
        if settings.api_base is not None:
            return model, "openai"
        raise UnknownModel(
            f"unknown model {one_line(model)!r}: write provider/model, for example {EXAMPLES}; "
            "offline needs none; for your own server set --api-base and write openai/<its model>."
        ) from None
    return str(name), str(kind)


def _missing_keys(name: str, kind: str) -> list[str]:
    found: dict[str, Any] = load_litellm().validate_environment(f"{kind}/{name}")
    if found["keys_in_environment"]:
        return []
    return [key for key in found["missing_keys"] if key.endswith(_KEY_ENDINGS)]


def _keys_in_use(kind: str) -> list[str]:
    """The key variables of a provider that are set (litellm lists only those that are missing)."""
    start = kind.partition("_")[0].upper()
    return sorted(name for name in os.environ if name.startswith(start) and name.endswith(_KEY_ENDINGS))


def _map_price(name: str, kind: str) -> Price | None:
    """litellm's price. Looked up in its table: its functions give 0.0 for what they don't know."""
    for entry in _entries(name, kind):
        prompt, completion = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
        if prompt is not None and completion is not None:
            return Price(float(prompt), float(completion))
    return None


def _traits(name: str, kind: str) -> ModelTraits:
    """From litellm's table. Claude thinks only when it is asked to, which no call of ours does."""
    entry = next(iter(_entries(name, kind)), {})
    longest = entry.get("max_output_tokens")
    reasons = bool(entry.get("supports_reasoning")) and "claude" not in name.casefold()
    return ModelTraits(reasons, longest if isinstance(longest, int) and longest > 0 else None)


def _entries(name: str, kind: str) -> Iterator[dict[str, Any]]:
    """What litellm's table says of a model, under the names that it may go by there."""
    table: dict[str, dict[str, Any]] = load_litellm().model_cost
    for key in (f"{kind}/{name}", f"{kind.removesuffix('_chat')}/{name}", name):
        entry = table.get(key)
        if entry is not None and str(entry.get("litellm_provider", "")).startswith(kind.partition("_")[0]):
            yield entry
