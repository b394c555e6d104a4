"""Comparisons as small tuples of integers, which keep the checkpoints of the graph small.

A row is a comparison with its result. The verdicts themselves are in the folder (``verdict_log.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ideagora.evaluators.statistics.comparisons import FIRST, SECOND, TIE, Comparisons
from ideagora.schedules.pairing import Entrants, Pairing

if TYPE_CHECKING:
    from ideagora.evaluators.arena.entries.lineup import Kind, Lineup

KINDS: tuple[Kind, ...] = ("idea", "experiment")

UNSCORED = -1
"""Code of an unscored comparison."""
_CODES = 240
"""Code of an outcome of 1. Means of up to five graded criteria are whole multiples of 1/240; shares from
probabilities are rounded, for the schedule only."""


class Comparison(NamedTuple):
    """Two entries before one judge in one order, as positions in the lineup and the list of judges."""

    kind: int
    cell: int
    """Topic and run (``Lineup.cells``), which is what schedules call a topic."""
    first: int
    second: int
    judge: int
    order: int = 0
    """0: the order drawn first; 1: swapped."""
    sample: int = 0
    """1: the same question once more, which shows how often the judge changes its verdict."""

    @property
    def pairing(self) -> Pairing:
        """The comparison as schedules know it."""
        return Pairing(self.cell, self.first, self.second, self.judge)

    @property
    def entry_kind(self) -> Kind:
        """The kind of entry that is judged."""
        return KINDS[self.kind]


Row = Sequence[int]
"""The fields of a comparison and its code."""
_CODE = len(Comparison._fields)


def to_row(comparison: Comparison, outcome: float | None) -> list[int]:
    """A comparison with its result."""
    return [*comparison, UNSCORED if outcome is None else round(_CODES * outcome)]


def from_row(row: Row) -> Comparison:
    """The comparison of a row, with or without its result."""
    return Comparison(*row[:_CODE])


def is_scored(row: Row) -> bool:
    """Whether the comparison has a result."""
    return row[_CODE] != UNSCORED


def repeat_count(comparisons: int, share: float) -> int:
    """Number of comparisons that are judged once more."""
    return ceil(round(share * comparisons, 9))


def overall_outcome(values: Iterable[float], are_shares: bool = False) -> float:
    """The outcome of all criteria: their majority, or the mean of shares."""
    return fmean(values) if are_shares else majority_outcome(values)


def majority_outcome(values: Iterable[float]) -> float:
    """The outcome of the majority of the criteria; a tie if both sides win equally many."""
    balance = sum(value - TIE for value in values)
    return FIRST if balance > 0 else SECOND if balance < 0 else TIE


def plan_comparisons(pairings: Iterable[Pairing], kind: int, asked: Iterable[Comparison]) -> list[Comparison]:
    """The comparisons of a new round; ``order`` is 1 where the swapped pairing was asked before."""
    known = {comparison.pairing for comparison in asked if comparison.kind == kind}
    comparisons = []
    for pairing in pairings:
        cell, first, second, judge = map(int, pairing)
        comparisons.append(Comparison(kind, cell, first, second, judge, int(pairing.swapped in known)))
        known.add(pairing)
    return comparisons


def schedule_entrants(lineup: Lineup, entered: Sequence[Sequence[bool]], judges: int) -> Entrants:
    """The entries as schedules need them."""
    shape = (lineup.cells, len(lineup.contestants))
    return Entrants(np.array(entered, dtype=bool).reshape(shape), judges)


def verdict_columns(
    rows: Iterable[Row], lineup: Lineup, judges: Sequence[str], words: Sequence[Sequence[int]]
) -> Comparisons:
    """The scored rows of one kind as columns, whose topics are cells; ``words`` is (cells, contestants)."""
    scored = np.array([row for row in rows if is_scored(row)], dtype=np.int64).reshape(-1, _CODE + 1)
    topic, first, second, judge = (scored[:, place] for place in (1, 2, 3, 4))
    counted = np.log(np.maximum(1, np.array(words, dtype=np.float64)).reshape(lineup.cells, -1))
    low, high = np.minimum(first, second), np.maximum(first, second)
    pairs = np.stack([topic, low, high, judge], axis=1)
    match = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1) if len(pairs) else topic
    return Comparisons(
        agents=lineup.names,
        topics=tuple(map(lineup.text, range(lineup.cells))),
        judges=tuple(judges),
        first=first,
        second=second,
        outcome=scored[:, _CODE] / _CODES,
        topic=topic,
        judge=judge,
        match=match.astype(np.int64),
        length=counted[topic, first] - counted[topic, second],
    )
