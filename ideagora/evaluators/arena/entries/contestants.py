"""Resolves the contestants named on the command line to agents and existing ideas.

A contestant is an agent by any name that the registry knows, a language model as it is (``model:NAME``, any
name that litellm knows, or ``model:offline``), or existing ideas: ``ideas:FILE`` in any format that can be
imported, the folder of a run, an arena or a benchmark (also by its name in the home), a folder of runs, or
the name of an import. ``LABEL=CONTESTANT`` sets the name in the tables.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ideagora.errors import TopicRequired, UsageError
from ideagora.evaluators.arena.entries.lineup import ContestantIdeas, listed_topics, topic_key
from ideagora.evaluators.arena.entries.selection import build_lineup
from ideagora.graphs.agent import Agent
from ideagora.importing import Imported, find_ideas, read_ideas
from ideagora.registry import AGENTS, find_agent
from ideagora.schema import Idea, Topic

IDEAS = "ideas:"
RUN_FOLDERS = ("arenas", "bench", "runs")
"""Folders of the home whose sub-folders are runs."""
MOST_PROBLEMS = 5
"""Maximum number of import problems reported per contestant."""
LONGEST_NAME = 200
"""Maximum number of characters of a contestant's name."""
_CONTROL_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
_LABELED = re.compile(r"(?P<label>[^\W_][\w +.-]*)=(?P<spec>.+)", re.DOTALL)


@dataclass(frozen=True)
class AgentContestant:
    """An agent that generates its ideas first, with its name in the arena."""

    name: str
    agent: Agent


