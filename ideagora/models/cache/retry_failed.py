"""Repeat the requests that made a run fail, without changing the answers of other runs.

Stored answers are never replaced. When a run that failed because of an unreadable answer is started
again, it requests another sample: ``Request.retry`` increases, which is part of the key from 1 on. The
events of the folder record these requests, so the same folder finds the new answers again, also under
``--replay``, and other runs keep the old ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ideagora.schema.events import Event


def retry_counts(events: Iterable[Event]) -> Counter[str]:
    """How many times each call was repeated, by the key of its first request."""
    repeated: Iterator[object] = (event.get("keys") for event in events if event["event"] == "asked anew")
    return Counter(str(key) for keys in repeated if isinstance(keys, list) for key in keys)


def keys_to_retry(events: Iterable[Event]) -> list[str]:
    """Keys of the calls that had no readable reply and were not repeated since."""
    keys: dict[str, None] = {}
    for event in events:
        if event["event"] == "asked anew":
            keys.clear()
        elif event["event"] == "unreadable":
            keys[str(event.get("key"))] = None
    return list(keys)
