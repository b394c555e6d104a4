"""The hard stop in US dollars, and what a run is expected to cost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from ideagora.config import Group, Settings
from ideagora.errors import BudgetExhausted
from ideagora.models.providers import FREE, ModelTraits, Price, model_price
from ideagora.models.request import Request
from ideagora.models.usage import UsageTracker

USUAL_PROMPT = 3_000
USUAL_COMPLETION = 800
"""Tokens of a usual call, for what a run is expected to cost."""
THINKING = 4
"""How many times the tokens of an answer a reasoning model gets for answer and thinking."""
MARKS = 64
"""Tokens that a provider may add for each message and for the schema."""


class Budget:
    """Lets a request out only when what is spent and what is out leaves room for the most it may cost.

    One budget holds for a whole command: every run folder of the command has its meter in it. Requests are
    reserved at their ceiling, so the bill of the providers stays within the limit as long as they keep to
    the completion limit that each request carries and count no more than a token for each byte.
    """

    def __init__(self, limit: float | None, price: Callable[[str], Price | None] | None = None) -> None:
        self.limit = limit
        self._price = price
        self._meters: dict[str, UsageTracker] = {}
        self._out: dict[object, float] = {}
        self._freed = asyncio.Event()

    def include(self, name: str, tracker: UsageTracker) -> None:
        """Count what this meter counts; in place of an earlier meter of that name."""
        self._meters[name] = tracker

    @property
    def spent(self) -> float:
        """US dollars, what is not known for sure estimated upwards."""
        return sum(tracker.spent + self._unpriced(tracker) for tracker in self._meters.values())

    @asynccontextmanager
    async def reserved(self, ceiling: float) -> AsyncIterator[None]:
        """Hold room for a request while it is out.

        While others hold the room that is left, it waits: they may turn out cheaper. It never gives up
        before all of them are answered, so a spent budget cuts off no answer that will be billed.

        Raises:
            BudgetExhausted: what is spent already leaves no room.
        """
        if self.limit is None:
            yield
            return
        while self.spent + sum(self._out.values()) + ceiling > self.limit:
            if not self._out:
                raise self._exhausted(ceiling)
            self._freed.clear()
            await self._freed.wait()
        ticket = object()
        self._out[ticket] = ceiling
        try:
            yield
        finally:
            del self._out[ticket]
            self._freed.set()

    def _unpriced(self, tracker: UsageTracker) -> float:
        """What calls of a price that was not known cost by the price that is known now."""
        if self.limit is None or self._price is None:
            return 0.0
        found = ((self._price(model) or FREE, usage) for model, usage in tracker.unpriced.items())
        return sum(price.of(usage.prompt_tokens, usage.completion_tokens) for price, usage in found)

    def _exhausted(self, ceiling: float) -> BudgetExhausted:
        assert self.limit is not None
        estimated = sum(tracker.total.estimated_usd for tracker in self._meters.values())
        guessed = f", of which {dollars(estimated)} is estimated upwards" if estimated else ""
        return BudgetExhausted(
            f"budget of {dollars(self.limit)} is spent ({dollars(self.spent)} so far{guessed}; the next call "
            f"may cost up to {dollars(ceiling)}): the same command with a higher --budget, or with a lower "
            "--completion-limit, goes on."
        )


def create_budget(settings: Settings, meters: Mapping[str, UsageTracker]) -> Budget:
    """The budget of the settings, with these meters in it."""
    budget = Budget(settings.budget, lambda model: model_price(model, settings))
    for name, tracker in meters.items():
        budget.include(name, tracker)
    return budget


def completion_limit(wanted: int, settings: Settings, traits: ModelTraits) -> int:
    """Tokens that an answer may have at most, thinking included.

    Args:
        wanted: what the role allows.
        settings: may set another limit for all roles.
        traits: whether the model thinks before it answers, and how much it can say at all.
    """
    chosen = settings.completion_limit or wanted * (THINKING if traits.reasons else 1)
    return chosen if traits.longest is None else min(chosen, traits.longest)


def prompt_tokens_at_most(request: Request) -> int:
    """An upper bound: no tokenizer makes more tokens than bytes; some more for the marks between messages."""
    texts = [text for _, text in request.messages] + [request.schema]
    return sum(len(text.encode("utf-8", "surrogatepass")) + MARKS for text in texts)


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
        price = model_price(settings.model_of(group), settings)
        if price is None:
            return None
        total += number * price.of(USUAL_PROMPT, USUAL_COMPLETION)
    return round(total, 6)
