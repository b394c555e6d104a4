"""Standings of one kind of entry (ideas or experiments): rankings, intervals, win rates, ablation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ideagora.errors import RatingError
from ideagora.evaluators.arena.entries.lineup import Kind, Lineup
from ideagora.evaluators.arena.leaderboard.audit import Answers, audit_breakdown, audit_figure, audit_figures
from ideagora.evaluators.arena.leaderboard.records import (
    Ablation,
    AblationRow,
    Biases,
    JudgeBias,
    PaperRatings,
    Rows,
    Standings,
    Status,
)
from ideagora.evaluators.arena.leaderboard.rows import DIGITS, rated_rows, unrated_rows, win_rates
from ideagora.evaluators.arena.leaderboard.run_figures import run_figures
from ideagora.evaluators.arena.leaderboard.uncertainty import (
    Spread,
    compute_intervals,
    compute_separation,
    compute_spread,
)
from ideagora.evaluators.arena.leaderboard.voted import voted_ratings
from ideagora.evaluators.arena.options import ArenaOptions
from ideagora.evaluators.arena.protocol import Values, by_all, by_criterion, comparisons
from ideagora.evaluators.statistics.comparisons import Comparisons
from ideagora.evaluators.statistics.intervals.clustered import Intervals, combine_intervals
from ideagora.evaluators.statistics.ratings.bias_aware import bias_aware
from ideagora.evaluators.statistics.ratings.connectivity import missing_pairs
from ideagora.evaluators.statistics.ratings.matches import Points, ablation_points, settle_match
from ideagora.evaluators.statistics.ratings.ratings import Ratings, bradley_terry, combine, elo
from ideagora.evaluators.statistics.runs.diversity import Diversity
from ideagora.schema import Verdict


@dataclass(frozen=True)
class RatingInput:
    """The verdicts on one kind of entry, and the options of the analysis."""

    kind: Kind
    lineup: Lineup
    verdicts: tuple[Verdict, ...]
    options: ArenaOptions
    seed: int
    repeats: tuple[Verdict, ...] = ()
    """Verdicts on questions that were asked before, which enter no rating."""
    votes: tuple[Verdict, ...] = ()
    """Votes by people."""
    diversity: Mapping[str, Diversity | str] = field(default_factory=dict)
    """How different an agent's ideas are, by agent, or why that is unknown; empty without several runs."""

    @cached_property
    def agents(self) -> tuple[str, ...]:
        """Contestants with at least one entry of this kind; the others cannot have a rating."""
        return tuple(
            contestant.name
            for contestant in self.lineup.contestants
            if any(self.kind == "idea" or idea.experiment is not None for idea in contestant.ideas)
        )

    @cached_property
    def criteria(self) -> tuple[str, ...]:
        """The recorded criteria."""
        return self.options.criteria_of(self.kind)

    def columns(self, value: Values) -> Comparisons:
        """Scored verdicts, one row each."""
        return self._columns(self.verdicts, value)

    def _columns(self, verdicts: Sequence[Verdict], value: Values) -> Comparisons:
        names = self.lineup.texts, self.options.judges, self.agents
        return comparisons(verdicts, *names, value, self.run_of)

    @cached_property
    def run_of(self) -> dict[str, int]:
        """Idea id -> run, for ideas of contestants with several runs."""
        return self.lineup.run_of

    def repeated(self, value: Values) -> tuple[Comparisons, Comparisons] | None:
        """First and second verdicts on the same questions, row by row; ``None`` if none were asked for."""
        if self.options.repeat is None:
            return None
        first = {_question(one): one for one in self.verdicts if one.criteria is not None}
        pairs = [
            (first[_question(one)], one)
            for one in self.repeats
            if one.criteria is not None and _question(one) in first
        ]
        first_ones, second_ones = ([pair[place] for pair in pairs] for place in (0, 1))
        return self._columns(first_ones, value), self._columns(second_ones, value)

    @cached_property
    def overall(self) -> Comparisons:
        """Scored verdicts by the majority of the criteria."""
        return self.columns(by_all(self.criteria))

    def rated(self, value: Values) -> Comparisons:
        """The rows that the protocol rates: verdicts (paper) or matches (default)."""
        columns = self.columns(value)
        return columns if self.options.is_paper else settle_match(columns)

    @property
    def unscored(self) -> Counter[str]:
        """Number of unscored verdicts by contestant."""
        return Counter(agent for one in self.verdicts if one.criteria is None for agent in one.agents)

    @property
    def status(self) -> Status:
        """Whether all contestants can be put on one scale."""
        if not len(self.overall):
            return "nothing_scored"
        return "disconnected" if missing_pairs(self.overall) else "complete"


def _question(verdict: Verdict) -> tuple[str, ...]:
    """What was asked: the ideas in their order, and the judge."""
    return (verdict.topic, *verdict.subject, verdict.judge)


