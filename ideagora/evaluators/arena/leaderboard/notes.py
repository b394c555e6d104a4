"""Notes on the limits of a leaderboard that its figures do not show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ideagora.evaluators.arena.entries.lineup import Lineup, pairs_without_common_topic
from ideagora.evaluators.arena.leaderboard.records import AuditFigure, Leaderboard, Separation
from ideagora.evaluators.statistics.comparisons import TIE, Comparisons
from ideagora.evaluators.statistics.ratings.separation import CONFIDENCE, POWER

OFFLINE = (
    "The offline model compares measured properties of the texts (similarities, named entities, lengths of "
    "sentences) and understands nothing. For verdicts on ideas use --judge with a language model."
)
MANY_FLIPS = 0.25
"""A note is given if surely more than this share of the matches flip; half is what chance gives."""
EVEN = 0.5
ONE_SIDED = 0.9
FEWEST_FOR_A_SLOT = 6
"""With fewer verdicts, a fair judge always prefers one slot in more than 1 of 20 arenas."""
MANY_UNSCORED = 0.05


def leaderboard_notes(board: Leaderboard, lineup: Lineup, overall: Comparisons) -> tuple[str, ...]:
    """One sentence per limit that a reader of the ranking should know."""
    return (
        *_of_status(board),
        *_of_contestants(board, lineup),
        *_of_judges(board, overall),
        *_of_size(board, lineup),
        *_of_runs(board),
        *_of_intervals(board),
        *_of_records(board),
        *lineup.notes,
    )


def _of_status(board: Leaderboard) -> Iterator[str]:
    coverage = board.coverage
    if board.status == "budget":
        yield (
            f"The budget ended the arena after {coverage.asked} of at most {coverage.expected} "
            "verdicts: the figures are preliminary."
        )
    if board.status == "incomplete":
        so_far = f" after {coverage.asked} of at most {coverage.expected} verdicts"
        yield (
            f"Incomplete{so_far if coverage.expected else ' before the first verdict'}, since a provider or "
            "source was down: the figures are preliminary, and the same command resumes."
        )
    elif not coverage.asked and board.status != "budget":
        yield "No two contestants have an idea on the same topic, so there was nothing to judge."
    if coverage.asked and not coverage.scored:
        yield f"No verdict is scored, so there is no ranking: {_reasons(board)}."
    elif coverage.asked and board.missing_pairs:
        pairs = "; ".join(f"{one} and {other}" for one, other in board.missing_pairs)
        yield f"Not all contestants can be put on one scale. Verdicts on these pairs would help: {pairs}."
    if coverage.unscored and coverage.scored:
        share = coverage.unscored / coverage.asked
        much = " The ranking covers only what could be read." if share > MANY_UNSCORED else ""
        counts = f"{coverage.unscored} of {coverage.asked} verdicts"
        yield f"{counts} are unscored and do not count ({_reasons(board)}).{much}"
    if (plans := board.experiments) is not None and plans.status == "nothing_scored":
        yield "No verdict on experiment designs is scored: two ideas with experiments must meet on a topic."
    yield from _of_flags(board)


def _of_flags(board: Leaderboard) -> Iterator[str]:
    """Contestants whose ideas address the judge."""
    for one in board.contestants:
        kinds = dict.fromkeys(flag for idea in one.flagged for flag in idea.flags)
        if kinds:
            ideas = "an idea" if len(one.flagged) == 1 else f"{len(one.flagged)} ideas"
            yield f"{one.agent}: {ideas} may address the judge ({', '.join(kinds)}); judged nevertheless."


def _reasons(board: Leaderboard) -> str:
    counts = board.coverage.reasons.items()
    return ", ".join(f"{reason}: {count}" for reason, count in counts) or "no verdict yet"


def _of_contestants(board: Leaderboard, lineup: Lineup) -> Iterator[str]:
    for one in board.contestants:
        if not one.ideas:
            why = one.missing[0].reason if one.missing else "no idea"
            yield f"{one.agent} has no entry and no rating ({why})."
        elif one.missing:
            first, number = one.missing[0], len(one.missing)
            lacking = (
                f"is missing on {_number(number, 'topic')}"
                if one.runs == 1
                else f"lacks {number} of its {one.ideas + number} ideas"
            )
            yield (
                f"{one.agent} {lacking}; this counts neither for nor against it (“{first.topic[:40]}”: "
                f"{first.reason})."
            )
    unpaired = [
        pair for pair in pairs_without_common_topic(lineup) if all(_has_ideas(lineup, name) for name in pair)
    ]
    if unpaired:
        named = "; ".join(f"{one} and {other}" for one, other in unpaired[:5])
        more = f" and {len(unpaired) - 5} more" if len(unpaired) > 5 else ""
        yield f"Ideas on different topics are not compared; without a common topic: {named}{more}."


def _has_ideas(lineup: Lineup, name: str) -> bool:
    return any(one.name == name and one.ideas for one in lineup.contestants)


def _of_judges(board: Leaderboard, overall: Comparisons) -> Iterator[str]:
    if board.smoke_test:
        yield f"Smoke test, not a ranking. {OFFLINE}"
    elif "offline" in board.judges:
        yield f"{OFFLINE} The ranking includes its verdicts."
    if not len(overall):
        return
    outcomes = overall.outcome
    if (outcomes == TIE).all():
        yield "Every verdict is a tie: neither the judge nor this ranking distinguishes the ideas."
    for slot, sides in (("first", outcomes > TIE), ("second", outcomes < TIE)):
        share = float(sides.mean())
        if share >= ONE_SIDED and len(outcomes) >= FEWEST_FOR_A_SLOT:
            preference = f"The judge prefers whatever is shown {slot} ({share:.0%} of verdicts)"
            yield f"{preference}: the ranking says nothing about the ideas."
    by_judge = {one.judge: one.figures for one in board.audit_breakdown if one.criterion is None}
    for judge, figures in (by_judge or {board.judges[0]: board.audit}).items():
        yield from _of_biases(judge, figures)
    family = board.audit.get("own_family_preference", AuditFigure())
    if _sign(family, 0.0) > 0:
        yield f"Judges favour ideas by models of their own family by {_interval(family, '.2f')} points."


def _of_biases(judge: str, audit: Mapping[str, AuditFigure]) -> Iterator[str]:
    """What a judge's verdicts depend on beside the ideas, where the interval leaves no doubt."""
    slot, flips, length = (
        audit.get(name, AuditFigure()) for name in ("first_slot_rate", "flip_rate", "length_correlation")
    )
    if (side := _sign(slot, EVEN)) and slot.value is not None:
        preferred, share = ("first", slot) if side > 0 else ("second", _complement(slot))
        if (share.value or 0.0) < ONE_SIDED:  # else there is a note already
            points = f"it takes {_interval(share, '.0%')} of the points"
            yield f"{judge} prefers the idea shown {preferred}: {points}."
    if flips.low is not None and flips.low > MANY_FLIPS:
        yield f"In {_interval(flips, '.0%')} of the matches {judge} changes the verdict with the order."
    if side := _sign(length, 0.0):
        kind = "longer" if side > 0 else "shorter"
        yield (
            f"{judge} favours the {kind} idea (correlation {_interval(length, '.2f')} with the outcome): "
            f"{kind} ideas are better, or the judge is biased. --bias-aware shows the ratings without it."
        )


