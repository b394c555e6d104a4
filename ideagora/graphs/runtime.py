"""The runtime: one function runs any graph in a run's folder, and continues it after a stop.

What is run is a ``Job``: an agent at a topic (``task.py``), or an evaluator at its ideas.

LangGraph saves a checkpoint after each step (SQLite, in the folder); a step that was cut short runs
again, and the calls it had answered come from the cache of answers.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import platform
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora import __version__
from ideagora.agents.role import ROLES
from ideagora.config import Settings
from ideagora.errors import BudgetExhausted, IdeagoraError
from ideagora.graphs.checkpoints import DamagedCheckpoints, last_state, opened
from ideagora.graphs.outages import Outages
from ideagora.graphs.run_folder import IDEAS_HASH, RunFolder, folder_error, now
from ideagora.graphs.services import Services
from ideagora.models.budget import Budget, create_budget
from ideagora.models.cache.answers import ResponseCache
from ideagora.models.cache.retry_failed import RETRIED, keys_to_retry, retry_counts
from ideagora.models.client import LLMClient
from ideagora.models.request import server_address
from ideagora.models.usage import BEGIN, UsageTracker, current_label, usage_label
from ideagora.prompts.loader import load_prompt

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.retrieval.library import Library
    from ideagora.retrieval.target_paper import TargetPaper

RECORDED = (
    "langgraph",
    "langchain-core",
    "litellm",
    "chromadb",
    "sentence-transformers",
    "pydantic",
    "torch",
)
IDENTITY_FIELDS = (
    "model",
    "reader_model",
    "judge_model",
    "temperature",
    "embedder",
    "source",
    "store",
    "full_text",
    "seed",
)
"""Settings that can change a result: they are part of what a run is known by."""


def identity_parts(settings: Settings, models: Sequence[str] | None = None) -> list[str]:
    """What of the settings a run is known by, with the servers that answer for the models."""
    chosen = settings.model_dump(mode="json", include=set(IDENTITY_FIELDS))
    servers = {model: settings.server_of(model) for model in models or settings.models}
    return [f"{name}={chosen[name]}" for name in IDENTITY_FIELDS] + [
        f"server of {model}={server_address(place)}" for model, place in sorted(servers.items()) if place
    ]


_FOLDER_AT_FAULT = (
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
)  # fmt: skip
"""SQLite's codes for a folder that cannot be used; with any other the file is damaged."""
log = logging.getLogger(__name__)

Listener = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class Job:
    """One graph to be run in one folder. All of it is plain, or made when it is asked for."""

    name: str
    identity: str
    """The same for the same work: it finds its folder, its checkpoints and its run again."""
    settings: Settings
    record: Mapping[str, Any]
    """What ``run.json`` says of this job besides the settings: topic, agent, options, …"""
    build: Callable[[], Any]
    """Gives the uncompiled graph."""
    start: Mapping[str, Any]
    """The graph's first state."""
    finish: Callable[[Mapping[str, Any], UsageTracker, tuple[str, ...]], Mapping[str, Any]]
    """From the last state, the usage and what was down to files in the folder; gives what ``run.json``
    says at the end. Of an incomplete run the state may lack whatever the graph did not come to.
    """
    options: Any = None
    down: tuple[str, ...] = ()
    """What was down before the graph began: the run is incomplete, whatever the graph comes to."""
    first_text: str = ""
    """A text that will be embedded, to load the model beside the first call; empty: none will be."""
    recursion_limit: int = 200
    """Steps of the graph at most."""
    context: Callable[[Services], Any] | None = None
    """What the nodes get instead of the services; made inside the run's event loop."""
    target_paper: Callable[[], Awaitable[TargetPaper]] | None = None
    """Reads the paper that the job is about, before cut-off and bans."""
    models: tuple[str, ...] | None = None
    """The models that may be asked; ``None``: those of the settings."""

    @property
    def asked(self) -> tuple[str, ...]:
        """The models that may be asked."""
        return tuple(self.settings.models) if self.models is None else self.models


