"""Contestants and their entries, one per topic and run, with reasons for the missing ones.

An entry is missing if there is no idea on the topic, or if the idea is empty or too long to judge. Ideas on
different topics are never compared. With several runs (``--runs``), a topic has one cell per run: the ideas
of the agents' first runs are compared with each other, those of their second runs, and so on. Existing ideas
have a single run and meet all of them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ideagora.schema import Idea, Topic, stable_id

Kind = Literal["idea", "experiment"]
"""Kind of entry that is judged."""

PARTS = ("title", "motivation", "novelty", "method")
RUN = "arena_run"
"""Key in an entry's ``extra``: its run, from 2; without it, the entry is of the first run."""


def topic_key(text: str) -> str:
    """Key of a topic that ignores case, spaces and final punctuation."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(plain.split()).rstrip(" .!?:;,")


@dataclass(frozen=True)
class MissingEntry:
    """A topic on which a contestant has no entry, with the reason."""

    topic: str
    reason: str


@dataclass(frozen=True)
class Contestant:
    """A contestant with at most one idea per topic and run; judges do not see the name."""

    name: str
    source: str
    """Where the ideas come from, for display."""
    runs: tuple[Mapping[str, Idea], ...]
    """Of each run, topic -> entry. Existing ideas have a single run."""
    missing: tuple[MissingEntry, ...] = ()
    left_out: int = 0
    """Number of further ideas on a topic; only the first (best) one of a run competes."""

    def idea(self, topic: str, run: int = 0) -> Idea | None:
        """The entry of a run, or ``None``; a single run stands for every run."""
        return self.runs[run if len(self.runs) > 1 else 0].get(topic)

    @property
    def ideas(self) -> tuple[Idea, ...]:
        """All entries, by run."""
        return tuple(idea for entries in self.runs for idea in entries.values())

    @property
    def topics(self) -> frozenset[str]:
        """The topics with an entry."""
        return frozenset(topic for entries in self.runs for topic in entries)


@dataclass(frozen=True)
class ContestantIdeas:
    """Ideas of one run of a contestant, best first, before entries are selected."""

    name: str
    source: str
    ideas: tuple[Idea, ...]
    missing: tuple[MissingEntry, ...] = ()
    run: int = 0


@dataclass(frozen=True)
class Lineup:
    """All contestants, sorted by name, and the topics in their order."""

    topics: tuple[Topic, ...]
    contestants: tuple[Contestant, ...]
    notes: tuple[str, ...] = ()
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Idea id -> flags of prompt injection."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the contestants, by position."""
        return tuple(contestant.name for contestant in self.contestants)

    @property
    def texts(self) -> tuple[str, ...]:
        """Texts of the topics, by position."""
        return tuple(topic.text for topic in self.topics)

    @property
    def runs(self) -> int:
        """The largest number of runs of a contestant."""
        return max((len(contestant.runs) for contestant in self.contestants), default=1)

    @property
    def cells(self) -> int:
        """Number of topics times runs: ideas are compared within a cell."""
        return len(self.topics) * self.runs

    def text(self, cell: int) -> str:
        """Text of a cell's topic."""
        return self.topics[cell // self.runs].text

    def idea(self, cell: int, contestant: int) -> Idea | None:
        """The entry in a cell, or ``None``."""
        return self.contestants[contestant].idea(self.text(cell), cell % self.runs)

    def cells_of(self, cell: int, first: int, second: int) -> Sequence[int]:
        """The cells in which the same two ideas meet: all of the topic if both contestants have one run."""
        if max(len(self.contestants[one].runs) for one in (first, second)) > 1:
            return [cell]
        start = cell - cell % self.runs
        return range(start, start + self.runs)

    def entered(self, kind: Kind = "idea") -> list[list[bool]]:
        """Whether each contestant has an entry in each cell, shape (cells, contestants)."""
        return [
            [self.competes(cell, number, kind) for number in range(len(self.contestants))]
            for cell in range(self.cells)
        ]

    def competes(self, cell: int, contestant: int, kind: Kind) -> bool:
        """Whether there is an entry of this kind."""
        idea = self.idea(cell, contestant)
        return idea is not None and (kind == "idea" or idea.experiment is not None)

    @property
    def run_of(self) -> dict[str, int]:
        """Idea id -> run, for the ideas of contestants with several runs."""
        return {
            idea.id: run
            for contestant in self.contestants
            if len(contestant.runs) > 1
            for run, entries in enumerate(contestant.runs)
            for idea in entries.values()
        }

    @property
    def digest(self) -> str:
        """Hash of all entries and topics."""
        parts = [
            f"{topic.text}|{contestant.name}|{idea.model_dump_json(exclude={'usage', 'created'})}"
            for topic in self.topics
            for contestant in self.contestants
            for entries in contestant.runs
            if (idea := entries.get(topic.text)) is not None
        ]
        return stable_id(*self.texts, *parts)


def run_number(idea: Idea) -> int:
    """The run of an entry, from 1."""
    number = idea.extra.get(RUN)
    return number if isinstance(number, int) else 1


def pairs_without_common_topic(lineup: Lineup) -> list[tuple[str, str]]:
    """Pairs of contestants without a common topic, whose ideas cannot be compared."""
    contestants = lineup.contestants
    return [
        (contestant.name, other.name)
        for place, contestant in enumerate(contestants)
        for other in contestants[place + 1 :]
        if not contestant.topics & other.topics
    ]


def listed_topics(texts: Sequence[str], most: int = 3) -> str:
    """The first topics in quotation marks and the number of the others, for messages."""
    shown = ", ".join(f"“{text[:40]}”" for text in texts[:most])
    return shown if len(texts) <= most else f"{shown} and {len(texts) - most} more"