def compute_standings(data: RatingInput) -> Standings:
    """The standings; tables are empty where nothing can be rated."""
    empty = Standings(
        status=data.status,
        criteria=dict.fromkeys(data.criteria, ()),
        audit=audit_figures(_answers(data, by_all(data.criteria)), data.lineup),
        audit_breakdown=audit_breakdown(
            _answers(data, by_all(data.criteria)),
            {name: _answers(data, by_criterion(name)) for name in data.criteria},
        ),
    )
    if data.status == "nothing_scored":
        return empty
    overall = data.rated(by_all(data.criteria))
    if data.status == "complete":
        standings = _rank(data, empty)
        order = [row.agent for row in standings.ranking]
    else:
        standings = replace(empty, ranking=unrated_rows(overall, data.unscored))
        order = sorted(data.agents)
    full = data.options.ablation_of
    return replace(
        standings,
        missing_pairs=tuple(missing_pairs(data.overall)),
        win_rates=win_rates(overall, order),
        ablation=ablation(data, full) if full is not None and full in data.agents else None,
    )


def _answers(data: RatingInput, value: Values) -> Answers:
    return Answers(data.columns(value), data.repeated(value))


def _rank(data: RatingInput, standings: Standings) -> Standings:
    """The standings with ratings and their intervals."""
    columns = {name: data.rated(by_criterion(name)) for name in data.criteria}
    overall = data.rated(by_all(data.criteria))
    rate = elo if data.options.is_paper else bradley_terry
    ratings = {name: rate(rows) for name, rows in columns.items()}
    intervals = {name: compute_intervals(rows, data.options) for name, rows in columns.items()}
    if data.options.is_paper:
        rating = combine(list(ratings.values()))
        interval = combine_intervals(list(intervals.values()))
    else:
        rating, interval = rate(overall), compute_intervals(overall, data.options)

    def spread(rows: Comparisons, found: Intervals) -> Spread:
        return compute_spread(found, rows, data.options, data.seed)

    def table(name: str) -> Rows:
        return rated_rows(ratings[name], columns[name], data.unscored, spread(columns[name], intervals[name]))

    overall_spread = spread(overall, interval)
    has_runs = data.kind == "idea" and not data.options.is_paper
    rows, biases = _bias_aware_ratings(data) if data.options.bias_aware else (None, None)
    return replace(
        standings,
        ranking=rated_rows(rating, overall, data.unscored, overall_spread),
        refits=overall_spread.record,
        alone=tuple(interval.alone),
        criteria={name: table(name) for name in columns},
        intervals=interval.reason,
        unbounded=tuple(rating.unbounded),
        separation=compute_separation(interval, data.overall, rating.ranking, len(data.verdicts)),
        bias_aware=rows,
        voted=voted_ratings(data.overall, data.votes, data.kind, data.run_of) if data.votes else None,
        biases=biases,
        paper=None if data.options.is_paper else paper_ratings(data),
        runs=run_figures(data.lineup, overall, rating, interval, data.diversity) if has_runs else (),
    )


def _bias_aware_ratings(data: RatingInput) -> tuple[Rows | None, Biases]:
    """Ratings corrected for position, length and judge, and the estimated biases."""
    try:
        model = bias_aware(data.overall)
    except RatingError as error:
        return None, Biases(reason=str(error))
    spread = compute_spread(model.intervals, data.overall, data.options, data.seed, resample=False)
    judges = tuple(
        JudgeBias(
            judge=one.judge,
            discrimination=round(one.discrimination, 3),
            position=audit_figure(one.position),
            length=audit_figure(one.length),
        )
        for one in model.judges
    )
    return rated_rows(model.ratings, data.overall, data.unscored, spread), Biases(judges=judges)


def paper_ratings(data: RatingInput) -> PaperRatings | None:
    """Elo over all verdicts, by criterion and on average.

    ``None`` unless both orders are judged, and without degrees, which Elo does not know.
    """
    if data.options.schedule != "round-robin" or data.options.has_shares:
        return None
    columns = {name: data.columns(by_criterion(name)) for name in data.criteria}
    ratings = {name: elo(rows) for name, rows in columns.items()}

    def table(rating: Ratings, rows: Comparisons) -> Rows:
        return rated_rows(rating, rows, data.unscored, None)

    return PaperRatings(
        ranking=table(combine(list(ratings.values())), data.overall),
        criteria={name: table(ratings[name], columns[name]) for name in columns},
    )


def ablation(data: RatingInput, full: str) -> Ablation:
    """2, 1 or 0 points for each match against the full agent (section 5, Table 2), by criterion.

    ``full`` in a row is what the full agent would have against itself: one point per match. Points are
    ``None`` where the two never met.
    """
    points = {name: ablation_points(data.columns(by_criterion(name)), full) for name in data.criteria}
    rows = [_ablation_row(place, points) for place in range(len(data.agents) - 1)]
    return Ablation(of=full, rows=tuple(rows))


def _ablation_row(place: int, points: Mapping[str, Sequence[Points]]) -> AblationRow:
    by_name = {name: column[place] for name, column in points.items()}
    head = next(iter(by_name.values()))
    criteria = {name: one.points if one.matches else None for name, one in by_name.items()}
    scored = [value for value in criteria.values() if value is not None]
    return AblationRow(
        agent=head.agent,
        matches=head.matches,
        full=head.matches,
        criteria=criteria,
        average=round(sum(scored) / len(scored), DIGITS) if scored else None,
    )
