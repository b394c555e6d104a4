"""Contestants and their entries, one per topic and run, with reasons for the missing ones.

An entry is missing if there is no idea on the topic, or if the idea is empty or too long to judge. Ideas on
different topics are never compared. With several runs (``--runs``), a topic has one cell per run: the ideas
of the agents' first runs are compared with each other, those of their second runs, and so on. Existing ideas
have a single run and meet all of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ideagora.evaluators.arena.prompt_injection import injection_flags
from ideagora.evaluators.generation import AgentRun, RunResult
from ideagora.importing.self_scores import without_self_scores
from ideagora.schema import Experiment, Idea, Topic, stable_id

LONGEST_IDEA = 4_000
"""Maximum number of words of an entry; a longer text is a paper rather than an idea."""
LONGEST_WORD = 40
"""Mean characters per word beyond which the length of a text counts by characters."""

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


def generated_ideas(runs: Sequence[AgentRun], results: Sequence[RunResult]) -> list[ContestantIdeas]:
    """The generated ideas by agent and run, in the order of the runs."""
    ideas: dict[tuple[str, int], list[Idea]] = {(run.name, run.number): [] for run in runs}
    missing: dict[tuple[str, int], list[MissingEntry]] = {key: [] for key in ideas}
    several = any(number for _, number in ideas)
    for run, result in zip(runs, results, strict=True):
        key = run.name, run.number
        ideas[key] += result.ideas
        if result.missing is not None:
            which = f"run {run.number + 1}: " if several else ""
            missing[key].append(MissingEntry(run.task.topic.text, f"{which}{result.missing}"))
    sources = {run.name: run.task.agent.source for run in runs}
    return [
        ContestantIdeas(name, sources[name], tuple(ideas[name, run]), tuple(missing[name, run]), run)
        for name, run in ideas
    ]


def build_lineup(idea_sets: Sequence[ContestantIdeas], topics: Sequence[Topic]) -> Lineup:
    """Select the entries: one idea per topic and run; unfit ideas are rejected.

    Topics are matched by text. Without topics, those of the ideas are used in their order.
    """
    chosen = list(topics) or _topics_of(idea_sets)
    keys = {topic_key(topic.text): topic.text for topic in chosen}
    by_name: dict[str, list[ContestantIdeas]] = {}
    for made in sorted(idea_sets, key=lambda made: (made.name, made.run)):
        by_name.setdefault(made.name, []).append(made)
    contestants = _with_unique_ids([_contestant(runs, keys) for runs in by_name.values()])
    return Lineup(
        tuple(chosen),
        tuple(contestants),
        tuple(_notes(idea_sets, contestants, keys)),
        flag_injections(contestants),
    )


def flag_injections(contestants: Iterable[Contestant]) -> dict[str, tuple[str, ...]]:
    """Idea id -> flags of prompt injection, for flagged ideas only."""
    ideas = (idea for contestant in contestants for idea in contestant.ideas)
    return {idea.id: flags for idea in ideas if (flags := injection_flags(_texts(idea)))}


def _topics_of(idea_sets: Sequence[ContestantIdeas]) -> list[Topic]:
    texts = {topic_key(idea.topic): " ".join(idea.topic.split()) for made in idea_sets for idea in made.ideas}
    return [Topic(text=text) for text in texts.values() if text]


def _contestant(runs: Sequence[ContestantIdeas], keys: Mapping[str, str]) -> Contestant:
    """The contestant of all its runs, in their order."""
    chosen = [_entries(made, keys) for made in runs]
    missing = tuple(entry for _, of_run, _ in chosen for entry in of_run)
    entries = tuple(of_run for of_run, _, _ in chosen)
    return Contestant(
        runs[0].name, runs[0].source, entries, missing, sum(further for _, _, further in chosen)
    )


def _entries(
    made: ContestantIdeas, keys: Mapping[str, str]
) -> tuple[dict[str, Idea], list[MissingEntry], int]:
    """Entries by topic, missing ones, and the number of further ideas.

    The first idea on a topic competes or is rejected.
    """
    by_topic: dict[str, list[Idea]] = {}
    for idea in made.ideas:
        if (topic := keys.get(topic_key(idea.topic))) is not None:
            by_topic.setdefault(topic, []).append(idea)
    reasons = {entry.topic: entry.reason for entry in made.missing}
    reasons |= {topic: reason for topic, ideas in by_topic.items() if (reason := rejection_reason(ideas[0]))}
    entries = {
        topic: _as_entry(ideas[0], made, topic) for topic, ideas in by_topic.items() if topic not in reasons
    }
    missing = [
        MissingEntry(topic, reasons.get(topic, "no idea on this topic"))
        for topic in keys.values()
        if topic not in entries
    ]
    return entries, missing, sum(len(ideas) - 1 for ideas in by_topic.values())


def _as_entry(idea: Idea, made: ContestantIdeas, topic: str) -> Idea:
    maker = {} if idea.agent == made.name else {"made_by": idea.agent}
    run = {RUN: made.run + 1} if made.run else {}
    return without_self_scores(idea).model_copy(
        update={"agent": made.name, "topic": topic, "extra": {**idea.extra, **maker, **run}}
    )


def run_number(idea: Idea) -> int:
    """The run of an entry, from 1."""
    number = idea.extra.get(RUN)
    return number if isinstance(number, int) else 1


def _with_unique_ids(contestants: Sequence[Contestant]) -> list[Contestant]:
    """Replace ids that several entries share: ids in files may collide, and runs may have the same idea."""
    seen = Counter(idea.id for contestant in contestants for idea in contestant.ideas)

    def own(idea: Idea) -> Idea:
        if seen[idea.id] == 1:
            return idea
        which = [f"run {run_number(idea)}"] if RUN in idea.extra else []
        fresh = stable_id(idea.agent, idea.topic, idea.id, *which)
        return idea.model_copy(update={"id": fresh, "extra": {**idea.extra, "id_was": idea.id}})

    def with_own(entries: Mapping[str, Idea]) -> dict[str, Idea]:
        return {topic: own(idea) for topic, idea in entries.items()}

    return [replace(contestant, runs=tuple(map(with_own, contestant.runs))) for contestant in contestants]


def rejection_reason(idea: Idea) -> str | None:
    """Why the idea cannot be judged, or ``None`` if it can."""
    texts = [getattr(idea, part) or "" for part in PARTS]
    if not re.search(r"\w", " ".join(texts[1:])):
        return "the idea is empty: it has neither motivation, novelty nor method"
    if (count := word_count(texts)) > LONGEST_IDEA:
        return f"the idea has {count:,} words; the maximum is {LONGEST_IDEA:,}"
    plan = idea.experiment
    if plan is not None and (count := word_count(_plan_texts(plan))) > LONGEST_IDEA:
        return f"its experiment has {count:,} words; the maximum is {LONGEST_IDEA:,}"
    return None


def word_count(texts: Iterable[str]) -> int:
    """Number of words; long runs without spaces count by their length."""
    whole = " ".join(texts)
    return max(len(whole.split()), len(whole) // LONGEST_WORD)


def _texts(idea: Idea) -> list[str]:
    return [
        *(getattr(idea, part) or "" for part in PARTS),
        *(_plan_texts(idea.experiment) if idea.experiment else []),
    ]


def _plan_texts(plan: Experiment) -> list[str]:
    lists = (plan.steps, plan.datasets, plan.baselines, plan.metrics, plan.ablations, plan.risks)
    return [text for part in lists for text in part] + ([plan.refuted_if] if plan.refuted_if else [])


def _notes(
    idea_sets: Sequence[ContestantIdeas], contestants: Sequence[Contestant], keys: Mapping[str, str]
) -> Iterable[str]:
    for contestant in contestants:
        if number := contestant.left_out:
            ideas = _pluralize(number, "further idea")
            rule = "only the first (best) one per topic does"
            yield f"{contestant.name}: {ideas} on a topic did not compete; {rule}."
    for ideas_of_one in idea_sets:
        other = {idea.topic for idea in ideas_of_one.ideas if topic_key(idea.topic) not in keys}
        if other:
            topics = f"{_pluralize(len(other), 'other topic')} were left out ({listed_topics(sorted(other))})"
            yield f"{ideas_of_one.name}: ideas on {topics}."


def pairs_without_common_topic(lineup: Lineup) -> list[tuple[str, str]]:
    """Pairs of contestants without a common topic, whose ideas cannot be compared."""
    contestants = lineup.contestants
    return [
        (contestant.name, other.name)
        for place, contestant in enumerate(contestants)
        for other in contestants[place + 1 :]
        if not contestant.topics & other.topics
    ]


def _pluralize(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def listed_topics(texts: Sequence[str], most: int = 3) -> str:
    """The first topics in quotation marks and the number of the others, for messages."""
    shown = ", ".join(f"“{text[:40]}”" for text in texts[:most])
    return shown if len(texts) <= most else f"{shown} and {len(texts) - most} more"
