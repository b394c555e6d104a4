"""Who competes with what: contestants, their entry on each topic, and entries that cannot be judged.

What is missing has a reason: no idea on a topic, an empty one, one that no judge could read. Ideas on
different topics are never compared.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ideagora.evaluators.arena.prompt_injection import injection_flags
from ideagora.schema import Experiment, Idea, Topic, stable_id

LONGEST_IDEA = 4_000
"""Words; a longer text is a paper, which no judge weighs against an idea of a page."""
LONGEST_WORD = 40
"""Characters of a word on average beyond which a text counts as longer than its words."""

Kind = Literal["idea", "experiment"]
"""What is judged of an entry."""

PARTS = ("title", "motivation", "novelty", "method")


def topic_key(text: str) -> str:
    """The same for topics that differ in case, spaces or the stop at the end only."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(plain.split()).rstrip(" .!?:;,")


@dataclass(frozen=True)
class MissingEntry:
    """A topic on which a contestant has no entry, and why."""

    topic: str
    reason: str


@dataclass(frozen=True)
class Contestant:
    """One competitor: a name that no judge sees, and at most one idea for each topic."""

    name: str
    source: str
    """Where the ideas come from, for people."""
    ideas: Mapping[str, Idea]
    """Topic (as it is judged) -> entry."""
    missing: tuple[MissingEntry, ...] = ()
    left_out: int = 0
    """Further ideas on a topic, of which only the first (the best) competes."""


@dataclass(frozen=True)
class ContestantIdeas:
    """Ideas of one name as they were found or generated, best first, before they become entries."""

    name: str
    source: str
    ideas: tuple[Idea, ...]
    missing: tuple[MissingEntry, ...] = ()


@dataclass(frozen=True)
class Lineup:
    """All that compete: topics in their order, contestants in the order of their names."""

    topics: tuple[Topic, ...]
    contestants: tuple[Contestant, ...]
    notes: tuple[str, ...] = ()
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Idea id -> what its text does that it should not."""

    @property
    def names(self) -> tuple[str, ...]:
        """The contestants' names, by position."""
        return tuple(one.name for one in self.contestants)

    @property
    def texts(self) -> tuple[str, ...]:
        """The topics' texts, by position."""
        return tuple(topic.text for topic in self.topics)

    def idea(self, topic: int, contestant: int) -> Idea | None:
        """The entry on a topic; ``None``: there is none."""
        return self.contestants[contestant].ideas.get(self.topics[topic].text)

    def entered(self, kind: Kind = "idea") -> list[list[bool]]:
        """Who can be judged about what, shape (topics, contestants)."""
        return [
            [self.competes(topic, one, kind) for one in range(len(self.contestants))]
            for topic in range(len(self.topics))
        ]

    def competes(self, topic: int, contestant: int, kind: Kind) -> bool:
        """Whether there is an entry, with an experiment where experiments are judged."""
        idea = self.idea(topic, contestant)
        return idea is not None and (kind == "idea" or idea.experiment is not None)

    @property
    def digest(self) -> str:
        """Changes when any entry or topic does."""
        parts = [
            f"{topic.text}|{one.name}|{one.ideas[topic.text].model_dump_json(exclude={'usage', 'created'})}"
            for topic in self.topics
            for one in self.contestants
            if topic.text in one.ideas
        ]
        return stable_id(*self.texts, *parts)


def build_lineup(made: Sequence[ContestantIdeas], topics: Sequence[Topic]) -> Lineup:
    """Entries out of ideas: topics matched by their text, one idea a topic, the unfit refused.

    Without topics those of the ideas are taken, in their order.
    """
    chosen = list(topics) or _topics_of(made)
    keys = {topic_key(topic.text): topic.text for topic in chosen}
    people = [_contestant(one, keys) for one in sorted(made, key=lambda one: one.name)]
    people = _with_unique_ids(people)
    return Lineup(
        tuple(chosen),
        tuple(people),
        tuple(_notes(made, people, keys)),
        flag_injections(people),
    )


def flag_injections(people: Iterable[Contestant]) -> dict[str, tuple[str, ...]]:
    """Idea id -> what its text does that it should not; honest ideas are not in it."""
    ideas = (idea for one in people for idea in one.ideas.values())
    return {idea.id: flags for idea in ideas if (flags := injection_flags(_texts(idea)))}


def _topics_of(made: Sequence[ContestantIdeas]) -> list[Topic]:
    texts = {topic_key(idea.topic): " ".join(idea.topic.split()) for one in made for idea in one.ideas}
    return [Topic(text=text) for text in texts.values() if text]


