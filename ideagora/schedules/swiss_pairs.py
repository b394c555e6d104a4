"""The pairs of one Swiss round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_BYE = -1
_LOTS = 1024
_ORDERS = 2

Pair = tuple[int, int]


def swiss_round(
    entries: Sequence[int], games: Iterable[Pair], standing: Mapping[int, int], random: np.random.Generator
) -> list[Pair]:
    """The pairs of one round, the lower position first: a perfect matching of minimal cost.

    In order of precedence: with an odd number of entries, one of those that sat out least often sits out;
    rematches are avoided if possible; differences in standing are minimal. Two entries meet at most twice.

    Args:
        entries: positions of the ideas.
        games: the pairs so far, in any order.
        standing: wins minus losses of each entry.
        random: breaks ties.
    """
    import networkx  # scipy has no matching in general graphs

    met = Counter((min(pair), max(pair)) for pair in games)
    span = max(standing.values()) - min(standing.values())
    rematch = 1 + len(entries) * span**2
    graph = networkx.Graph()
    for place, low in enumerate(entries):
        for high in entries[place + 1 :]:
            if met[low, high] >= _ORDERS:
                continue
            cost = met[low, high] * rematch + (standing[low] - standing[high]) ** 2
            # A random tie-break that never outweighs a difference in cost.
            lot = int(random.integers(_LOTS))
            graph.add_edge(low, high, weight=-(cost * _LOTS * len(entries) + lot))
    if len(entries) % 2:
        for sitter in _bye_candidates(entries, met):
            graph.add_edge(sitter, _BYE, weight=-int(random.integers(_LOTS)))
    matched = networkx.max_weight_matching(graph, maxcardinality=True)
    return sorted((min(pair), max(pair)) for pair in matched if _BYE not in pair)


def _bye_candidates(entries: Sequence[int], met: Counter[Pair]) -> list[int]:
    """Entries with the most games, which sat out least often."""
    count = Counter(entry for pair in met.elements() for entry in pair)
    most = max(count[entry] for entry in entries)
    return [entry for entry in entries if count[entry] == most]
