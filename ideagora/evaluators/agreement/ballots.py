"""Blind ballots: pairs of ideas for people to judge, and their votes as verdicts.

A ballot shows two ideas as the judges saw them, without their authors. The key of a ballot file stays with
the run, so the file can be given to anybody. Each voter sees half of the pairs in the swapped order. (In
Chain of Ideas, section 4.2, people and models judge the same pairs.)
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ideagora.schema import Record, Verdict, stable_id

CHOICES = {
    **dict.fromkeys(("1", "1.0", "first", "a"), 1.0),
    **dict.fromkeys(("2", "2.0", "second", "b"), 0.0),
    **dict.fromkeys(("tie", "=", "equal", "same", "draw"), 0.5),
}
"""Accepted entries, and their outcome."""


class Ballot(Record):
    """Two ideas side by side; ``subject`` and ``agents`` stay in the key."""

    id: str
    topic: str
    kind: Literal["idea", "experiment"]
    subject: tuple[str, str]
    agents: tuple[str, str]
    criteria: tuple[str, ...]
    order: int
    """1 when the two stand the other way round than their ids sort."""


@dataclass(frozen=True)
class Pair:
    """Two ideas that were compared, by id in ascending order."""

    topic: str
    kind: Literal["idea", "experiment"]
    subject: tuple[str, str]
    agents: tuple[str, str]
    criteria: tuple[str, ...]


@dataclass(frozen=True)
class InvalidBallot:
    """A ballot, or one entry on it, that cannot be read."""

    ballot: str
    row: int
    field: str
    why: str


@dataclass(frozen=True)
class BallotCount:
    """Verdicts, unreadable entries, and the number of blank ballots."""

    verdicts: tuple[Verdict, ...]
    invalid: tuple[InvalidBallot, ...]
    blank: int


def collect_pairs(verdicts: Iterable[Verdict]) -> list[Pair]:
    """Every judged pair once, whatever the order and the outcome."""
    criteria: dict[str, tuple[str, ...]] = {}
    seen: dict[tuple[str, str, tuple[str, str]], tuple[str, str]] = {}
    for verdict in verdicts:
        if len(verdict.subject) != 2 or len(verdict.agents) != 2:
            continue
        if verdict.criteria and verdict.kind not in criteria:
            criteria[verdict.kind] = tuple(verdict.criteria)
        (one, maker), (other, rival) = sorted(zip(verdict.subject, verdict.agents, strict=True))
        seen.setdefault((verdict.topic, verdict.kind, (one, other)), (maker, rival))
    return [
        Pair(topic, "experiment" if kind == "experiment" else "idea", subject, agents, criteria[kind])
        for (topic, kind, subject), agents in sorted(seen.items())
        if kind in criteria
    ]


def choose_pairs(pairs: Sequence[Pair], number: int, seed: int) -> list[Pair]:
    """At most ``number`` pairs, balanced over agents and topics."""
    left = list(pairs)
    random.Random(seed).shuffle(left)
    met: Counter[tuple[str, ...]] = Counter()
    topics: Counter[str] = Counter()
    chosen: list[Pair] = []
    while left and len(chosen) < number:
        pair = min(left, key=lambda one: (met[tuple(sorted(one.agents))], topics[one.topic]))
        left.remove(pair)
        met[tuple(sorted(pair.agents))] += 1
        topics[pair.topic] += 1
        chosen.append(pair)
    return chosen


def deal_ballots(pairs: Sequence[Pair], voter: str, seed: int) -> list[Ballot]:
    """The ballots of one voter: the same pairs for everyone, shuffled and swapped per voter."""
    chance = random.Random(f"{seed}:{voter}")
    swapped = [number % 2 for number in range(len(pairs))]  # half the pairs each way round
    chance.shuffle(swapped)
    ballots = [_ballot(pair, voter, order) for pair, order in zip(pairs, swapped, strict=True)]
    chance.shuffle(ballots)
    return ballots


def _ballot(pair: Pair, voter: str, order: int) -> Ballot:
    (one, other), (maker, rival) = pair.subject, pair.agents
    return Ballot(
        id=stable_id("ballot", voter, pair.kind, pair.topic, one, other, str(order)),
        topic=pair.topic,
        kind=pair.kind,
        subject=(other, one) if order else (one, other),
        agents=(rival, maker) if order else (maker, rival),
        criteria=pair.criteria,
        order=order,
    )


def count_ballots(
    rows: Sequence[Mapping[str, str]], key: Mapping[str, Ballot], voter: str, first: int = 1
) -> BallotCount:
    """The entries of filled-in rows as verdicts of ``human:<voter>``; empty cells are left out.

    Args:
        rows: rows of the file.
        key: the exported ballots by id.
        voter: name of the voter.
        first: number of the first row; 2 below the header of a spreadsheet.
    """
    verdicts: dict[str, Verdict] = {}
    invalid: list[InvalidBallot] = []
    blank = 0
    for number, row in enumerate(rows, first):
        name = row.get("ballot", "").strip()
        if name not in key:
            invalid.append(InvalidBallot(name, number, "ballot", "no ballot of this run has this id"))
            continue
        entries, unreadable = _read_entries(row, key[name], number)
        invalid += unreadable
        if name in verdicts:
            invalid.append(InvalidBallot(name, number, "ballot", "it occurs twice; the later one counts"))
        if entries:
            verdicts[name] = _verdict(key[name], entries, voter, row.get("comment", "").strip())
        elif not unreadable:
            blank += 1
    return BallotCount(tuple(verdicts.values()), tuple(invalid), blank)


def _read_entries(
    row: Mapping[str, str], ballot: Ballot, number: int
) -> tuple[dict[str, float], list[InvalidBallot]]:
    entries, invalid = {}, []
    for name in ballot.criteria:
        written = row.get(name, "").strip()
        if written.lower() in CHOICES:
            entries[name] = CHOICES[written.lower()]
        elif written:
            invalid.append(InvalidBallot(ballot.id, number, name, f"{written[:40]!r} is not 1, 2 or tie"))
    return entries, invalid


def _verdict(ballot: Ballot, entries: dict[str, float], voter: str, comment: str) -> Verdict:
    return Verdict(
        id=stable_id("vote", voter, ballot.id),
        evaluator="arena",
        protocol="vote",
        topic=ballot.topic,
        subject=ballot.subject,
        criteria=entries,
        status="scored",
        judge=f"human:{voter}",
        order=ballot.order,
        kind=ballot.kind,
        agents=ballot.agents,
        rationale=comment or None,
    )
