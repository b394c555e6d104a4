"""Settings: ``ideagora.toml`` < environment (``IDEAGORA_*``) < flags.

pydantic-settings reads file and environment and checks the types; provider keys are not settings,
they stay in the environment under the names that litellm knows.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Literal
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
"""How the environment variables end that name a provider's server."""


class Settings(BaseSettings):
    """Everything a run can be told. Names are the flags' names with underscores."""

    model_config = SettingsConfigDict(
        env_prefix="IDEAGORA_", toml_file=SETTINGS_FILE, extra="forbid", frozen=True
    )

    model: str = "offline"
    """Model of the ``main`` role group: ``offline``, or any litellm name."""
    reader_model: str | None = None
    judge_model: str | None = None
    """Models of the other groups; ``None``: the same as ``model``."""
    api_base: str | None = None
    """An OpenAI-compatible server for all real models."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    timeout: float = Field(default=120.0, gt=0)
    """Seconds one try of one call may take."""
    retries: int = Field(default=5, ge=0, le=20)
    """Further tries after a transient failure."""
    concurrency: int = Field(default=8, ge=1, le=256)
    """Calls that are out at the same time."""
    budget: float | None = Field(default=None, gt=0)
    """Hard stop in US dollars for the whole command."""
    price_prompt: float | None = Field(default=None, ge=0)
    price_completion: float | None = Field(default=None, ge=0)
    """US dollars per million tokens, for a model whose price litellm does not know."""
    completion_limit: int | None = Field(default=None, ge=64)
    """Tokens that one answer may have at most, thinking included; ``None``: what each role allows."""
    agent_timeout: float = Field(default=600.0, gt=0)
    """Seconds that an agent from outside may go without a sign of life."""
    agent_env: str = ""
    """Environment variables that a command may see besides the usual ones, with commas between them."""
    replay: bool = False
    """Answer from the cache alone; a miss is an error."""
    forbid_real_calls: bool = False
    """Refuse every call that would leave this machine (tests set it)."""

    embedder: str = "all-MiniLM-L6-v2"
    """A sentence-transformers name or folder, or ``hash`` (tests only: no meaning in it)."""
    source: str = "starter,local"
    """Where literature comes from: names with commas between them."""
    semantic_scholar_url: str | None = None
    openalex_url: str | None = None
    arxiv_url: str | None = None
    """Base URLs in place of the services' own."""
    literature_days: int = Field(default=30, ge=0, le=36_500)
    """Days for which an answer of a service is used again."""
    full_text: bool = True
    """Whether open-access PDFs of papers from the network are fetched for the reader."""
    store: str | None = None
    """Folder of the store, or URL of a Chroma server; ``None``: ``<home>/store``."""
    home: Path = Field(default_factory=default_home)
    """Where store, caches and runs live."""
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
        """Flags first, then the environment, then ``ideagora.toml``."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    def model_of(self, group: Group) -> str:
        """The model that serves a role group."""
        chosen = {"main": self.model, "reader": self.reader_model, "judge": self.judge_model}[group]
        return chosen or self.model

    @property
    def models(self) -> list[str]:
        """The distinct models in use, in the order main, reader, judge."""
        return list(dict.fromkeys([self.model_of("main"), self.model_of("reader"), self.model_of("judge")]))

    def server_of(self, model: str) -> str | None:
        """The address of the server that answers for a model, where the user named one.

        ``api_base``, else what litellm takes from the environment for the model's provider.
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
        """The Chroma server that holds the store; ``None``: it is in a folder."""
        return server_url(self.store)

    @property
    def store_folder(self) -> Path:
        """Folder of the embedded store; with a server, of what stays on this machine (full texts, …)."""
        url = self.store_url
        if url:
            return self.home / "servers" / re.sub(r"[^\w.]+", "-", urlsplit(url).netloc)
        return Path(self.store).expanduser() if self.store else self.home / "store"


def load_settings(**flags: Any) -> Settings:
    """Settings from file, environment and the flags that were given (``None``: not given).

    Raises:
        SettingsError: a value cannot be used (names the setting, where it came from and the value), or the
            file of the working directory needs a yes that was not given (``ideagora trust``).
    """
    given = {name: value for name, value in flags.items() if value is not None}
    environment = {k: v for k, v in os.environ.items() if k.startswith("IDEAGORA_") and v == ""}
    for name in environment:  # an empty variable means "not set"
        del os.environ[name]
    try:
        settings = Settings(**given)
    except ValidationError as error:
        raise SettingsError(_first_line(error, given)) from None
    except ValueError as error:  # a file that is no TOML
        raise SettingsError(f"{SETTINGS_FILE} cannot be read: {error}. Mend or remove it.") from None
    check_trust(given, user_home(given.get("home")))
    server_url(settings.store)
    home = settings.home.expanduser().absolute()  # an agent from outside may change the working directory
    return settings.model_copy(update={"home": home})


def server_url(place: str | None) -> str | None:
    """A store's place as the URL of a server, normalised; ``None``: it is a folder.

    Raises:
        SettingsError: it is neither. A login in it is not repeated.
    """
    if place is None or "://" not in place:
        return None
    parts = urlsplit(place.strip())
    if "@" in place:
        raise SettingsError(
            "--store (IDEAGORA_STORE) is a URL with a login, which would end up in records and logs. "
            "Chroma's own server knows none: give http://host:port, and guard the server by its network."
        )
    try:
        is_whole = bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_whole = False
    if parts.scheme not in ("http", "https") or not is_whole or parts.path.strip("/") or parts.query:
        raise SettingsError(
            f"--store (IDEAGORA_STORE) is {place!r}: give a folder, or a Chroma server as http://host:port."
        )
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _first_line(error: ValidationError, flags: dict[str, Any]) -> str:
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else "settings"
    if first["type"] == "extra_forbidden":
        known = ", ".join(sorted(Settings.model_fields))
        return f"unknown setting {name!r} in {SETTINGS_FILE}; known settings: {known}."
    if name in flags:
        place = f"--{name.replace('_', '-')}"
    elif f"IDEAGORA_{name.upper()}" in os.environ:
        place = f"IDEAGORA_{name.upper()}"
    else:
        place = f"{name} in {SETTINGS_FILE}"
    return f"{place} is {first['input']!r}: {first['msg'].lower()}."
