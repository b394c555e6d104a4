"""Ranking of ideas by pairwise comparisons in Swiss rounds, with the arena's judge and its pairing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from langgraph.runtime import Runtime

from ideagora.agents.arena.judges import IDEA_JUDGE
from ideagora.agents.views import idea_view
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.services import Services
from ideagora.models.usage import usage_label
from ideagora.schedules.swiss_pairs import swiss_round

_POINTS = {"first": 1, "second": -1, "tie": 0}


class PairTask(TypedDict):
    """Payload of ``judge_pair``: two positions in the order shown, and their drafts."""

    topic: dict[str, Any]
    round: int
    positions: list[int]
    drafts: list[dict[str, Any]]


async def judge_pair(state: PairTask, runtime: Runtime[Services]) -> Any:
    """One comparison, as an entry of ``games``: its gain is 1 if the first won, -1, or 0 for a tie.

    An unreadable verdict has no gain (``None``) and the reason.
    """
    game = {"round": state["round"], "positions": state["positions"]}
    with usage_label("ranking"):
        try:
            answer = await IDEA_JUDGE(
                runtime.context.client,
                topic=state["topic"]["text"],
                first=idea_view(state["drafts"][0]),
                second=idea_view(state["drafts"][1]),
            )
        except UnreadableAnswer as error:
            return {"games": [{**game, "gain": None, "reason": str(error)}]}
    points = sum(_POINTS[choice] for choice in answer.model_dump(exclude={"reason"}).values())
    return {"games": [{**game, "gain": int(np.sign(points)), "reason": answer.reason}]}


def next_round(
    topic: Mapping[str, Any],
    drafts: Sequence[Mapping[str, Any]],
    games: Sequence[Mapping[str, Any]],
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
    pairs = swiss_round(range(count), [tuple(g["positions"]) for g in games], standings(count, games), random)
    tasks = []
    for low, high in pairs:
        swap = first[low] > first[high] or (first[low] == first[high] and random.random() < 0.5)
        positions = [high, low] if swap else [low, high]
        shown = [dict(drafts[position]) for position in positions]
        tasks.append(PairTask(topic=dict(topic), round=number, positions=positions, drafts=shown))
    return tasks


def standings(count: int, games: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Wins minus losses by position; a tie, a bye and an unscored comparison change nothing."""
    standing = dict.fromkeys(range(count), 0)
    for game in games:
        first, second = game["positions"]
        standing[first] += game["gain"] or 0
        standing[second] -= game["gain"] or 0
    return standing


def rank(count: int, games: Sequence[Mapping[str, Any]]) -> list[int]:
    """The positions, best first; ties in the order of the positions."""
    standing = standings(count, games)
    return sorted(standing, key=lambda position: (-standing[position], position))


def record_of(position: int, games: Sequence[Mapping[str, Any]]) -> str:
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
