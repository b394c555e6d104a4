"""Generates ideas: checks topics, chooses the run folders, and runs the agent on each topic."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from pydantic import ValidationError

from ideagora.config import Settings
from ideagora.errors import EmptyTopic, IdeagoraError, TopicError, UsageError
from ideagora.graphs.event_log import read_events
from ideagora.graphs.files import make_private
from ideagora.graphs.run_folder import RunFolder
from ideagora.graphs.runtime.job import RunResources
from ideagora.graphs.task import Task, run_task
from ideagora.models.budget import create_budget
from ideagora.models.usage import UsageTracker
from ideagora.schema import Idea, Steering, Topic
from ideagora.schema.events import Listener

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.models.budget import Budget
    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.retrieval.library import Library

LONGEST_TOPIC = 300
"""Maximum words of a topic: a phrase or a paragraph, not a document."""
OWN_FIELDS = ("text", "steering")
"""Fields of a topic that a line of a file does not set by their name."""
LARGEST_TOPICS = 32_000_000
"""Maximum bytes of a file of topics."""
OpenLibrary = Callable[[], tuple["Library", Callable[[], "Embedder"]]]
"""Opens the library; returns it with what gives the embedder that the offline model shares with it."""


@dataclass(frozen=True)
class Outcome:
    """One topic's result: ideas, or the error that ended it."""

    task: Task
    folder: Path
    ideas: tuple[Idea, ...] = ()
    error: IdeagoraError | None = None
    down: tuple[str, ...] = ()
    """Outages, one line each; if there are any, the run is incomplete and the same command resumes it."""
    already_done: bool = False
    """Whether the folder already has the finished run, so that nothing was called."""


class TopicFields(TypedDict, total=False):
    """Fields of topics that the command line sets."""

    before: str | None
    excluded: tuple[str, ...]
    steering: Steering | None


def check_topic(text: str, offline: bool, **fields: Unpack[TopicFields]) -> Topic:
    """Return the topic with normalized spaces.

    Raises:
        TopicError: it is empty, too long, or in a script that the offline model cannot read.
        UsageError: a field is invalid, such as a cut-off that is not a date.
    """
    return _check_fields(text, offline, fields)


def _check_fields(text: str, offline: bool, fields: Mapping[str, object]) -> Topic:
    """As ``check_topic``, with any fields of a topic."""
    clean = " ".join(text.split())
    if not re.search(r"\w", clean):
        raise EmptyTopic(
            "The topic is empty. Describe in a few words what the ideas should be about, "
            'e.g. "retrieval for long documents".'
        )
    if (count := len(clean.split())) > LONGEST_TOPIC or len(clean) > 20 * LONGEST_TOPIC:
        raise TopicError(
            f"The topic has {count} words and {len(clean)} characters; the limit is {LONGEST_TOPIC} "
            "words. Keep the question, leave out the background."
        )
    if offline and _share_of_latin(clean) < 0.7:
        raise TopicError(
            f"The offline model reads English only, and “{clean[:60]}” is in another script. "
            "Translate the topic, or use --model."
        )
    try:
        return Topic.model_validate({"text": clean, **fields})
    except ValidationError as error:
        first = error.errors()[0]
        field, message = str(first["loc"][0]), first["msg"].removeprefix("Value error, ")
        name = {"before": "--before", "text": "the topic"}.get(field, field)
        raise UsageError(f"{name} is {first['input']!r}: {message}.") from None


def _share_of_latin(text: str) -> float:
    letters = [character for character in text if character.isalpha()]
    return sum(ord(character) < 0x250 for character in letters) / max(1, len(letters))


def read_topics(path: Path, offline: bool, **fields: Unpack[TopicFields]) -> list[Topic]:
    """Read a file of topics: one per line, or JSON lines with ``topic`` (or ``text``) and optional fields.

    Fields that are missing or null are taken from ``fields``; exclusions there apply to every line.

    Raises:
        UsageError: the file cannot be read, or a line is not a topic; names the line.
    """
    try:
        if path.stat().st_size > LARGEST_TOPICS:
            limit = f"{LARGEST_TOPICS / 1e6:.0f} MB"
            raise UsageError(f"--topics {path} has more than {limit}. Split it into several files.")
        # Not splitlines: a topic in JSON may contain U+2028 and the like.
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"--topics {path} cannot be read: {reason}.") from None
    topics = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            topics.append(_parse_topic(line.strip(), offline, fields))
        except IdeagoraError as error:
            raise UsageError(f"{path}, line {number}: {error}") from None
    if not topics:
        raise UsageError(f"{path} has no topic. Write one per line.")
    return list(dict.fromkeys(topics))


