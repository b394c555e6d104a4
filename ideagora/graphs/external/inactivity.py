"""How long an agent from outside may go without a sign of life."""

from __future__ import annotations

import time


class InactivityTimeout:
    """Counts the seconds since the last sign of life; while a call of the agent is out, none pass."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._calls_out = 0
        self._last = time.monotonic()

    def sign_of_life(self) -> None:
        """The agent has done something that can be seen."""
        self._last = time.monotonic()

    def call_begins(self) -> None:
        """The agent waits for us, which is none of its own time."""
        self._calls_out += 1

    def call_ends(self) -> None:
        """The agent has its answer."""
        self._calls_out -= 1
        self.sign_of_life()

    @property
    def left(self) -> float:
        """Seconds until patience is lost; 0.0: it is."""
        if self._calls_out:
            return self.limit
        return max(0.0, self.limit - (time.monotonic() - self._last))
