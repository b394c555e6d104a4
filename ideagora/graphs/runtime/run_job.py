"""The runtime: one function runs any graph in a run folder, and continues it after a stop.

It runs a ``Job``: an agent on a topic (``task.py``), or an evaluator on ideas.

LangGraph saves a checkpoint after each step (SQLite, in the folder). An interrupted step runs again, and the
calls that it made are answered from the cache.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from ideagora.errors import IdeagoraError
from ideagora.graphs.files import folder_error
from ideagora.graphs.run_fields import RunFields
from ideagora.graphs.run_folder import RunFolder, now
from ideagora.graphs.runtime.checkpoints import DamagedCheckpoints, last_state, open_saver
from ideagora.graphs.runtime.events import StepEvents
from ideagora.graphs.runtime.job import Job, RunResources
from ideagora.graphs.runtime.outages import Outages
from ideagora.graphs.runtime.run_record import (
    changes,
    error_text,
    failure_status,
    first_record,
    hidden_papers,
    restart_note,
)
from ideagora.graphs.services import Services
from ideagora.models.budget import Budget, create_budget
from ideagora.models.cache.retry_failed import keys_to_retry, retry_counts
from ideagora.models.client import LLMClient
from ideagora.models.embeddings.process_embedder import start_early
from ideagora.models.model_registry import ModelRegistry
from ideagora.models.recorder import CallLog
from ideagora.models.transport.providers import needs_litellm
from ideagora.models.usage import UsageTracker, current_label, usage_label
from ideagora.schema.events import Event, Listener

if TYPE_CHECKING:
    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.retrieval.library import Library

_FOLDER_ERRORS = (
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
)  # fmt: skip
"""SQLite codes for an unusable folder; any other code means that the file is damaged."""
_RESUMABLE = ("running", "interrupted", "budget")
"""Statuses of a run that continues where it stopped."""
log = logging.getLogger(__name__)


async def run_job(
    job: Job,
    folder: RunFolder,
    library: Library | None,
    resources: RunResources,
) -> tuple[str, ...]:
    """Run a graph in an open folder, or continue it.

    After an interruption the graph continues where it stopped; after an error or an outage it begins again,
    with all earlier calls in the cache.

    Args:
        job: the graph and its settings.
        folder: the open folder.
        library: the library with cut-off and exclusions applied, if the graph uses one.
        resources: what the run shares with others of its command.

    Returns:
        The outages, one line each. If there are none, the run is done; otherwise it is incomplete, and the
        same call continues it.

    Raises:
        IdeagoraError: the run failed for a reason other than an outage, or the budget is spent.
    """
    if job.first_text:
        _warm_up(resources.embedder, job, resources.chats or {})
    graph = job.build()  # before the record: it defines the roles, whose prompts are recorded
    budget = resources.budget or create_budget(job.settings, {})
    run = _begin_run(job, folder, resources.listener, budget)
    client = _create_client(job, folder, run, replace(resources, budget=budget))
    record = run.record
    if library is not None:
        library.begin_run(run.on_event, folder.events() if run.resumes else (), job.identity)
    try:
        outages = await _run_graph(job, graph, folder, library, client, run)
        if run.restart_reason:
            record["notes"] = [run.restart_reason, *record["notes"]]
        return outages
    except BaseException as error:
        record |= {"status": failure_status(error), "error": error_text(error)}
        raise
    finally:
        await client.aclose()
        if library is not None:
            record |= await _end_library(library, record["notes"])
        record |= {"usage": run.tracker.summary(), "finished": now()}
        folder.write(record)


@dataclass
class _Run:
    """What is recorded while a job runs."""

    record: RunFields
    """The content of ``run.json``."""
    tracker: UsageTracker
    outages: Outages
    on_event: Listener
    resumes: bool
    """Whether the graph continues after an interruption."""
    restart_reason: str | None
    """Why the graph begins again although the run was only interrupted; goes into the report."""


def _create_client(
    job: Job,
    folder: RunFolder,
    run: _Run,
    resources: RunResources,
) -> LLMClient:
    """The client of the graph's nodes, which records its calls in the run."""
    models = ModelRegistry(job.settings, resources.embedder, resources.chats)
    calls = CallLog(
        run_id=job.identity,
        tracker=run.tracker,
        on_event=run.on_event,
        raw_folder=folder.path / "raw",
        retry_counts=retry_counts(folder.events()),
    )
    return LLMClient(models, calls, budget=resources.budget, slots=resources.slots, cutoff=job.cutoff)


def _begin_run(job: Job, folder: RunFolder, listener: Listener, budget: Budget) -> _Run:
    """Write the first record, and decide whether the graph continues or begins again."""
    previous = folder.read() or {}
    record, tracker = first_record(job, previous), UsageTracker()
    tracker.restore(folder.events())
    budget.include(str(folder.path), tracker)
    reason = _restart_reason(previous, record, folder) if previous.get("status") in _RESUMABLE else None
    resumes = _can_resume(previous.get("status"), job, folder) and reason is None
    if reason is not None:
        folder.delete_checkpoints()
        log.warning("%s: %s", folder.path, reason)
    folder.write({**record, "usage": tracker.summary()})
    outages = Outages(folder.events() if resumes else ())

    def on_event(event: Event) -> None:
        folder.log(event)
        outages.record(event)
        listener(event)

    if not resumes:
        tracker.restore([{"event": "begin"}])
        on_event({"event": "begin"})
    return _Run(record, tracker, outages, on_event, resumes, reason)


