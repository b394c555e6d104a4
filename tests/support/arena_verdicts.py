"""Verdicts written by hand, and by chance, for the tests of statistics."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from ideagora.evaluators.statistics.comparisons import Comparisons

Row = tuple[str, str, float, str]
"""First, second, outcome, topic."""


def verdicts(
    rows: list[Row],
    agents: tuple[str, ...] | None = None,
    judges: list[str] | None = None,
    match: list[int] | None = None,
    length: list[float] | None = None,
) -> Comparisons:
    """Columns from rows; a match a row, one judge and equal lengths unless they are given."""
    names = agents or tuple(dict.fromkeys(name for row in rows for name in row[:2]))
    topics = tuple(dict.fromkeys(row[3] for row in rows))
    said = judges or ["judge"] * len(rows)
    panel = tuple(dict.fromkeys(said))
    whole = np.int64
    return Comparisons(
        agents=names,
        topics=topics,
        judges=panel,
        first=np.array([names.index(row[0]) for row in rows], dtype=whole),
        second=np.array([names.index(row[1]) for row in rows], dtype=whole),
        outcome=np.array([row[2] for row in rows], dtype=np.float64),
        topic=np.array([topics.index(row[3]) for row in rows], dtype=whole),
        judge=np.array([panel.index(judge) for judge in said], dtype=whole),
        match=np.array(match if match is not None else range(len(rows)), dtype=whole),
        length=np.array(length if length is not None else [0.0] * len(rows), dtype=np.float64),
    )


def both_orders(pairs: list[tuple[str, str, float, float]], topics: int = 3) -> Comparisons:
    """Each pair on each topic in both orders: the outcome when shown so, and when shown the other way."""
    rows, match = [], []
    for topic in range(topics):
        for one, other, shown_so, shown_swapped in pairs:
            rows += [(one, other, shown_so, f"t{topic}"), (other, one, shown_swapped, f"t{topic}")]
            match += [len(rows) // 2, len(rows) // 2]
    return verdicts(rows, match=match)


@st.composite
def tournaments(draw: st.DrawFn, agents: int = 4, topics: int = 4) -> Comparisons:
    """A round robin with any outcomes, in which all take something from all (so that all fits are finite)."""
    rows: list[Row] = []
    for topic in range(topics):
        for one in range(agents):
            for other in range(one):
                outcome = draw(st.sampled_from([0.0, 0.5, 1.0]))
                rows.append((f"a{one}", f"a{other}", outcome, f"t{topic}"))
    rows += [(f"a{one}", f"a{other}", 0.5, "t0") for one in range(agents) for other in range(one)]
    return verdicts(rows, agents=tuple(f"a{number}" for number in range(agents)))
