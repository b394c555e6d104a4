"""The record of a loop, when it ends, and its scores (AidanBench, sections 3.1 to 3.4). Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, NotRequired, TypedDict

Ending = Literal["incoherent", "repeated", "maximum", "no further answer"]
"""Why a loop ended. After the last two, every answer counts. A failure is none of them: it has no score."""
BY_ANSWER: tuple[Ending, ...] = ("incoherent", "repeated")
"""Endings by an answer, which does not count."""


@dataclass(frozen=True)
class Thresholds:
    """When an answer ends the loop."""

    coherence: float
    """0 to 100; an answer at or below it is incoherent."""
    novelty: float
    """-1 to 1; an answer below it repeats an earlier one."""


THRESHOLDS: Mapping[str, Thresholds] = {
    "code": Thresholds(coherence=15.0, novelty=0.15),
    "paper": Thresholds(coherence=30.0, novelty=0.15),
}
"""By name. The paper (section 3.3) ends at 3 on a scale to 10 and states no threshold for novelty."""


@dataclass(frozen=True)
class Turn:
    """One answer as it was judged."""

    coherence: float
    """0 to 100."""
    novelty: float
    """1 - the largest cosine to the earlier answers; 1 for the first answer (equation 1)."""
    model_novelty: float | None = None
    """The same with the similarity that a model states, 0 to 1; ``None`` if no model was asked."""


def ending_of(turn: Turn, thresholds: Thresholds) -> Ending | None:
    """Why an answer ends the loop; ``None`` if it does not."""
    if turn.coherence <= thresholds.coherence:
        return "incoherent"
    known = [turn.novelty] if turn.model_novelty is None else [turn.novelty, turn.model_novelty]
    return "repeated" if min(known) < thresholds.novelty else None


def turns_until_end(turns: Iterable[Turn], thresholds: Thresholds) -> tuple[tuple[Turn, ...], Ending | None]:
    """The turns up to the first that ends the loop, which is included, and why; ``None``: none does."""
    seen: list[Turn] = []
    for turn in turns:
        seen.append(turn)
        if (ending := ending_of(turn, thresholds)) is not None:
            return tuple(seen), ending
    return tuple(seen), None


def counted(turns: Sequence[Turn], ending: Ending) -> Sequence[Turn]:
    """The answers that count: without the one that ended the loop."""
    return turns[:-1] if ending in BY_ANSWER else turns


Score = Callable[[Sequence[Turn]], float | None]
"""A figure of the counted answers to one question."""


def novelty_sum(turns: Sequence[Turn]) -> float:
    """The sum of novelty (section 3.4)."""
    return sum(turn.novelty for turn in turns)


def model_novelty_sum(turns: Sequence[Turn]) -> float | None:
    """The sum of novelty by a model; ``None`` if no model was asked."""
    known = [turn.model_novelty for turn in turns if turn.model_novelty is not None]
    return sum(known) if len(known) == len(turns) and turns else None


def adjusted_sum(turns: Sequence[Turn], least: float) -> float:
    """The sum of novelty over answers with a coherence of at least ``least``, 0 to 100 (section 3.4.1)."""
    return sum(turn.novelty for turn in turns if turn.coherence >= least)


def mean_coherence(turns: Sequence[Turn]) -> float | None:
    """The mean coherence, 0 to 100; ``None`` without answers."""
    return fmean(turn.coherence for turn in turns) if turns else None


def mean_mmr(turns: Sequence[Turn], weight: float = 0.5) -> float | None:
    """The mean maximal marginal relevance (equation 3), coherence as a share of 100; ``None``: no answer.

    >>> mean_mmr([Turn(coherence=100, novelty=1.0)]), mean_mmr([Turn(coherence=90, novelty=0.4)])
    (0.5, 0.15)
    """
    if not turns:
        return None
    values = [weight * turn.coherence / 100 - (1 - weight) * (1 - turn.novelty) for turn in turns]
    return round(fmean(values), 9)


class TurnFields(TypedDict):
    """A turn as JSON."""

    coherence: float
    novelty: float
    model_novelty: NotRequired[float]


def turn_row(turn: Turn) -> TurnFields:
    """A turn as JSON."""
    row: TurnFields = {"coherence": turn.coherence, "novelty": turn.novelty}
    if turn.model_novelty is not None:
        row["model_novelty"] = turn.model_novelty
    return row


def turn_of(row: TurnFields) -> Turn:
    """A turn from its JSON."""
    stated = row.get("model_novelty")
    return Turn(float(row["coherence"]), float(row["novelty"]), None if stated is None else float(stated))
