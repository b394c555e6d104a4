"""Remove API keys from messages, logs, events and reports.

Model output is stored unchanged except for the values of key variables, which a server that echoes its
requests could return. So a value counts as a key only if it cannot be ordinary text: long, and not a word.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeVar, cast

T = TypeVar("T")

_SECRET_NAME = re.compile(r"_(KEY|TOKEN|SECRET|PASSWORD)$", re.I)
_SECRET_SHAPE = re.compile(
    r"\b(?:sk|gsk|xai|pplx|hf)[-_](?P<body>[A-Za-z0-9_*-]{16,}+)"
    r"|\bAIza[\w-]{30,}|(?<=Bearer )[^\s\"',]{6,}"
)
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]{1,500}@")
_SECRET_PARAMETER = re.compile(
    r"(?<=[?&])([\w-]{0,40}(?:tok|key|secret|pass|pwd|auth|sig|cred|session)[\w-]{0,40}=)[^&\s#\"']+", re.I
)
_MIN_LENGTH = 12
_MIN_LENGTH_WITHOUT_DIGITS = 24
REMOVED = "[key removed]"


def redact_keys(text: str) -> str:
    """Remove the values of key variables from a text, also in escaped form.

    Short values and plain words are not keys: removing them would change texts without a key.
    """
    for secret in _secrets():
        text = _pattern_of(secret).sub(REMOVED, text)
    return text


def redact_values(value: T) -> T:
    """Remove keys from a text, or from the texts in lists and mappings."""
    if isinstance(value, str):
        return cast("T", redact_keys(value))
    if isinstance(value, Mapping):
        return cast("T", {redact_values(name): redact_values(item) for name, item in value.items()})
    if isinstance(value, list | tuple):
        return cast("T", [redact_values(item) for item in value])
    return value


def one_line(text: str, max_length: int = 300) -> str:
    """Text for a message: one line, without keys, anything that looks like one, or logins in URLs."""
    line = _SECRET_SHAPE.sub(_replacement, redact_keys(text))
    line = _SECRET_PARAMETER.sub(rf"\g<1>{REMOVED}", _CREDENTIALS.sub("", line))
    line = " ".join(line.split()).rstrip(".")
    return line if len(line) <= max_length else f"{line[: max_length - 1]}…"


def _replacement(match: re.Match[str]) -> str:
    """The replacement for a match; without a digit it is not a key and stays."""
    body = match["body"]
    return REMOVED if body is None or any(character.isdigit() for character in body) else match[0]


def _secrets() -> list[str]:
    values = {value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    return sorted(filter(_is_key, values), key=len, reverse=True)


def _is_key(value: str) -> bool:
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return " " not in value and (
        len(value) >= _MIN_LENGTH_WITHOUT_DIGITS or (len(value) >= _MIN_LENGTH and mixed)
    )


@lru_cache(maxsize=64)
def _pattern_of(secret: str) -> re.Pattern[str]:
    """Matches a secret with each character literal, JSON-escaped, or as an HTML reference."""
    return re.compile("".join(_spellings(character) for character in secret))


def _spellings(character: str) -> str:
    code = ord(character)
    spellings = [
        re.escape(character),
        rf"\\{{1,4}}u(?i:{code:04x})",
        rf"&#{code};",
        rf"&#[xX]0*(?i:{code:x});",
    ]
    if character in '/"\\':
        spellings.append(rf"\\{{1,4}}{re.escape(character)}")
    spellings += {"&": ["&amp;"], "<": ["&lt;"], ">": ["&gt;"], '"': ["&quot;"]}.get(character, [])
    return f"(?:{'|'.join(spellings)})"
