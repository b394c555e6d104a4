"""Whether judges rate longer ideas higher (arXiv 2412.17596 plots length against quality)."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

import numpy as np

from ideagora.benchmarks.results.records import IdeaLength, Lengths
from ideagora.evaluators.statistics.agreement.coefficients import spearman
from ideagora.schema import Verdict

MOST_IDEAS = 2_000
"""Ideas that are recorded one by one."""


def idea_lengths(verdicts: Iterable[Verdict]) -> Lengths | None:
    """Lengths and mean ratings of the ideas; ``None`` unless verdicts on single ideas state their words."""
    ratings: dict[tuple[str, str, str, int], list[float]] = {}
    words: dict[tuple[str, str, str, int], int] = {}
    for one in verdicts:
        if len(one.words) == 1 and one.criteria:
            key = (one.sample or "", one.agents[0], one.subject[0], one.epoch)
            ratings.setdefault(key, []).append(fmean(one.criteria.values()))
            words[key] = one.words[0]
    if not ratings:
        return None
    keys = sorted(ratings)
    samples = np.unique([sample for sample, *_ in keys], return_inverse=True)[1]
    means = [fmean(ratings[key]) for key in keys]
    counts = np.array([words[key] for key in keys], dtype=np.float64)
    figure = spearman(counts, np.array(means), samples)
    chosen = np.linspace(0, len(keys) - 1, min(len(keys), MOST_IDEAS)).round().astype(int)
    return Lengths(
        n=len(keys),
        correlation=figure.value,
        low=figure.low,
        high=figure.high,
        reason=figure.reason,
        ideas=tuple(
            IdeaLength(agent=keys[place][1], words=words[keys[place]], rating=means[place])
            for place in chosen
        ),
    )
