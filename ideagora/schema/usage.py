"""What calls to a provider cost."""

from __future__ import annotations

from ideagora.schema.base import Record


class Usage(Record):
    """Calls to a provider, with tokens, cost and time. ``cost_usd`` is ``None`` if a price is unknown."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    estimated_usd: float = 0.0
    """The part of ``cost_usd`` that no provider reported: an upper bound for those calls."""
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        unknown = self.cost_usd is None or other.cost_usd is None
        cost = None if unknown else round((self.cost_usd or 0.0) + (other.cost_usd or 0.0), 9)
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost_usd=cost,
            estimated_usd=round(self.estimated_usd + other.estimated_usd, 9),
            seconds=round(self.seconds + other.seconds, 3),
        )
