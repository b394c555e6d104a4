"""Repeat the requests that made a run fail, without changing the answers of other runs.

Stored answers are never replaced. When a run that failed because of an unreadable answer is started
again, it requests another sample: ``Request.retry`` increases, which is part of the key from 1 on. The
events of the folder record these requests, so the same folder finds the new answers again, also under
``--replay``, and other runs keep the old ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

UNREADABLE = "unreadable"
"""Name of the event of a call without a readable reply; has the ``key`` of its first request."""
RETRIED = "asked anew"
"""Name of the event of a failed run that starts again; has the ``keys`` that it repeats."""


def retry_counts(events: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """How many times each call was repeated, by the key of its first request."""
    repeated = (event.get("keys") for event in events if event.get("event") == RETRIED)
    return Counter(str(key) for keys in repeated if isinstance(keys, list) for key in keys)


def keys_to_retry(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Keys of the calls that had no readable reply and were not repeated since."""
    keys: dict[str, None] = {}
    for event in events:
        if event.get("event") == RETRIED:
            keys.clear()
        elif event.get("event") == UNREADABLE:
            keys[str(event.get("key"))] = None
    return list(keys)
