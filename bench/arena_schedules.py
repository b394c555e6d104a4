"""Loss of each schedule against the full round robin in simulated tournaments with a known truth.

Each schedule is played once up to half of the full tournament and rated (plain Bradley–Terry) after each
budget; all comparisons are paired, on the same tournaments with the same verdicts. ± is a standard error.
Some minutes on two cores; ``python -m bench.arena_schedules --tournaments 40`` is for development.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from bench.simulated_judges import Tournament, World, draw
from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.schedules.adaptive import Adaptive, ranking
from ideagora.schedules.balanced import Balanced
from ideagora.schedules.pairing import Entrants, Pairing, Schedule, Verdicts
from ideagora.schedules.posterior import fit, laplacian, wins
from ideagora.schedules.round_robin import RoundRobin
from ideagora.schedules.swiss import Swiss

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOURNAMENTS = 300
BUDGETS = (0.05, 0.10, 0.15, 0.25, 0.50)
TOP = 3
WORLDS = {
    "strengths N(0, 0.5), independent noise per verdict": World(),
    "strengths N(0, 0.5), the same noise in both orders of a pair": World(consistent=True),
    "strengths N(0, 1.5), independent noise per verdict": World(agent_spread=1.5),
    "strengths N(0, 1.5), the same noise in both orders of a pair": World(agent_spread=1.5, consistent=True),
}
CALIBRATED_AT = 0.10


@dataclass(frozen=True)
class RandomPairs:
    """A baseline: ``budget`` pairings drawn at random, without repetition, in one round."""

    budget: int
    seed: int = 0
    name: str = "random"

    def next(self, entrants: Entrants, seen: Verdicts, asked: Sequence[Pairing]) -> list[Pairing]:
        """The drawn pairings that have not been asked."""
        random = np.random.default_rng(self.seed)
        pairings = [
            Pairing(topic, *order)
            for topic in range(entrants.topics)
            for low, high in entrants.pairs(topic)
            for order in ((low, high), (high, low))
        ]
        drawn = random.permutation(len(pairings))[: self.total(entrants)]
        chosen = [
            pairings[place]._replace(judge=number % entrants.judges) for number, place in enumerate(drawn)
        ]
        return [pairing for pairing in chosen if pairing not in set(asked)]

    def total(self, entrants: Entrants) -> int:
        """The budget, or the number of all pairings if that is less."""
        return min(self.budget, 2 * entrants.pair_count())


@dataclass(frozen=True)
class Found:
    """Kendall's tau to the truth and the share of the true top found; (budgets,) for a schedule."""

    full: tuple[float, float]
    tau: dict[str, NDArray[np.float64]]
    top: dict[str, NDArray[np.float64]]
    calibration: list[tuple[float, bool]]
    """For neighbours of the adaptive schedule: predicted probability of their order; whether it is right."""


def main(tournaments: int = TOURNAMENTS) -> None:
    """Print a table for each world, and all figures as one line of JSON."""
    figures = {}
    with ProcessPoolExecutor(2) as pool:
        for name, world in WORLDS.items():
            found = list(pool.map(partial(play_all, world), range(tournaments), chunksize=4))
            figures[name] = _figures(found)
            print(f"\n{name}: {tournaments} tournaments", flush=True)
            _print(figures[name])
    print(json.dumps({"benchmark": "arena_schedules", "tournaments": tournaments, "worlds": figures}))


