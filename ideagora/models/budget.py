"""The hard stop in US dollars, and what a run is expected to cost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from ideagora.config import Group, Settings
from ideagora.errors import BudgetExhausted
from ideagora.models.providers import price_of
from ideagora.models.usage import Meter

USUAL_PROMPT = 3_000
USUAL_COMPLETION = 800
"""Tokens of a call of which nothing else is known."""


class Budget:
    """Lets a call out only when what is spent and what is out leaves room for it."""

    def __init__(self, limit: float | None, meter: Meter) -> None:
        self.limit = limit
        self._meter = meter
        self._out: dict[object, float] = {}
        self._unreported = 0.0
        self._freed = asyncio.Event()

    @property
    def spent(self) -> float:
        """US dollars, with an estimate for answers whose usage the provider did not report."""
        return self._meter.spent + self._unreported

    @asynccontextmanager
    async def reserved(self, expected: float) -> AsyncIterator[None]:
        """Hold room for a call while it is out.

        While other calls hold the room that is left, it waits: they may turn out cheaper.

        Raises:
            BudgetExhausted: what is spent already leaves no room.
        """
        if self.limit is None:
            yield
            return
        self.check(expected)
        while self.spent + sum(self._out.values()) + expected > self.limit:
            self._freed.clear()
            await self._freed.wait()
            self.check(expected)
        ticket = object()
        self._out[ticket] = expected
        try:
            yield
        finally:
            del self._out[ticket]
            self._freed.set()

    def add_unreported(self, expected: float) -> None:
        """Count an answer whose usage was not reported by what it was expected to cost."""
        self._unreported += expected

    def check(self, expected: float) -> None:
        """Raise ``BudgetExhausted`` when what is spent leaves no room for a call."""
        if self.limit is not None and self.spent + expected > self.limit:
            raise BudgetExhausted(
                f"budget of {dollars(self.limit)} is spent ({dollars(self.spent)} so far, the next call may "
                f"cost {dollars(expected)}): the same command with a higher --budget goes on."
            )


def dollars(amount: float) -> str:
    """An amount for a message: cents, and below a dollar as many digits as say something."""
    digits = f"{amount:.6f}".rstrip("0")
    return f"${amount:.2f}" if amount >= 1 or len(digits) <= 4 else f"${digits}"


def expected_cost(calls: Mapping[Group, int], settings: Settings) -> float | None:
    """US dollars that so many calls per role group usually cost; ``None``: a price is not known.

    Raises:
        UnknownModel: no provider goes by a model's name.
    """
    total = 0.0
    for group, number in calls.items():
        price = price_of(settings.model_of(group), settings)
        if price is None:
            return None
        total += number * price.of(USUAL_PROMPT, USUAL_COMPLETION)
    return round(total, 6)
