"""Tables of scores with one row per review: any number of reviews of an idea, and by a reviewer.

With a column that names the reviewer, each reviewer is a rater. Without one, several rows of an item are its
first, second … review: that suffices for figures that do not depend on who wrote which review.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ideagora.errors import UsageError
from ideagora.evaluators.agreement.raters import ITEM_COLUMNS, TOPIC_COLUMN, Item, Rater

REVIEWER_COLUMNS = ("reviewer", "reviewer_id", "rater", "annotator")


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
    key = next((column for column in ITEM_COLUMNS if column in columns), None)
    if key is None:
        raise UsageError(
            f"{path} has no column that names the item: call it {', '.join(ITEM_COLUMNS)} "
            f"(it has: {', '.join(map(str, columns)) or 'none'})."
        )
    reviewer = next((column for column in REVIEWER_COLUMNS if column in columns), None)
    numeric = {column for row in rows for column, cell in row.items() if _number(cell) is not None}
    criteria = [one for one in columns if one in numeric and one not in (key, reviewer, TOPIC_COLUMN)]
    scores: dict[str, _Scores] = {}
    seen: Counter[Item] = Counter()
    for number, row in enumerate(rows, 1):
        item = Item((str(row.get(key, "")),), str(row[TOPIC_COLUMN]) if row.get(TOPIC_COLUMN) else None)
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
        number = _number(cell)
        if number is None:
            scores.left_out[column] += 1
        elif item in scores.values.setdefault(column, {}):
            raise UsageError(
                f"{path} has two reviews of {item.name[0]!r} by {reviewer!r}: give one row per idea and "
                "reviewer."
            )
        else:
            scores.values[column][item] = number


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
