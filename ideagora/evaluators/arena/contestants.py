"""What can be named as a contestant on the command line, and what it turns out to be.

An agent by any name that the registry knows, or ideas already made: ``ideas:FILE`` of any form that can
be imported, a run's folder (or a folder of runs), or the NAME of an import. ``LABEL=THING`` gives it
another name in the tables.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ideagora.errors import TopicRequired, UsageError
from ideagora.evaluators.arena.lineup import ContestantIdeas
from ideagora.graphs.agent import Agent
from ideagora.importing import Imported, find_ideas, read_ideas
from ideagora.registry import AGENTS, find_agent
from ideagora.schema import Idea, Topic

IDEAS = "ideas:"
MOST_PROBLEMS = 5
"""Lines on what could not be imported, for each thing."""
LONGEST_NAME = 200
"""Characters of a contestant's name at most."""
_OBEYED = ("Cc", "Cf", "Cs", "Zl", "Zp")
_LABELLED = re.compile(r"(?P<label>[A-Za-z0-9][\w +.-]*)=(?P<thing>.+)", re.DOTALL)


@dataclass(frozen=True)
class AgentContestant:
    """An agent that makes its ideas first, under the name that it competes by."""

    name: str
    agent: Agent


@dataclass(frozen=True)
class ResolvedContestants:
    """All that was named: agents, ideas already made, and what could not be imported."""

    agents: tuple[AgentContestant, ...]
    made: tuple[ContestantIdeas, ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All contestants, in the order of their names."""
        return tuple(sorted([*(one.name for one in self.agents), *(one.name for one in self.made)]))


def resolve_contestants(things: Sequence[str], home: Path, topics: Sequence[Topic]) -> ResolvedContestants:
    """The contestants behind the names.

    Args:
        things: as on the command line.
        home: where imported ideas are kept.
        topics: those that are asked for; a single one stands for ideas whose file tells no topic.

    Raises:
        UsageError: fewer than two contestants, two of one name, or a name that nobody has.
        IdeagoraError: ideas that cannot be read.
    """
    agents: list[AgentContestant] = []
    made: list[ContestantIdeas] = []
    notes: list[str] = []
    for label, thing in map(_split, things):
        places = locate_ideas(thing, home)
        if places:
            found = _read(places, label, topics)
            made += _group_by_agent(found.ideas, label, thing)
            notes += _problems(found, thing, len(topics))
        else:
            agent = find_agent(thing, home)
            if agent.unready:
                raise UsageError(agent.unready)
            agents.append(AgentContestant(clean_name(label or agent.name), agent))
    named = ResolvedContestants(tuple(agents), tuple(made), tuple(notes))
    _require_two(named)
    return named


def _split(thing: str) -> tuple[str | None, str]:
    """``LABEL=THING`` as (label, thing); a plain thing as (None, thing)."""
    match = _LABELLED.fullmatch(thing.strip())
    return (match["label"].strip(), match["thing"]) if match else (None, thing.strip())


def locate_ideas(thing: str, home: Path) -> list[Path]:
    """Where a thing's ideas are, when it is ideas already made; empty for an agent.

    Raises:
        IdeasFileError: ``ideas:`` names neither a file nor an import.
    """
    if thing.startswith(IDEAS):
        return [find_ideas(thing.removeprefix(IDEAS), home)]
    imported = home / "ideas" / f"{thing}.jsonl"
    if thing not in AGENTS and "/" not in thing and imported.is_file():
        return [imported]
    place = Path(thing).expanduser()
    if thing in AGENTS or not place.exists() or place.suffix == ".py":
        return []
    runs = sorted(run.parent for run in place.glob("*/run.json")) if place.is_dir() else []
    return runs if runs and not (place / "run.json").exists() else [place]


def _read(places: Sequence[Path], label: str | None, topics: Sequence[Topic]) -> Imported:
    topic = topics[0].text if len(topics) == 1 else None
    try:
        found = [read_ideas(place, topic=topic) for place in places]
    except TopicRequired as error:
        if len(topics) < 2:
            raise
        raise UsageError(
            f"{label or places[0].name} has no topic for its ideas, and {len(topics)} are asked for: give "
            "each idea one (ideagora ideas import FILE --as NAME --topic TEXT), or ask for one topic only."
        ) from error
    ideas = tuple(idea for one in found for idea in one.ideas)
    problems = tuple(problem for one in found for problem in one.problems)
    return Imported(ideas, problems, ", ".join(dict.fromkeys(one.kind for one in found)))


def _group_by_agent(ideas: Sequence[Idea], label: str | None, thing: str) -> Iterator[ContestantIdeas]:
    """One contestant for each maker that the ideas name; with a label, several become LABEL/maker."""
    makers = dict.fromkeys(idea.agent for idea in ideas)
    for maker in makers:
        name = maker if label is None else label if len(makers) == 1 else f"{label}/{maker}"
        yield ContestantIdeas(clean_name(name), thing, tuple(idea for idea in ideas if idea.agent == maker))


def clean_name(name: str) -> str:
    """A contestant's name in one line, without what a table or a terminal would obey.

    Control characters, line breaks and marks that reorder or hide text become blanks.
    """
    marks = (" " if unicodedata.category(mark) in _OBEYED else mark for mark in name)
    return " ".join("".join(marks).split())[:LONGEST_NAME].strip() or "unnamed"


def _problems(found: Imported, thing: str, asked: int) -> Iterator[str]:
    for problem in found.problems[:MOST_PROBLEMS]:
        if problem.field == "topic" and asked > 1:
            why = f"{asked} topics are asked for, so the idea needs one of its own, in a field topic"
            problem = replace(problem, why=why)
        yield f"not imported: {problem}"
    if (more := len(found.problems) - MOST_PROBLEMS) > 0:
        yield f"not imported from {thing}: {more} more; try: ideagora ideas import."
    if not found.ideas:
        yield f"{thing} has no idea that could be imported."


def _require_two(named: ResolvedContestants) -> None:
    twice = [name for name, count in Counter(named.names).items() if count > 1]
    if twice:
        raise UsageError(
            f"Two contestants are called {twice[0]!r}. Give one of them another name: OTHER-NAME=THING."
        )
    if len(named.names) < 2:
        only = f"only {named.names[0]!r} is named" if named.names else "nobody is named"
        raise UsageError(
            f"An arena needs at least two contestants, and {only}. For example: ideagora arena direct rag "
            '--topic "tool use by language models".'
        )


def choose_topics(named: ResolvedContestants, topics: Iterable[Topic]) -> tuple[Topic, ...]:
    """The topics asked for, else those of the ideas already made.

    Raises:
        UsageError: there are none.
    """
    from ideagora.evaluators.arena.lineup import build_lineup

    chosen = tuple(topics) or build_lineup(named.made, ()).topics
    if not chosen:
        raise UsageError("Give --topic TEXT or --topics FILE: agents need to know what ideas are wanted for.")
    return chosen
