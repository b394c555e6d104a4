"""Chat models by name: those of the providers, the offline model, and models that are given."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ideagora.config import Settings
from ideagora.errors import SettingsError, UnknownModel
from ideagora.models.transport.providers import (
    CONNECTIONS,
    LOCAL_MODELS,
    Price,
    configured_price,
    load_litellm,
    needs_litellm,
)

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.models.offline import ExtractiveModel


class ModelRegistry:
    """The chat models that the settings may name, created when they are first used.

    Args:
        settings: models, servers, prices.
        embedder: returns the embedder of the offline model; called when first needed.
        chats: chat models by name, in place of real ones (for tests; required for ``scripted``).
    """

    def __init__(
        self,
        settings: Settings,
        embedder: Callable[[], Embedder],
        chats: Mapping[str, BaseChatModel] | None = None,
    ) -> None:
        self.settings = settings
        self._embedder = embedder
        self._chats = dict(chats or {})
        self._without_provider = frozenset((*LOCAL_MODELS, *self._chats))
        self._offline: ExtractiveModel | None = None
        self._offline_lock = threading.Lock()

    def chat(self, model: str) -> BaseChatModel:
        """The chat model of a name.

        Raises:
            UnknownModel: ``scripted`` without a given model.
        """
        if model not in self._chats:
            self._chats[model] = self._create_chat(model)
        return self._chats[model]

    async def price(self, model: str) -> Price | None:
        """The model's price per token; ``None``: unknown.

        Raises:
            UnknownModel, MissingKey, RealCallForbidden: the provider cannot be called.
            SettingsError: a budget is set and the price is unknown.
        """
        from ideagora.models.chat_models import ManagedChatModel

        chat = self.chat(model)
        if isinstance(chat, ManagedChatModel):
            price = await chat.price()
        else:
            price = configured_price(self.settings)
        if price is None and self.settings.budget is not None:
            raise SettingsError(
                f"--budget needs the price of {model}, which is unknown. Set --price-prompt and "
                "--price-completion (US dollars per million tokens)."
            )
        return price

    def has_provider(self, model: str) -> bool:
        """Whether a provider answers; other processes may send it the same requests."""
        return model not in self._without_provider

    async def check(self, models: Sequence[str] | None = None) -> None:
        """Check models without calling them: name, key, and under a budget the price.

        Args:
            models: the models to check; ``None``: all models of the settings.

        Raises:
            UnknownModel, MissingKey, RealCallForbidden, SettingsError: as ``price`` does.
        """
        chosen = self.settings.models if models is None else models
        for model in chosen if not self.settings.replay else ():
            await self.price(model)

    def warm_up(self, models: Sequence[str] | None = None) -> None:
        """Import litellm in the background if one of the models (default: the settings') needs it."""
        chosen = self.settings.models if models is None else models
        if needs_litellm(chosen, self._chats, self.settings):
            threading.Thread(target=load_litellm, name="litellm import", daemon=True).start()

    async def aclose(self) -> None:
        """Close the connections to providers. The registry can be used again afterwards."""
        await CONNECTIONS.release(self)

    def _create_chat(self, model: str) -> BaseChatModel:
        if model == "offline":
            from ideagora.models.chat_models import OfflineChatModel

            return OfflineChatModel(engine=self._offline_model)
        if model == "scripted":
            raise UnknownModel(
                "the model 'scripted' is for tests only. Pass its replies as ModelRegistry(chats=…)."
            )
        from ideagora.models.transport.litellm_chat import LiteLLMChatModel

        CONNECTIONS.acquire(self)
        return LiteLLMChatModel(model=model, settings=self.settings)

    def _offline_model(self) -> ExtractiveModel:
        from ideagora.models.offline import ExtractiveModel

        with self._offline_lock:
            if self._offline is None:
                self._offline = ExtractiveModel(self._embedder())
            return self._offline
