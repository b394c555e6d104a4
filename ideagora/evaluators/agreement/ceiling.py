"""How far people agree with each other, which a judge cannot be expected to exceed, and judges with people.

Two reviews (or votes) of an item by different people are a pair, so any number of reviews will do. Halves:
the reviews of each item are split at random, and the halves' means correlated; the formula of Spearman and
Brown (1910) steps this up to the reliability of the mean of all reviews.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations, product
from typing import TYPE_CHECKING

import numpy as np

from ideagora.evaluators.agreement.raters import Item, Rater, clusters_of
from ideagora.evaluators.statistics.agreement.coefficients import pearson, percent, spearman, without_ties
from ideagora.evaluators.statistics.figures import Chosen, Figure, jackknife, missing_figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPLITS = 100
"""Random splits of the reviews into halves."""
Figures = dict[str, Figure]


def agreement_with_people(people: Sequence[Rater], judges: Sequence[Rater]) -> dict[str, Figures]:
    """By criterion: people with each other, the halves of people, and each judge with single people.

    Empty for criteria that no item has two people on. ``n`` counts items.
    """
    criteria = dict.fromkeys(name for person in people for name in person.values)
    found = {name: _on(name, people, judges) for name in criteria}
    return {name: figures for name, figures in found.items() if figures}


def _on(criterion: str, people: Sequence[Rater], judges: Sequence[Rater]) -> Figures:
    reviews = _by_item(people, criterion)
    several = {item: values for item, values in reviews.items() if len(values) > 1}
    if not several:
        return {}
    labels = people[0].kind == "verdicts"
    among = [(item, *pair) for item, values in several.items() for pair in permutations(values, 2)]
    figures = _of_pairs("people with people", among, labels)
    figures |= _halves(several)
    for judge in judges:
        own = _by_item([judge], criterion)
        pairs = [
            (item, *pair) for item, values in reviews.items() for pair in product(own.get(item, ()), values)
        ]
        if pairs:
            figures |= _of_pairs(f"{judge.name} with people", pairs, labels)
    return figures


def _by_item(raters: Sequence[Rater], criterion: str) -> dict[Item, list[float]]:
    found: dict[Item, list[float]] = {}
    for rater in raters:
        for item, value in rater.values.get(criterion, {}).items():
            found.setdefault(item, []).append(value)
    return dict(sorted(found.items(), key=lambda entry: entry[0].sort_key()))


def _of_pairs(name: str, pairs: Sequence[tuple[Item, float, float]], labels: bool) -> Figures:
    items = [item for item, _, _ in pairs]
    first, second = np.array([values for _, *values in pairs], dtype=np.float64).T
    clusters = _clusters(items)
    found = {"pearson": pearson(first, second, clusters), "spearman": spearman(first, second, clusters)}
    if labels:
        sides = without_ties(first, second)
        found = {
            "percent": percent(first, second, clusters),
            "percent without ties": percent(*sides, clusters),
        }
    return {f"{name}, {figure}": replace(one, n=len(set(items))) for figure, one in found.items()}


def _clusters(items: Sequence[Item]) -> NDArray[np.int64]:
    """The topic of each item, or else the item itself: pairs on one item are not independent."""
    topics = clusters_of(items)
    if topics is not None:
        return topics
    place = {item: number for number, item in enumerate(dict.fromkeys(items))}
    return np.array([place[item] for item in items], dtype=np.int64)


def _halves(reviews: dict[Item, list[float]]) -> Figures:
    """The correlation of halves of the reviews, and the reliability of the mean of all."""
    items = list(reviews)
    if len(items) < 3:
        few = missing_figure("Fewer than three items have two reviews.", len(items))
        return {"halves of people, pearson": few, "mean of people, reliability": few}
    halves = _split(list(reviews.values()))

    def correlation(chosen: Chosen) -> float | None:
        one, other = halves[:, chosen]
        if len(one) < 3:
            return None
        one, other = one - one.mean(axis=0), other - other.mean(axis=0)
        spread = np.sqrt((one**2).sum(axis=0) * (other**2).sum(axis=0))
        if not (spread > 1e-12).all():
            return None
        return float(((one * other).sum(axis=0) / spread).mean())

    undefined = "In some split one half gives all items the same value."
    half = jackknife(correlation, _clusters(items), "correlation", undefined)
    low, high = _stepped_up(half.low), _stepped_up(half.high)
    whole = replace(half, value=_stepped_up(half.value), low=low, high=high)
    return {"halves of people, pearson": half, "mean of people, reliability": whole}


def _split(reviews: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Means of random halves, (2, items, splits); of an odd number, either half may be the larger."""
    generator = np.random.default_rng(0)
    halves = np.empty((2, len(reviews), SPLITS))
    for place, values in enumerate(reviews):
        for split in range(SPLITS):
            shuffled = generator.permutation(values)
            middle = (len(values) + int(generator.integers(2))) // 2
            halves[:, place, split] = shuffled[:middle].mean(), shuffled[middle:].mean()
    return halves


def _stepped_up(value: float | None) -> float | None:
    return None if value is None or value <= -1 else 2 * value / (1 + value)