def _parse_topic(line: str, offline: bool, fields: TopicFields) -> Topic:
    if not line.startswith("{"):
        return check_topic(line, offline, **fields)
    from ideagora.retrieval.untrusted_json import UnreadableJSON, parse_json

    try:
        values = parse_json(line)
    except UnreadableJSON as error:
        raise UsageError(f"{error}.") from None
    record = {name: value for name, value in values.items() if value is not None}
    text = record.get("topic") or record.get("text")
    if not isinstance(text, str):
        raise UsageError("has no field “topic”.")
    known = {name: record[name] for name in Topic.model_fields if name in record and name not in OWN_FIELDS}
    if type(known.get("before")) is int:
        known["before"] = str(known["before"])
    if "banned" in record:
        known.setdefault("excluded", record["banned"])
    if isinstance(known.get("excluded"), list):
        known["excluded"] = [*fields.get("excluded", ()), *known["excluded"]]
    return _check_fields(text, offline, {**fields, **known})


def folder_for(task: Task, out: Path | None, several: bool) -> Path:
    """The run's folder: ``--out``, a folder in it per topic, or one in the home's ``runs``."""
    name = f"{_slug(task.topic.text)}-{task.identity[:8]}"
    if out is None:
        return task.settings.home / "runs" / name
    return out / name if several else out


def _slug(text: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return slug[:48].rstrip("-") or "topic"


@contextmanager
def library_session(
    settings: Settings,
    on_wait: Callable[[str], None] | None,
    on_progress: Callable[[int, int], None] | None,
) -> Iterator[tuple[Library, Callable[[], Embedder]]]:
    """Open the library, with the embedder that the offline model shares with it; close it at the end.

    Meanwhile, output of plugin sources does not go to stdout.
    """
    from ideagora.graphs.external.in_process.stdout_guard import stdout_guarded
    from ideagora.retrieval.factory import open_library

    with stdout_guarded():
        make_private(settings.home)
        library = open_library(settings, on_wait=on_wait, on_progress=on_progress)
        try:
            yield library, lambda: library.embedder
        finally:
            library.close()


def load_budget(settings: Settings, folders: Iterable[Path]) -> Budget:
    """The budget of the settings, with what the runs in these folders have cost so far."""
    budget = create_budget(settings, {})
    for folder in folders:
        tracker = UsageTracker()
        tracker.restore(read_events(folder / "events.jsonl"))
        budget.include(str(folder), tracker)
        budget.settle(str(folder))
    return budget


async def generate(
    tasks: Sequence[tuple[Task, Path]],
    library: OpenLibrary,
    listener: Listener,
    fresh: bool = False,
    chats: Mapping[str, BaseChatModel] | None = None,
) -> list[Outcome]:
    """Run each task in its folder, one after the other, under one budget; an error ends only its own task.

    ``library`` is called only if a task that uses it is not done yet.

    Raises:
        IdeagoraError: the only task failed, or the error is fatal.
    """
    budget = (
        load_budget(tasks[0][0].settings, () if fresh else (path for _, path in tasks)) if tasks else None
    )
    resources = RunResources(lambda: library()[1](), listener, chats, budget)
    outcomes = []
    for task, path in tasks:
        try:
            outcomes.append(await generate_one(task, path, library, resources, fresh))
        except IdeagoraError as error:
            if len(tasks) == 1 or error.fatal:
                raise
            outcomes.append(Outcome(task, path, error=error))
    return outcomes


async def generate_one(
    task: Task, path: Path, library: OpenLibrary, resources: RunResources, fresh: bool = False
) -> Outcome:
    """Run a task in its folder, unless the folder has the finished run.

    Raises:
        IdeagoraError: the run failed, or the budget is spent.
    """
    with RunFolder(path, task.identity) as folder:
        if fresh:
            folder.clear()
        elif (ideas := folder.finished_ideas()) is not None:
            return Outcome(task, path, tuple(ideas), already_done=True)
        needs_library = task.agent.reads_literature or "offline" in task.settings.models
        opened, embedder = library() if needs_library else (None, resources.embedder)
        new_ideas, outages = await run_task(task, folder, opened, replace(resources, embedder=embedder))
        return Outcome(task, path, tuple(new_ideas), down=outages)
