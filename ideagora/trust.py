"""Trust in the ``ideagora.toml`` of the working directory.

The directory may come from somebody else. A file whose settings send keys or texts elsewhere, or load code,
must be trusted once (``ideagora trust``). Trust is stored in the home folder by path and content hash.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ideagora.errors import FolderUnusable, SettingsError

SETTINGS_FILE = "ideagora.toml"
TRUSTED_FILE = "trusted.json"
NEED_TRUST: Mapping[str, frozenset[str]] = {
    "agent_env": frozenset(),
    "api_base": frozenset(),
    "arxiv_url": frozenset(),
    "embedder": frozenset({"hash", "all-MiniLM-L6-v2"}),
    "home": frozenset(),
    "openalex_url": frozenset(),
    "semantic_scholar_url": frozenset(),
    "source": frozenset({"starter", "local", "semantic-scholar", "openalex", "arxiv"}),
    "store": frozenset(),
}
"""Settings that can send keys or texts elsewhere or load code, with their harmless values."""
_announced: set[str] = set()


def default_home() -> Path:
    """The default home folder."""
    return Path.home() / ".ideagora"


def user_home(flag: Path | str | None) -> Path:
    """The home folder from flag or environment: a settings file must not choose where trust is stored."""
    return Path(flag or os.environ.get("IDEAGORA_HOME") or default_home()).expanduser()


def settings_needing_trust(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a file that need trust."""
    return {name: value for name, value in values.items() if not _is_harmless(name, value)}


def _is_harmless(name: str, value: Any) -> bool:
    if name not in NEED_TRUST:
        return True
    return all(part.strip() in NEED_TRUST[name] for part in str(value).split(","))


def read_settings_file(path: Path) -> tuple[dict[str, Any], str]:
    """The settings of a file and the hash of its content; empty if it does not exist.

    Raises:
        SettingsError: the file cannot be read, or is not valid TOML.
    """
    try:
        content = path.read_bytes()
        return tomllib.loads(content.decode("utf-8")), hashlib.sha256(content).hexdigest()
    except FileNotFoundError:
        return {}, ""
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{SETTINGS_FILE} cannot be read: {error}. Fix or remove it.") from None


def check_trust(given: Collection[str], home: Path) -> None:
    """Check that the working directory's file is trusted, and print its settings on stderr.

    Args:
        given: names of the settings set by flags, which override the file.
        home: where trust is stored.

    Raises:
        SettingsError: the file needs trust that it does not have, or cannot be read.
    """
    path = Path(SETTINGS_FILE).resolve()
    values, content = read_settings_file(path)
    overridden = {name for name in values if name in given or f"IDEAGORA_{name.upper()}" in os.environ}
    applied = {name: value for name, value in values.items() if name not in overridden}
    needed = settings_needing_trust(applied)
    if needed and _trusted(home).get(str(path)) != content:
        raise SettingsError(
            f"{path} sets {format_settings(needed)}, which can send keys and texts elsewhere or load code. "
            "If the file is yours, run ideagora trust once; otherwise use another directory."
        )
    if applied and content not in _announced:
        _announced.add(content)
        sys.stderr.write(f"Settings from {path}: {format_settings(applied)}.\n")


def format_settings(values: Mapping[str, Any]) -> str:
    """Format settings on one line, without control characters and logins in URLs."""
    parts = (f"{name} = {json.dumps(value, default=str)[:120]}" for name, value in sorted(values.items()))
    return re.sub(r"//[^/@\s]*@", "//***@", ", ".join(parts))


def trust(path: Path, content: str, home: Path) -> None:
    """Trust a file with this content.

    Raises:
        FolderUnusable: the home folder cannot be written.
    """
    known = {**_trusted(home), str(path): content}
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = home / f".{TRUSTED_FILE}.{os.getpid()}"
        draft.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        draft.chmod(0o600)
        draft.replace(home / TRUSTED_FILE)
    except OSError as error:
        raise FolderUnusable(
            f"{home / TRUSTED_FILE} cannot be written: {error.strerror}. "
            "Set IDEAGORA_HOME to a folder of yours."
        ) from None


def _trusted(home: Path) -> dict[str, str]:
    try:
        known = json.loads((home / TRUSTED_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}
