"""Whether the ``ideagora.toml`` of the working directory is obeyed.

The directory may come from somebody else. Settings that send keys or texts elsewhere, or that load code,
need a yes once (``ideagora trust``), which is remembered in the home by path and content.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tomllib
from collections.abc import Mapping
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
"""Settings that can send keys or texts elsewhere or load code, each with its values that cannot."""
_announced: set[str] = set()


def default_home() -> Path:
    """The home where nothing else is said."""
    return Path.home() / ".ideagora"


def user_home(flag: Path | str | None) -> Path:
    """The home by flag and environment alone: no file of a working directory may say where trust is kept."""
    return Path(flag or os.environ.get("IDEAGORA_HOME") or default_home()).expanduser()


def settings_needing_trust(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a file that need a yes."""
    return {name: value for name, value in values.items() if not _is_harmless(name, value)}


def _is_harmless(name: str, value: Any) -> bool:
    if name not in NEED_TRUST:
        return True
    return all(part.strip() in NEED_TRUST[name] for part in str(value).split(","))


def read_settings_file(path: Path) -> tuple[dict[str, Any], str]:
    """The settings of a file, and the hash of its content; no settings where there is no such file.

    Raises:
        SettingsError: it cannot be read, or is no TOML.
    """
    try:
        content = path.read_bytes()
        return tomllib.loads(content.decode("utf-8")), hashlib.sha256(content).hexdigest()
    except FileNotFoundError:
        return {}, ""
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{SETTINGS_FILE} cannot be read: {error}. Mend or remove it.") from None


def check_trust(given: Mapping[str, Any], home: Path) -> None:
    """Announce on stderr what the working directory's file changes.

    Args:
        given: settings that flags say, and so the file does not.
        home: where trust is kept.

    Raises:
        SettingsError: it needs a yes that was not given, or cannot be read.
    """
    path = Path(SETTINGS_FILE).resolve()
    values, content = read_settings_file(path)
    others = {name for name in values if name in given or f"IDEAGORA_{name.upper()}" in os.environ}
    obeyed = {name: value for name, value in values.items() if name not in others}
    needed = settings_needing_trust(obeyed)
    if needed and _trusted(home).get(str(path)) != content:
        raise SettingsError(
            f"{path} sets {format_settings(needed)}, which can send keys and texts elsewhere or load code. "
            "If the file is yours, run ideagora trust once; else run this in another directory."
        )
    if obeyed and content not in _announced:
        _announced.add(content)
        sys.stderr.write(f"Settings from {path}: {format_settings(obeyed)}.\n")


def format_settings(values: Mapping[str, Any]) -> str:
    """Settings on one line, without control characters, and without a login in a URL."""
    told = (f"{name} = {json.dumps(value, default=str)[:120]}" for name, value in sorted(values.items()))
    return re.sub(r"//[^/@\s]*@", "//***@", ", ".join(told))


def trust(path: Path, content: str, home: Path) -> None:
    """Remember that a file with this content is obeyed.

    Raises:
        FolderUnusable: the home cannot be written.
    """
    known = {**_trusted(home), str(path): content}
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside = home / f".{TRUSTED_FILE}.{os.getpid()}"
        beside.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        beside.chmod(0o600)
        beside.replace(home / TRUSTED_FILE)
    except OSError as error:
        raise FolderUnusable(
            f"{home / TRUSTED_FILE} cannot be written: {error.strerror}. Set IDEAGORA_HOME to a folder "
            "of yours."
        ) from None


def _trusted(home: Path) -> dict[str, str]:
    try:
        known = json.loads((home / TRUSTED_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}
