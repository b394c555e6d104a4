"""The leaderboard: every figure with what it rests on, and in words what the figures can't say.

It is made from verdicts and the lineup alone, so that a finished arena can be rated again without
asking anybody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from ideagora.config import Settings
from ideagora.errors import RatingError
from ideagora.evaluators.arena.leaderboard.audit import audited, plain_figure
from ideagora.evaluators.arena.leaderboard.notes import notes
from ideagora.evaluators.arena.leaderboard.rows import DIGITS, Rows, rated_rows, unrated_rows, win_rates
from ideagora.evaluators.arena.leaderboard.uncertainty import Spread, intervals_of, separation, spread_of
from ideagora.evaluators.arena.lineup import Contestant, Kind, Lineup
from ideagora.evaluators.arena.options import ArenaOptions
from ideagora.evaluators.arena.protocol import Values, by_all, by_criterion, comparisons
from ideagora.evaluators.statistics.bias_aware import bias_aware
from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.connectivity import missing_pairs
from ideagora.evaluators.statistics.intervals import Intervals, combine_intervals
from ideagora.evaluators.statistics.matches import Points, ablation_points, settle_match
from ideagora.evaluators.statistics.ratings import Ratings, bradley_terry, combine, elo
from ideagora.schema import Usage, Verdict

Ending = Literal["complete", "budget", "incomplete"]
Status = Literal["complete", "disconnected", "nothing_scored", "budget", "incomplete"]
Leaderboard = dict[str, Any]
OFFLINE_JUDGE = "offline"
BOUNDS = ("low", "high", "rank_low", "rank_high")
"""Fields of a row or a figure that say how sure it is."""


@dataclass(frozen=True)
class Part:
    """One of the things that were judged (ideas, or experiment designs), and the verdicts on it."""

    kind: Kind
    lineup: Lineup
    verdicts: tuple[Verdict, ...]
    options: ArenaOptions
    seed: int

    @cached_property
    def agents(self) -> tuple[str, ...]:
        """Contestants that had something to be judged; the others cannot have a rating."""
        return tuple(
            one.name
            for one in self.lineup.contestants
            if any(self.kind == "idea" or idea.experiment is not None for idea in one.ideas.values())
        )

    @cached_property
    def criteria(self) -> tuple[str, ...]:
        """What the judge decided on."""
        return self.options.criteria_of(self.kind)

    def columns(self, value: Values) -> Comparisons:
        """Scored verdicts as they came."""
        return comparisons(self.verdicts, self.lineup.texts, self.options.judges, self.agents, value)

    @cached_property
    def overall(self) -> Comparisons:
        """Every verdict by who was better in more criteria."""
        return self.columns(by_all(self.criteria))

    def counted(self, value: Values) -> Comparisons:
        """What the protocol rates: verdicts (the paper's), or matches (the default's)."""
        columns = self.columns(value)
        return columns if self.options.is_paper else settle_match(columns)

    @property
    def unscored(self) -> Counter[str]:
        """Verdicts without values, by contestant."""
        return Counter(agent for one in self.verdicts if one.criteria is None for agent in one.agents)

    @property
    def status(self) -> Status:
        """Whether all contestants can be put on one scale."""
        if not len(self.overall):
            return "nothing_scored"
        return "disconnected" if missing_pairs(self.overall) else "complete"


def build_leaderboard(
    lineup: Lineup,
    verdicts: Sequence[Verdict],
    options: ArenaOptions,
    settings: Settings,
    answers: Mapping[str, Any],
    status: Ending,
    expected: int,
) -> Leaderboard:
    """All figures of an arena.

    Args:
        lineup: who competed with what.
        verdicts: all so far, scored and unscored.
        options: which figures are wanted.
        settings: the seed, and what is recorded of the models.
        answers: what the answers used were worth, by label.
        status: ``budget`` where the money ran out before the schedule had enough, ``incomplete`` where
            something was down.
        expected: verdicts that the schedule asks for at most.
    """
    parts = {
        kind: Part(kind, lineup, tuple(one for one in verdicts if one.kind == kind), options, settings.seed)
        for kind in options.kinds
    }
    ideas = _figures(parts["idea"])
    found: Status = parts["idea"].status
    board: Leaderboard = {
        "evaluator": "arena",
        "protocol": "paper" if options.is_paper else "default",
        "kind": "idea",
        "schedule": options.schedule,
        "n_topics": len(lineup.topics),
        "topics": list(lineup.texts),
        "judges": list(options.judges),
        "smoke_test": set(options.judges) == {OFFLINE_JUDGE},
        "contestants": [described(one, lineup) for one in lineup.contestants],
        **ideas,
        "status": found if status == "complete" else status,
        "experiments": _figures(parts["experiment"]) if "experiment" in parts else None,
        "coverage": _coverage(verdicts, expected),
        "usage": {"answers": dict(answers), "total": _total(verdicts).model_dump()},
        "settings": {**options.model_dump(mode="json"), "seed": settings.seed, "models": settings.models},
    }
    if board["smoke_test"]:
        board |= without_intervals(board)
    return {**board, "notes": notes(board, lineup, parts["idea"].overall)}


def without_intervals(board: Leaderboard) -> Leaderboard:
    """The tables of a smoke test: bounds and chances would lend it a certainty that it does not have."""
    tables = ("ranking", "criteria", "bias_aware", "biases", "paper", "audit", "experiments")
    return {
        **{name: _without_bounds(board[name]) for name in tables},
        "separation": [],
        "intervals": "The offline model alone judged: a smoke test has no intervals.",
    }


def _without_bounds(told: Any) -> Any:
    if isinstance(told, list):
        return [_without_bounds(one) for one in told]
    if not isinstance(told, Mapping):
        return told
    kept = {name: None if name in BOUNDS else _without_bounds(one) for name, one in told.items()}
    return {**kept, "separation": []} if "separation" in kept else kept


def _figures(part: Part) -> Leaderboard:
    """Ranking, rates, separation and audit of one part; empty tables where nothing can be rated."""
    board: Leaderboard = {
        "status": part.status,
        "ranking": [],
        "criteria": {name: [] for name in part.criteria},
        "win_rates": {"agents": [], "matrix": []},
        "separation": [],
        "audit": audited(part.overall, part.lineup),
        "bias_aware": None,
        "biases": None,
        "paper": None,
        "ablation": None,
        "missing_pairs": [],
        "intervals": None,
        "unbounded": [],
        "refits": None,
        "alone": [],
    }
    if part.status == "nothing_scored":
        return board
    board["missing_pairs"] = [list(pair) for pair in missing_pairs(part.overall)]
    order = sorted(part.agents)
    if part.status == "complete":
        board |= _rankings(part)
        order = [row["agent"] for row in board["ranking"]]
    else:
        board["ranking"] = unrated_rows(part.counted(by_all(part.criteria)), part.unscored)
    board["win_rates"] = win_rates(part.counted(by_all(part.criteria)), order)
    if part.options.ablation_of in part.agents:
        board["ablation"] = ablation(part, str(part.options.ablation_of))
    return board


def _rankings(part: Part) -> Leaderboard:
    counted = {name: part.counted(by_criterion(name)) for name in part.criteria}
    whole = part.counted(by_all(part.criteria))
    rate = elo if part.options.is_paper else bradley_terry
    each = {name: rate(columns) for name, columns in counted.items()}
    spans = {name: intervals_of(columns, part.options) for name, columns in counted.items()}
    if part.options.is_paper:
        ratings, span = combine(list(each.values())), combine_intervals(list(spans.values()))
    else:
        ratings, span = rate(whole), intervals_of(whole, part.options)

    def spread(columns: Comparisons, found: Intervals) -> Spread:
        return spread_of(found, columns, part.options, part.seed)

    def rows(rated: Ratings, columns: Comparisons, found: Intervals) -> Rows:
        return rated_rows(rated, columns, part.unscored, spread(columns, found))

    overall = spread(whole, span)
    return {
        "ranking": rated_rows(ratings, whole, part.unscored, overall),
        "refits": overall.record,
        "alone": list(span.alone),
        "criteria": {name: rows(each[name], counted[name], spans[name]) for name in counted},
        "intervals": span.reason,
        "unbounded": list(ratings.unbounded),
        "separation": separation(span, whole, ratings.ranking, len(part.verdicts)),
        **(_corrected(part) if part.options.bias_aware else {}),
        "paper": None if part.options.is_paper else papers_figures(part),
    }


def _corrected(part: Part) -> Leaderboard:
    """Ratings with position, length and the judges' differences taken out, and what these were."""
    try:
        found = bias_aware(part.overall)
    except RatingError as error:
        return {"bias_aware": None, "biases": {"reason": str(error)}}
    spread = spread_of(found.intervals, part.overall, part.options, part.seed, resample=False)
    judges = [
        {
            "judge": one.judge,
            "discrimination": round(one.discrimination, 3),
            "position": plain_figure(one.position),
            "length": plain_figure(one.length),
        }
        for one in found.judges
    ]
    return {
        "bias_aware": rated_rows(found.ratings, part.overall, part.unscored, spread),
        "biases": {"judges": judges, "reason": None},
    }


