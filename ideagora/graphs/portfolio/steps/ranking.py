"""The ranking of the chosen ideas: the arena's adaptive schedule, and its posterior for ratings."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from langgraph.types import Send

from ideagora.graphs.portfolio.members import parts, text_of
from ideagora.graphs.portfolio.spread import similarities, two_dimensions
from ideagora.graphs.portfolio.state import Context, PortfolioState
from ideagora.graphs.steps.swiss_ranking import Game, PairTask
from ideagora.schedules.adaptive import Adaptive
from ideagora.schedules.pairing import Entrants, Pairing
from ideagora.schedules.posterior import posterior_of
from ideagora.schema import Rating, serialize

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTH = 1.96
"""Standard deviations from the rating to the bounds of its 95% interval."""


@dataclass(frozen=True)
class Results:
    """Scored comparisons of some ideas on one topic, as a schedule reads them."""

    agents: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    outcome: NDArray[np.float64]

    @property
    def topics(self) -> tuple[str, ...]:
        """The only topic."""
        return ("topic",)

    @property
    def topic(self) -> NDArray[np.int64]:
        """Its position in every row."""
        return np.zeros_like(self.first)


def draw_comparisons(state: PortfolioState) -> PortfolioState:
    """Join the comparisons; the next ones start from here."""
    return {}


def compare_ideas(state: PortfolioState, runtime: Context) -> list[Hashable | Send]:
    """The next pairs of the adaptive schedule, in parallel; then the ranking."""
    options, seed = runtime.context.options, runtime.context.client.settings.seed
    pairs = next_pairs(state["chosen"], state.get("games", []), options.comparisons, seed)
    return [*comparisons(state, "judge_pair", pairs, 0)] or ["rank_ideas"]


def comparisons(state: PortfolioState, node: str, pairs: list[tuple[int, int]], number: int) -> list[Send]:
    """One task of a node for each pair of positions, in the order shown; the number is that of the round."""
    drafts = {position: parts(state["members"][position]) for pair in pairs for position in pair}
    return [
        Send(
            node,
            PairTask(
                topic=state["topic"],
                round=number,
                positions=[first, second],
                drafts=[drafts[first], drafts[second]],
            ),
        )
        for first, second in pairs
    ]


async def rank_ideas(state: PortfolioState, runtime: Context) -> PortfolioState:
    """The chosen ideas with their ratings, best first, and the map of all ideas."""
    ratings = rate(state["chosen"], state.get("games", []))
    ranked = list(ratings) or state["chosen"]
    texts = [text_of(member) for member in state["members"]]
    vectors = await asyncio.to_thread(runtime.context.library.embedder.encode, texts)
    return {
        "chosen": ranked,
        "ratings": [serialize(rating) for rating in ratings.values()],
        "map": two_dimensions(vectors),
        "similarity": similarities(vectors)[np.ix_(ranked, ranked)].tolist(),
    }


def next_pairs(
    chosen: Sequence[int], games: Sequence[Game], comparisons: int, seed: int
) -> list[tuple[int, int]]:
    """The most informative pairs, in the order shown; [] if the ranking is clear or the comparisons are used.

    Comparisons that two of the ideas had before, as parent and child, count as asked.
    """
    if len(chosen) < 2:
        return []
    entrants = Entrants(np.ones((1, len(chosen)), dtype=np.bool_))
    place = {position: number for number, position in enumerate(chosen)}
    asked = [Pairing(0, *(place[position] for position in g["positions"])) for g in _among(games, place)]
    schedule = Adaptive(budget=comparisons, seed=seed)
    pairs = schedule.next(entrants, _results(chosen, games), asked)
    return [(chosen[pair.first], chosen[pair.second]) for pair in pairs]


def rate(chosen: Sequence[int], games: Sequence[Game]) -> dict[int, Rating]:
    """The ratings by position, best first, around a mean of 0; none without a scored comparison."""
    results = _results(chosen, games)
    if not len(results.first):
        return {}
    posterior = posterior_of(results)
    contrast = np.eye(len(chosen)) - 1 / len(chosen)
    mean = contrast @ posterior.mean
    spread = np.sqrt(np.diagonal(contrast @ posterior.covariance @ contrast.T))
    difference, variance = posterior.differences()
    is_better = difference > WIDTH * np.sqrt(np.maximum(variance, 0))
    ratings = {
        position: Rating(
            rating=round(float(mean[place]), 3) + 0.0,
            low=round(float(mean[place] - WIDTH * spread[place]), 3),
            high=round(float(mean[place] + WIDTH * spread[place]), 3),
            matches=int(((results.first == place) | (results.second == place)).sum()),
            unscored=sum(
                game["gain"] is None for game in _among(games, chosen) if position in game["positions"]
            ),
            best_place=1 + int(is_better[:, place].sum()),
            worst_place=len(chosen) - int(is_better[place].sum()),
        )
        for place, position in enumerate(chosen)
    }
    return dict(sorted(ratings.items(), key=lambda entry: (-entry[1].rating, chosen.index(entry[0]))))


def _among(games: Sequence[Game], chosen: Any) -> list[Game]:
    return [game for game in games if set(game["positions"]) <= set(chosen)]


def _results(chosen: Sequence[int], games: Sequence[Game]) -> Results:
    place = {position: number for number, position in enumerate(chosen)}
    scored = [(game, gain) for game in _among(games, place) if (gain := game["gain"]) is not None]
    return Results(
        agents=tuple(map(str, chosen)),
        first=np.array([place[game["positions"][0]] for game, _ in scored], dtype=np.int64),
        second=np.array([place[game["positions"][1]] for game, _ in scored], dtype=np.int64),
        outcome=np.array([(gain + 1) / 2 for _, gain in scored], dtype=np.float64),
    )
