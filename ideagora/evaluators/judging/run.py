"""Runs the judging graph in an open folder, for any evaluator."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ideagora.config import Settings
from ideagora.evaluators.judging.evaluation import Evaluation
from ideagora.evaluators.judging.verdict_log import VerdictLog
from ideagora.graphs.run_fields import RunFields
from ideagora.graphs.run_folder import RunFolder
from ideagora.graphs.runtime.job import Finish, Job, RunResources
from ideagora.graphs.runtime.run_job import run_job
from ideagora.schema import Verdict

if TYPE_CHECKING:
    from ideagora.retrieval.library import Library

STEPS = 100
"""Maximum number of steps of the graph besides its rounds."""


@dataclass(frozen=True)
class JudgingResources(RunResources):
    """What the judging graph uses of the command that runs it."""

    library: Library | None = None
    """The literature for questions that need it."""


@dataclass(frozen=True)
class JudgingTask:
    """An evaluation and what is recorded about it."""

    name: str
    identity: str
    settings: Settings
    models: tuple[str, ...]
    """The models that may be called."""
    record: RunFields
    """Fields of ``run.json`` besides the settings."""
    questions: int | None
    """Maximum number of questions; ``None`` if the rounds are known to end."""
    first_text: str = ""
    """A text that will be embedded, to load the model during the first call; empty if none will be."""
    down: tuple[str, ...] = ()
    """Outages before the judging, such as while ideas were generated."""


async def run_judging(
    task: JudgingTask,
    evaluation: Evaluation,
    folder: RunFolder,
    finish: Finish,
    resources: JudgingResources,
    on_verdict: Callable[[Verdict], None] | None = None,
) -> tuple[str, ...]:
    """Ask all questions of an evaluation, or those that an earlier attempt left.

    ``finish`` gets the final state, the usage and the outages once the verdicts are on disk in their order.

    Returns:
        The outages, one line each; without any, the evaluation is complete.

    Raises:
        BudgetExhausted: the budget is spent; the folder contains the verdicts so far.
        IdeagoraError: a fatal error; the same call continues.
    """
    from ideagora.evaluators.judging.graph import JudgingContext, build_graph

    with VerdictLog(folder.path, on_verdict) as log:
        if log.was_cut:
            folder.delete_checkpoints()
        job = Job(
            name=task.name,
            identity=task.identity,
            settings=task.settings,
            record=task.record,
            build=build_graph,
            start={"round": 0},
            finish=finish,
            options=JudgingContext(evaluation, log, asyncio.Semaphore(task.settings.concurrency)),
            down=task.down,
            first_text=task.first_text,
            recursion_limit=sys.maxsize if task.questions is None else STEPS + 4 * task.questions,
            models=task.models,
        )
        return await run_job(job, folder, resources.library, resources)
