"""Generates the agents' ideas for an evaluation, one run per agent and topic, in folders below its own.

The runs share one budget, one limit of concurrent calls, and one library. Each is cached and resumed like any
other. An agent that fails on a topic loses only that entry; a fatal error ends the evaluation.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakValueDictionary

from ideagora.config import Settings
from ideagora.errors import IdeagoraError, TopicNotCovered
from ideagora.graphs.agent import Agent
from ideagora.graphs.generate import OpenLibrary, folder_for, generate_one
from ideagora.graphs.run_fields import RunFields
from ideagora.graphs.runtime.job import RunResources
from ideagora.graphs.task import Task
from ideagora.retrieval.run_notes import WARNING_PREFIXES
from ideagora.schema import Idea, Topic
from ideagora.schema.events import Event, Listener

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.models.budget import Budget

RUNS = "runs"
"""Name of the folder that contains the agents' runs."""
MAX_WITHOUT_CALL = 16
"""Runs besides those that can call a model at once; they read papers and write files meanwhile."""
MAX_EXTERNAL = 16
"""Runs of external agents at once, since most of them are processes of their own."""
NOT_COVERED = (
    "the library has nothing on the topic: search a literature service (--source openalex), or add papers "
    "(ideagora library add)"
)
NAMED = 3
"""Maximum number of runs listed for an outage."""


@dataclass(frozen=True)
class AgentRun:
    """One agent on one topic, and the folder of its run."""

    name: str
    """The agent's name in the evaluation."""
    task: Task
    folder: Path
    number: int = 0
    """Which of the agent's runs on the topic, each under a seed of its own."""

    @property
    def title(self) -> str:
        """Agent and topic, for messages."""
        which = f", run {self.number + 1}" if self.number else ""
        return f"{self.name} on “{self.task.topic.text[:60]}”{which}"


@dataclass(frozen=True)
class RunResult:
    """The ideas of a run, best first, or why there are none."""

    ideas: tuple[Idea, ...] = ()
    missing: str | None = None
    """Why there is no idea; ``None`` if there is one."""
    down: str | None = None
    """The outage that makes the run incomplete; the same command resumes it."""


def agent_runs(
    agents: Iterable[tuple[str, Agent]],
    topics: Sequence[Topic],
    settings: Settings,
    folder: Path,
    several: int = 1,
) -> list[AgentRun]:
    """The runs of each agent, given with its name, on each topic: the first ones, then the second ones …

    Runs of the same agent and topic differ in the seed, which counts up from that of the settings.
    """
    named = list(agents)
    return [
        agent_run(name, Task(topic, agent, agent.options, with_seed(settings, number)), folder, number)
        for number in range(several)
        for name, agent in named
        for topic in topics
    ]


def with_seed(settings: Settings, number: int) -> Settings:
    """The settings of a run by its number, from 0."""
    return settings.model_copy(update={"seed": settings.seed + number}) if number else settings


def agent_run(name: str, task: Task, folder: Path, number: int = 0) -> AgentRun:
    """The run of a task in its folder below the folder of an evaluation."""
    return AgentRun(name, task, folder_for(task, folder / RUNS / _slug(name), several=True), number)


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
) -> list[RunResult]:
    """The results of all runs, in their order.

    Raises:
        IdeagoraError: as ``run_agents``.
    """
    results: dict[int, RunResult] = {}
    await run_agents(runs, library, listener, results.__setitem__, chats, budget)
    return [results[position] for position in range(len(runs))]


async def run_agents(
    runs: Sequence[AgentRun],
    library: OpenLibrary,
    listener: Listener,
    on_result: Callable[[int, RunResult], None],
    chats: Mapping[str, BaseChatModel] | None = None,
    budget: Budget | None = None,
) -> None:
    """Run agents in parallel, with at most ``concurrency`` calls at once, all runs together.

    Args:
        runs: started in this order; two of the same folder run one after the other.
        library: opens the library, if a run is not done yet.
        listener: gets the start and end of every run (``"stage": "ideas"``), and the events of the runs, each
            with the ``run`` that it belongs to: its number from 1.
        on_result: gets the position of each run and its result as the runs end, in any order.
        chats: chat models by name, instead of those of the providers.
        budget: the budget of the whole command.

    Raises:
        IdeagoraError: a fatal error, which cancels the other runs; the same command resumes them all.
    """
    if not runs:
        return
    concurrency = runs[0].task.settings.concurrency
    slots = asyncio.Semaphore(concurrency)
    resources = RunResources(lambda: library()[1](), listener, chats, budget, slots)
    generation = _Generation(runs, library, on_result, resources)
    queue = iter(enumerate(runs))
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency + min(concurrency, MAX_WITHOUT_CALL), len(runs))):
                group.create_task(generation.work(queue))
    except BaseExceptionGroup as failed:
        raise _first_error(failed) from None