def papers_figures(part: Part) -> Leaderboard | None:
    """Elo per criterion and on average, all verdicts counted; ``None`` unless pairs were seen both ways."""
    if part.options.schedule != "round-robin":
        return None
    counted = {name: part.columns(by_criterion(name)) for name in part.criteria}
    each = {name: elo(columns) for name, columns in counted.items()}
    return {
        "ranking": rated_rows(combine(list(each.values())), part.overall, part.unscored, None),
        "criteria": {name: rated_rows(each[name], counted[name], part.unscored, None) for name in counted},
    }


def ablation(part: Part, full: str) -> Leaderboard:
    """2, 1 or 0 points for each match against the full agent (section 5, Table 2), by criterion.

    ``full`` in a row is what the full agent would have against itself: a point a match. ``None``: the two
    never met.
    """
    scores = {name: ablation_points(part.columns(by_criterion(name)), full) for name in part.criteria}
    rows = [_score_row(place, scores) for place in range(len(part.agents) - 1)]
    return {"of": full, "rows": rows}


def _score_row(place: int, scores: Mapping[str, Sequence[Points]]) -> Leaderboard:
    found = {name: points[place] for name, points in scores.items()}
    head = next(iter(found.values()))
    points = {name: one.points if one.matches else None for name, one in found.items()}
    scored = [value for value in points.values() if value is not None]
    mean = round(sum(scored) / len(scored), DIGITS) if scored else None
    return {
        "agent": head.agent,
        "matches": head.matches,
        "full": head.matches,
        "criteria": points,
        "average": mean,
    }


