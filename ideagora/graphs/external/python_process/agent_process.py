"""Run an agent that is Python code in a process of its own.

That process contains whatever the code does (``os._exit``, a crash, an endless loop that never releases the
interpreter, a patched module). Both sides exchange JSON lines (``child_context.py``), as with a command; the
other side is ``child.py``.
"""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from langgraph.runtime import Runtime

from ideagora.errors import AgentFailed, BudgetExhausted, IdeagoraError, TopicNotCovered
from ideagora.graphs.external.answer_schema import build_model
from ideagora.graphs.external.command.subprocess import CommandSession, answer_question, kill
from ideagora.graphs.external.context import AgentContext
from ideagora.graphs.external.errors import is_foreign
from ideagora.graphs.external.in_process import stdout_guard
from ideagora.graphs.external.inactivity import InactivityTimeout
from ideagora.graphs.external.python_process.location import (
    LOADING_TIMEOUT,
    AgentLocation,
    child_command,
    make_order,
)
from ideagora.graphs.external.python_process.messages import Reply, RunOrder
from ideagora.graphs.external.state import ExternalState, one_step_graph
from ideagora.graphs.external.validation.ideas import MAX_IDEAS, plain_idea
from ideagora.graphs.external.validation.references import resolve_references
from ideagora.models.redact import one_line
from ideagora.schema import serialize

MAX_CALLS = 1000
"""Calls of an agent that are answered concurrently; further ones wait."""
MAX_CALL = 16_000_000
"""Bytes of a line: the longest prompt and system message, in any script."""
MAX_REJECTED = 3
"""Rejected answers that are sent along with a question."""
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
"""A stack frame as Python prints it when it crashes, innermost first."""


def build_graph(location: AgentLocation, name: str, code: str, step: str) -> Any:
    """A graph whose only step is the agent."""

    async def run(state: ExternalState, runtime: Runtime[AgentContext]) -> ExternalState:
        values = await AgentProcess(location, name, code, runtime.context).run()
        return await resolve_references(values, runtime.context, name)

    return one_step_graph(step, run)


class AgentProcess(CommandSession):
    """A Python agent that runs in a process of its own."""

    max_line = MAX_CALL
    max_output = None

    def __init__(self, location: AgentLocation, name: str, code: str, context: AgentContext) -> None:
        super().__init__(child_command(), name, None, context)
        self._location, self._code = location, code
        self._inactivity = InactivityTimeout(max(LOADING_TIMEOUT, context.bridge.inactivity.limit))
        self._slots = asyncio.Semaphore(MAX_CALLS)
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._errors: dict[int, IdeagoraError] = {}
        self._reason: IdeagoraError | None = None
        self._has_returned = False
        self._crash: list[str] = []

    async def run(self) -> list[Any]:
        """Run the agent and return its ideas as plain values; a string gives the reason for an unusable one.

        Raises:
            AgentFailed: it raised, hung, crashed, or exited before it returned.
            IdeagoraError: an error of a call that the agent did not catch.
        """
        ideas: list[Any] = []
        try:
            ideas = await super().run()
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
            raise self._failed("exited before it returned (os._exit(0) or similar)")
        return ideas

    def _environment(self) -> dict[str, str] | None:
        return None

    def _opening(self) -> RunOrder:
        return {
            "do": "run",
            **make_order(self._location),
            "name": self._name,
            "code": self._code,
            "topic": serialize(self._context.topic),
            "seed": self._context.seed,
            "n_ideas": self._context.n_ideas,
        }

    async def _handle(self, process: asyncio.subprocess.Process, value: dict[str, Any]) -> None:
        if isinstance(value.get("id"), int):
            await self._slots.acquire()
            self._start_call(process, value["id"], value.get("ask"))
        elif isinstance(value.get("cancel"), int):
            if call := self._calls.get(value["cancel"]):
                call.cancel()
        elif "started" in value:
            self._inactivity = self._context.bridge.inactivity
            self._inactivity.reset()
        elif "idea" in value or "unusable" in value:
            await self._add_idea(value)
        elif "returned" in value or "raised" in value:
            self._end(value)
        else:
            raise self._failed("wrote something to the pipe of its calls that is not a message")

    def _start_call(self, process: asyncio.subprocess.Process, number: int, ask: Any) -> None:
        call = asyncio.create_task(self._answer(process, number, ask))
        self._calls[number] = call

        def end(call: asyncio.Task[None]) -> None:
            self._calls.pop(number, None)
            self._slots.release()

        call.add_done_callback(end)

    async def _answer(self, process: asyncio.subprocess.Process, number: int, ask: Any) -> None:
        reply: Reply
        try:
            reply = {"answer": await _answer_question(ask, self._context), "id": number}
        except BudgetExhausted as error:  # it ends the run even if the agent catches it
            self._reason = error
            kill(process)
            return
        except (IdeagoraError, ValueError, TypeError, LookupError) as error:
            if isinstance(error, IdeagoraError):
                self._errors[number] = error
            reply = {"error": one_line(str(error), 600), "kind": type(error).__name__, "id": number}
        await self._write(process, reply)

    def _note(self, line: bytes, count: int) -> None:
        super()._note(line, count)
        text = line.decode(errors="replace").strip()
        if text.startswith("Fatal Python error"):
            self._crash = [one_line(text)]
        elif len(self._crash) == 1 and (frame := _FRAME.match(text)) and is_foreign(frame[1]):
            self._crash.append(f"{Path(frame[1]).name}, line {frame[2]}")

    def _stderr_tail(self) -> str:
        return f": {' / '.join(self._crash)}" if self._crash else super()._stderr_tail()

    async def _add_idea(self, value: dict[str, Any]) -> None:
        number = len(self._ideas) + 1
        if number > MAX_IDEAS:
            raise self._failed(f"returned more than {MAX_IDEAS} ideas")
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
        call_error = self._errors.get(value.get("question") or 0)
        kind = TopicNotCovered if value.get("kind") == "TopicNotCovered" else AgentFailed
        self._reason = call_error or kind(one_line(str(value["raised"]), 600))


async def _answer_question(ask: Any, context: AgentContext) -> Any:
    """Answer one question: like a command's, or with an object that fits a JSON schema."""
    if not isinstance(ask, dict) or "schema" not in ask:
        return await answer_question(ask, context)
    if unknown := set(ask) - {"model", "system", "sample", "schema", "rejected"}:
        raise ValueError(f"model does not take {', '.join(sorted(unknown))}")
    schema = build_model(ask["schema"])
    complaints = {_fields(value): str(why) for value, why in ask.get("rejected", [])[:MAX_REJECTED]}

    def check(_: Any, answer: Any) -> str | None:
        return complaints.get(_fields(_plain(answer)))

    answer = await context.model.checked(ask["model"], ask.get("system"), schema, ask.get("sample", 0), check)
    return _plain(answer)


def _plain(answer: Any) -> Any:
    return answer.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _fields(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
