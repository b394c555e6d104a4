"""The runtime: one function runs any graph in a run's folder, and continues it after a stop.

LangGraph saves a checkpoint after each step (SQLite, in the folder); a step that was cut short runs
again, and the calls it had answered come from the cache of answers.
"""

from __future__ import annotations

import asyncio
import logging
import platform
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from ideagora import __version__
from ideagora.agents.role import ROLES
from ideagora.config import Settings
from ideagora.errors import BudgetExhausted, IdeagoraError
from ideagora.graphs.agent import Agent, Origin
from ideagora.graphs.run_folder import RunFolder, now, unusable
from ideagora.graphs.services import Services
from ideagora.models.cache import Cache
from ideagora.models.door import Door
from ideagora.models.usage import Meter, label, labelled
from ideagora.prompts.loader import load_prompt
from ideagora.schema import Idea, Topic, stable_id

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.models.embeddings import Embedder
    from ideagora.retrieval.library import Library

RECORDED = (
    "langgraph",
    "langchain-core",
    "litellm",
    "chromadb",
    "sentence-transformers",
    "pydantic",
    "torch",
)
SECRET_FREE = (
    "model",
    "reader_model",
    "judge_model",
    "temperature",
    "embedder",
    "source",
    "full_text",
    "seed",
)
"""Settings that can change a result; together with topic, agent and options they name a run."""

SUMMARIES_ARE_OURS = (
    "The starter corpus ships summaries in our own words, not the papers' abstracts: what is quoted here "
    "are words of those summaries."
)

_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
log = logging.getLogger(__name__)

Listener = Callable[[Mapping[str, Any]], None]


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
        chosen = self.settings.model_dump(mode="json", include=set(SECRET_FREE))
        parts = [self.topic.model_dump_json(), self.agent.name, self.options.model_dump_json()]
        return stable_id(*parts, *(f"{name}={chosen[name]}" for name in SECRET_FREE))


async def run_task(
    task: Task,
    folder: RunFolder,
    library: Library,
    embedder: Callable[[], Embedder],
    listener: Listener,
    chats: Mapping[str, BaseChatModel] | None = None,
) -> list[Idea]:
    """Run the agent's graph in an open folder, or go on where it was stopped.

    The ideas are in the folder when this returns. On an error or a stop the folder says so, and the
    same call goes on; after an error the graph begins anew, with all answered calls in the cache.
    """
    _warm_up(embedder, task.topic)
    graph = task.agent.build()  # before the record: it defines the roles, whose prompts are recorded
    meter, record = Meter(), _opening_record(task, folder)
    events = folder.events()
    meter.restore(events)
    cache = Cache.at_home(task.settings.home)
    previous = record.pop("previous")
    if previous in ("failed", "done", None):  # done, and its ideas are not to be read
        folder.forget_checkpoints()
    if previous == "failed" and not task.settings.replay:  # what could not be read is asked for anew
        cache.forget(event["key"] for event in events if event.get("status") == "unreadable")
    folder.write({**record, "usage": meter.summary()})

    def on_event(event: Mapping[str, Any]) -> None:
        folder.log(event)
        listener(event)

    restricted = library.restricted(task.topic)
    restricted.begin_run(on_event, () if previous in ("failed", "done", None) else events)
    door = Door(
        task.settings,
        cache=cache,
        meter=meter,
        chats=chats,
        embedder=embedder,
        run_id=task.identity,
        raw_folder=folder.path / "raw",
        on_event=on_event,
    )
    try:
        door.warm_up()
        await door.check()
        services = Services(door, restricted, task.options, _voice(on_event))
        with labelled("shared"):
            state = await _drive(task, graph, folder, services, on_event)
        ideas = task.agent.ideas(state, _origin(task, meter))
        folder.write_ideas(ideas)
        record.update(status="done", failures=task.agent.failures(state), error=None)
        return ideas
    except BaseException as error:
        record.update(status=_status(error), error=_told(error))
        raise
    finally:
        await door.aclose()
        await restricted.disconnect()
        restricted.end_run()
        record["notes"] += restricted.notes
        record.update(usage=meter.summary(), held_back=_held_back(restricted), finished=now())
        folder.write(record)


