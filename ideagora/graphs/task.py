"""Runs an agent on a topic, as a job of the runtime."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ideagora.config import Settings
from ideagora.errors import AgentFailed, IdeagoraError
from ideagora.graphs.agent import Agent, Origin
from ideagora.graphs.run_fields import TaskFields
from ideagora.graphs.run_folder import RunFolder
from ideagora.graphs.runtime.job import Finish, Job, RunResources
from ideagora.graphs.runtime.run_job import run_job
from ideagora.graphs.runtime.run_record import identity_parts
from ideagora.graphs.steps.recollections import recollection_notes, with_recollections
from ideagora.models.redact import one_line
from ideagora.models.usage import UsageTracker
from ideagora.schema import Idea, Topic, serialize, stable_id

if TYPE_CHECKING:
    from ideagora.retrieval.corpus.sample_papers import SamplePapers
    from ideagora.retrieval.library import Library
    from ideagora.retrieval.restrictions.target_paper import TargetPaper

STARTER_CORPUS_NOTE = (
    "The starter corpus ships summaries in our own words, not the papers' abstracts: quotations "
    "come from those summaries."
)

LATER_OPTIONS = ("ideas", "experiments")
"""Options of agents that are not part of a run's identity while they have their default."""


@dataclass(frozen=True)
class Task:
    """One topic for one agent."""

    topic: Topic
    agent: Agent
    options: Any
    settings: Settings
    papers: SamplePapers | None = None
    """The literature of a benchmark's sample; ``None`` for that of the sources in the settings."""
    with_sources: bool = False
    """Whether the agent may read the sources besides ``papers``."""

    def __post_init__(self) -> None:
        """Give the settings the agent's own model, if it has one."""
        if (model := self.agent.model) is not None:
            own = {"model": model, "reader_model": None, "judge_model": None}
            object.__setattr__(self, "settings", self.settings.model_copy(update=own))

    @property
    def identity(self) -> str:
        """The run's identity; equal for equal commands, so that a repeated command finds its run."""
        given = [] if self.papers is None else self.papers.identity
        given += ["with sources"] if given and self.with_sources else []
        parts = [self.topic.model_dump_json(), self.agent.name, _identifying_options(self.options)]
        parts += [self.agent.fingerprint] if self.agent.fingerprint else []
        return stable_id(*parts, *given, *identity_parts(self.settings))

    def library(self, library: Library) -> Library:
        """What the agent may read: the given library, or the task's papers, as the topic restricts it."""
        if self.papers is not None:
            library = library.for_sample(self.papers, self.with_sources)
        return library.for_topic(self.topic)


def _identifying_options(options: BaseModel) -> str:
    """The options as JSON, the later ones only if they are set, so that earlier runs are still found."""
    fields = type(options).model_fields
    unset = {
        name for name in LATER_OPTIONS if name in fields and getattr(options, name) == fields[name].default
    }
    return options.model_dump_json(exclude=unset)


async def run_task(
    task: Task,
    folder: RunFolder,
    library: Library | None,
    resources: RunResources,
) -> tuple[list[Idea], tuple[str, ...]]:
    """Run the agent's graph in an open folder, or continue it (see ``run_job``).

    Returns:
        The ideas, which are also written to the folder, and the outages; without any, the run is done.

    Raises:
        IdeagoraError: the run failed, or an external graph cannot be run.
    """
    ideas: list[Idea] = []

    async def finish(state: Mapping[str, Any], tracker: UsageTracker, down: tuple[str, ...]) -> TaskFields:
        made = task.agent.ideas(state, _origin(task, tracker))
        ideas.extend(await _compare_with_hidden(task, made, restricted))
        folder.write_ideas(ideas)
        has_called = bool(tracker.by_role or tracker.cached)
        return {
            "failures": task.agent.failures(state),
            "notes": [*_notes(task), *task.agent.notes(state), *recollection_notes(ideas)],
            "offline": has_called and "offline" in task.settings.models,
            **task.agent.results(state),
            **_topic_of_agent(task, ideas),
        }

    restricted = None if library is None else task.library(library)
    topic = _topic_shown(task, restricted)
    job = _job(task, topic, library, finish)
    try:
        outages = await run_job(job, folder, restricted, resources)
    except IdeagoraError:
        raise
    except Exception as error:
        if task.agent.context is None:
            raise
        reason = one_line(f"{type(error).__name__}: {error}", 200)  # LangGraph's error on an external graph
        raise AgentFailed(f"{task.agent.name} cannot be run: {reason}.") from None
    return ideas, outages


