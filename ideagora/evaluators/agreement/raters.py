"""Reads raters as values by item, so that any two of them can be compared.

A rater is a file: verdicts (of one judge or a whole run), a table of scores, or a leaderboard. Verdicts
become one value per match: 1 if the idea with the lower id is better, 0 if the other is, 0.5 if the two
orders disagree. Items without a rating are missing, never filled in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ideagora.errors import UsageError
from ideagora.evaluators.agreement.columns import IDEA_COLUMNS
from ideagora.evaluators.arena.comparisons import majority_outcome
from ideagora.evaluators.arena.leaderboard.records import Rows, leaderboard_from_json
from ideagora.evaluators.judging.verdict_files import read_verdicts
from ideagora.schema import Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind = Literal["verdicts", "scores", "ratings"]
ITEM_COLUMNS = (*IDEA_COLUMNS, "agent", "name")
OVERALL = "overall"


@dataclass(frozen=True)
class Item:
    """A rated item; ``topic`` is its cluster, if known."""

    name: tuple[str, ...]
    topic: str | None = None

    def sort_key(self) -> tuple[tuple[str, ...], str]:
        """By name, then by topic."""
        return self.name, self.topic or ""


@dataclass(frozen=True)
class Rater:
    """Values by criterion and item, with the verdicts that they come from, if any."""

    name: str
    kind: Kind
    values: Mapping[str, Mapping[Item, float]]
    verdicts: tuple[Verdict, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Number of unusable values, by reason."""


def read_rater(path: Path, rows: Sequence[Mapping[str, Any]]) -> Rater | None:
    """A rater from a run's folder, JSON lines of verdicts or a leaderboard; ``None`` for a table of scores.

    Raises:
        UsageError: it is a file of this kind that cannot be read.
    """
    if path.is_dir():
        return rater_of_verdicts(str(path), read_verdicts(path))
    if path.suffix == ".json":
        return _rater_of_leaderboard(str(path), path)
    if rows and "subject" in rows[0]:
        return rater_of_verdicts(str(path), read_verdicts(path))
    return None


def rater_of_verdicts(name: str, verdicts: Iterable[Verdict]) -> Rater:
    """One value per match and criterion; a match whose two orders disagree is a tie."""
    all_verdicts = tuple(verdict for verdict in verdicts if not verdict.is_repeat)
    outcomes: dict[str, dict[Item, list[float]]] = {}
    left_out: dict[str, int] = {}
    for verdict in all_verdicts:
        if verdict.criteria is None or len(verdict.subject) != 2:
            reason = "unscored" if verdict.criteria is None else "no pair"
            left_out[reason] = left_out.get(reason, 0) + 1
            continue
        pair = tuple(sorted(verdict.subject))
        item = Item((verdict.kind, *pair), verdict.topic)
        for criterion, value in with_overall(verdict.criteria).items():
            side = majority_outcome([value])  # without its degree
            outcome = side if verdict.subject[0] == pair[0] else 1.0 - side
            outcomes.setdefault(criterion, {}).setdefault(item, []).append(outcome)
    values = {
        criterion: {item: _combine_orders(found) for item, found in items.items()}
        for criterion, items in outcomes.items()
    }
    return Rater(name, "verdicts", values, all_verdicts, left_out)


def with_overall(criteria: Mapping[str, float]) -> dict[str, float]:
    """The criteria and, if there are several, the outcome of the majority."""
    more = {OVERALL: majority_outcome(criteria.values())} if len(criteria) > 1 else {}
    return {**criteria, **more}


def _combine_orders(outcomes: list[float]) -> float:
    return outcomes[0] if len(set(outcomes)) == 1 else 0.5


def with_items_of(rater: Rater, known: Iterable[Rater]) -> Rater:
    """The rater with the topics of other raters' items where it has none, or one that they do not know.

    People's tables need not name a benchmark's samples. An item stays as it is if its name is on several.
    """
    topics: dict[tuple[str, ...], set[str | None]] = {}
    for other in known:
        for items in other.values.values():
            for item in items:
                topics.setdefault(item.name, set()).add(item.topic)

    def placed(item: Item) -> Item:
        of_name = topics.get(item.name, set())
        return item if item.topic in of_name or len(of_name) != 1 else Item(item.name, *of_name)

    values = {
        criterion: {placed(item): value for item, value in items.items()}
        for criterion, items in rater.values.items()
    }
    return replace(rater, values=values)


def shared_items(one: Rater, other: Rater) -> dict[str, list[Item]]:
    """The items that both rated, by criterion, in a fixed order.

    Raises:
        UsageError: the raters are of different kinds, or have no item in common.
    """
    if one.kind != other.kind:
        raise UsageError(
            f"{one.name} has {one.kind} and {other.name} has {other.kind}: only raters of the same kind "
            "can be compared."
        )
    found = _common_items(one, other)
    if not found:
        raise UsageError(
            f"{one.name} and {other.name} have no item in common: {_describe(one)} against "
            f"{_describe(other)}. They must rate the same items by the same criteria."
        )
    return found


def share_items(one: Rater, other: Rater) -> bool:
    """Whether two raters of a kind have an item in common by some criterion."""
    return bool(_common_items(one, other))


def _common_items(one: Rater, other: Rater) -> dict[str, list[Item]]:
    found = {
        criterion: sorted(items.keys() & other.values.get(criterion, {}).keys(), key=Item.sort_key)
        for criterion, items in one.values.items()
    }
    return {criterion: items for criterion, items in found.items() if items}


def _describe(rater: Rater) -> str:
    items = {item for values in rater.values.values() for item in values}
    example = " and ".join(next(iter(sorted(item.name for item in items)), ("nothing",))[-2:])
    return f"{len(items)} items such as {example} by {', '.join(sorted(rater.values)) or 'no criterion'}"


def _rater_of_leaderboard(name: str, path: Path) -> Rater:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        tables = {"ranking": content["ranking"], "criteria": content.get("criteria", {})}
        board = leaderboard_from_json(tables)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UsageError(
            f"{path} is not a readable leaderboard. Give a leaderboard.json, or scores as CSV."
        ) from None
    by_criterion = {OVERALL: board.ranking, **board.criteria}
    values = {criterion: _ratings(rows) for criterion, rows in by_criterion.items()}
    return Rater(name, "ratings", {criterion: ratings for criterion, ratings in values.items() if ratings})


def _ratings(rows: Rows) -> dict[Item, float]:
    return {Item((row.agent,)): row.rating for row in rows if row.rating is not None}


def clusters_of(items: Sequence[Item]) -> NDArray[np.int64] | None:
    """Topic number of each item; ``None`` unless all are known, in which case each item is a cluster."""
    if any(item.topic is None for item in items):
        return None
    return np.unique([str(item.topic) for item in items], return_inverse=True)[1].astype(np.int64)