@dataclass
class _Generation:
    """What the runs of an evaluation share."""

    runs: Sequence[AgentRun]
    library: OpenLibrary
    on_result: Callable[[int, RunResult], None]
    resources: RunResources
    external: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_EXTERNAL))
    folders: WeakValueDictionary[Path, asyncio.Lock] = field(default_factory=WeakValueDictionary)
    done: int = 0

    async def work(self, queue: Iterator[tuple[int, AgentRun]]) -> None:
        """Take one run after the other."""
        for position, run in queue:
            result = await self._run(position, run)
            if self.resources.budget is not None:
                self.resources.budget.settle(str(run.folder))
            self.done += 1
            self.on_result(position, result)
            self._report(position, "failed" if result.missing else "done", result.missing)

    async def _run(self, position: int, run: AgentRun) -> RunResult:
        def on_event(event: Event) -> None:
            of_run = event.copy()
            of_run["run"] = position + 1
            self.resources.listener(of_run)

        lock = self.folders.setdefault(run.folder, asyncio.Lock())
        async with lock, self.external if run.task.agent.context else nullcontext():
            self._report(position, "started")
            return await _result_of(run, self.library, replace(self.resources, listener=on_event))

    def _report(
        self, position: int, status: Literal["started", "done", "failed"], reason: str | None = None
    ) -> None:
        run = self.runs[position]
        self.resources.listener({
            "event": "arena", "stage": "ideas", "status": status, "reason": reason, "agent": run.name,
            "topic": run.task.topic.text, "number": position + 1, "total": len(self.runs), "done": self.done,
        })  # fmt: skip


def _first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _first_error(first) if isinstance(first, BaseExceptionGroup) else first


async def _result_of(run: AgentRun, library: OpenLibrary, resources: RunResources) -> RunResult:
    """The result of a run; ideas of an incomplete one do not count, because they may change.

    Raises:
        IdeagoraError: a fatal error.
    """
    try:
        outcome = await generate_one(run.task, run.folder, library, resources)
    except IdeagoraError as error:
        if error.fatal:
            raise
        if isinstance(error, TopicNotCovered):  # without the topic, so that it is reported once for all
            return RunResult(missing=NOT_COVERED)
        reason = f"the agent failed: {str(error).rstrip('.')}"
        return RunResult(missing=reason, down=str(error) if error.retryable else None)
    if outcome.down:
        reason = f"its run is incomplete: {outcome.down[0].rstrip('.')}"
        return RunResult(missing=reason, down=" ".join(outcome.down))
    return RunResult(outcome.ideas, None if outcome.ideas else "the agent returned no idea")


def outage_lines(runs: Sequence[AgentRun], results: Sequence[RunResult]) -> tuple[str, ...]:
    """One line per outage, with the runs that it made incomplete."""
    down: dict[str, list[str]] = {}
    for run, result in zip(runs, results, strict=True):
        if result.down is not None:
            down.setdefault(result.down, []).append(run.title)
    return tuple(f"{_first_few(titles)}: {reason}" for reason, titles in down.items())


def _first_few(titles: Sequence[str]) -> str:
    more = f" and {len(titles) - NAMED} more" if len(titles) > NAMED else ""
    return ", ".join(titles[:NAMED]) + more


def literature_notes(runs: Sequence[AgentRun]) -> tuple[str, ...]:
    """Distinct notes of the runs on excluded papers and on sources that were down."""
    notes = (note for run in runs for note in _notes_in(run.folder))
    return tuple(dict.fromkeys(note for note in notes if note.startswith(WARNING_PREFIXES)))


def _notes_in(folder: Path) -> Iterator[str]:
    try:
        record: RunFields = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        yield from [str(note) for note in record.get("notes", ())]
    except (OSError, ValueError, AttributeError, TypeError):
        return


def agents_without_estimate(runs: Sequence[AgentRun]) -> list[str]:
    """Names of the agents that do not estimate their calls."""
    return list(dict.fromkeys(run.name for run in runs if _calls(run) is None))


def _calls(run: AgentRun) -> dict[Any, int] | None:
    return run.task.agent.expected_calls(run.task.options)


def expected_calls(runs: Sequence[AgentRun]) -> dict[str, int]:
    """Expected calls by model; agents without an estimate count as 0."""
    total: dict[str, int] = {}
    for run in runs:
        for group, number in (_calls(run) or {}).items():
            model = run.task.agent.model or run.task.settings.model_of(group)
            total[model] = total.get(model, 0) + number
    return total
