"""Settings from ``ideagora.toml``, the environment (``IDEAGORA_*``) and flags, in ascending precedence.

Provider keys are not settings: they stay in the environment under the names that litellm knows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack
from urllib.parse import urlsplit

from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from ideagora.errors import SettingsError
from ideagora.trust import SETTINGS_FILE, check_trust, default_home, user_home

Group = Literal["main", "reader", "judge"]
_ADDRESSES = ("_BASE_URL", "_API_BASE")
"""Endings of the environment variables that set a provider's server."""


class Settings(BaseSettings):
    """All settings of a run. Names are those of the flags, with underscores."""

    model_config = SettingsConfigDict(
        env_prefix="IDEAGORA_", toml_file=SETTINGS_FILE, extra="forbid", frozen=True
    )

    model: str = "offline"
    """Model of the ``main`` role group: ``offline``, or any litellm name."""
    reader_model: str | None = None
    judge_model: str | None = None
    """Models of the other role groups; ``None``: the same as ``model``."""
    api_base: str | None = None
    """An OpenAI-compatible server for all real models."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    timeout: float = Field(default=120.0, gt=0)
    """Timeout of one request in seconds."""
    retries: int = Field(default=5, ge=0, le=20)
    """Retries after a transient failure."""
    concurrency: int = Field(default=8, ge=1, le=256)
    """Maximum concurrent calls."""
    budget: float | None = Field(default=None, gt=0)
    """Hard limit in US dollars for the whole command."""
    price_prompt: float | None = Field(default=None, ge=0)
    price_completion: float | None = Field(default=None, ge=0)
    """US dollars per million tokens, for a model whose price litellm does not know."""
    completion_limit: int | None = Field(default=None, ge=64)
    """Maximum tokens of an answer, thinking included; ``None``: the limit of each role."""
    agent_timeout: float = Field(default=600.0, gt=0)
    """Seconds without any activity after which an external agent is cancelled."""
    agent_env: str = ""
    """Additional environment variables passed to external commands, separated by commas."""
    replay: bool = False
    """Answer from the cache only; a miss is an error."""
    forbid_real_calls: bool = False
    """Reject every call that would leave this machine (for tests)."""

    embedder: str = "all-MiniLM-L6-v2"
    """A sentence-transformers name or folder, or ``hash`` (for tests: not semantic)."""
    source: str = "starter,local"
    """Literature sources, separated by commas."""
    semantic_scholar_url: str | None = None
    openalex_url: str | None = None
    arxiv_url: str | None = None
    """Base URLs that replace the services' own."""
    literature_days: int = Field(default=30, ge=0, le=36_500)
    """Days for which responses of the services are cached."""
    full_text: bool = True
    """Whether to download open-access PDFs for the reader."""
    store: str | None = None
    """Folder of the store, or URL of a Chroma server; ``None``: ``<home>/store``."""
    home: Path = Field(default_factory=default_home)
    """Folder of the store, the caches and the runs."""
    seed: int = Field(default=0, ge=0)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The sources in descending precedence: flags, environment, ``ideagora.toml``."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    def model_of(self, group: Group) -> str:
        """The model of a role group."""
        chosen = {"main": self.model, "reader": self.reader_model, "judge": self.judge_model}[group]
        return chosen or self.model

    @property
    def models(self) -> list[str]:
        """The distinct models in use, in the order main, reader, judge."""
        return list(dict.fromkeys([self.model_of("main"), self.model_of("reader"), self.model_of("judge")]))

    def server_of(self, model: str) -> str | None:
        """The server that the user has set for a model; ``None``: the provider's own.

        It is ``api_base``, or what litellm reads from the environment for the provider.
        """
        if model == "offline" or self.api_base is not None:
            return None if model == "offline" else self.api_base
        provider = (
            re.sub(r"\W", "_", model.partition("/")[0] if "/" in model else "openai")
            .upper()
            .removesuffix("_CHAT")
        )
        return next((os.environ[name] for end in _ADDRESSES if os.environ.get(name := provider + end)), None)

    @property
    def store_url(self) -> str | None:
        """URL of the store's Chroma server; ``None``: the store is a folder."""
        return server_url(self.store)

    @property
    def store_folder(self) -> Path:
        """Folder of the store; with a server, of its local files (full texts, …)."""
        url = self.store_url
        if url:
            return self.home / "servers" / re.sub(r"[^\w.]+", "-", urlsplit(url).netloc)
        return Path(self.store).expanduser() if self.store else self.home / "store"


