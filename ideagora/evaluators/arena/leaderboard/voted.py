"""Ratings by people, from their votes on some pairs and the judges' verdicts on all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from ideagora.errors import RatingError, UsageError
from ideagora.evaluators.arena.comparisons import majority_outcome
from ideagora.evaluators.arena.leaderboard.records import LeaderboardRow, Rows, VotedRatings
from ideagora.evaluators.arena.leaderboard.rows import DIGITS
from ideagora.evaluators.arena.protocol import run_of_verdict
from ideagora.evaluators.judging.verdict_files import read_verdicts
from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.intervals.clustered import Intervals
from ideagora.evaluators.statistics.intervals.ranks import rank_intervals
from ideagora.evaluators.statistics.ratings.matches import settle_match
from ideagora.evaluators.statistics.ratings.prediction_powered import VotedPairs, prediction_powered
from ideagora.schema import Verdict

PERSON = "human:"
_GIVE = "Give a file that 'ideagora vote import' has written to the arena's folder votes/."
Pair = tuple[int, int, int, int]
"""Topic, run and two agents, the lower position first."""


def read_votes(paths: Sequence[str]) -> list[Verdict]:
    """The votes in files of ``ideagora vote import``.

    Raises:
        UsageError: a file cannot be read, or has a verdict that is not by a person.
    """
    votes = []
    for path in paths:
        if not Path(path).is_file():
            raise UsageError(f"--votes {path} is not a file. {_GIVE}")
        read = read_verdicts(Path(path))
        if models := sorted({one.judge for one in read if not one.judge.startswith(PERSON)}):
            raise UsageError(f"--votes {path} has verdicts by {models[0]}, not votes. {_GIVE}")
        if not read:
            raise UsageError(f"--votes {path} has no votes. {_GIVE}")
        votes += read
    return votes


def voted_ratings(
    judged: Comparisons, votes: Sequence[Verdict], kind: str, run_of: Mapping[str, int]
) -> VotedRatings:
    """Ratings from the judges' verdicts (columns of one kind, overall) and the votes on their pairs.

    ``run_of`` is the run of each idea of contestants with several, by id.
    """
    votes = [one for one in votes if one.kind == kind and one.criteria is not None]
    points = _judged_points(judged)
    voted = _voted_points(judged, votes, run_of)
    places = sorted(points)
    topic, _, low, high = np.array(places, dtype=np.int64).reshape(-1, 4).T
    pairs = VotedPairs(
        agents=judged.agents, topic=topic, low=low, high=high,
        judged=np.array([points[place] for place in places], dtype=np.float64),
        voted=np.array([voted.get(place, np.nan) for place in places], dtype=np.float64),
    )  # fmt: skip
    record = VotedRatings(
        voters=tuple(sorted({one.judge.removeprefix(PERSON) for one in votes})),
        pairs=int(pairs.has_vote.sum()),
        judged=len(places),
    )
    try:
        joined = prediction_powered(pairs)
    except RatingError as error:
        return VotedRatings(**{**vars(record), "reason": str(error)})
    try:
        alone = _rows(prediction_powered(pairs, weight=0.0).intervals)
    except RatingError:
        alone = ()
    found = {"ranking": _rows(joined.intervals), "votes_alone": alone, "weight": round(joined.weight, 3)}
    return VotedRatings(**{**vars(record), **found, "reason": joined.intervals.reason})


def _judged_points(judged: Comparisons) -> dict[Pair, float]:
    """Points of the lower agent in each pair: the mean over judges of their settled matches."""
    matches = settle_match(judged)
    places = np.stack([matches.topic, matches.run_of_row, matches.first, matches.second], axis=1).tolist()
    return _means((*place, outcome) for place, outcome in zip(places, matches.outcome.tolist(), strict=True))


def _voted_points(
    judged: Comparisons, votes: Sequence[Verdict], run_of: Mapping[str, int]
) -> dict[Pair, float]:
    """The same of the votes, the mean over voters; each vote counts by the majority of its criteria."""
    topic, agent = (_place_of(names) for names in (judged.topics, judged.agents))
    rows = []
    for one in votes:
        first, second = map(agent, one.agents)
        if min(topic(one.topic), first, second) >= 0:
            outcome = majority_outcome((one.criteria or {}).values())
            rows.append((topic(one.topic), run_of_verdict(one, run_of), first, second, outcome))
    return _means(rows)


def _place_of(names: Sequence[str]) -> Callable[[str], int]:
    places = {name: place for place, name in enumerate(names)}
    return lambda name: places.get(name, -1)


def _means(rows: Iterable[tuple[int, int, int, int, float]]) -> dict[Pair, float]:
    points: dict[Pair, list[float]] = defaultdict(list)
    for topic, run, first, second, outcome in rows:
        of_lower = outcome if first < second else 1.0 - outcome
        points[topic, run, min(first, second), max(first, second)].append(of_lower)
    return {pair: fmean(values) for pair, values in points.items()}


def _rows(found: Intervals) -> Rows:
    """Rows with rating, interval and ranks, best first."""
    has_bounds = found.low is not None and found.high is not None
    ranks = rank_intervals(found).tolist() if has_bounds else []
    rows: list[LeaderboardRow] = []
    for place in np.argsort(-found.scores, kind="stable").tolist():
        low, high, best, worst = None, None, None, None
        if found.low is not None and found.high is not None:
            low, high = (round(float(bound[place]), DIGITS) for bound in (found.low, found.high))
            best, worst = ranks[place]
        rating = round(float(found.scores[place]), DIGITS)
        rows.append(
            LeaderboardRow(
                agent=found.agents[place], rating=rating, low=low, high=high, rank=len(rows) + 1,
                rank_low=best, rank_high=worst,
            )
        )  # fmt: skip
    return tuple(rows)
