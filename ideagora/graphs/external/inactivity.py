"""Limit how long an external agent may be inactive."""

from __future__ import annotations

import time


class InactivityTimeout:
    """Counts the seconds since the last activity; the clock stops while a call of the agent is pending."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._pending = 0
        self._last = time.monotonic()

    def reset(self) -> None:
        """Note activity of the agent."""
        self._last = time.monotonic()

    def call_begins(self) -> None:
        """Stop the clock: the agent waits for an answer."""
        self._pending += 1

    def call_ends(self) -> None:
        """Restart the clock."""
        self._pending -= 1
        self.reset()

    @property
    def remaining(self) -> float:
        """Seconds until the timeout; 0.0 when it is reached."""
        if self._pending:
            return self.limit
        return max(0.0, self.limit - (time.monotonic() - self._last))
