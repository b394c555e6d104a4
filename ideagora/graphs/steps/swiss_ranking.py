"""Ranking of ideas by pairwise comparisons in Swiss rounds, with the arena's judge and its pairing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from langgraph.runtime import Runtime

from ideagora.agents.arena.judges import IDEA_JUDGE
from ideagora.agents.views import idea_view
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.drafts import Draft
from ideagora.graphs.services import Services
from ideagora.models.usage import usage_label
from ideagora.schedules.swiss_pairs import swiss_round
from ideagora.schema import Serialized, Topic

_POINTS = {"first": 1, "second": -1, "tie": 0}


class Game(TypedDict):
    """One comparison of two drafts, by their positions in the order shown."""

    round: int
    positions: list[int]
    gain: int | None
    """1 if the first won, -1 if the second did, 0 for a tie; ``None`` without a readable verdict."""
    reason: str


class RankingState(TypedDict):
    """What ``judge_pair`` adds to an agent's state."""

    games: list[Game]


class PairTask(TypedDict):
    """Payload of ``judge_pair``: two positions in the order shown, and their drafts."""

    topic: Serialized[Topic]
    round: int
    positions: list[int]
    drafts: list[Draft]


async def judge_pair(state: PairTask, runtime: Runtime[Services]) -> RankingState:
    """One comparison."""
    game = Game(round=state["round"], positions=state["positions"], gain=None, reason="")
    with usage_label("ranking"):
        try:
            answer = await IDEA_JUDGE(
                runtime.context.client,
                topic=state["topic"]["text"],
                first=idea_view(state["drafts"][0]),
                second=idea_view(state["drafts"][1]),
            )
        except UnreadableAnswer as error:
            return {"games": [{**game, "reason": str(error)}]}
    points = sum(_POINTS[choice] for choice in answer.model_dump(exclude={"reason"}).values())
    return {"games": [{**game, "gain": int(np.sign(points)), "reason": answer.reason}]}


def next_round(
    topic: Serialized[Topic],
    drafts: Sequence[Draft],
    games: Sequence[Game],
    rounds: int,
    seed: int,
) -> list[PairTask]:
    """The comparisons of the next round; none after ``rounds`` rounds or when every pair has met.

    Of two ideas, the one that was shown first more often is shown second; ties are broken at random.
    """
    number = max((game["round"] for game in games), default=0) + 1
    count = len(drafts)
    if number > min(rounds, count - 1 + count % 2) or count < 2:
        return []
    random = np.random.default_rng([seed, number])
    first = Counter(game["positions"][0] for game in games)
    met = [(one, other) for one, other in (game["positions"] for game in games)]
    pairs = swiss_round(range(count), met, standings(count, games), random)
    tasks = []
    for low, high in pairs:
        swap = first[low] > first[high] or (first[low] == first[high] and random.random() < 0.5)
        positions = [high, low] if swap else [low, high]
        shown = [drafts[position] for position in positions]
        tasks.append(PairTask(topic=topic, round=number, positions=positions, drafts=shown))
    return tasks


def standings(count: int, games: Sequence[Game]) -> dict[int, int]:
    """Wins minus losses by position; a tie, a bye and an unscored comparison change nothing."""
    standing = dict.fromkeys(range(count), 0)
    for game in games:
        first, second = game["positions"]
        standing[first] += game["gain"] or 0
        standing[second] -= game["gain"] or 0
    return standing


def rank(count: int, games: Sequence[Game]) -> list[int]:
    """The positions, best first; ties in the order of the positions."""
    standing = standings(count, games)
    return sorted(standing, key=lambda position: (-standing[position], position))


def record_of(position: int, games: Sequence[Game]) -> str:
    """The result of one idea, for the report."""
    gains = [
        None if game["gain"] is None else game["gain"] * (1 if game["positions"][0] == position else -1)
        for game in games
        if position in game["positions"]
    ]
    missing = f", {gains.count(None)} without a verdict" if None in gains else ""
    return (
        f"{gains.count(1)} won, {gains.count(0)} tied, {gains.count(-1)} lost of "
        f"{len(gains) - gains.count(None)} in Swiss rounds{missing}"
    )
