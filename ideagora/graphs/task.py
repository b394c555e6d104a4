"""One topic for one agent, as the runtime runs it: how it is known, what is recorded, where ideas go."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ideagora.config import Settings
from ideagora.errors import AgentFailed, IdeagoraError
from ideagora.graphs.agent import Agent, Origin
from ideagora.graphs.events import Listener
from ideagora.graphs.run_folder import RunFolder
from ideagora.graphs.runtime import Job, identity_parts, run_job
from ideagora.models.redact import one_line
from ideagora.models.usage import UsageTracker
from ideagora.schema import Idea, Topic, stable_id

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.models.budget import Budget
    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.retrieval.library import Library
    from ideagora.retrieval.target_paper import TargetPaper

SUMMARIES_ARE_OURS = (
    "The starter corpus ships summaries in our own words, not the papers' abstracts: what is quoted here "
    "are words of those summaries."
)


@dataclass(frozen=True)
class Task:
    """One topic for one agent."""

    topic: Topic
    agent: Agent
    options: Any
    settings: Settings

    @property
    def identity(self) -> str:
        """The same for the same command: a repeated command finds its run again."""
        parts = [self.topic.model_dump_json(), self.agent.name, self.options.model_dump_json()]
        parts += [self.agent.fingerprint] if self.agent.fingerprint else []
        return stable_id(*parts, *identity_parts(self.settings))


async def run_task(
    task: Task,
    folder: RunFolder,
    library: Library,
    embedder: Callable[[], Embedder],
    listener: Listener,
    chats: Mapping[str, BaseChatModel] | None = None,
    budget: Budget | None = None,
) -> tuple[list[Idea], tuple[str, ...]]:
    """Run the agent's graph in an open folder, or go on where it was stopped (``run_job``).

    Returns:
        The ideas, which are in the folder by then, and what was down; empty: the run is done.
    """
    made: list[Idea] = []

    def finish(state: Mapping[str, Any], tracker: UsageTracker, down: tuple[str, ...]) -> dict[str, Any]:
        made.extend(task.agent.ideas(state, _origin(task, tracker)))
        folder.write_ideas(made)
        asked = bool(tracker.by_role or tracker.cached)
        told = {"offline": asked and "offline" in task.settings.models}  # of what has asked no model: no
        notes = [*_notes(task), *task.agent.notes(state)]
        return {
            "failures": task.agent.failures(state), "notes": notes, **told, **_found_topic(task, made)
        }  # fmt: skip

    make = task.agent.context
    job = Job(
        name=task.agent.name,
        identity=task.identity,
        settings=task.settings,
        record=_record(task),
        build=task.agent.build,
        start=task.agent.start(task.topic),
        finish=finish,
        options=task.options,
        first_text=task.topic.text,
        context=None if make is None else lambda services: make(services, task.topic),
        target_paper=_target_paper(task.agent, library),
    )
    try:
        down = await run_job(job, folder, library.for_topic(task.topic), embedder, listener, chats, budget)
    except IdeagoraError:
        raise
    except Exception as error:
        if make is None:
            raise
        why = one_line(f"{type(error).__name__}: {error}", 200)  # of LangGraph, on what foreign code gave it
        raise AgentFailed(f"{task.agent.name} cannot be run: {why}.") from None
    return made, down


def _found_topic(task: Task, made: Sequence[Idea]) -> dict[str, Any]:
    """The topic that the agent found itself, for ``run.json``; nothing where one was given."""
    if task.topic.text != task.agent.own_topic or not made:
        return {}
    return {"topic": task.topic.model_copy(update={"text": made[0].topic}).model_dump(mode="json")}


def _target_paper(agent: Agent, library: Library) -> Callable[[], Awaitable[TargetPaper]] | None:
    """How the agent's own paper is read: from the library as a whole, and nothing else from there."""
    which = agent.target_paper
    if which is None:
        return None

    async def read() -> TargetPaper:
        from ideagora.retrieval.target_paper import read_target_paper

        return await read_target_paper(which, library)

    return read


def _record(task: Task) -> dict[str, Any]:
    return {
        "topic": task.topic.model_dump(mode="json"),
        "agent": task.agent.name,
        "options": task.options.model_dump(mode="json"),
        "notes": _notes(task),
    }


def _notes(task: Task) -> list[str]:
    return [SUMMARIES_ARE_OURS] if "starter" in task.settings.source.split(",") else []


def _origin(task: Task, tracker: UsageTracker) -> Origin:
    used = tracker.answers_by_label
    return Origin(
        agent=task.agent.name,
        model=" + ".join(task.settings.models),
        usage={name: answers.usage for name, answers in used.items()},
        answered={name: answers.latest for name, answers in used.items()},
    )
