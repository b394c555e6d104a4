"""Intervals and tests of benchmark results on simulated scores.

Coverage of 95 % intervals of means (t alone is the baseline), type I error of the paired test at 5 % and
coverage of its interval between agents that are equal on average, error of Holm's correction in families of
pairs, and power at the stated detectable difference. Samples have a difficulty that agents share.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ideagora.evaluators.statistics.scores.paired_tests import detectable_difference, holm, paired_test
from ideagora.evaluators.statistics.scores.sample_means import mean_over_samples

Scores = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Scores]
RUNS = 4000
FAMILIES = 1000
SIZES = (2, 3, 5, 10, 24, 50)
PAIRED_SIZES = (6, 9, 12, 13, 16, 24, 50)


def share(p: float) -> Draw:
    """Right or wrong."""
    return lambda generator, shape: (generator.random(shape) < p).astype(float)


def rating(*chances: float) -> Draw:
    """A grade from 1 to 5."""
    return lambda generator, shape: generator.choice(np.arange(1.0, 6.0), size=shape, p=chances)


def beta(a: float, b: float) -> Draw:
    """A number between 0 and 1."""
    return lambda generator, shape: generator.beta(a, b, shape)


MEANS: tuple[tuple[str, Draw, float, float | None, float | None], ...] = (
    # name, scores, true mean, bounds
    ("share of 0.5", share(0.5), 0.5, 0, 1),
    ("share of 0.8", share(0.8), 0.8, 0, 1),
    ("share of 0.9", share(0.9), 0.9, 0, 1),
    ("share of 0.97", share(0.97), 0.97, 0, 1),
    ("1 to 5, centred", rating(0.05, 0.2, 0.4, 0.25, 0.1), 3.15, 1, 5),
    ("1 to 5, mostly 1", rating(0.7, 0.2, 0.06, 0.03, 0.01), 1.45, 1, 5),
    ("1 to 5, nearly all 4", rating(0, 0, 0.1, 0.85, 0.05), 3.95, 1, 5),
    ("0 to 1, even", beta(2, 2), 0.5, 0, 1),
    ("0 to 1, mostly near 0", beta(0.3, 3), 1 / 11, 0, 1),
    ("no bounds, normal", lambda generator, shape: generator.normal(size=shape), 0.0, None, None),
    ("no bounds, exponential", lambda generator, shape: generator.exponential(size=shape), 1.0, None, None),
)

Pair = Callable[[np.random.Generator, int, int, float], Scores]
"""(generator, agents, samples, shift of the first agent in standard deviations) -> (agents, samples)."""


def normal(generator: np.random.Generator, agents: int, samples: int, shift: float) -> Scores:
    """Unbounded scores."""
    scores = generator.normal(size=samples) + generator.normal(size=(agents, samples))
    scores[0] += shift
    return scores


def grades(generator: np.random.Generator, agents: int, samples: int, shift: float) -> Scores:
    """1 to 5."""
    return np.clip(np.round(3 + normal(generator, agents, samples, shift) * 0.6), 1, 5)


def answers(generator: np.random.Generator, agents: int, samples: int, shift: float) -> Scores:
    """0 or 1, mean 0.5."""
    return (normal(generator, agents, samples, shift) > 0).astype(float)


def easy(generator: np.random.Generator, agents: int, samples: int, shift: float) -> Scores:
    """0 or 1, mean about 0.86, so that few samples differ."""
    return (normal(generator, agents, samples, shift) > -1.5).astype(float)


def skewed(generator: np.random.Generator, agents: int, samples: int, shift: float) -> Scores:
    """The first agent's scores are exponential, those of the others normal, with the same mean."""
    scores = generator.normal(size=(agents, samples)) * 0.3
    scores[0] = generator.exponential(size=samples) - 1 + shift
    return scores


PAIRS: tuple[tuple[str, Pair], ...] = (
    ("no bounds, normal", normal),
    ("1 to 5", grades),
    ("0 or 1, share of 0.5", answers),
    ("0 or 1, share of 0.86", easy),
    ("one agent skewed", skewed),
)


