"""Take keys out of what we write of our own accord: messages, logs, events, reports.

What a model said stays as it is, but for one thing: a key itself, which only a server that echoes its
requests can have put there. So only what can be nothing else counts as a key: long, and not a word.
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
_SHORTEST = 12
_LONG = 24
REMOVED = "[key removed]"


def redact_keys(text: str) -> str:
    """The text without the values of the environment's key variables, also where it writes them in escapes.

    A short value, or a plain word, is no key: taking it out would change texts that have no key in them.
    """
    for secret in _secrets():
        text = _written(secret).sub(REMOVED, text)
    return text


def redact_values(value: T) -> T:
    """Text, or texts in lists and mappings, without keys; the rest as it is."""
    if isinstance(value, str):
        return cast("T", redact_keys(value))
    if isinstance(value, Mapping):
        return cast("T", {redact_values(name): redact_values(one) for name, one in value.items()})
    if isinstance(value, list | tuple):
        return cast("T", [redact_values(one) for one in value])
    return value


def one_line(text: str, longest: int = 300) -> str:
    """Text for a message: no keys, nothing that looks like one, no logins in addresses, one line."""
    line = _SECRET_SHAPE.sub(_removed, redact_keys(text))
    line = _SECRET_PARAMETER.sub(rf"\g<1>{REMOVED}", _CREDENTIALS.sub("", line))
    line = " ".join(line.split()).rstrip(".")
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _removed(found: re.Match[str]) -> str:
    """What takes a key's place; a word without a figure in it is none."""
    body = found["body"]
    return REMOVED if body is None or any(character.isdigit() for character in body) else found[0]


def _secrets() -> list[str]:
    values = {value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    return sorted(filter(_is_key, values), key=len, reverse=True)


def _is_key(value: str) -> bool:
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return " " not in value and (len(value) >= _LONG or (len(value) >= _SHORTEST and mixed))


@lru_cache(maxsize=64)
def _written(secret: str) -> re.Pattern[str]:
    """The secret, each of its characters as it is, as an escape of JSON, or as an HTML reference."""
    return re.compile("".join(_ways(character) for character in secret))


def _ways(character: str) -> str:
    code = ord(character)
    ways = [re.escape(character), rf"\\{{1,4}}u(?i:{code:04x})", rf"&#{code};", rf"&#[xX]0*(?i:{code:x});"]
    if character in '/"\\':
        ways.append(rf"\\{{1,4}}{re.escape(character)}")
    ways += {"&": ["&amp;"], "<": ["&lt;"], ">": ["&gt;"], '"': ["&quot;"]}.get(character, [])
    return f"(?:{'|'.join(ways)})"