def schedules(world: World, seed: int) -> dict[str, Schedule]:
    """The compared schedules; Swiss (slow) and top 3 only in the plain world, for one seed in five."""
    half = world.topics * world.agents * (world.agents - 1) // 2
    chosen: dict[str, Schedule] = {
        "random pairs": RandomPairs(half, seed),
        "balanced rounds": Balanced(half, seed),
        "adaptive": Adaptive(budget=half, seed=seed, confidence=None),
    }
    if seed % 5 == 0 and world == World():
        chosen["adaptive, top 3"] = Adaptive("top_k", TOP, None, half // 2, seed)
        chosen["swiss"] = Swiss(6, seed)
    return chosen


def play_all(world: World, seed: int) -> Found:
    """One tournament under every schedule."""
    tournament = draw(world, [5, seed])
    every = RoundRobin().next(tournament.entrants, tournament.judge([]), [])
    tau, top, calibration = {}, {}, []
    for name, schedule in schedules(world, seed).items():
        asked = play(schedule, tournament)
        counts = [round(share * len(every)) for share in BUDGETS]
        scores = [
            score(tournament, asked[:count]) if count <= len(asked) else (np.nan, np.nan) for count in counts
        ]
        tau[name], top[name] = (np.array(column) for column in zip(*scores, strict=True))
        if name == "adaptive":
            calibration = calibrate(tournament, asked[: round(CALIBRATED_AT * len(every))])
    return Found(score(tournament, every), tau, top, calibration)


def play(schedule: Schedule, tournament: Tournament) -> list[Pairing]:
    """All pairings of the schedule, in order."""
    asked: list[Pairing] = []
    while pairings := schedule.next(tournament.entrants, tournament.judge(asked), asked):
        asked += pairings
    return asked


def score(tournament: Tournament, asked: Sequence[Pairing]) -> tuple[float, float]:
    """Kendall's tau of the rating to the truth, and the share of the true top among the rated top."""
    truth, rated = tournament.strengths, bradley_terry(tournament.judge(asked))
    low, high = np.triu_indices(len(truth), 1)
    agree = np.sign(truth[low] - truth[high]) * np.sign(rated[low] - rated[high])
    found = np.intersect1d(np.argsort(-truth)[:TOP], np.argsort(-rated)[:TOP])
    return float(agree.mean()), len(found) / TOP


def calibrate(tournament: Tournament, asked: Sequence[Pairing]) -> list[tuple[float, bool]]:
    """For every two neighbours: the probability of their order, and whether it is the true one."""
    truth, entrants = tournament.strengths, tournament.entrants
    posterior = fit(entrants, wins(entrants, tournament.judge(asked)))
    probability = posterior.probability()
    return [
        (float(probability[better, worse]), bool(truth[better] > truth[worse]))
        for better, worse in pairwise(ranking(entrants, posterior).tolist())
    ]


def bradley_terry(seen: Comparisons, steps: int = 50) -> NDArray[np.float64]:
    """Strengths in logits by Newton's method, with a ridge so small that it only bounds them."""
    agents, ridge = len(seen.agents), 1e-3
    won = np.zeros((agents, agents))
    np.add.at(won, (seen.first, seen.second), seen.outcome)
    np.add.at(won, (seen.second, seen.first), 1 - seen.outcome)
    met, strengths = won + won.T, np.zeros(agents)
    for _ in range(steps):
        chance = 1 / (1 + np.exp(strengths - strengths[:, None]))
        slope = (won - met * chance).sum(axis=1) - ridge * strengths
        step = np.linalg.solve(laplacian(met * chance * (1 - chance)) + ridge * np.eye(agents), slope)
        strengths = strengths + step / max(1.0, np.abs(step).max() / 2)
        if np.abs(step).max() < 1e-8:
            break
    return strengths


def _figures(found: list[Found]) -> dict[str, object]:
    said, right = np.array([each for one in found for each in one.calibration]).T
    return {
        "full": {
            "tau": _mean([one.full[0] for one in found]),
            "top": _mean([one.full[1] for one in found]),
        },
        "schedules": {name: _against(found, name) for name in found[0].tau},
        "neighbours": [
            {
                "said": round(float(said[inside].mean()), 3),
                "right": _mean(right[inside]),
                "n": int(inside.sum()),
            }
            for low, high in ((0.5, 0.7), (0.7, 0.9), (0.9, 0.95), (0.95, 1.01))
            if (inside := (said >= low) & (said < high)).sum() > 1
        ],
    }


def _against(found: list[Found], name: str) -> list[dict[str, object]]:
    """A schedule against the full tournament and against balanced rounds, budget by budget."""
    played = [one for one in found if name in one.tau]
    rows: list[dict[str, object]] = []
    for place, share in enumerate(BUDGETS):
        tau = np.array([one.tau[name][place] for one in played])
        if np.isnan(tau).any():
            continue
        full = np.array([one.full[0] for one in played])
        balanced = np.array([one.tau["balanced rounds"][place] for one in played])
        top = [one.top[name][place] for one in played]
        rows.append({
            "share": share,
            "n": len(played),
            "tau": _mean(tau),
            "lost": _mean(full - tau),
            "over_balanced": _mean(tau - balanced),
            "top": _mean(top),
        })  # fmt: skip
    return rows


def _mean(values: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    """Mean and standard error."""
    column = np.asarray(values, dtype=np.float64)
    return round(float(column.mean()), 4), round(float(column.std(ddof=1) / len(column) ** 0.5), 4)


def _print(figures: dict[str, object]) -> None:
    full, rows, neighbours = figures["full"], figures["schedules"], figures["neighbours"]
    assert isinstance(full, dict)
    assert isinstance(rows, dict)
    assert isinstance(neighbours, list)
    print(f"  full round robin: tau {_shown(full['tau'])}, of the top {TOP} {_shown(full['top'])}")
    for name, budgets in rows.items():
        for row in budgets:
            print(
                f"  {name:16} {row['share']:4.0%}  tau {row['tau'][0]:.3f}  lost {_shown(row['lost'])}"
                f"  over balanced {_shown(row['over_balanced'])}  top {row['top'][0]:.3f}  n {row['n']}"
            )
    for each in neighbours:
        said, right = each["said"], _shown(each["right"])
        print(f"  neighbours in order with predicted probability {said:.2f}, observed {right}  n {each['n']}")


def _shown(pair: tuple[float, float]) -> str:
    return f"{pair[0]:+.3f} ± {pair[1]:.3f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tournaments", type=int, default=TOURNAMENTS)
    main(parser.parse_args().tournaments)
