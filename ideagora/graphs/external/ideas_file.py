"""External agents that are files of existing ideas: ``ideas:FILE`` or ``ideas:NAME``.

``ideagora.importing`` reads the file; the agent returns its ideas for the topic. No model is called.
"""

from __future__ import annotations

import asyncio
import difflib
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from langgraph.runtime import Runtime

from ideagora.config import load_settings
from ideagora.errors import AgentFailed, IdeasFileError, UsageError
from ideagora.graphs.agent import Agent
from ideagora.graphs.drafts import failure
from ideagora.graphs.external.adapter import AgentCode, adapt_agent
from ideagora.graphs.external.context import AgentContext
from ideagora.graphs.external.state import ExternalState, one_step_graph
from ideagora.graphs.external.validation.ideas import plain_ideas
from ideagora.graphs.external.validation.references import resolve_references
from ideagora.models.redact import one_line
from ideagora.schema import Idea

STEP = "read_ideas"


def load_agent(file: str, home: Path | None = None) -> Agent:
    """The agent of a file or folder of ideas, or of a name under which ideas were imported into ``home``.

    Raises:
        UsageError: there is no such file or name.
    """
    from ideagora.importing.storage import find_ideas

    if not file:
        raise UsageError("ideas: does not name a file. Write ideas:FILE.")
    try:
        whole = find_ideas(file, home or load_settings().home).resolve()
    except IdeasFileError as error:
        raise UsageError(f"ideas:{file} cannot be read: {error}") from None
    name = f"ideas:{whole.name if Path(file).expanduser().exists() else file}"
    agent = adapt_agent(
        AgentCode(name, source=f"ideas:{file}", fingerprint=_fingerprint(whole)),
        about="Existing ideas from a file.",
        build=lambda: _build_graph(whole, name),
        steps=(STEP,),
        calls=0,
    )
    return replace(agent, set_ideas=None)


def _fingerprint(path: Path) -> str:
    """A hash of the file; of a folder, of its files' names, sizes and times."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    files = sorted((str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in path.rglob("*"))
    return hashlib.sha256(repr(files).encode()).hexdigest()[:16]


def _build_graph(path: Path, name: str) -> Any:
    async def read_ideas(state: ExternalState, runtime: Runtime[AgentContext]) -> ExternalState:
        from ideagora.importing import read_ideas as read

        context = runtime.context
        imported = await asyncio.to_thread(read, path, topic=context.topic.text)
        problems = [str(problem) for problem in imported.problems]
        ideas = _select_topic(imported.ideas, context.topic.text, name, problems)
        values = plain_ideas([_with_origin(idea) for idea in ideas], name)
        result = await resolve_references(values, context, name)
        failures = [failure(why) for why in problems]
        return {"ideas": result["ideas"], "failures": [*result["failures"], *failures]}

    return one_step_graph(STEP, read_ideas)


def _select_topic(ideas: tuple[Idea, ...], topic: str, name: str, problems: list[str]) -> list[Idea]:
    """The ideas for this topic, ignoring case and white space."""
    wanted = _key(topic)
    chosen = [idea for idea in ideas if _key(idea.topic) == wanted]
    if chosen:
        return chosen
    if not ideas:
        raise AgentFailed(f"{name} has no readable idea. {' '.join(problems[:3])}".rstrip())
    topics = {_key(idea.topic): idea.topic for idea in ideas}
    near = difflib.get_close_matches(wanted, topics, n=1, cutoff=0.0)
    raise AgentFailed(
        f"{name} has no idea for the topic “{one_line(topic, 80)}”. Topics of its ideas: {len(topics)}, the "
        f"closest “{one_line(topics[near[0]], 80)}”. Use one of these."
    )


def _key(topic: str) -> str:
    return " ".join(topic.casefold().split())


def _with_origin(idea: Idea) -> Idea:
    """The idea with its original agent and model in ``extra``, because the run sets its own."""
    origin = {"made_by": idea.agent, "made_with": idea.model, "made": idea.created}
    known = {key: value for key, value in origin.items() if value not in (None, "unknown")}
    return idea.model_copy(update={"extra": {**idea.extra, **known}})