def _job(
    task: Task,
    topic: Topic,
    library: Library | None,
    finish: Finish,
) -> Job:
    create_context = task.agent.context
    return Job(
        name=task.agent.name,
        identity=task.identity,
        settings=task.settings,
        record=_record(task),
        build=task.agent.build,
        start=task.agent.start(topic),
        finish=finish,
        options=task.options,
        first_text="" if library is None else task.topic.text,
        context=None if create_context is None else lambda services: create_context(services, topic),
        target_paper=None if library is None else _target_paper(task.agent, library),
        recursion_limit=task.agent.most_steps,
        cutoff=task.topic.before,
    )


async def _compare_with_hidden(task: Task, ideas: list[Idea], library: Library | None) -> list[Idea]:
    """The ideas with the hidden papers that they may recall.

    A published paper recalls itself, and the offline model knows nothing beyond what it is shown.
    """
    if library is None or task.agent.target_paper or task.settings.model_of("main") == "offline":
        return ideas
    return await with_recollections(ideas, library)


def _topic_shown(task: Task, library: Library | None) -> Topic:
    """The topic that the agent gets: as inspirations, the papers of the sample that it may see."""
    if task.papers is None or library is None:
        return task.topic
    return task.topic.model_copy(update={"inspirations": library.given_ids})


def _topic_of_agent(task: Task, ideas: Sequence[Idea]) -> TaskFields:
    """The field ``topic`` of ``run.json`` if the agent chose the topic, else nothing."""
    if task.topic.text != task.agent.own_topic or not ideas:
        return {}
    return {"topic": serialize(task.topic.model_copy(update={"text": ideas[0].topic}))}


def _target_paper(agent: Agent, library: Library) -> Callable[[], Awaitable[TargetPaper]] | None:
    """A function that reads the agent's target paper from the library without cut-off and exclusions."""
    paper_id = agent.target_paper
    if paper_id is None:
        return None

    async def read() -> TargetPaper:
        from ideagora.retrieval.restrictions.target_paper import read_target_paper

        return await read_target_paper(paper_id, library)

    return read


def _record(task: Task) -> TaskFields:
    return {
        "topic": serialize(task.topic),
        "agent": task.agent.name,
        "options": task.options.model_dump(mode="json"),
        "notes": _notes(task),
        **_literature(task),
    }


def _literature(task: Task) -> TaskFields:
    if task.papers is None:
        return {}
    return {
        "papers": [paper.id for paper in task.papers.papers],
        "full_texts": sorted(task.papers.texts),
        "with_sources": task.with_sources,
    }


def _notes(task: Task) -> list[str]:
    if not task.agent.reads_literature:
        return []
    if task.papers is not None and not task.with_sources:
        has_summaries = any(paper.source == "starter" for paper in task.papers.papers)
    else:
        has_summaries = "starter" in task.settings.source.split(",")
    return [STARTER_CORPUS_NOTE] if has_summaries else []


def _origin(task: Task, tracker: UsageTracker) -> Origin:
    by_label = tracker.answers_by_label
    return Origin(
        agent=task.agent.name,
        model=" + ".join(task.settings.models),
        usage={name: answers.usage for name, answers in by_label.items()},
        answered={name: answers.latest for name, answers in by_label.items()},
    )
