"""The clock of requests and caches."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from ideagora.models.transport.retry import Sleep


@dataclass(frozen=True)
class Clock:
    """Source of times and waits; replaced in tests."""

    monotonic: Callable[[], float] = time.monotonic
    """Seconds of a monotonic clock."""
    sleep: Sleep = asyncio.sleep
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


SYSTEM_CLOCK = Clock()
