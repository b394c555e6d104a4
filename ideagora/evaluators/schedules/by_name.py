"""Schedules by the names that they have on the command line."""

from __future__ import annotations

from ideagora.errors import UsageError
from ideagora.evaluators.schedules.adaptive import Adaptive, Goal
from ideagora.evaluators.schedules.baselines import Balanced, RandomPairs
from ideagora.evaluators.schedules.pairing import Schedule
from ideagora.evaluators.schedules.round_robin import RoundRobin
from ideagora.evaluators.schedules.swiss import Swiss

SCHEDULES = ("round_robin", "swiss", "adaptive", "balanced", "random")


def schedule_by_name(
    name: str,
    *,
    seed: int = 0,
    budget: int | None = None,
    rounds: int | None = None,
    goal: Goal = "ranking",
    k: int = 3,
    confidence: float | None = 0.95,
) -> Schedule:
    """The schedule of that name; each takes what concerns it (``budget`` in verdicts) and no other setting.

    Raises UsageError for an unknown name and for settings that the schedule cannot use.
    """
    match name.replace("-", "_"):
        case "round_robin":
            return RoundRobin(seed)
        case "swiss":
            return Swiss(rounds, seed)
        case "adaptive":
            return Adaptive(goal, k, confidence, budget, seed)
        case "balanced":
            return Balanced(budget, seed)
        case "random":
            return RandomPairs(budget, seed)
    raise UsageError(f"there is no schedule {name!r}; take one of {', '.join(SCHEDULES)}")
