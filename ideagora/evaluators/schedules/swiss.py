"""Swiss rounds: on each topic the ideas that did equally well so far meet next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ideagora.errors import UsageError
from ideagora.evaluators.schedules.pairing import Field, Pairing
from ideagora.evaluators.schedules.slot_order import SlotBalance
from ideagora.evaluators.statistics.comparisons import Comparisons

_BYE = -1
_LOTS = 1024
_ORDERS = 2


@dataclass(frozen=True)
class Swiss:
    """As many rounds as wanted; in each, every idea meets one of about its own standing on the topic.

    In order of precedence: nobody meets itself; with an odd number of ideas one of those sits out that
    sat out least often; two that have met do not meet again while the round can avoid it; standings are
    as close as they can be. The standing is wins less losses, so that a tie, a bye and an unscored
    verdict neither raise nor lower it. ``rounds=None`` takes the binary logarithm of the largest
    topic's entries, rounded up: what singles out one winner. A topic ends after as many rounds as a round
    robin of its entries has. Judges take turns from round to round.
    """

    rounds: int | None = None
    seed: int = 0
    name: str = "swiss"

    def __post_init__(self) -> None:
        if self.rounds is not None and self.rounds < 0:
            raise UsageError(
                f"{self.rounds} rounds cannot be played; give 0 or more, or none for the default"
            )

    def next(self, field: Field, seen: Comparisons, asked: Sequence[Pairing]) -> list[Pairing]:
        """A round on every topic that has not had all of its rounds."""
        slots, standing = SlotBalance.after(asked, self.seed), standings(seen)
        played: dict[int, list[Pairing]] = {topic: [] for topic in range(field.topics)}
        for pairing in asked:
            played[pairing.topic].append(pairing)
        chosen = []
        for topic, games in played.items():
            entries = field.entries(topic)
            number = -(-len(games) // max(len(entries) // 2, 1))
            if number < self._wanted(field, topic):
                random = np.random.default_rng([self.seed, topic, number])
                couples = swiss_round(entries, games, {who: standing[topic, who] for who in entries}, random)
                chosen += [slots.place(topic, *couple, (topic + number) % field.judges) for couple in couples]
        return chosen

    def total(self, field: Field) -> int:
        """Rounds times the couples that find room in a round."""
        topics = range(field.topics)
        return sum(len(field.entries(topic)) // 2 * self._wanted(field, topic) for topic in topics)

    def _wanted(self, field: Field, topic: int) -> int:
        per_topic = field.entered.sum(axis=1)
        singling_out = max(int(per_topic.max(initial=0)) - 1, 0).bit_length()
        # An odd number of entries needs one round more than its opponents, for the byes.
        until_all_met = max(int(per_topic[topic]) - 1 + int(per_topic[topic]) % 2, 0)
        return min(singling_out if self.rounds is None else self.rounds, until_all_met)


def standings(seen: Comparisons) -> Counter[tuple[int, int]]:
    """Wins less losses for each (topic, agent)."""
    standing: Counter[tuple[int, int]] = Counter()
    for topic, first, second, outcome in zip(seen.topic, seen.first, seen.second, seen.outcome, strict=True):
        gain = int(np.sign(outcome - 0.5))
        standing[int(topic), int(first)] += gain
        standing[int(topic), int(second)] -= gain
    return standing


def swiss_round(
    entries: list[int], games: Sequence[Pairing], standing: dict[int, int], random: np.random.Generator
) -> list[tuple[int, int]]:
    """The couples of one round on one topic, the lower position first.

    A matching of least cost among those that leave out nobody (odd numbers: one).
    """
    import networkx  # the blossom algorithm: a matching in a general graph, which scipy has not

    met = Counter(pairing.couple for pairing in games)
    span = max(standing.values()) - min(standing.values())
    rematch = 1 + len(entries) * span**2
    graph = networkx.Graph()
    for place, low in enumerate(entries):
        for high in entries[place + 1 :]:
            if met[low, high] >= _ORDERS:
                continue
            cost = met[low, high] * rematch + (standing[low] - standing[high]) ** 2
            # Lots decide between equally good matchings and never outweigh a difference.
            lot = int(random.integers(_LOTS))
            graph.add_edge(low, high, weight=-(cost * _LOTS * len(entries) + lot))
    if len(entries) % 2:
        for sitter in _may_sit_out(entries, games):
            graph.add_edge(sitter, _BYE, weight=-int(random.integers(_LOTS)))
    matched = networkx.max_weight_matching(graph, maxcardinality=True)
    return sorted((min(couple), max(couple)) for couple in matched if _BYE not in couple)


def _may_sit_out(entries: list[int], games: Sequence[Pairing]) -> list[int]:
    """Those with the most games: they sat out least often."""
    count = Counter(agent for pairing in games for agent in pairing.couple)
    most = max(count[agent] for agent in entries)
    return [agent for agent in entries if count[agent] == most]