def _restart_reason(previous: RunFields, record: RunFields, folder: RunFolder) -> str | None:
    """Why an interrupted run begins again instead of continuing; ``None``: it continues."""
    if changed := changes(previous, record):
        return restart_note(changed)
    if folder.has_lost_events:
        return "Started again from the cache, since events.jsonl is damaged."
    return None


async def _run_graph(
    job: Job, graph: Any, folder: RunFolder, library: Library | None, client: LLMClient, run: _Run
) -> tuple[str, ...]:
    """Run the graph, complete the record, and return the outages."""
    client.models.warm_up(job.allowed_models)
    await client.models.check(job.allowed_models)
    if library is not None:
        await library.resolve_exclusions()
    services = Services(client, library, job.options, _note_sender(run.on_event), job.target_paper)
    with usage_label("shared"):
        context = services if job.context is None else job.context(services)
        state, error = await _stream_or_restart(job, graph, folder, context, run.on_event)
    outages = (*job.down, *_find_outages(error, run.outages))
    finished = job.finish(state, run.tracker, outages)
    run.record |= await finished if isawaitable(finished) else finished
    run.record |= {
        "status": "incomplete" if outages else "done",
        "error": " ".join(outages) or None,
        "outages": list(outages),
        "ideas_sha256": folder.ideas_hash(),
    }
    return outages


def _find_outages(error: IdeagoraError | None, outages: Outages) -> tuple[str, ...]:
    """The outages when a graph has ended, possibly with an error.

    Raises:
        IdeagoraError: the error, if no outage can have caused it.
    """
    if error is None or (outages.reasons and not error.retryable):  # an outage may have caused it
        return outages.reasons
    if not error.retryable:
        raise error
    return outages.reasons if str(error) in outages.reasons else (*outages.reasons, str(error))


def _can_resume(previous: str | None, job: Job, folder: RunFolder) -> bool:
    """Whether the graph continues where it stopped; otherwise it begins again, with calls from the cache."""
    if previous == "failed" and not job.settings.replay and (keys := keys_to_retry(folder.events())):
        folder.log({"event": "asked anew", "keys": keys})
    if previous in ("failed", "incomplete", "done", None):  # done, but its results are unreadable
        folder.delete_checkpoints()
        return False
    return folder.has_checkpoints()


async def _end_library(library: Library, notes: list[str]) -> RunFields:
    """End the library's part of the run; return its fields of the record."""
    await library.disconnect()
    library.end_run()
    return {"notes": notes + library.notes, "held_back": hidden_papers(library)}


async def _stream_or_restart(
    job: Job, builder: Any, folder: RunFolder, context: Any, on_event: Listener
) -> tuple[Mapping[str, Any], IdeagoraError | None]:
    """Run the graph; begin again if its checkpoints cannot be read, since the cache has all answers.

    Returns:
        The final state, and the error that ended the graph, if any.
    """
    try:
        return await _stream(job, builder, folder, context, on_event)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _FOLDER_ERRORS:
            raise folder_error(folder.path, error) from None
        log.warning("the checkpoints in %s cannot be read (%s): the run starts over", folder.path, error)
    except DamagedCheckpoints as error:
        log.warning("the checkpoints in %s cannot be used (%s): the run starts over", folder.path, error)
    folder.delete_checkpoints()
    on_event({"event": "begin"})
    return await _stream(job, builder, folder, context, on_event)


async def _stream(
    job: Job, builder: Any, folder: RunFolder, context: Any, on_event: Listener
) -> tuple[Mapping[str, Any], IdeagoraError | None]:
    """Stream the graph to its end, with an event at the start and end of every step.

    Returns:
        The final state, and the error that ended the graph, if any.

    Raises:
        IdeagoraError: a fatal error.
    """
    async with open_saver(folder.path) as saver:
        graph = builder.compile(checkpointer=saver, name=job.name)
        config = {
            "configurable": {"thread_id": job.identity},
            "recursion_limit": job.recursion_limit,
            "max_concurrency": max(64, job.settings.concurrency),
        }
        known = await last_state(graph, config)
        start = None if known.values else dict(job.start)
        failure: IdeagoraError | None = None
        # Not ``next``: that leaves out tasks which are done and wait for their step's checkpoint.
        if not known.values or known.tasks:
            steps = StepEvents(on_event)
            stream = graph.astream(
                start, config, context=context, stream_mode="tasks", subgraphs=True, durability="async"
            )
            async with aclosing(stream):  # or its tasks outlive an error of the listener
                try:
                    async for namespace, payload in stream:
                        steps.emit(namespace, payload)
                except IdeagoraError as error:
                    if error.fatal:
                        raise
                    failure = error
        final = await graph.aget_state(config)
        values: Mapping[str, Any] = final.values
        return values, failure


def _warm_up(embedder: Callable[[], Embedder], job: Job, chats: Collection[str]) -> None:
    """Load the embedding model in its process, unless the topic's vector is cached."""
    if needs_litellm(job.allowed_models, chats, job.settings):
        start_early(job.settings.embedder)  # the call leaves time for it

    def load() -> None:
        with suppress(IdeagoraError):  # raised again where the model is needed
            embedder().encode([job.first_text])

    threading.Thread(target=load, name="warm-up", daemon=True).start()


def _note_sender(on_event: Listener) -> Callable[[str], None]:
    return lambda text: on_event({"event": "note", "label": current_label.get(), "text": text})
