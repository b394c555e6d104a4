"""What an arena of this size can tell apart, before it is paid for.

The spread of a difference of two ratings over topics is unknown before there are verdicts. It is taken from
simulated arenas with the same topics, contestants, judges and schedule: strengths N(0, 0.5) in logits, each
idea N(its agent, ``idea_spread``), a logistic judge whose verdicts are signs with noise of their own. With
several runs, half of the ideas' variance is the same in all runs on a topic.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ideagora.errors import RatingError
from ideagora.evaluators.arena.comparisons import (
    Comparison,
    plan_comparisons,
    schedule_entrants,
    to_row,
    verdict_columns,
)
from ideagora.evaluators.arena.leaderboard.uncertainty import compute_intervals
from ideagora.evaluators.arena.protocol import schedule_of
from ideagora.evaluators.statistics.comparisons import FIRST, SECOND, Comparisons
from ideagora.evaluators.statistics.ratings.matches import settle_match
from ideagora.evaluators.statistics.ratings.separation import (
    CONFIDENCE,
    POWER,
    detectable_gap,
    further_topics,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ideagora.evaluators.arena.entries.lineup import Lineup
    from ideagora.evaluators.arena.options import ArenaOptions

AGENT_SPREAD = 0.5
"""Standard deviation of the agents' strengths, in logits."""
IDEA_SPREADS = (0.4, 0.8, 1.6)
"""Assumed standard deviations of ideas around their agent, in logits."""
DIFFERENCES = (50, 100, 200)
"""Differences in points for which the number of topics is given."""
_SIMULATED_TOPICS = 60
"""Topics over all simulated arenas, at least two arenas."""


@dataclass(frozen=True)
class Detectable:
    """The detectable differences if ideas vary by ``idea_spread`` logits around their agent."""

    idea_spread: float
    spread: float | None
    """Standard deviation of a difference of two ratings over topics, in points; ``None``: unknown."""
    difference: float | None
    """Points that these topics detect with a power of 80 %."""
    topics: dict[int, int | None]
    """Difference in points -> topics that detect it."""


@dataclass(frozen=True)
class ArenaPlan:
    """An arena before it is paid for."""

    contestants: tuple[str, ...]
    topics: int
    judges: tuple[str, ...]
    runs: int
    """Runs of each agent on each topic."""
    schedule: str
    verdicts: int
    """At most."""
    calls: tuple[tuple[str, int, float | None], ...]
    """Model, calls that are not known to be answered, and their cost in USD; ``None``: price unknown."""
    without_estimate: tuple[str, ...]
    """Agents whose own calls are not included."""
    detectable: tuple[Detectable, ...]

    def as_json(self) -> dict[str, Any]:
        """The plan with its assumptions."""
        calls = [dict(zip(("model", "calls", "cost_usd"), row, strict=True)) for row in self.calls]
        assumed = {"confidence": CONFIDENCE, "power": POWER, "agent_spread": AGENT_SPREAD}
        return {**asdict(self), "calls": calls, "assumed": assumed}


def detectable_differences(lineup: Lineup, options: ArenaOptions, seed: int) -> tuple[Detectable, ...]:
    """What ideas on these topics tell apart, by the assumed spread of ideas; no call is made."""
    return tuple(_detectable(lineup, options, idea_spread, seed) for idea_spread in IDEA_SPREADS)


def _detectable(lineup: Lineup, options: ArenaOptions, idea_spread: float, seed: int) -> Detectable:
    arenas = max(2, _SIMULATED_TOPICS // max(1, len(lineup.topics)))
    random = np.random.default_rng(seed)
    played = (_simulate(lineup, options, idea_spread, random, number) for number in range(arenas))
    variances = [variance for each in played if (variance := _variance(each, options)) is not None]
    if not variances:
        return Detectable(idea_spread, None, None, dict.fromkeys(DIFFERENCES))
    spread = float(np.sqrt(np.mean(variances)))
    gap = detectable_gap(len(lineup.topics), spread) if len(lineup.topics) > 1 else None
    topics = {points: further_topics(points, spread) for points in DIFFERENCES}
    return Detectable(idea_spread, spread, gap, topics)


def _simulate(
    lineup: Lineup, options: ArenaOptions, idea_spread: float, random: np.random.Generator, seed: int
) -> Comparisons:
    """The verdicts on ideas of one simulated arena."""
    entrants = schedule_entrants(lineup, lineup.entered("idea"), len(options.judges))
    strengths = random.normal(0.0, AGENT_SPREAD, entrants.agents)
    ideas = strengths + _idea_effects(lineup, idea_spread, random)
    schedule, words = schedule_of(options, seed), [[1] * entrants.agents for _ in range(lineup.cells)]
    asked: list[Comparison] = []
    rows: list[list[int]] = []
    while True:
        seen = verdict_columns(rows, lineup, options.judges, words)
        room = None if options.max_comparisons is None else options.max_comparisons - len(rows)
        drawn = schedule.next(entrants, seen, [one.pairing for one in asked])[:room]
        if not drawn:
            cell = seen.topic
            topic, run = cell // lineup.runs, cell % lineup.runs
            return replace(seen, topics=lineup.texts, topic=topic, run=run)
        new = plan_comparisons(drawn, 0, asked)
        asked += new
        rows += [to_row(one, _verdict(ideas[one.cell], one, random)) for one in new]


def _idea_effects(lineup: Lineup, spread: float, random: np.random.Generator) -> NDArray[np.float64]:
    """Ideas around their agents, (cells, contestants); a contestant with one run has the same idea in all."""
    agents, topics, runs = len(lineup.contestants), len(lineup.topics), lineup.runs
    if runs == 1:
        return random.normal(0.0, spread, (topics, agents))
    of_topic, of_run = (random.normal(0.0, spread * 0.5**0.5, (topics, n, agents)) for n in (1, runs))
    has_runs = np.array([len(one.runs) > 1 for one in lineup.contestants])
    return np.asarray(of_topic + np.where(has_runs, of_run, of_run[:, :1])).reshape(-1, agents)


def _verdict(ideas: NDArray[np.float64], comparison: Comparison, random: np.random.Generator) -> float:
    chance = 1 / (1 + np.exp(ideas[comparison.second] - ideas[comparison.first]))
    return FIRST if random.random() < chance else SECOND


def _variance(verdicts: Comparisons, options: ArenaOptions) -> float | None:
    """Mean variance over topics of the difference of two ratings, in points squared."""
    try:
        found = compute_intervals(verdicts if options.is_paper else settle_match(verdicts), options)
    except RatingError:
        return None
    if found.covariance is None:
        return None
    own = np.diag(found.covariance)
    of_pairs = own[:, None] + own - 2 * found.covariance
    return float(of_pairs[np.triu_indices(len(own), 1)].mean() * found.topics)
