"""The budget in US dollars, and cost estimates."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

from ideagora.config import Group, Settings
from ideagora.errors import BudgetExhausted
from ideagora.models.request import Request
from ideagora.models.transport.providers import FREE, ModelTraits, Price, model_price
from ideagora.models.usage import UsageTracker

TYPICAL_PROMPT_TOKENS = 3_000
TYPICAL_COMPLETION_TOKENS = 800
"""Tokens of a typical call, for cost estimates."""
REASONING_FACTOR = 4
"""A reasoning model gets this many times the tokens of an answer, for thinking and answer together."""
OVERHEAD_TOKENS = 64
"""Tokens that a provider may add for each message and for the schema."""


class _Settled(NamedTuple):
    """US dollars of a run, and the part of it that is an upper bound."""

    spent: float
    estimated: float


class Budget:
    """A hard limit on the cost of a command, across all its run folders.

    Each request reserves the most it may cost before it is sent. So the providers' bill stays within the
    limit as long as they respect the completion limit of each request and count at most a token per byte.
    """

    def __init__(self, limit: float | None, price: Callable[[str], Price | None] | None = None) -> None:
        self.limit = limit
        self._price = price
        self._trackers: dict[str, UsageTracker] = {}
        self._settled: dict[str, _Settled] = {}
        self._settled_usd = 0.0
        self._reserved: dict[object, float] = {}
        self._freed = asyncio.Event()

    def include(self, name: str, tracker: UsageTracker) -> None:
        """Add a run's tracker; replaces an earlier one of the same name."""
        before = self._settled.pop(name, None)
        self._settled_usd -= before.spent if before else 0.0
        self._trackers[name] = tracker

    def settle(self, name: str) -> None:
        """Keep only the cost of a run that makes no calls for now; a command may have thousands of runs."""
        tracker = self._trackers.pop(name, None)
        if tracker is not None:
            spent = tracker.spent + self._unpriced(tracker)
            self._settled[name] = _Settled(spent, tracker.total.estimated_usd)
            self._settled_usd += spent

    @property
    def spent(self) -> float:
        """US dollars spent; unknown costs count at their upper bound."""
        active = sum(tracker.spent + self._unpriced(tracker) for tracker in self._trackers.values())
        return self._settled_usd + active

    @asynccontextmanager
    async def reserve(self, ceiling: float) -> AsyncIterator[None]:
        """Reserve the cost ceiling of a request while it is in flight.

        Waits while the rest of the budget is reserved for other requests, since they may turn out
        cheaper. It fails only when none is in flight, so no answer that will be billed is lost.

        Raises:
            BudgetExhausted: the remaining budget is too small.
        """
        if self.limit is None:
            yield
            return
        while self.spent + sum(self._reserved.values()) + ceiling > self.limit:
            if not self._reserved:
                raise self._exhausted(ceiling)
            self._freed.clear()
            await self._freed.wait()
        ticket = object()
        self._reserved[ticket] = ceiling
        try:
            yield
        finally:
            del self._reserved[ticket]
            self._freed.set()

    def _unpriced(self, tracker: UsageTracker) -> float:
        """Cost, at the price known now, of calls whose price was unknown when they were made."""
        if self.limit is None or self._price is None:
            return 0.0
        priced = ((self._price(model) or FREE, usage) for model, usage in tracker.unpriced.items())
        return sum(price.of(usage.prompt_tokens, usage.completion_tokens) for price, usage in priced)

    def _exhausted(self, ceiling: float) -> BudgetExhausted:
        assert self.limit is not None
        estimated = sum(tracker.total.estimated_usd for tracker in self._trackers.values())
        estimated += sum(settled.estimated for settled in self._settled.values())
        upper_bound = f", of which {dollars(estimated)} is an upper bound" if estimated else ""
        return BudgetExhausted(
            f"budget of {dollars(self.limit)} is spent ({dollars(self.spent)} so far{upper_bound}; the next "
            f"call may cost up to {dollars(ceiling)}). To continue, repeat the command with a higher "
            "--budget or a lower --completion-limit."
        )


def create_budget(settings: Settings, trackers: Mapping[str, UsageTracker]) -> Budget:
    """The budget of the settings, with these trackers in it."""
    budget = Budget(settings.budget, lambda model: model_price(model, settings))
    for name, tracker in trackers.items():
        budget.include(name, tracker)
    return budget


def completion_limit(wanted: int, settings: Settings, traits: ModelTraits) -> int:
    """Maximum tokens of an answer, thinking included.

    Args:
        wanted: the role's limit.
        settings: may override it for all roles.
        traits: whether the model reasons before it answers, and its own limit.
    """
    chosen = settings.completion_limit or wanted * (REASONING_FACTOR if traits.is_reasoning else 1)
    return chosen if traits.max_output_tokens is None else min(chosen, traits.max_output_tokens)


def max_prompt_tokens(request: Request) -> int:
    """An upper bound: a token per byte, plus what a provider adds between messages."""
    texts = [text for _, text in request.messages] + [request.schema]
    return sum(len(text.encode("utf-8", "surrogatepass")) + OVERHEAD_TOKENS for text in texts)


def dollars(amount: float) -> str:
    """Format an amount: two decimals, and below a dollar up to six significant ones."""
    digits = f"{amount:.6f}".rstrip("0")
    return f"${amount:.2f}" if amount >= 1 or len(digits) <= 4 else f"${digits}"


def expected_cost(calls: Mapping[Group, int], settings: Settings) -> float | None:
    """Estimated US dollars for a number of calls per role group; ``None``: a price is unknown.

    Raises:
        UnknownModel: no provider serves one of the models.
    """
    total = 0.0
    for group, number in calls.items():
        price = model_price(settings.model_of(group), settings)
        if price is None:
            return None
        total += number * price.of(TYPICAL_PROMPT_TOKENS, TYPICAL_COMPLETION_TOKENS)
    return round(total, 6)