def described(one: Contestant, lineup: Lineup | None = None) -> dict[str, Any]:
    """A contestant for the record."""
    ideas = [one.ideas[topic] for topic in sorted(one.ideas)]
    return {
        "agent": one.name,
        "ideas": len(ideas),
        "source": one.source,
        "missing": [{"topic": gone.topic, "reason": gone.reason} for gone in one.missing],
        "left_out": one.left_out,
        "models": sorted({idea.model for idea in ideas}),
        "usage": sum((idea.usage for idea in ideas), Usage()).model_dump(),
        "flagged": [
            {"topic": idea.topic, "idea": idea.id, "flags": list(lineup.flags[idea.id])}
            for idea in ideas
            if lineup is not None and idea.id in lineup.flags
        ],
    }


def _total(verdicts: Sequence[Verdict]) -> Usage:
    """What the judges' answers cost when they were given."""
    return sum((one.usage for one in verdicts), Usage())


def _coverage(verdicts: Sequence[Verdict], expected: int) -> dict[str, Any]:
    unscored = [one for one in verdicts if one.criteria is None]
    reasons = Counter((one.reason or "unknown").partition(":")[0] for one in unscored)
    flags = Counter(flag.partition(": ")[2] for one in verdicts for flag in one.flags)
    return {
        "expected": expected,
        "asked": len(verdicts),
        "scored": len(verdicts) - len(unscored),
        "unscored": len(unscored),
        "reasons": dict(sorted(reasons.items())),
        "flags": dict(sorted(flags.items())),
    }
