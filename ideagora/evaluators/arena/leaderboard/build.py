"""Builds the leaderboard from verdicts and lineup alone: a finished arena is rated again without a call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from ideagora.config import Settings
from ideagora.evaluators.arena.entries.lineup import Contestant, Lineup
from ideagora.evaluators.arena.leaderboard.notes import leaderboard_notes
from ideagora.evaluators.arena.leaderboard.records import (
    ContestantSummary,
    Coverage,
    FlaggedIdea,
    Leaderboard,
    LeaderboardUsage,
    Standings,
)
from ideagora.evaluators.arena.leaderboard.smoke_test import without_bounds
from ideagora.evaluators.arena.leaderboard.standings import RatingInput, compute_standings
from ideagora.evaluators.arena.leaderboard.voted import read_votes
from ideagora.evaluators.arena.options import ArenaOptions
from ideagora.evaluators.statistics.runs.diversity import Diversity
from ideagora.schema import Serialized, Usage, Verdict

Ending = Literal["complete", "budget", "incomplete"]
OFFLINE_JUDGE = "offline"


@dataclass(frozen=True)
class JudgingResult:
    """The verdicts of an arena, and how it ended."""

    verdicts: Sequence[Verdict]
    expected: int
    """Maximum number of verdicts that the schedule asks for."""
    answers: Mapping[str, Serialized[Usage]] = field(default_factory=dict)
    """Usage of the answers, by label."""
    status: Ending = "complete"
    """``budget``: the budget was spent first; ``incomplete``: a provider or source was down."""
    outages: tuple[str, ...] = ()
    """What was down."""


def build_leaderboard(
    lineup: Lineup,
    result: JudgingResult,
    options: ArenaOptions,
    settings: Settings,
    diversity: Mapping[str, Diversity | str],
) -> Leaderboard:
    """All figures of an arena, with notes on their limits.

    ``diversity`` is that of the ideas of each agent with several runs, or why it is unknown.
    """
    votes = tuple(read_votes(options.votes))
    data = {
        kind: RatingInput(
            kind,
            lineup,
            tuple(one for one in result.verdicts if one.kind == kind and not one.is_repeat),
            options,
            settings.seed,
            tuple(one for one in result.verdicts if one.kind == kind and one.is_repeat),
            votes,
            diversity,
        )
        for kind in options.kinds
    }
    smoke_test = set(options.judges) == {OFFLINE_JUDGE}
    standings = {kind: compute_standings(rating) for kind, rating in data.items()}
    if smoke_test:
        standings = {kind: without_bounds(table) for kind, table in standings.items()}
    ideas = standings["idea"]
    board = Leaderboard(
        **_fields(ideas),
        protocol="paper" if options.is_paper else "default",
        schedule=options.schedule,
        n_topics=len(lineup.topics),
        topics=lineup.texts,
        judges=options.judges,
        smoke_test=smoke_test,
        contestants=tuple(summarize(contestant, lineup) for contestant in lineup.contestants),
        experiments=standings.get("experiment"),
        coverage=_coverage(result),
        usage=LeaderboardUsage(
            answers=result.answers, total=sum((verdict.usage for verdict in result.verdicts), Usage())
        ),
        settings={**options.model_dump(mode="json"), "seed": settings.seed, "models": settings.models},
        outages=result.outages,
    )
    if result.status != "complete":
        board = replace(board, status=result.status)
    if smoke_test:
        board = replace(board, intervals="The offline model alone judged: a smoke test has no intervals.")
    return replace(board, notes=leaderboard_notes(board, lineup, data["idea"].overall))


def _fields(standings: Standings) -> dict[str, Any]:
    return {column.name: getattr(standings, column.name) for column in fields(standings)}


def summarize(contestant: Contestant, lineup: Lineup | None = None) -> ContestantSummary:
    """What a contestant competed with; ideas that address the judge are flagged if ``lineup`` is given."""
    ideas = sorted(contestant.ideas, key=lambda idea: idea.topic)
    flags = {} if lineup is None else lineup.flags
    return ContestantSummary(
        agent=contestant.name,
        ideas=len(ideas),
        source=contestant.source,
        missing=contestant.missing,
        left_out=contestant.left_out,
        runs=len(contestant.runs),
        models=tuple(sorted({idea.model for idea in ideas})),
        usage=sum((idea.usage for idea in ideas), Usage()),
        flagged=tuple(
            FlaggedIdea(topic=idea.topic, idea=idea.id, flags=flags[idea.id])
            for idea in ideas
            if idea.id in flags
        ),
    )


def _coverage(result: JudgingResult) -> Coverage:
    unscored = [verdict for verdict in result.verdicts if verdict.criteria is None]
    reasons = Counter((verdict.reason or "unknown").partition(":")[0] for verdict in unscored)
    flags = Counter(flag.partition(": ")[2] for verdict in result.verdicts for flag in verdict.flags)
    return Coverage(
        expected=result.expected,
        asked=len(result.verdicts),
        scored=len(result.verdicts) - len(unscored),
        unscored=len(unscored),
        reasons=dict(sorted(reasons.items())),
        flags=dict(sorted(flags.items())),
    )
