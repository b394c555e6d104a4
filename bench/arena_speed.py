"""A million verdicts on 20 agents: ratings (target: 1 s) and 1,000 bootstraps by topic (target: 30 s)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import numpy as np

from bench.tournaments import Judge, tournament
from ideagora.evaluators.statistics.agreement.audit import audit
from ideagora.evaluators.statistics.intervals.bradley_terry import bradley_terry_intervals, resample_ratings
from ideagora.evaluators.statistics.intervals.elo import elo_intervals
from ideagora.evaluators.statistics.intervals.ranks import draws
from ideagora.evaluators.statistics.ratings.bias_aware import bias_aware
from ideagora.evaluators.statistics.ratings.ratings import bradley_terry, elo

TOPICS = 2632
"""With 20 agents and both orders, a million verdicts."""


def main() -> None:
    """Print the seconds of each step, and one JSON line."""
    generator = np.random.default_rng(1)
    judges = (Judge(tie=0.3), Judge(tie=0.3))
    verdicts = tournament(generator, generator.normal(0.0, 0.5, 20), TOPICS, judges=judges)
    tenth = verdicts.rows(verdicts.topic < TOPICS // 10)
    print(f"{len(verdicts):,} verdicts on {len(verdicts.agents)} agents and {TOPICS:,} topics")
    steps: dict[str, Callable[[], object]] = {
        "ratings": lambda: bradley_terry(verdicts),
        "ratings with intervals": lambda: bradley_terry_intervals(verdicts),
        "1,000 draws by topic": lambda: draws(bradley_terry_intervals(verdicts)),
        "1,000 refits on resampled topics": lambda: resample_ratings(verdicts),
        "Elo": lambda: elo(verdicts),
        "bias-aware ratings": lambda: bias_aware(verdicts),
        "Elo with intervals, a tenth of it": lambda: elo_intervals(tenth),
        "audit, a tenth of it": lambda: audit(tenth),
    }
    figures = {}
    for name, step in steps.items():
        started = time.perf_counter()
        step()
        figures[name] = round(time.perf_counter() - started, 2)
        print(f"{name:36}{figures[name]:8.2f} s", flush=True)
    print(json.dumps({"benchmark": "arena_speed", **figures}))
