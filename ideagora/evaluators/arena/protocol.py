"""The two protocols: their schedules, and verdicts as columns for the ratings.

The paper's protocol (section 4.4) counts every verdict. The default first combines the two orders of a pair
into one match: a judge whose answer changes with the order has no preference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log, nan

import numpy as np

from ideagora.evaluators.arena.comparisons import overall_outcome
from ideagora.evaluators.arena.options import ArenaOptions
from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.ratings.separation import CONFIDENCE
from ideagora.schedules.adaptive import Adaptive
from ideagora.schedules.balanced import Balanced
from ideagora.schedules.pairing import Schedule
from ideagora.schedules.round_robin import RoundRobin
from ideagora.schedules.swiss import Swiss
from ideagora.schema import Verdict

Values = Callable[[Verdict], float]
"""The outcome of a scored verdict: of one criterion, or overall."""


def schedule_of(options: ArenaOptions, seed: int) -> Schedule:
    """The schedule of these options."""
    if options.schedule == "swiss":
        return Swiss(seed=seed)
    if options.schedule == "balanced":
        return Balanced(budget=options.max_comparisons, seed=seed)
    if options.schedule == "adaptive":
        return Adaptive(
            goal="ranking" if options.top_k is None else "top_k",
            k=options.top_k or 1,
            confidence=options.confidence or CONFIDENCE,
            budget=options.max_comparisons,
            seed=seed,
        )
    return RoundRobin(seed=seed, randomised=not options.is_paper)


def by_criterion(name: str) -> Values:
    """The outcome of one criterion."""
    return lambda verdict: (verdict.criteria or {})[name]


def by_all(names: Sequence[str]) -> Values:
    """The outcome of these criteria: their majority, or the mean of shares."""
    return lambda verdict: overall_outcome(
        ((verdict.criteria or {})[name] for name in names), verdict.has_shares
    )


def comparisons(
    verdicts: Sequence[Verdict],
    topics: Sequence[str],
    judges: Sequence[str],
    agents: Sequence[str],
    value: Values,
    run_of: Mapping[str, int] | None = None,
) -> Comparisons:
    """Scored verdicts as columns, one row per verdict.

    Args:
        verdicts: verdicts of one kind; unscored ones are skipped.
        topics: names by position.
        judges: names by position.
        agents: names by position; verdicts on other agents are skipped.
        value: outcome of a verdict.
        run_of: idea id -> run, for ideas of contestants with several runs.
    """
    place = {name: number for number, name in enumerate(agents)}
    about = {text: number for number, text in enumerate(topics)}
    named = {name: number for number, name in enumerate(judges)}
    rows = [one for one in verdicts if one.criteria is not None and set(one.agents) <= place.keys()]
    matches: dict[tuple[str, ...], int] = {}
    keys = [(one.topic, one.judge, *sorted(one.subject)) for one in rows]
    numbers = [matches.setdefault(key, len(matches)) for key in keys]
    whole = [
        (place[one.agents[0]], place[one.agents[1]], about[one.topic], named[one.judge], number)
        for one, number in zip(rows, numbers, strict=True)
    ]
    table = np.array(whole, dtype=np.int64).reshape(-1, 5)
    return Comparisons(
        agents=tuple(agents),
        topics=tuple(topics),
        judges=tuple(judges),
        first=table[:, 0],
        second=table[:, 1],
        outcome=np.array([value(one) for one in rows], dtype=np.float64),
        topic=table[:, 2],
        judge=table[:, 3],
        match=table[:, 4],
        length=np.array([_log_ratio(one.words) for one in rows], dtype=np.float64),
        run=np.array([run_of_verdict(one, run_of) for one in rows], dtype=np.int64) if run_of else None,
    )


def run_of_verdict(verdict: Verdict, run_of: Mapping[str, int]) -> int:
    """The run in which two ideas met; 0 if both contestants have a single one."""
    return max(run_of.get(idea, 0) for idea in verdict.subject)


def _log_ratio(words: tuple[int, ...]) -> float:
    """nan if the words were not counted, as on ballots."""
    return log(max(1, words[0]) / max(1, words[1])) if len(words) == 2 else nan
