"""Reads reviews by condition: a table, AI-Researcher's JSON of columns, or the verdicts of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ideagora.errors import UsageError
from ideagora.evaluators.agreement.columns import (
    IDEA_COLUMNS,
    REVIEWER_COLUMNS,
    TOPIC_COLUMNS,
    find_column,
    number_of,
)
from ideagora.evaluators.agreement.table_files import read_table
from ideagora.evaluators.judging.verdict_files import read_verdicts
from ideagora.evaluators.statistics.scores.condition_effects import ReviewColumns

MORE_REVIEWER_COLUMNS = (*REVIEWER_COLUMNS, "name", "judge")
"""AI-Researcher calls the reviewer ``name``."""
SCORE = "_score"
"""End of the names of criteria; without any such column, every column of numbers is one."""
MOST_REVIEWS = 5_000
"""The model's time grows with the square of their number."""
Row = Mapping[str, Any]


@dataclass(frozen=True)
class ScoreTable:
    """Reviews with their columns by role; a reviewer or topic that the table does not have is ``None``."""

    path: Path
    rows: tuple[Row, ...]
    by: str
    idea: str
    reviewer: str | None
    topic: str | None
    criteria: tuple[str, ...]

    @property
    def conditions(self) -> tuple[str, ...]:
        """In the order in which they occur."""
        return tuple(dict.fromkeys(str(row[self.by]) for row in self.rows))

    def columns(self, criterion: str) -> ReviewColumns:
        """The reviews with a score on the criterion; codes of conditions are places in ``conditions``."""
        rows = [row for row in self.rows if number_of(row.get(criterion)) is not None]
        place = {name: code for code, name in enumerate(self.conditions)}
        effects = [name for name in (self.reviewer, self.topic) if name is not None]
        return ReviewColumns(
            score=np.array([number_of(row[criterion]) for row in rows], dtype=np.float64),
            condition=np.array([place[str(row[self.by])] for row in rows], dtype=np.int64),
            idea=_codes([(str(row[self.idea]), str(row[self.by])) for row in rows]),
            effects=tuple(_codes([(str(row[name]),) for row in rows]) for name in effects),
        )


def read_score_table(path: Path, by: str, criteria: Sequence[str] = ()) -> ScoreTable:
    """The reviews of a file or of a run's folder.

    Raises:
        UsageError: it cannot be read, a column is missing, or a review has an empty one.
    """
    rows = _rows(path)
    names = list(dict.fromkeys(name for row in rows for name in row))
    listed = ", ".join(names) or "none"
    idea = find_column(names, IDEA_COLUMNS)
    if by not in names:
        raise UsageError(f"{path} has no column {by!r} for --by (it has: {listed}).")
    if idea is None:
        raise UsageError(f"{path} has no column that names the idea: call it idea (it has: {listed}).")
    others = [name for name in names if name != by]
    reviewer, topic = (find_column(others, known) for known in (MORE_REVIEWER_COLUMNS, TOPIC_COLUMNS))
    for number, row in enumerate(rows, 1):
        for name in (by, idea, reviewer, topic):
            if name is not None and not str(row.get(name, "")).strip():
                raise UsageError(f"{path}, review {number}: the column {name!r} is empty.")
    chosen = _criteria(
        path, rows, [name for name in names if name not in (by, idea, reviewer, topic)], criteria
    )
    return ScoreTable(path, tuple(rows), by, idea, reviewer, topic, chosen)


def _criteria(
    path: Path, rows: Sequence[Row], names: Sequence[str], wanted: Sequence[str]
) -> tuple[str, ...]:
    numeric = [name for name in names if any(number_of(row.get(name)) is not None for row in rows)]
    numeric = [name for name in numeric if name.endswith(SCORE)] or numeric
    by_short_name = {name.removesuffix(SCORE): name for name in numeric} | {name: name for name in numeric}
    if unknown := [name for name in wanted if name not in by_short_name]:
        raise UsageError(
            f"--criteria names {unknown[0]!r}, but {path} has scores on: {', '.join(numeric) or 'nothing'}."
        )
    if not numeric:
        raise UsageError(f"{path} has no column of numbers, so there are no scores to compare.")
    return tuple(by_short_name[name] for name in wanted) or tuple(numeric)


def _rows(path: Path) -> list[Row]:
    if path.is_dir():
        return _rows_of_verdicts(path)
    if path.suffix == ".json":
        rows = _rows_of_columns(path)
    else:
        rows = list(read_table(path))
        if rows and "subject" in rows[0]:
            return _rows_of_verdicts(path)
    if not rows:
        raise UsageError(f"{path} has no reviews. Write one review per row.")
    if len(rows) > MOST_REVIEWS:
        raise UsageError(f"{path} has {len(rows)} reviews; at most {MOST_REVIEWS} can be compared.")
    return rows


def _rows_of_columns(path: Path) -> list[Row]:
    """The rows of a JSON object of columns, each a list or an object by row, or of a list of objects."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or "it is not valid JSON"
        raise UsageError(f"{path} cannot be read: {reason}.") from None
    if isinstance(content, list) and all(isinstance(row, dict) for row in content):
        return content
    if not isinstance(content, dict):
        raise UsageError(f"{path} is neither an object of columns nor a list of reviews.")
    columns: dict[str, Mapping[str, Any]] = {
        name: values if isinstance(values, dict) else {str(place): one for place, one in enumerate(values)}
        for name, values in content.items()
        if isinstance(values, dict | list)
    }
    places = dict.fromkeys(place for values in columns.values() for place in values)
    return [
        {name: values[place] for name, values in columns.items() if values.get(place) is not None}
        for place in places
    ]


def _rows_of_verdicts(path: Path) -> list[Row]:
    """Scores of a jury or a benchmark: the judge is the reviewer, the agent the condition."""
    return [
        {
            "idea": " ".join(verdict.subject), "reviewer": verdict.judge, "topic": verdict.topic,
            "condition": verdict.agents[0], "agent": verdict.agents[0], **verdict.criteria,
        }
        for verdict in read_verdicts(path)
        if verdict.criteria is not None and len(set(verdict.agents)) == 1
    ]  # fmt: skip


def _codes(names: Sequence[tuple[str, ...]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    place = {name: code for code, name in enumerate(dict.fromkeys(names))}
    return np.array([place[name] for name in names], dtype=np.int64)
