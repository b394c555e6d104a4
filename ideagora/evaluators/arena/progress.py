"""Live standing of a tournament by points; ratings are computed at the end."""

from __future__ import annotations

from collections import Counter

from ideagora.evaluators.arena.comparisons import overall_outcome
from ideagora.evaluators.arena.entries.lineup import Lineup
from ideagora.evaluators.statistics.comparisons import FIRST
from ideagora.schema import Verdict
from ideagora.schema.events import Listener


class LiveStanding:
    """Sends an event for every verdict, with each contestant's share of points so far."""

    def __init__(self, lineup: Lineup, listener: Listener) -> None:
        self._listener = listener
        self._points: dict[str, float] = dict.fromkeys(lineup.names, 0.0)
        self._counts: Counter[str] = Counter()

    def add(self, verdict: Verdict) -> None:
        """Count a verdict on ideas (1 point for a win, half a point for a tie) and send the event."""
        if verdict.criteria is not None and verdict.kind == "idea" and not verdict.is_repeat:
            first, second = verdict.agents
            outcome = overall_outcome(verdict.criteria.values(), verdict.has_shares)
            self._points[first] += outcome
            self._points[second] += FIRST - outcome
            self._counts.update((first, second))
        self._listener(
            {
                "event": "verdict",
                "judge": verdict.judge,
                "status": verdict.status,
                "reason": verdict.reason,
                "kind": verdict.kind,
                "standing": self.standing,
            }
        )

    @property
    def standing(self) -> list[tuple[str, float, int]]:
        """(name, share of points, verdicts) of contestants with verdicts, best first."""
        shares = [(name, self._points[name] / count, count) for name, count in self._counts.items() if count]
        return sorted(shares, key=lambda one: (-one[1], one[0]))
