"""Questions that a failed run asks anew, without touching the answers that other runs have.

Stored answers are never replaced. A run that failed because an answer could not be read, and that is
started again, asks another sample of the same question: the request gets the next number of its
``asking``, which is part of the key from 1 on. The folder's events say which questions those are, so the
same folder finds the new answers again, also under ``--replay``, and every other run keeps the old ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

UNREADABLE = "unreadable"
"""The event of a question to which no reply could be read, with the ``key`` of its first request."""
RETRIED = "asked anew"
"""The event of a run that begins again after it has failed, with the ``keys`` that it asks anew."""


def retry_counts(events: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """How many times each question was asked anew, by the key of its first request."""
    told = (event.get("keys") for event in events if event.get("event") == RETRIED)
    return Counter(str(key) for keys in told if isinstance(keys, list) for key in keys)


def keys_to_retry(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """The questions that had no readable answer and were not asked anew since."""
    keys: dict[str, None] = {}
    for event in events:
        if event.get("event") == RETRIED:
            keys.clear()
        elif event.get("event") == UNREADABLE:
            keys[str(event.get("key"))] = None
    return list(keys)
