"""Library and model for an agent in a process of its own: calls go to the run over a pipe.

One JSON object per line. ``{"ask": …, "id": 1}`` is answered by ``{"answer": …, "id": 1}`` or ``{"error": …,
"kind": …, "id": 1}``, in any order, so that calls can run concurrently.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from functools import partial
from typing import Any

from pydantic import BaseModel, ValidationError

from ideagora import errors
from ideagora.graphs.external.python_process.messages import Question
from ideagora.graphs.external.python_process.pipe import Pipe
from ideagora.graphs.external.validation.arguments import (
    check_count,
    check_paper_id,
    check_prompt,
    check_text,
)
from ideagora.models.redact import one_line
from ideagora.schema import Paper

Exchange = Generator[Question, Any, Any]
"""Yields questions, is sent their answers, and returns the result."""
MAX_PROBLEMS = 5
"""Problems of a rejected answer that are reported."""


class Calls:
    """Sends questions to the run and receives its answers; usable from any thread and event loop."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[Any]] = {}

    def listen(self) -> None:
        """Start to read answers in the background. This process exits when the run does."""
        threading.Thread(target=self._listen, name="answers", daemon=True).start()

    def run(self, exchange: Exchange) -> Any:
        """The result of an exchange, or a task with it if an event loop is running."""
        if not _runs_event_loop():
            return self._run_sync(exchange)
        return sys.modules["asyncio"].ensure_future(self._run_async(exchange))

    def _run_sync(self, exchange: Exchange) -> Any:
        try:
            question = next(exchange)
            while True:
                question = exchange.send(self._submit(question).result())
        except StopIteration as done:
            return done.value

    async def _run_async(self, exchange: Exchange) -> Any:
        import asyncio

        try:
            question = next(exchange)
            while True:
                question = exchange.send(await asyncio.wrap_future(self._submit(question)))
        except StopIteration as done:
            return done.value

    def _submit(self, question: Question) -> Future[Any]:
        number = next(self._numbers)
        future: Future[Any] = Future()
        self._waiting[number] = future
        future.add_done_callback(partial(self._cancel, number))
        self._pipe.send({"ask": question, "id": number})
        return future

    def _cancel(self, number: int, future: Future[Any]) -> None:
        if future.cancelled() and self._waiting.pop(number, None) is not None:
            self._pipe.send({"cancel": number})

    def _listen(self) -> None:
        for reply in self._pipe.replies():
            future = self._waiting.pop(reply["id"], None)
            if future is None or not future.set_running_or_notify_cancel():
                continue
            if "error" in reply:
                future.set_exception(make_error(reply["kind"], reply["error"], reply["id"]))
            else:
                future.set_result(reply["answer"])
        os._exit(1)


def _runs_event_loop() -> bool:
    """Whether this thread runs an event loop; an agent that is not asynchronous need not import asyncio."""
    running_loop = getattr(
        sys.modules.get("asyncio"), "_get_running_loop", None
    )  # or another thread imports it
    return running_loop is not None and running_loop() is not None


def make_error(kind: str, text: str, number: int) -> Exception:
    """The error of a call, of the class that the run names; its ``question`` is the number of the call."""
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
    """The library, with the methods of ``context.LibraryClient``."""

    __slots__ = ("citations", "paper", "references", "search", "text")

    search: Callable[..., Any]
    paper: Callable[..., Any]
    references: Callable[..., Any]
    citations: Callable[..., Any]
    text: Callable[..., Any]

    def __init__(self, calls: Calls) -> None:
        def ask(question: Question, parse: Callable[[Any], Any]) -> Any:
            return calls.run(_ask(question, parse))

        def search(query: str, k: int = 10) -> Any:
            return ask({"search": check_text(query, "query"), "k": check_count(k)}, _parse_papers)

        self.search = search
        self.paper = lambda paper: ask({"paper": check_paper_id(paper)}, _parse_paper)
        self.references = lambda paper: ask({"references": check_paper_id(paper)}, _parse_papers)
        self.citations = lambda paper: ask({"citations": check_paper_id(paper)}, _parse_papers)
        self.text = lambda paper: ask({"text": check_paper_id(paper)}, str)


def _ask(question: Question, parse: Callable[[Any], Any]) -> Exchange:
    answer = yield question
    return parse(answer)


def _parse_paper(value: Any) -> Paper | None:
    return None if value is None else Paper.model_validate(value)


def _parse_papers(values: Any) -> list[Paper]:
    return [Paper.model_validate(value) for value in values]


class RemoteModelClient:
    """The model, as described by ``context.ModelClient``."""

    __slots__ = ("_ask",)

    def __init__(self, calls: Calls) -> None:
        self._ask: Callable[[Exchange], Any] = calls.run

    def __call__(
        self,
        prompt: str,
        system: str | None = None,
        schema: type[Any] | None = None,
        sample: int = 0,
    ) -> Any:
        """Ask the run's main model."""
        text, message = check_prompt(prompt, system, schema)
        question: Question = {"model": text, "sample": sample}
        if message is not None:
            question["system"] = message
        return self._ask(_ask(question, str) if schema is None else _ask_typed(question, schema))


def _ask_typed(question: Question, schema: type[BaseModel]) -> Exchange:
    """Ask for an object; if the class rejects it, report why, and the run asks the model again."""
    rejected: list[tuple[Any, str]] = []
    json_schema = schema.model_json_schema()
    while True:
        answer = yield {**question, "schema": json_schema, "rejected": rejected}
        try:
            return schema.model_validate_json(json.dumps(answer))
        except ValidationError as error:
            rejected.append((answer, _describe_problems(error)))


def _describe_problems(error: ValidationError) -> str:
    problems = []
    for detail in error.errors(include_url=False)[:MAX_PROBLEMS]:
        place = ".".join(str(part) for part in detail["loc"])
        message = one_line(detail["msg"].removeprefix("Value error, "), 200)
        problems.append(f"the field {place!r}: {message}" if place else message)
    return "; ".join(problems)