def _contestant(made: ContestantIdeas, keys: Mapping[str, str]) -> Contestant:
    """The first idea on each topic decides: it competes, or it is refused."""
    by_topic: dict[str, list[Idea]] = {}
    for idea in made.ideas:
        if (topic := keys.get(topic_key(idea.topic))) is not None:
            by_topic.setdefault(topic, []).append(idea)
    reasons = {one.topic: one.reason for one in made.missing}
    reasons |= {topic: reason for topic, some in by_topic.items() if (reason := rejection_reason(some[0]))}
    entries = {
        topic: _as_entry(some[0], made.name, topic)
        for topic, some in by_topic.items()
        if topic not in reasons
    }
    missing = [
        MissingEntry(topic, reasons.get(topic, "no idea on this topic"))
        for topic in keys.values()
        if topic not in entries
    ]
    further = sum(len(some) - 1 for some in by_topic.values())
    return Contestant(made.name, made.source, entries, tuple(missing), further)


def _as_entry(idea: Idea, name: str, topic: str) -> Idea:
    maker = {} if idea.agent == name else {"made_by": idea.agent}
    return idea.model_copy(update={"agent": name, "topic": topic, "extra": {**idea.extra, **maker}})


def _with_unique_ids(people: Sequence[Contestant]) -> list[Contestant]:
    """An id that two entries have (files number theirs as they like) is replaced by one of its own."""
    seen: dict[str, int] = {}
    for one in people:
        for idea in one.ideas.values():
            seen[idea.id] = seen.get(idea.id, 0) + 1

    def own(idea: Idea) -> Idea:
        if seen[idea.id] == 1:
            return idea
        fresh = stable_id(idea.agent, idea.topic, idea.id)
        return idea.model_copy(update={"id": fresh, "extra": {**idea.extra, "id_was": idea.id}})

    return [replace(one, ideas={topic: own(idea) for topic, idea in one.ideas.items()}) for one in people]


def rejection_reason(idea: Idea) -> str | None:
    """Why an idea cannot be judged; ``None``: it can."""
    texts = [getattr(idea, part) or "" for part in PARTS]
    if not re.search(r"\w", " ".join(texts[1:])):
        return "the idea is empty: it has neither motivation, novelty nor method"
    if (count := word_count(texts)) > LONGEST_IDEA:
        return f"the idea has {count:,} words; {LONGEST_IDEA:,} are the most that is judged"
    plan = idea.experiment
    if plan is not None and (count := word_count(_plan_texts(plan))) > LONGEST_IDEA:
        return f"its experiment has {count:,} words; {LONGEST_IDEA:,} are the most that is judged"
    return None


def word_count(texts: Iterable[str]) -> int:
    """Words; a text without blanks counts by its length."""
    whole = " ".join(texts)
    return max(len(whole.split()), len(whole) // LONGEST_WORD)


def _texts(idea: Idea) -> list[str]:
    return [
        *(getattr(idea, part) or "" for part in PARTS),
        *(_plan_texts(idea.experiment) if idea.experiment else []),
    ]


def _plan_texts(plan: Experiment) -> list[str]:
    lists = (plan.steps, plan.datasets, plan.baselines, plan.metrics, plan.ablations, plan.risks)
    return [text for some in lists for text in some] + ([plan.refuted_if] if plan.refuted_if else [])


def _notes(
    made: Sequence[ContestantIdeas], people: Sequence[Contestant], keys: Mapping[str, str]
) -> Iterable[str]:
    for one in people:
        if one.left_out:
            ideas = "1 further idea" if one.left_out == 1 else f"{one.left_out} further ideas"
            yield f"{one.name}: {ideas} on a topic did not compete; the first (best) one of each topic did."
    for some in made:
        beside = {idea.topic for idea in some.ideas if topic_key(idea.topic) not in keys}
        if beside:
            topics = f"{_pluralize(len(beside), 'other topic')} were left out ({_first_few(sorted(beside))})"
            yield f"{some.name}: ideas on {topics}."


def pairs_without_common_topic(lineup: Lineup) -> list[tuple[str, str]]:
    """Pairs of contestants that share no topic, so that their ideas cannot be compared."""
    people = lineup.contestants
    return [
        (one.name, other.name)
        for place, one in enumerate(people)
        for other in people[place + 1 :]
        if not one.ideas.keys() & other.ideas.keys()
    ]


def _pluralize(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _first_few(texts: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(f"“{text[:40]}”" for text in texts[:most])
    return shown if len(texts) <= most else f"{shown} and {len(texts) - most} more"
