"""Tables of scores with one row per review: any number of reviews per idea and per reviewer.

With a column that names the reviewer, each reviewer is a rater. Without one, several rows of an item are its
first, second … review: that suffices for figures that do not depend on who wrote which review.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ideagora.errors import UsageError
from ideagora.evaluators.agreement.columns import REVIEWER_COLUMNS, TOPIC_COLUMNS, find_column, number_of
from ideagora.evaluators.agreement.raters import ITEM_COLUMNS, Item, Rater


@dataclass(frozen=True)
class Reviews:
    """The raters of a table."""

    raters: tuple[Rater, ...]
    are_named: bool = False
    """Whether the table names its reviewers; else the raters are the first, second … review of each item."""


@dataclass
class _Scores:
    values: dict[str, dict[Item, float]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)


def read_reviews(path: Path, rows: Sequence[Mapping[str, Any]]) -> Reviews:
    """The raters of a table with a column that names the item, and columns of numbers.

    The topic and the reviewer are optional columns. A table with one row per item is one rater with the name
    of the file.

    Raises:
        UsageError: no column names the item, or a reviewer has two rows for one.
    """
    columns = list(dict.fromkeys(column for row in rows for column in row))
    key = find_column(columns, ITEM_COLUMNS)
    if key is None:
        raise UsageError(
            f"{path} has no column that names the item: call it {', '.join(ITEM_COLUMNS)} "
            f"(it has: {', '.join(map(str, columns)) or 'none'})."
        )
    reviewer = find_column(columns, REVIEWER_COLUMNS)
    topic = find_column(columns, TOPIC_COLUMNS)
    numeric = {column for row in rows for column, cell in row.items() if number_of(cell) is not None}
    criteria = [one for one in columns if one in numeric and one not in (key, reviewer, topic)]
    scores: dict[str, _Scores] = {}
    seen: Counter[Item] = Counter()
    for number, row in enumerate(rows, 1):
        item = Item((str(row.get(key, "")),), str(row[topic]) if topic and row.get(topic) else None)
        seen[item] += 1
        name = f"review {seen[item]}" if reviewer is None else str(row.get(reviewer) or "").strip()
        if not name:
            raise UsageError(f"{path}, row {number}: the column {reviewer!r} is empty. Name every reviewer.")
        _add(path, scores.setdefault(name, _Scores()), name, item, {one: row.get(one) for one in criteria})
    raters = [
        Rater(
            name if reviewer is not None or len(scores) > 1 else str(path),
            "scores",
            {column: found for column, found in of_reviewer.values.items() if found},
            (),
            dict(of_reviewer.left_out),
        )
        for name, of_reviewer in scores.items()
    ]
    return Reviews(tuple(raters), reviewer is not None)


def _add(path: Path, scores: _Scores, reviewer: str, item: Item, row: Mapping[str, Any]) -> None:
    for column, cell in row.items():
        number = number_of(cell)
        if number is None:
            scores.left_out[column] += 1
        elif item in scores.values.setdefault(column, {}):
            raise UsageError(
                f"{path} has two reviews of {item.name[0]!r} by {reviewer!r}: give one row per idea and "
                "reviewer."
            )
        else:
            scores.values[column][item] = number
