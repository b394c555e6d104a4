"""Swiss rounds: on each topic, ideas with similar results so far meet next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ideagora.errors import UsageError
from ideagora.schedules.pairing import Entrants, Pairing, Verdicts
from ideagora.schedules.slot_order import SlotBalance
from ideagora.schedules.swiss_pairs import swiss_round


@dataclass(frozen=True)
class Swiss:
    """Rounds in which every idea meets one of similar standing on the topic.

    In order of precedence: with an odd number of ideas, one of those that sat out least often sits out;
    rematches are avoided if possible; differences in standing are minimal. The standing is wins minus losses,
    so a tie, a bye or an unscored verdict does not change it. ``rounds=None`` is the binary logarithm of the
    number of entries of the largest topic, rounded up, which determines one winner. A topic ends after as
    many rounds as a round robin of its entries has. Judges alternate from round to round.
    """

    rounds: int | None = None
    seed: int = 0
    name: str = "swiss"

    def __post_init__(self) -> None:
        if self.rounds is not None and self.rounds < 0:
            raise UsageError(f"{self.rounds} rounds is negative; give 0 or more, or none for the default")

    def next(self, entrants: Entrants, seen: Verdicts, asked: Sequence[Pairing]) -> list[Pairing]:
        """A round on every topic that has rounds left."""
        slots, standing = SlotBalance.after(asked, self.seed), standings(seen)
        played: dict[int, list[Pairing]] = {topic: [] for topic in range(entrants.topics)}
        for pairing in asked:
            played[pairing.topic].append(pairing)
        chosen = []
        for topic, games in played.items():
            entries = entrants.entries(topic)
            number = -(-len(games) // max(len(entries) // 2, 1))
            if number < self._rounds_on(entrants, topic):
                random = np.random.default_rng([self.seed, topic, number])
                met = [game.pair for game in games]
                pairs = swiss_round(entries, met, {who: standing[topic, who] for who in entries}, random)
                chosen += [
                    slots.order_pair(topic, *pair, (topic + number) % entrants.judges) for pair in pairs
                ]
        return chosen

    def total(self, entrants: Entrants) -> int:
        """Number of rounds times the pairs per round, over all topics."""
        topics = range(entrants.topics)
        return sum(len(entrants.entries(topic)) // 2 * self._rounds_on(entrants, topic) for topic in topics)

    def _rounds_on(self, entrants: Entrants, topic: int) -> int:
        per_topic = entrants.entered.sum(axis=1)
        default = max(int(per_topic.max(initial=0)) - 1, 0).bit_length()
        # With an odd number of entries, byes add one round.
        maximum = max(int(per_topic[topic]) - 1 + int(per_topic[topic]) % 2, 0)
        return min(default if self.rounds is None else self.rounds, maximum)


def standings(seen: Verdicts) -> Counter[tuple[int, int]]:
    """Wins minus losses for each (topic, agent)."""
    standing: Counter[tuple[int, int]] = Counter()
    for topic, first, second, outcome in zip(seen.topic, seen.first, seen.second, seen.outcome, strict=True):
        gain = int(np.sign(outcome - 0.5))
        standing[int(topic), int(first)] += gain
        standing[int(topic), int(second)] -= gain
    return standing
