"""A bout is two ideas (or experiment plans) before one judge in one order; rows are bouts with results.

Rows are what the graph's state holds: six or seven small integers each, so that a checkpoint stays
small. The verdicts themselves are in the folder (``log.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ideagora.evaluators.schedules.pairing import Field, Pairing
from ideagora.evaluators.statistics.comparisons import FIRST, SECOND, TIE, Comparisons

if TYPE_CHECKING:
    from ideagora.evaluators.arena.lineup import Kind, Lineup

KINDS: tuple[Kind, ...] = ("idea", "experiment")

UNSCORED = -1
"""Code of a bout that was asked and has no values; the others are twice the outcome."""


class Comparison(NamedTuple):
    """Positions only; they mean what they mean in the lineup and in the list of judges."""

    kind: int
    topic: int
    first: int
    second: int
    judge: int
    order: int = 0
    """0: the order that was drawn first; 1: that one swapped."""

    @property
    def pairing(self) -> Pairing:
        """For schedules."""
        return Pairing(self.topic, self.first, self.second, self.judge)

    @property
    def entry_kind(self) -> Kind:
        """What is judged."""
        return KINDS[self.kind]


Row = Sequence[int]
"""A bout's fields and its code (``UNSCORED``, 0, 1, 2)."""


def to_row(comparison: Comparison, outcome: float | None) -> list[int]:
    """A bout with its result, as plain integers."""
    return [*comparison, UNSCORED if outcome is None else round(2 * outcome)]


def from_row(row: Row) -> Comparison:
    """The bout of a row, or of a list of a bout's fields."""
    return Comparison(*row[:6])


def majority_outcome(values: Iterable[float]) -> float:
    """One outcome out of the criteria's: whoever wins more of them; as many on both sides is a tie."""
    balance = sum(value - TIE for value in values)
    return FIRST if balance > 0 else SECOND if balance < 0 else TIE


def plan_comparisons(pairings: Iterable[Pairing], kind: int, asked: Iterable[Comparison]) -> list[Comparison]:
    """Bouts of a new round, each knowing whether the other order came before it."""
    known = {comparison.pairing for comparison in asked if comparison.kind == kind}
    comparisons = []
    for pairing in pairings:
        topic, first, second, judge = map(int, pairing)
        comparisons.append(Comparison(kind, topic, first, second, judge, int(pairing.swapped in known)))
        known.add(pairing)
    return comparisons


def schedule_field(lineup: Lineup, entered: Sequence[Sequence[bool]], judges: int) -> Field:
    """Who can meet whom, for schedules."""
    shape = (len(lineup.topics), len(lineup.contestants))
    return Field(np.array(entered, dtype=bool).reshape(shape), judges)


def verdict_columns(
    rows: Sequence[Row], lineup: Lineup, judges: Sequence[str], words: Sequence[Sequence[int]]
) -> Comparisons:
    """Scored rows of one kind as columns. ``words`` has the shape (topics, contestants)."""
    scored = np.array([row for row in rows if row[6] != UNSCORED], dtype=np.int64).reshape(-1, 7)
    topic, first, second, judge = (scored[:, place] for place in (1, 2, 3, 4))
    counted = np.log(np.maximum(1, np.array(words, dtype=np.float64)).reshape(len(lineup.topics), -1))
    low, high = np.minimum(first, second), np.maximum(first, second)
    couples = np.stack([topic, low, high, judge], axis=1)
    match = np.unique(couples, axis=0, return_inverse=True)[1].reshape(-1) if len(couples) else topic
    return Comparisons(
        agents=lineup.names,
        topics=lineup.texts,
        judges=tuple(judges),
        first=first,
        second=second,
        outcome=scored[:, 6] / 2.0,
        topic=topic,
        judge=judge,
        match=match.astype(np.int64),
        length=counted[topic, first] - counted[topic, second],
    )
