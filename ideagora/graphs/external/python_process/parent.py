"""An agent that is Python code, at work in a process of its own.

Whatever happens there (``os._exit``, a crash, an endless loop that never gives the interpreter back, a
patched module) stays there. The two sides talk in JSON lines (``remote.py``), as with a command; the
other one is ``child.py``.
"""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ideagora.errors import AgentFailed, BudgetExhausted, IdeagoraError, TopicNotCovered
from ideagora.graphs.external.answer_schema import class_of
from ideagora.graphs.external.command.subprocess import CommandSession, answered, kill
from ideagora.graphs.external.context import AgentContext
from ideagora.graphs.external.errors import is_foreign
from ideagora.graphs.external.in_process import stdout_guard
from ideagora.graphs.external.inactivity import InactivityTimeout
from ideagora.graphs.external.python_process.description import (
    LOADING,
    AgentDescription,
    order_of,
    words_of_child,
)
from ideagora.graphs.external.references import ExternalState, resolve_references
from ideagora.graphs.external.validation import MOST_IDEAS, plain_idea
from ideagora.models.redact import one_line

MOST_CALLS = 1000
"""Calls of an agent that are answered at a time; the next ones wait."""
LONGEST_CALL = 16_000_000
"""Bytes of a line: a prompt and a system message at their longest, in whatever script."""
MOST_REJECTED = 3
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
"""As Python shows one when it crashes, innermost first."""


def build_graph(place: AgentDescription, name: str, code: str, step: str) -> Any:
    """A graph with the agent as its only step."""

    async def run(state: ExternalState, runtime: Runtime[AgentContext]) -> ExternalState:
        tools = runtime.context
        values = await AgentProcess(place, name, code, tools).held()
        return await resolve_references(values, tools, name)

    graph = StateGraph(ExternalState, context_schema=AgentContext)
    graph.add_node(step, run)
    graph.add_edge(START, step)
    graph.add_edge(step, END)
    return graph


class AgentProcess(CommandSession):
    """A Python agent at work in a process of its own."""

    longest_line = LONGEST_CALL
    most_output = None

    def __init__(self, place: AgentDescription, name: str, code: str, tools: AgentContext) -> None:
        super().__init__(words_of_child(), name, None, tools)
        self._place, self._code = place, code
        self._patience = InactivityTimeout(max(LOADING, tools.bridge.patience.limit))
        self._free = asyncio.Semaphore(MOST_CALLS)
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._errors: dict[int, IdeagoraError] = {}
        self._reason: IdeagoraError | None = None
        self._has_returned = False
        self._crash: list[str] = []

    async def held(self) -> list[Any]:
        """The ideas that it returned, as plain values; a text stands for one that cannot be used.

        Raises:
            AgentFailed: it raised, hung, crashed or ended before it returned; says which.
            IdeagoraError: an error of a call that it let through.
        """
        given: list[Any] = []
        try:
            given = await super().held()
        except AgentFailed:
            if self._reason is None:
                raise
        finally:
            for call in self._calls.values():
                call.cancel()
            await asyncio.gather(*self._calls.values(), return_exceptions=True)
        if self._reason is not None:
            raise self._reason
        if not self._has_returned:
            raise self._failed("ended its process before it returned (os._exit(0) or the like)")
        return given

    def _environment(self) -> dict[str, str] | None:
        return None

    def _opening(self) -> dict[str, Any]:
        topic = self._tools.topic.model_dump(mode="json")
        order = {**order_of(self._place, "run"), "name": self._name, "code": self._code}
        return {**order, "topic": topic, "seed": self._tools.seed}

    async def _take(self, process: asyncio.subprocess.Process, value: dict[str, Any]) -> None:
        if isinstance(value.get("id"), int):
            await self._free.acquire()
            self._begin(process, value["id"], value.get("ask"))
        elif isinstance(value.get("cancel"), int):
            if call := self._calls.get(value["cancel"]):
                call.cancel()
        elif "started" in value:
            self._patience = self._tools.bridge.patience
            self._patience.sign_of_life()
        elif "idea" in value or "unusable" in value:
            await self._idea(value)
        elif "returned" in value or "raised" in value:
            self._end(value)
        else:
            raise self._failed("wrote what is no message of its to the pipe that its calls go through")

    def _begin(self, process: asyncio.subprocess.Process, number: int, ask: Any) -> None:
        call = asyncio.create_task(self._answer(process, number, ask))
        self._calls[number] = call

        def ended(call: asyncio.Task[None]) -> None:
            self._calls.pop(number, None)
            self._free.release()

        call.add_done_callback(ended)

    async def _answer(self, process: asyncio.subprocess.Process, number: int, ask: Any) -> None:
        told: dict[str, Any]
        try:
            told = {"answer": await _answered(ask, self._tools)}
        except BudgetExhausted as error:  # a hard stop, whatever the agent would make of it
            self._reason = error
            kill(process)
            return
        except (IdeagoraError, ValueError, TypeError, LookupError) as error:
            if isinstance(error, IdeagoraError):
                self._errors[number] = error
            told = {"error": one_line(str(error), 600), "kind": type(error).__name__}
        await self._write(process, {**told, "id": number})

    def _note(self, line: bytes, count: int) -> None:
        super()._note(line, count)
        text = line.decode(errors="replace").strip()
        if text.startswith("Fatal Python error"):
            self._crash = [one_line(text)]
        elif len(self._crash) == 1 and (frame := _FRAME.match(text)) and is_foreign(frame[1]):
            self._crash.append(f"{Path(frame[1]).name}, line {frame[2]}")

    def _said(self) -> str:
        return f": {' / '.join(self._crash)}" if self._crash else super()._said()

    async def _idea(self, value: dict[str, Any]) -> None:
        number = len(self._ideas) + 1
        if number > MOST_IDEAS:
            raise self._failed(f"returned more than {MOST_IDEAS} ideas")
        if "unusable" in value:
            self._ideas.append(one_line(str(value["unusable"]), 600))
        else:
            self._ideas.append(await asyncio.to_thread(plain_idea, value["idea"], number))

    def _end(self, value: dict[str, Any]) -> None:
        printed = value.get("printed")
        stdout_guard.characters_written += printed if isinstance(printed, int) and printed > 0 else 0
        self._has_returned = True
        if "raised" not in value or self._reason is not None:
            return
        met = self._errors.get(value.get("question") or 0)
        kind = TopicNotCovered if value.get("kind") == "TopicNotCovered" else AgentFailed
        self._reason = met or kind(one_line(str(value["raised"]), 600))


async def _answered(ask: Any, tools: AgentContext) -> Any:
    """The answer to one question: as a command's, or an object that fits a JSON schema."""
    if not isinstance(ask, dict) or "schema" not in ask:
        return await answered(ask, tools)
    if unknown := set(ask) - {"model", "system", "sample", "schema", "rejected"}:
        raise ValueError(f"model does not take {', '.join(sorted(unknown))}")
    schema = class_of(ask["schema"])
    complaints = {_fields(value): str(why) for value, why in ask.get("rejected", [])[:MOST_REJECTED]}

    def check(_: Any, answer: Any) -> str | None:
        return complaints.get(_fields(_plain(answer)))

    answer = await tools.model.checked(ask["model"], ask.get("system"), schema, ask.get("sample", 0), check)
    return _plain(answer)


def _plain(answer: Any) -> Any:
    return answer.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _fields(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