async def run_job(
    job: Job,
    folder: RunFolder,
    library: Library | None,
    embedder: Callable[[], Embedder],
    listener: Listener,
    chats: Mapping[str, BaseChatModel] | None = None,
    budget: Budget | None = None,
) -> tuple[str, ...]:
    """Run a graph in an open folder, or go on where it was stopped.

    ``library`` has its cut-off and bans applied. On an error or a stop the folder says so, and the same
    call goes on; after an error or an outage the graph begins anew, with all answered calls in the cache.
    ``budget`` is that of the whole command; ``None``: the settings' holds for this run alone.

    Returns:
        What was down, one line each; empty: the run is done. Else it is incomplete: what there is stands
        in the folder, and the same call goes on.

    Raises:
        IdeagoraError: it failed for another reason than an outage, or the budget is spent.
    """
    if job.first_text:
        _warm_up(embedder, job.first_text)
    graph = job.build()  # before the record: it defines the roles, whose prompts are recorded
    tracker, record = UsageTracker(), _opening_record(job, folder)
    events = folder.events()
    tracker.restore(events)
    budget = budget or create_budget(job.settings, {})
    budget.include(str(folder.path), tracker)
    previous = record.pop("previous")
    changed = changes(previous, record) if previous.get("status") in _GOES_ON else []
    goes_on = _left(previous.get("status"), job, folder, events) and not changed
    if changed:
        folder.delete_checkpoints()
        log.warning("%s: %s", folder.path, _begun_anew(changed))
    folder.write({**record, "usage": tracker.summary()})
    outages = Outages(events if goes_on else ())

    def on_event(event: Mapping[str, Any]) -> None:
        folder.log(event)
        outages.record(event)
        listener(event)

    if not goes_on:
        tracker.restore([{"event": BEGIN}])
        on_event({"event": BEGIN})

    if library is not None:
        library.begin_run(on_event, events if goes_on else (), job.identity)
    client = LLMClient(
        job.settings,
        cache=ResponseCache.for_home(job.settings.home),
        tracker=tracker,
        chats=chats,
        embedder=embedder,
        run_id=job.identity,
        raw_folder=folder.path / "raw",
        on_event=on_event,
        budget=budget,
        retry_counts=retry_counts(folder.events()),
    )
    try:
        client.warm_up(job.asked)
        await client.check(job.asked)
        if library is not None:
            await library.resolve_exclusions()
        services = Services(client, library, job.options, _voice(on_event), job.target_paper)
        with usage_label("shared"):
            context = services if job.context is None else job.context(services)
            state, error = await _drive(job, graph, folder, context, on_event)
        down = (*job.down, *_down(error, outages))
        status = {"status": "incomplete" if down else "done", "error": " ".join(down) or None}
        record.update(**job.finish(state, tracker, down), **status, outages=list(down))
        record[IDEAS_HASH] = folder.ideas_hash()
        if changed:
            record["notes"] = [_begun_anew(changed), *record["notes"]]
        return down
    except BaseException as error:
        record.update(status=_status(error), error=_told(error))
        raise
    finally:
        await client.aclose()
        if library is not None:
            record.update(await _closed(library, record["notes"]))
        record.update(usage=tracker.summary(), finished=now())
        folder.write(record)


def _down(error: IdeagoraError | None, outages: Outages) -> tuple[str, ...]:
    """What was down, when a graph came to its end or to an error.

    Raises:
        IdeagoraError: the error, when nothing was down that it could come from.
    """
    if error is None or (outages.reasons and not error.retryable):  # then it may well come from those
        return outages.reasons
    if not error.retryable:
        raise error
    return outages.reasons if str(error) in outages.reasons else (*outages.reasons, str(error))


def _left(previous: str | None, job: Job, folder: RunFolder, events: list[dict[str, Any]]) -> bool:
    """Whether the graph goes on where it was left; else it begins anew, its answered calls in the cache."""
    if previous == "failed" and not job.settings.replay and (keys := keys_to_retry(events)):
        folder.log({"event": RETRIED, "keys": keys})
    if previous in ("failed", "incomplete", "done", None):  # done, and what it made is not to be read
        folder.delete_checkpoints()
        return False
    return True


async def _closed(library: Library, notes: list[str]) -> dict[str, Any]:
    """What the literature leaves in the record."""
    await library.disconnect()
    library.end_run()
    return {"notes": notes + library.notes, "held_back": _held_back(library)}


async def _drive(
    job: Job, builder: Any, folder: RunFolder, context: Any, on_event: Listener
) -> tuple[Mapping[str, Any], IdeagoraError | None]:
    """The graph's last state, and the error that ended it.

    Checkpoints that cannot be read are dropped: the cache has all answers.
    """
    try:
        return await _streamed(job, builder, folder, context, on_event)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _FOLDER_AT_FAULT:
            raise folder_error(folder.path, error) from None
        log.warning("the checkpoints in %s cannot be read (%s): the run begins anew", folder.path, error)
    except DamagedCheckpoints as error:
        log.warning("the checkpoints in %s cannot be used (%s): the run begins anew", folder.path, error)
    folder.delete_checkpoints()
    on_event({"event": BEGIN})
    return await _streamed(job, builder, folder, context, on_event)


async def _streamed(
    job: Job, builder: Any, folder: RunFolder, context: Any, on_event: Listener
) -> tuple[Mapping[str, Any], IdeagoraError | None]:
    """Stream the graph to its end, telling the start and end of every step.

    Returns:
        Its last state, and the error of a step that ended it before.

    Raises:
        IdeagoraError: one that is fatal.
    """
    async with opened(folder.path) as saver:
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
            steps = _Steps(on_event)
            stream = graph.astream(
                start, config, context=context, stream_mode="tasks", subgraphs=True, durability="async"
            )
            async with aclosing(stream):  # or its tasks outlive an error of the listener
                try:
                    async for namespace, payload in stream:
                        steps.tell(namespace, payload)
                except IdeagoraError as error:
                    if error.fatal:
                        raise
                    failure = error
        final = await graph.aget_state(config)
        values: Mapping[str, Any] = final.values
        return values, failure