async def _drive(
    task: Task, builder: Any, folder: RunFolder, services: Services, on_event: Listener
) -> Mapping[str, Any]:
    """The graph's last state. Checkpoints that cannot be read are dropped: the cache has all answers."""
    try:
        return await _streamed(task, builder, folder, services, on_event)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _CORRUPT:
            raise unusable(folder.path, error) from None
        log.warning("the checkpoints in %s cannot be read (%s): the run begins anew", folder.path, error)
    folder.forget_checkpoints()
    return await _streamed(task, builder, folder, services, on_event)


async def _streamed(
    task: Task, builder: Any, folder: RunFolder, services: Services, on_event: Listener
) -> Mapping[str, Any]:
    """Stream the graph to its end, telling the start and end of every step."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async with AsyncSqliteSaver.from_conn_string(str(folder.path / "checkpoints.sqlite")) as saver:
        graph = builder.compile(checkpointer=saver, name=task.agent.name)
        config = {
            "configurable": {"thread_id": task.identity},
            "recursion_limit": 200,
            "max_concurrency": 64,
        }
        known = await graph.aget_state(config)
        start = None if known.values else task.agent.start(task.topic)
        # Not ``next``: that leaves out tasks which are done and wait for their step's checkpoint.
        if not known.values or known.tasks:
            steps = _Steps(on_event)
            stream = graph.astream(
                start, config, context=services, stream_mode="tasks", subgraphs=True, durability="async"
            )
            async with aclosing(stream):  # or its tasks outlive an error of the listener
                async for namespace, payload in stream:
                    steps.tell(namespace, payload)
        final = await graph.aget_state(config)
        values: Mapping[str, Any] = final.values
        return values


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
            if anchored:
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


def _warm_up(embedder: Callable[[], Embedder], topic: Topic) -> None:
    """Load the embedding model beside the first call. Nothing is loaded where the topic's vector is kept."""

    def load() -> None:
        with suppress(IdeagoraError):  # whoever needs the model meets the error too
            embedder().encode([topic.text])

    threading.Thread(target=load, name="embedder warm-up", daemon=True).start()


def _voice(on_event: Listener) -> Callable[[str], None]:
    return lambda text: on_event({"event": "note", "label": label.get(), "text": text})


def _opening_record(task: Task, folder: RunFolder) -> dict[str, Any]:
    """What ``run.json`` says from the start on; ``previous`` is the status found in the folder."""
    held = folder.read() or {}
    return {
        "id": task.identity,
        "topic": task.topic.model_dump(mode="json"),
        "agent": task.agent.name,
        "options": task.options.model_dump(mode="json"),
        "settings": task.settings.model_dump(mode="json", include=set(SECRET_FREE)),
        "seed": task.settings.seed,
        "versions": {"ideagora": __version__, "python": platform.python_version(), **_versions()},
        "prompts": {name: load_prompt(name).hash for name in sorted(ROLES)},
        "offline": "offline" in task.settings.models,
        "status": "running",
        "error": None,
        "failures": [],
        "held_back": [],
        "notes": [SUMMARIES_ARE_OURS] if "starter" in task.settings.source.split(",") else [],
        "started": held.get("started") or now(),
        "finished": None,
        "previous": held.get("status"),
    }


def _versions() -> dict[str, str]:
    installed = {}
    for name in RECORDED:
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return installed


def _origin(task: Task, meter: Meter) -> Origin:
    used = meter.answers_by_label
    return Origin(
        agent=task.agent.name,
        model=" + ".join(task.settings.models),
        usage={name: answers.usage for name, answers in used.items()},
        answered={name: answers.latest for name, answers in used.items()},
    )


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