def main() -> None:
    """Print the tables, and one JSON line."""
    print(f"coverage of means{'':15}" + "".join(f"{f'n = {n}':>16}" for n in SIZES) + "  (t alone)")
    means = {}
    for name, draw, mean, low, high in MEANS:
        means[name] = [coverage(draw, mean, low, high, n) for n in SIZES]
        print(f"{name:32}" + "".join(f"{ours:9.1%}{f'({t:.0%})':>7}" for ours, t in means[name]), flush=True)
    print(f"\n{'equal agents: p ≤ 0.05, coverage':32}" + "".join(f"{f'n = {n}':>16}" for n in PAIRED_SIZES))
    pairs = {}
    for name, pair in PAIRS:
        pairs[name] = [errors(pair, n) for n in PAIRED_SIZES]
        print(f"{name:32}" + "".join(f"{p:8.1%}{inside:8.1%}" for p, inside in pairs[name]), flush=True)
    print("\n6 equal agents, 15 pairs: any difference significant after Holm's correction")
    families = {}
    for name, pair in PAIRS[:4]:
        families[name] = [family_error(pair, n) for n in (12, 24, 50)]
        print(f"{name:32}" + "".join(f"{error:16.1%}" for error in families[name]), flush=True)
    print("\npower at the detectable difference: one pair, 5 %; normal scores")
    power = {n: power_of(n) for n in (6, 7, 8, 10, 12, 13, 24, 50)}
    print("".join(f"{f'n = {n}: ':>10}{share:.1%}" for n, share in power.items()))
    print(
        json.dumps(
            {"benchmark": "benchmark_coverage", "means": means, "pairs": pairs, "families": families,
             "power": power}
        )
    )  # fmt: skip


def coverage(draw: Draw, mean: float, low: float | None, high: float | None, n: int) -> tuple[float, float]:
    """Share of intervals that contain the mean, ours and those of t alone; no interval counts as a miss."""
    generator = np.random.default_rng(7)
    scores = draw(generator, (RUNS, n))
    return tuple(  # type: ignore[return-value]
        float(
            np.mean(
                [
                    found.low is not None
                    and found.high is not None
                    and found.low - 1e-9 <= mean <= found.high + 1e-9
                    for found in (mean_over_samples(row, *bounds) for row in scores)
                ]
            )
        )
        for bounds in ((low, high), (None, None))
    )


def errors(pair: Pair, n: int) -> tuple[float, float]:
    """Share of p-values up to 0.05 between equal agents, and of the intervals that contain 0."""
    generator = np.random.default_rng(7)
    tests = [
        paired_test(first - second) for first, second in (pair(generator, 2, n, 0.0) for _ in range(RUNS))
    ]
    inside = [one.low <= 0 <= one.high for one in tests if one.low is not None and one.high is not None]
    return float(np.mean([one.p is not None and one.p <= 0.05 for one in tests])), float(np.mean(inside))


def family_error(pair: Pair, n: int, agents: int = 6) -> float:
    """Share of families of equal agents in which any pair is significant after the correction."""
    generator = np.random.default_rng(7)
    wrong = 0
    for _ in range(FAMILIES):
        scores = pair(generator, agents, n, 0.0)
        tests = [paired_test(scores[one] - scores[other]) for one, other in combinations(range(agents), 2)]
        wrong += any(p is not None and p < 0.05 for p in holm([test.p for test in tests]))
    return wrong / FAMILIES


def power_of(n: int) -> float:
    """Share of significant tests if the true difference is the detectable one for the true deviation."""
    generator = np.random.default_rng(7)
    shift = detectable_difference(2**0.5, n)
    assert shift is not None
    tests = [
        paired_test(first - second) for first, second in (normal(generator, 2, n, shift) for _ in range(RUNS))
    ]
    return float(np.mean([test.p is not None and test.p <= 0.05 for test in tests]))


if __name__ == "__main__":
    main()
