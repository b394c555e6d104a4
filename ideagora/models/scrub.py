"""Take keys out of text before it reaches a message, a log or a file."""

from __future__ import annotations

import os
import re

_SECRET_NAME = re.compile(r"_(KEY|TOKEN|SECRET|PASSWORD)$", re.I)
_SECRET_SHAPE = re.compile(
    r"\b(?:sk|gsk|xai|pplx|hf)[-_](?P<body>[A-Za-z0-9_*-]{16,}+)"
    r"|\bAIza[\w-]{30,}|(?<=Bearer )[^\s\"',]{6,}"
)
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")
_SHORTEST = 6
REMOVED = "[key removed]"


def without_keys(text: str) -> str:
    """The text without the values of the environment's key variables (a server may echo them)."""
    for secret in _secrets():
        text = text.replace(secret, REMOVED)
    return text


def one_line(text: str, longest: int = 300) -> str:
    """Text for a message: no keys, nothing that looks like one, no logins in addresses, one line."""
    line = _CREDENTIALS.sub("", _SECRET_SHAPE.sub(_removed, without_keys(text)))
    line = " ".join(line.split()).rstrip(".")
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _removed(found: re.Match[str]) -> str:
    """What takes a key's place; a word without a figure in it is none."""
    body = found["body"]
    return REMOVED if body is None or any(character.isdigit() for character in body) else found[0]


def _secrets() -> list[str]:
    values = {value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    return sorted((value for value in values if len(value) >= _SHORTEST), key=len, reverse=True)
