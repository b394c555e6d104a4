"""What an agent in a process of its own is given: its calls go to the run over a pipe.

One JSON object a line. ``{"ask": …, "id": 1}`` goes up, ``{"answer": …, "id": 1}`` or ``{"error": …,
"kind": …, "id": 1}`` comes down, in any order, so that calls run side by side.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from functools import partial
from typing import Any, BinaryIO

from pydantic import BaseModel, ValidationError

from ideagora import errors
from ideagora.graphs.external.arguments import asked_paper, count, is_model, text_of
from ideagora.models.redact import one_line
from ideagora.schema import Paper

Steps = Generator[dict[str, Any], Any, Any]
"""Yields questions, is sent their answers, and returns the result."""
MOST_COMPLAINTS = 5


class Pipe:
    """Questions to the run and its answers; may be used from any thread and any event loop."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source, self._sink = source, sink
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[Any]] = {}

    def first(self) -> dict[str, Any]:
        """The first line: what is to be done."""
        order: dict[str, Any] = json.loads(self._source.readline())
        return order

    def listen(self) -> None:
        """Read answers in the background from now on. When the run ends, so does this process."""
        threading.Thread(target=self._listen, name="answers", daemon=True).start()

    def send(self, value: dict[str, Any]) -> None:
        """Write one line."""
        if os.getpid() != self._process:
            raise errors.AgentFailed("library and model can be used in the agent's own process only")
        line = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with self._lock:
            self._sink.write(line)
            self._sink.flush()

    def carry_out(self, steps: Steps) -> Any:
        """The result of an exchange, or a task of it where an event loop runs."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._now(steps)
        return asyncio.ensure_future(self._later(steps))

    def _now(self, steps: Steps) -> Any:
        try:
            question = next(steps)
            while True:
                question = steps.send(self._sent(question).result())
        except StopIteration as done:
            return done.value

    async def _later(self, steps: Steps) -> Any:
        try:
            question = next(steps)
            while True:
                question = steps.send(await asyncio.wrap_future(self._sent(question)))
        except StopIteration as done:
            return done.value

    def _sent(self, question: dict[str, Any]) -> Future[Any]:
        number = next(self._numbers)
        future: Future[Any] = Future()
        self._waiting[number] = future
        future.add_done_callback(partial(self._give_up, number))
        self.send({"ask": question, "id": number})
        return future

    def _give_up(self, number: int, future: Future[Any]) -> None:
        if future.cancelled() and self._waiting.pop(number, None) is not None:
            self.send({"cancel": number})

    def _listen(self) -> None:
        for line in self._source:
            value = json.loads(line)
            future = self._waiting.pop(value["id"], None)
            if future is None or not future.set_running_or_notify_cancel():
                continue
            if "error" in value:
                future.set_exception(error_of(value["kind"], value["error"], value["id"]))
            else:
                future.set_result(value["answer"])
        os._exit(1)


def error_of(kind: str, text: str, number: int) -> Exception:
    """The error that a call met, of the class that the run names; ``question`` tells which call it was."""
    found = {"ValueError": ValueError, "TypeError": TypeError}.get(kind) or getattr(errors, kind, None)
    error: Exception
    if found is errors.UnreadableAnswer:
        error = errors.UnreadableAnswer(text, [])
    elif isinstance(found, type) and issubclass(found, Exception) and found is not errors.UnknownIdeasFormat:
        error = found(text)
    else:
        error = errors.IdeagoraError(text)
    error.question = number  # type: ignore[attr-defined]
    return error


class RemoteLibraryClient:
    """The library, with the methods that ``context.LibraryClient`` describes."""

    __slots__ = ("citations", "paper", "references", "search", "text")

    search: Callable[..., Any]
    paper: Callable[..., Any]
    references: Callable[..., Any]
    citations: Callable[..., Any]
    text: Callable[..., Any]

    def __init__(self, pipe: Pipe) -> None:
        def one(name: str, made: Callable[[Any], Any], paper: Any) -> Any:
            asked = asked_paper(paper)
            identifier = asked if isinstance(asked, str) else asked.id
            return pipe.carry_out(_asking({name: identifier}, made))

        def search(query: str, k: int = 10) -> Any:
            return pipe.carry_out(_asking({"search": text_of(query, "query"), "k": count(k)}, _papers))

        self.search = search
        self.paper = lambda paper: one("paper", _paper, paper)
        self.references = lambda paper: one("references", _papers, paper)
        self.citations = lambda paper: one("citations", _papers, paper)
        self.text = lambda paper: one("text", str, paper)


def _asking(question: dict[str, Any], made: Callable[[Any], Any]) -> Steps:
    answer = yield question
    return made(answer)


def _paper(value: Any) -> Paper | None:
    return None if value is None else Paper.model_validate(value)


def _papers(values: Any) -> list[Paper]:
    return [Paper.model_validate(value) for value in values]


class RemoteModelClient:
    """The model, as ``tools.Model`` describes it."""

    __slots__ = ("_ask",)

    def __init__(self, pipe: Pipe) -> None:
        self._ask: Callable[[Steps], Any] = pipe.carry_out

    def __call__(
        self,
        prompt: str,
        system: str | None = None,
        schema: type[Any] | None = None,
        sample: int = 0,
    ) -> Any:
        """Ask the run's main model."""
        question = {"model": text_of(prompt, "prompt"), "sample": sample}
        if system is not None:
            question["system"] = text_of(system, "system")
        if schema is None:
            return self._ask(_asking(question, str))
        if not is_model(schema):
            raise ValueError(f"schema is {schema!r:.80}: give a pydantic model (the class itself)")
        return self._ask(_typed(question, schema))


def _typed(question: dict[str, Any], schema: type[BaseModel]) -> Steps:
    """Ask for fields; what the class itself refuses is told, and the run asks again as often as it may."""
    rejected: list[tuple[Any, str]] = []
    described = schema.model_json_schema()
    while True:
        answer = yield {**question, "schema": described, "rejected": rejected}
        try:
            return schema.model_validate_json(json.dumps(answer))
        except ValidationError as error:
            rejected.append((answer, _complaint(error)))


def _complaint(error: ValidationError) -> str:
    told = []
    for detail in error.errors(include_url=False)[:MOST_COMPLAINTS]:
        place = ".".join(str(part) for part in detail["loc"])
        message = one_line(detail["msg"].removeprefix("Value error, "), 200)
        told.append(f"the field {place!r}: {message}" if place else message)
    return "; ".join(told)
