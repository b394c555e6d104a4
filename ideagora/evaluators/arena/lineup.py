"""Contestants and their entries, one per topic, with reasons for the missing ones.

An entry is missing if there is no idea on the topic, or if the idea is empty or too long to judge. Ideas on
different topics are never compared.
"""

from __future__ import annotations

import re
import unicodedata
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
    """A contestant with at most one idea per topic; judges do not see the name."""

    name: str
    source: str
    """Where the ideas come from, for display."""
    ideas: Mapping[str, Idea]
    """Topic -> entry."""
    missing: tuple[MissingEntry, ...] = ()
    left_out: int = 0
    """Number of further ideas on a topic; only the first (best) one competes."""


@dataclass(frozen=True)
class ContestantIdeas:
    """Ideas of one contestant, best first, before entries are selected."""

    name: str
    source: str
    ideas: tuple[Idea, ...]
    missing: tuple[MissingEntry, ...] = ()


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

    def idea(self, topic: int, contestant: int) -> Idea | None:
        """The entry on a topic, or ``None``."""
        return self.contestants[contestant].ideas.get(self.topics[topic].text)

    def entered(self, kind: Kind = "idea") -> list[list[bool]]:
        """Whether each contestant has an entry on each topic, shape (topics, contestants)."""
        return [
            [self.competes(topic, number, kind) for number in range(len(self.contestants))]
            for topic in range(len(self.topics))
        ]

    def competes(self, topic: int, contestant: int, kind: Kind) -> bool:
        """Whether there is an entry of this kind."""
        idea = self.idea(topic, contestant)
        return idea is not None and (kind == "idea" or idea.experiment is not None)

    @property
    def digest(self) -> str:
        """Hash of all entries and topics."""
        parts = [
            f"{topic.text}|{contestant.name}|{idea.model_dump_json(exclude={'usage', 'created'})}"
            for topic in self.topics
            for contestant in self.contestants
            if (idea := contestant.ideas.get(topic.text)) is not None
        ]
        return stable_id(*self.texts, *parts)


def generated_ideas(runs: Sequence[AgentRun], results: Sequence[RunResult]) -> list[ContestantIdeas]:
    """The generated ideas of each agent, in the order of its runs."""
    ideas: dict[str, list[Idea]] = {run.name: [] for run in runs}
    missing: dict[str, list[MissingEntry]] = {name: [] for name in ideas}
    for run, result in zip(runs, results, strict=True):
        ideas[run.name] += result.ideas
        if result.missing is not None:
            missing[run.name].append(MissingEntry(run.task.topic.text, result.missing))
    sources = {run.name: run.task.agent.source for run in runs}
    return [ContestantIdeas(name, sources[name], tuple(ideas[name]), tuple(missing[name])) for name in ideas]


def build_lineup(idea_sets: Sequence[ContestantIdeas], topics: Sequence[Topic]) -> Lineup:
    """Select the entries: topics are matched by text, one idea per topic, and unfit ideas are rejected.

    Without topics, those of the ideas are used in their order.
    """
    chosen = list(topics) or _topics_of(idea_sets)
    keys = {topic_key(topic.text): topic.text for topic in chosen}
    contestants = [_contestant(made, keys) for made in sorted(idea_sets, key=lambda made: made.name)]
    contestants = _with_unique_ids(contestants)
    return Lineup(
        tuple(chosen),
        tuple(contestants),
        tuple(_notes(idea_sets, contestants, keys)),
        flag_injections(contestants),
    )


def flag_injections(contestants: Iterable[Contestant]) -> dict[str, tuple[str, ...]]:
    """Idea id -> flags of prompt injection, for flagged ideas only."""
    ideas = (idea for contestant in contestants for idea in contestant.ideas.values())
    return {idea.id: flags for idea in ideas if (flags := injection_flags(_texts(idea)))}


def _topics_of(idea_sets: Sequence[ContestantIdeas]) -> list[Topic]:
    texts = {topic_key(idea.topic): " ".join(idea.topic.split()) for made in idea_sets for idea in made.ideas}
    return [Topic(text=text) for text in texts.values() if text]


def _contestant(made: ContestantIdeas, keys: Mapping[str, str]) -> Contestant:
    """The first idea on each topic competes or is rejected."""
    by_topic: dict[str, list[Idea]] = {}
    for idea in made.ideas:
        if (topic := keys.get(topic_key(idea.topic))) is not None:
            by_topic.setdefault(topic, []).append(idea)
    reasons = {entry.topic: entry.reason for entry in made.missing}
    reasons |= {topic: reason for topic, ideas in by_topic.items() if (reason := rejection_reason(ideas[0]))}
    entries = {
        topic: _as_entry(ideas[0], made.name, topic)
        for topic, ideas in by_topic.items()
        if topic not in reasons
    }
    missing = [
        MissingEntry(topic, reasons.get(topic, "no idea on this topic"))
        for topic in keys.values()
        if topic not in entries
    ]
    further = sum(len(ideas) - 1 for ideas in by_topic.values())
    return Contestant(made.name, made.source, entries, tuple(missing), further)


def _as_entry(idea: Idea, name: str, topic: str) -> Idea:
    maker = {} if idea.agent == name else {"made_by": idea.agent}
    return without_self_scores(idea).model_copy(
        update={"agent": name, "topic": topic, "extra": {**idea.extra, **maker}}
    )


def _with_unique_ids(contestants: Sequence[Contestant]) -> list[Contestant]:
    """Replace ids that several entries share, as ids in files may collide."""
    seen: dict[str, int] = {}
    for contestant in contestants:
        for idea in contestant.ideas.values():
            seen[idea.id] = seen.get(idea.id, 0) + 1

    def own(idea: Idea) -> Idea:
        if seen[idea.id] == 1:
            return idea
        fresh = stable_id(idea.agent, idea.topic, idea.id)
        return idea.model_copy(update={"id": fresh, "extra": {**idea.extra, "id_was": idea.id}})

    return [
        replace(contestant, ideas={topic: own(idea) for topic, idea in contestant.ideas.items()})
        for contestant in contestants
    ]


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
        if not contestant.ideas.keys() & other.ideas.keys()
    ]


def _pluralize(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def listed_topics(texts: Sequence[str], most: int = 3) -> str:
    """The first topics in quotation marks and the number of the others, for messages."""
    shown = ", ".join(f"“{text[:40]}”" for text in texts[:most])
    return shown if len(texts) <= most else f"{shown} and {len(texts) - most} more"