def _sign(figure: AuditFigure, neutral: float) -> int:
    """1 or -1 if the whole interval is above or below the neutral value, else 0."""
    if figure.low is None or figure.high is None:
        return 0
    return int(figure.low > neutral) - int(figure.high < neutral)


def _complement(figure: AuditFigure) -> AuditFigure:
    """The share of the other side."""
    low, value, high = (None if one is None else 1 - one for one in (figure.high, figure.value, figure.low))
    return replace(figure, low=low, value=value, high=high)


def _interval(figure: AuditFigure, form: str) -> str:
    return f"{figure.value:{form}}, 95 % interval {figure.low:{form}} to {figure.high:{form}},"


def _of_records(board: Leaderboard) -> Iterator[str]:
    named = [row.agent for row in board.ranking if row.agent in board.unbounded]
    if named:
        yield (
            f"Won or lost every comparison with the others, alone or as a group: {', '.join(named)}. Their "
            "ratings show the direction, not the distance (each was given one tie against the average of the "
            "others)."
        )


def _of_size(board: Leaderboard, lineup: Lineup) -> Iterator[str]:
    if board.status == "complete" and len(lineup.topics) < 2:
        yield "There is only one topic: nothing can be said about other topics, and there are no intervals."
    for step in board.separation:
        if step.probability is not None and step.probability < CONFIDENCE:
            yield (
                f"{step.above} and {step.below} are not separated (probability "
                f"{step.probability:.2f} that the order is right{_need(step)})."
            )


def _need(step: Separation) -> str:
    if not step.more_topics or step.more_verdicts is None:
        return ""
    topics, verdicts = (
        _number(step.more_topics, "more topic"),
        _number(step.more_verdicts, "more verdict"),
    )
    return f"; {topics}, so about {verdicts}, would tell in {POWER:.0%} of cases"


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _of_runs(board: Leaderboard) -> Iterator[str]:
    """Agents whose runs hardly differ."""
    alike = [one.agent for one in board.runs if one.pairs and one.twins == one.pairs]
    if alike:
        yield (
            f"On every topic, all runs of {', '.join(alike)} gave near-duplicate ideas: more runs add "
            "verdicts, but hardly any ideas."
        )


def _of_intervals(board: Leaderboard) -> Iterator[str]:
    """Contestants without an interval, and refits that were left out."""
    if board.schedule == "adaptive" and any(row.low is not None for row in board.ranking):
        yield (
            "The adaptive schedule chooses pairs by earlier verdicts: in simulations its 95 % intervals hold "
            "in 91 to 95 % of cases (docs/ratings.md)."
        )
    for name in board.alone:
        yield f"{name} meets the others on only one topic, so it has a rating but no interval."
    refits = board.refits
    if refits is not None and refits.unratable:
        yield (
            f"{refits.unratable} of {refits.tried} refits for the intervals are left out: without some "
            "topics not all contestants can be compared."
        )