class _Steps:
    """Turns LangGraph's task stream into step events with the branch that they belong to."""

    def __init__(self, on_event: Listener) -> None:
        self._on_event = on_event
        self._branch: dict[str, int] = {}
        self._started: dict[str, float] = {}

    def tell(self, namespace: tuple[str, ...], payload: Mapping[str, Any]) -> None:
        """One payload of ``stream_mode="tasks"``: a task that starts, or one that ended."""
        identity, step = str(payload["id"]), str(payload["name"])
        branch = next(
            (self._branch[part.split(":")[-1]] for part in namespace if part.split(":")[-1] in self._branch),
            None,
        )
        event: dict[str, Any] = {"event": "step", "step": step, "branch": branch}
        if "triggers" in payload:
            anchored = payload["input"].get("anchored") if isinstance(payload["input"], Mapping) else None
            if isinstance(anchored, Mapping) and {"branch", "query"} <= anchored.keys():
                event["branch"] = self._branch[identity] = int(anchored["branch"])
                event["query"] = str(anchored["query"])
            self._started[identity] = time.monotonic()
            self._on_event({**event, "status": "started"})
        else:
            seconds = round(time.monotonic() - self._started.pop(identity, time.monotonic()), 3)
            error = payload.get("error")
            status = "failed" if error else "done"
            self._on_event(
                {**event, "branch": self._branch.get(identity, branch), "status": status, "seconds": seconds}
            )


def _warm_up(embedder: Callable[[], Embedder], text: str) -> None:
    """Load the embedding model beside the first call. Nothing is loaded where the text's vector is kept."""

    def load() -> None:
        with suppress(IdeagoraError):  # whoever needs the model meets the error too
            embedder().encode([text])

    threading.Thread(target=load, name="embedder warm-up", daemon=True).start()


def _voice(on_event: Listener) -> Callable[[str], None]:
    return lambda text: on_event({"event": "note", "label": current_label.get(), "text": text})


def _opening_record(job: Job, folder: RunFolder) -> dict[str, Any]:
    """What ``run.json`` says from the start on; ``previous`` is the status found in the folder."""
    held = folder.read() or {}
    return {
        "id": job.identity,
        **job.record,
        "settings": job.settings.model_dump(mode="json", include=set(IDENTITY_FIELDS)),
        "seed": job.settings.seed,
        "versions": {"ideagora": __version__, "python": platform.python_version(), **_versions()},
        "prompts": {name: load_prompt(name).hash for name in sorted(ROLES)},
        "code": code_hash(),
        "offline": "offline" in job.asked,
        "status": "running",
        "error": None,
        "failures": [],
        "outages": [],
        "held_back": [],
        "notes": list(job.record.get("notes", [])),
        "started": held.get("started") or now(),
        "finished": None,
        "previous": held,
    }


_GOES_ON = ("running", "interrupted", "budget")


def changes(held: Mapping[str, Any], record: Mapping[str, Any]) -> list[str]:
    """What is no longer as it was when a run began: versions, prompts, the program's own code."""
    found = []
    for part in ("versions", "prompts"):
        before, now_ = held.get(part), record[part]
        if isinstance(before, Mapping):
            found += [
                f"{name} was {str(before[name])[:20]}, is {str(now_[name])[:20]}" if part == "versions"
                else f"the prompt {name} has changed"
                for name in sorted(before.keys() & now_.keys()) if before[name] != now_[name]
            ]  # fmt: skip
    if not found and held.get("code") not in (None, record["code"]):
        found.append("the program's code has changed")
    return found


def _begun_anew(changed: Sequence[str]) -> str:
    told = "; ".join(changed[:5]) + (f"; and {len(changed) - 5} more" if len(changed) > 5 else "")
    return f"Begun anew from the cache, so that nothing is mixed: {told}."


@cache
def code_hash() -> str:
    """Changes with any line of the package's code."""
    digest = hashlib.sha256()
    package = Path(__file__).parents[1]
    for file in sorted(package.rglob("*.py")):
        digest.update(str(file.relative_to(package)).encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _versions() -> dict[str, str]:
    installed = {}
    for name in RECORDED:
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return installed


def _held_back(library: Library) -> list[dict[str, str]]:
    return [{"id": paper_id, "title": title, "why": why} for paper_id, title, why in library.held_back]


def _status(error: BaseException) -> str:
    if isinstance(error, BudgetExhausted):
        return "budget"
    return "failed" if isinstance(error, Exception) else "interrupted"


def _told(error: BaseException) -> str:
    if isinstance(error, IdeagoraError):
        return str(error)
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
        return "interrupted"
    return f"{type(error).__name__}: {error}"
