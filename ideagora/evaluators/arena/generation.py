"""Generates the agents' ideas, one run per agent and topic, in folders below the arena's.

Each run is cached and resumed like any other. An agent that fails on a topic loses only that entry; a fatal
error ends the arena. All runs share one budget.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.config import Settings
from ideagora.errors import IdeagoraError
from ideagora.evaluators.arena.contestants import AgentContestant
from ideagora.evaluators.arena.lineup import ContestantIdeas, MissingEntry
from ideagora.graphs.events import Listener
from ideagora.graphs.generate import folder_for, generate
from ideagora.graphs.task import Task
from ideagora.retrieval.run_notes import WARNING_PREFIXES
from ideagora.schema import Idea, Topic

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.models.budget import Budget
    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.retrieval.library import Library

RUNS = "runs"
"""Name of the folder that contains the agents' runs."""

NAMED = 3
"""Maximum number of runs listed for an outage."""

OpenLibrary = Callable[[], tuple["Library", Callable[[], "Embedder"]]]


@dataclass(frozen=True)
class AgentRun:
    """One agent on one topic, and the folder of its run."""

    competitor: AgentContestant
    task: Task
    folder: Path


def agent_runs(
    competitors: Sequence[AgentContestant], topics: Sequence[Topic], settings: Settings, folder: Path
) -> list[AgentRun]:
    """One run for each agent and topic."""
    return [
        AgentRun(one, task, folder_for(task, folder / RUNS / _slug(one.name), several=True))
        for one in competitors
        for topic in topics
        for task in [Task(topic, one.agent, one.agent.options, settings)]
    ]


def _slug(name: str) -> str:
    return (
        "".join(mark if mark.isalnum() or mark in "-_." else "-" for mark in name)[:60].strip(".-") or "agent"
    )


async def generate_ideas(
    runs: Sequence[AgentRun],
    library: OpenLibrary,
    listener: Listener,
    chats: Mapping[str, BaseChatModel] | None = None,
    budget: Budget | None = None,
) -> tuple[list[ContestantIdeas], tuple[str, ...]]:
    """Generate the ideas of every agent, best first for each topic, with reasons for the missing ones.

    Ideas of an incomplete run do not compete because they may change.

    Returns:
        The ideas of each agent, and one line per outage.

    Raises:
        IdeagoraError: a fatal error; the same command resumes.
    """
    down: dict[str, list[str]] = {}
    ideas: dict[str, list[Idea]] = {agent_run.competitor.name: [] for agent_run in runs}
    missing: dict[str, list[MissingEntry]] = {name: [] for name in ideas}
    for number, agent_run in enumerate(runs, 1):
        name, topic = agent_run.competitor.name, agent_run.task.topic.text
        listener({"event": "arena", "stage": "ideas", "agent": name, "topic": topic,
                  "number": number, "total": len(runs)})  # fmt: skip
        try:
            (outcome,) = await generate(
                [(agent_run.task, agent_run.folder)], library, listener, False, chats, budget
            )
        except IdeagoraError as error:
            if error.fatal:
                raise
            if error.retryable:
                down.setdefault(str(error), []).append(f"{name} on “{topic[:60]}”")
            missing[name].append(MissingEntry(topic, f"the agent failed: {str(error).rstrip('.')}"))
            continue
        if outcome.down:
            down.setdefault(" ".join(outcome.down), []).append(f"{name} on “{topic[:60]}”")
            missing[name].append(MissingEntry(topic, f"its run is incomplete: {outcome.down[0].rstrip('.')}"))
            continue
        ideas[name] += outcome.ideas
        if not outcome.ideas:
            missing[name].append(MissingEntry(topic, "the agent returned no idea"))
    sources = {agent_run.competitor.name: agent_run.task.agent.source for agent_run in runs}
    made = [ContestantIdeas(name, sources[name], tuple(ideas[name]), tuple(missing[name])) for name in ideas]
    return made, tuple(f"{_first_few(who)}: {reason}" for reason, who in down.items())


def _first_few(who: Sequence[str]) -> str:
    more = f" and {len(who) - NAMED} more" if len(who) > NAMED else ""
    return ", ".join(who[:NAMED]) + more


def literature_notes(runs: Sequence[AgentRun]) -> tuple[str, ...]:
    """Distinct notes of the runs on excluded papers and on sources that were down."""
    notes = [note for agent_run in runs for note in _notes_in(agent_run.folder)]
    return tuple(dict.fromkeys(note for note in notes if note.startswith(WARNING_PREFIXES)))


def _notes_in(folder: Path) -> list[str]:
    try:
        record: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        return [str(note) for note in record.get("notes", ())]
    except (OSError, ValueError, AttributeError, TypeError):
        return []


def agents_without_estimate(runs: Sequence[AgentRun]) -> list[str]:
    """Names of contestants whose agent does not estimate its calls."""
    names = [one.competitor.name for one in runs if _calls(one) is None]
    return list(dict.fromkeys(names))


def _calls(agent_run: AgentRun) -> dict[Any, int] | None:
    return agent_run.task.agent.expected_calls(agent_run.task.options)


def expected_calls(runs: Sequence[AgentRun]) -> dict[Any, int]:
    """Expected calls by role group; agents without an estimate count as 0."""
    total: dict[Any, int] = {}
    for agent_run in runs:
        for group, number in (_calls(agent_run) or {}).items():
            total[group] = total.get(group, 0) + number
    return total
