"""Selects the entries of an arena: one idea per contestant, topic and run; unfit ones are rejected."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ideagora.evaluators.arena.entries.lineup import (
    PARTS,
    RUN,
    Contestant,
    ContestantIdeas,
    Lineup,
    MissingEntry,
    listed_topics,
    run_number,
    topic_key,
)
from ideagora.evaluators.arena.entries.prompt_injection import injection_flags
from ideagora.evaluators.generation import AgentRun, RunResult
from ideagora.importing.self_scores import without_self_scores
from ideagora.schema import Experiment, Idea, Topic, stable_id

LONGEST_IDEA = 4_000
"""Maximum number of words of an entry; a longer text is a paper rather than an idea."""
LONGEST_WORD = 40
"""Mean characters per word beyond which the length of a text counts by characters."""


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
            yield f"{contestant.name}: {ideas} did not compete; {rule}."
    for ideas_of_one in idea_sets:
        other = {idea.topic for idea in ideas_of_one.ideas if topic_key(idea.topic) not in keys}
        if other:
            topics = f"{_pluralize(len(other), 'other topic')} were left out ({listed_topics(sorted(other))})"
            yield f"{ideas_of_one.name}: ideas on {topics}."


def _pluralize(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