class SettingOverrides(TypedDict, total=False):
    """Settings that flags or callers set, with the names of ``Settings``; ``None``: not given."""

    model: str | None
    reader_model: str | None
    judge_model: str | None
    api_base: str | None
    temperature: float | None
    timeout: float | None
    retries: int | None
    concurrency: int | None
    budget: float | None
    price_prompt: float | None
    price_completion: float | None
    completion_limit: int | None
    agent_timeout: float | None
    agent_env: str | None
    replay: bool | None
    forbid_real_calls: bool | None
    embedder: str | None
    source: str | None
    semantic_scholar_url: str | None
    openalex_url: str | None
    arxiv_url: str | None
    literature_days: int | None
    full_text: bool | None
    store: str | None
    home: Path | None
    seed: int | None


def load_settings(**flags: Unpack[SettingOverrides]) -> Settings:
    """Load the settings from file, environment and flags (``None``: not given).

    Raises:
        SettingsError: a value is invalid (the message names the setting, its source and the value), or the
            working directory's file is not trusted (``ideagora trust``).
    """
    given: dict[str, Any] = {name: value for name, value in flags.items() if value is not None}
    environment = {k: v for k, v in os.environ.items() if k.startswith("IDEAGORA_") and v == ""}
    for name in environment:  # an empty variable means "not set"
        del os.environ[name]
    try:
        settings = Settings(**given)
    except ValidationError as error:
        raise SettingsError(_first_line(error, given)) from None
    except ValueError as error:  # invalid TOML
        raise SettingsError(f"{SETTINGS_FILE} cannot be read: {error}. Fix or remove it.") from None
    check_trust(given, user_home(flags.get("home")))
    server_url(settings.store)
    home = settings.home.expanduser().absolute()  # an external agent may change the working directory
    return settings.model_copy(update={"home": home})


def server_url(store: str | None) -> str | None:
    """The normalised URL of a store's server; ``None``: the store is a folder.

    Raises:
        SettingsError: the value is neither. A login in it is not repeated.
    """
    if store is None or "://" not in store:
        return None
    parts = urlsplit(store.strip())
    if "@" in store:
        raise SettingsError(
            "--store (IDEAGORA_STORE) is a URL with a login, which would appear in run records and logs. "
            "Use http://host:port, and restrict access to the Chroma server by its network."
        )
    try:
        is_valid = bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_valid = False
    if parts.scheme not in ("http", "https") or not is_valid or parts.path.strip("/") or parts.query:
        raise SettingsError(
            f"--store (IDEAGORA_STORE) is {store!r}. Use a folder, or a Chroma server as http://host:port."
        )
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _first_line(error: ValidationError, flags: Collection[str]) -> str:
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else "settings"
    if first["type"] == "extra_forbidden":
        known = ", ".join(sorted(Settings.model_fields))
        return f"unknown setting {name!r} in {SETTINGS_FILE}. Known settings: {known}."
    if name in flags:
        source = f"--{name.replace('_', '-')}"
    elif f"IDEAGORA_{name.upper()}" in os.environ:
        source = f"IDEAGORA_{name.upper()}"
    else:
        source = f"{name} in {SETTINGS_FILE}"
    return f"{source} is {first['input']!r}: {first['msg'].lower()}."
