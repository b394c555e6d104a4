"""Counts and values in words."""

from __future__ import annotations

import json
from typing import Any


def count_in_words(count: int, singular: str, plural: str) -> str:
    """Return the form that fits the count, with the count in it."""
    return f"{(singular if count == 1 else plural).format(f'{count:,}')}."


def format_value(value: Any) -> str:
    """Format a setting's value. Folders are not named, since they differ between machines."""
    if value is None:
        return "not set"
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return "a local folder" if text.startswith("…/") else text