@dataclass(frozen=True)
class ResolvedContestants:
    """Agents, existing ideas, and notes on what could not be imported."""

    agents: tuple[AgentContestant, ...]
    idea_sets: tuple[ContestantIdeas, ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All contestants, sorted."""
        return tuple(sorted([*(one.name for one in self.agents), *(one.name for one in self.idea_sets)]))


def resolve_contestants(
    specs: Sequence[str], home: Path, topics: Sequence[Topic], at_least: int = 2
) -> ResolvedContestants:
    """The contestants named on the command line.

    Args:
        specs: names from the command line.
        home: folder that contains imported ideas.
        topics: requested topics; a single one is the default for ideas without a topic.
        at_least: minimum number of contestants.

    Raises:
        UsageError: too few contestants, a duplicate name, or an unknown one.
        IdeagoraError: ideas cannot be read.
    """
    agents: list[AgentContestant] = []
    idea_sets: list[ContestantIdeas] = []
    notes: list[str] = []
    for label, spec in map(_split, specs):
        paths = locate_ideas(spec, home)
        if paths:
            imported = _read(paths, label, topics)
            idea_sets += _group_by_agent(imported.ideas, label, spec)
            notes += _problems(imported, spec, len(topics))
        else:
            agent = find_agent(spec, home)
            if agent.unready:
                raise UsageError(agent.unready)
            agents.append(AgentContestant(clean_name(label or agent.name), agent))
    resolved = ResolvedContestants(tuple(agents), tuple(idea_sets), tuple(notes))
    _require(resolved, at_least)
    return resolved


def resolve_idea_sets(specs: Sequence[str], home: Path, topic: Topic) -> ResolvedContestants:
    """The existing ideas named on the command line.

    Args:
        specs: files, run folders, benchmark folders and imports, each with or without ``LABEL=``.
        home: folder that contains imported ideas.
        topic: of ideas without one.

    Raises:
        UsageError: a name does not lead to ideas, or two authors have the same name.
        IdeagoraError: ideas cannot be read.
    """
    for _, spec in map(_split, specs):
        if not locate_ideas(spec, home):
            is_agent = spec in AGENTS or spec.endswith(".py")
            what = (
                "is an agent, and only existing ideas are judged" if is_agent else "is not a file or folder"
            )
            raise UsageError(
                f"{spec} {what}. Name files of ideas, run folders, benchmark folders or imports; to judge an "
                "agent's ideas, generate them first with: ideagora generate --agent."
            )
    return resolve_contestants(specs, home, [topic], at_least=1)


def _split(spec: str) -> tuple[str | None, str]:
    """(label, contestant); the label is ``None`` unless ``LABEL=CONTESTANT`` is given."""
    match = _LABELED.fullmatch(spec.strip())
    return (match["label"].strip(), match["spec"]) if match else (None, spec.strip())


def locate_ideas(spec: str, home: Path) -> list[Path]:
    """Files and folders of existing ideas; empty if ``spec`` names an agent.

    Raises:
        IdeasFileError: ``ideas:`` is followed by neither a file nor an import.
    """
    if spec.startswith(IDEAS):
        return [find_ideas(spec.removeprefix(IDEAS), home)]
    if spec in AGENTS:
        return []
    imported = home / "ideas" / f"{spec}.jsonl"
    if "/" not in spec and imported.is_file():
        return [imported]
    path = Path(spec).expanduser()
    if not path.exists():
        return _runs_in_home(spec, home)
    if path.suffix == ".py":
        return []
    runs = sorted(run.parent for run in path.glob("*/run.json")) if path.is_dir() else []
    return runs if runs and not (path / "run.json").exists() else [path]


def _runs_in_home(name: str, home: Path) -> list[Path]:
    """The run with this name in the home, if there is one."""
    if "/" in name or name in ("", ".", ".."):
        return []
    runs = [home / folder / name for folder in RUN_FOLDERS]
    return [path for path in runs if (path / "run.json").is_file()][:1]


def _read(paths: Sequence[Path], label: str | None, topics: Sequence[Topic]) -> Imported:
    topic = topics[0].text if len(topics) == 1 else None
    try:
        imported = [read_ideas(path, topic=topic) for path in paths]
    except TopicRequired as error:
        if len(topics) < 2:
            raise
        name = label or paths[0].name
        raise UsageError(
            f"the ideas of {name} have no topic, and {len(topics)} topics are requested: give each idea a "
            "topic (ideagora ideas import FILE --as NAME --topic TEXT), or request a single one."
        ) from error
    ideas = tuple(idea for one in imported for idea in one.ideas)
    problems = tuple(problem for one in imported for problem in one.problems)
    return Imported(ideas, problems, ", ".join(dict.fromkeys(one.kind for one in imported)))


def _group_by_agent(ideas: Sequence[Idea], label: str | None, spec: str) -> Iterator[ContestantIdeas]:
    """One contestant per agent that the ideas name; several agents under one label become LABEL/agent."""
    makers = dict.fromkeys(idea.agent for idea in ideas)
    for maker in makers:
        name = maker if label is None else label if len(makers) == 1 else f"{label}/{maker}"
        yield ContestantIdeas(clean_name(name), spec, tuple(idea for idea in ideas if idea.agent == maker))


def without_topic_in_common(
    idea_sets: Iterable[ContestantIdeas], has_topic: Callable[[ContestantIdeas], bool], wanted: Sequence[str]
) -> UsageError | None:
    """The error for the first source that has no idea on a wanted topic; ``None``: every source has one."""
    by_source: dict[str, list[ContestantIdeas]] = {}
    for one in idea_sets:
        by_source.setdefault(one.source, []).append(one)
    for source, ideas in by_source.items():
        if not any(map(has_topic, ideas)):
            topics = dict.fromkeys(" ".join(idea.topic.split()) for one in ideas for idea in one.ideas)
            return UsageError(
                f"{source} has no idea on {listed_topics(wanted)}: its ideas are on "
                f"{listed_topics(list(topics))}."
            )
    return None


def clean_name(name: str) -> str:
    """The name on one line, without control characters and marks that reorder or hide text."""
    chars = (" " if unicodedata.category(char) in _CONTROL_CATEGORIES else char for char in name)
    return " ".join("".join(chars).split())[:LONGEST_NAME].strip() or "unnamed"


def _problems(imported: Imported, spec: str, asked: int) -> Iterator[str]:
    for problem in imported.problems[:MOST_PROBLEMS]:
        if problem.field == "topic" and asked > 1:
            why = f"{asked} topics are requested, so the idea needs a topic field"
            problem = replace(problem, why=why)
        yield f"not imported: {problem}"
    if (more := len(imported.problems) - MOST_PROBLEMS) > 0:
        yield f"not imported from {spec}: {more} more; try: ideagora ideas import."
    if not imported.ideas:
        yield f"No idea of {spec} could be imported."


def _require(resolved: ResolvedContestants, at_least: int) -> None:
    twice = [name for name, count in Counter(resolved.names).items() if count > 1]
    if twice:
        raise UsageError(
            f"Two contestants are called {twice[0]!r}. Rename one of them: OTHER-NAME=CONTESTANT."
        )
    if len(resolved.names) < at_least:
        only = f"only {resolved.names[0]!r} is given" if resolved.names else "none is given"
        raise UsageError(
            f"An arena needs at least two contestants, and {only}. For example: ideagora arena direct rag "
            '--topic "tool use by language models".'
        )


def choose_topics(resolved: ResolvedContestants, topics: Iterable[Topic]) -> tuple[Topic, ...]:
    """The requested topics, or else those of the existing ideas.

    Raises:
        UsageError: there are none, or existing ideas are on none of them.
    """
    chosen = tuple(topics) or build_lineup(resolved.idea_sets, ()).topics
    if not chosen:
        raise UsageError("Give --topic TEXT or --topics FILE: agents need a topic.")
    keys = {topic_key(topic.text) for topic in chosen}
    error = without_topic_in_common(
        resolved.idea_sets,
        lambda one: any(topic_key(idea.topic) in keys for idea in one.ideas),
        [topic.text for topic in chosen],
    )
    if error is not None:
        raise error
    return chosen
