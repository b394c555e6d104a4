"""Run a command that speaks JSON lines: send the topic, answer its questions, collect its ideas."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ideagora.errors import AgentFailed, BudgetExhausted, IdeagoraError
from ideagora.graphs.external.context import AgentContext
from ideagora.models.redact import one_line

MAX_LINE = 1_000_000
"""Bytes of one line of output."""
MAX_OUTPUT = 20_000_000
"""Bytes of the whole output."""
MAX_PROGRESS_LINES = 200
"""Lines of stderr that are shown as progress."""
MAX_ERROR_LINES = 3
"""Last lines of stderr that are quoted when the command fails."""
GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""
POLL_INTERVAL = 0.25
"""Seconds between checks whether the command is still running."""
ENVIRONMENT = (
    "PATH",
    "HOME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "VIRTUAL_ENV",
    "PYTHONPATH",
)
_ADVICE = "Print ideas as JSON lines on stdout, and everything else on stderr"
_HINT = " It gets one line on stdin: read only that line, for instance with head -n 1."


class CommandSession:
    """A running command, in a process group of its own."""

    max_line = MAX_LINE
    max_output: int | None = MAX_OUTPUT

    def __init__(self, words: list[str], name: str, folder: Path | None, context: AgentContext) -> None:
        self._words, self._name, self._folder, self._context = words, name, folder, context
        self._inactivity = context.bridge.inactivity
        self._ideas: list[Any] = []
        self._lines = self._bytes = 0
        self._last_lines: list[str] = []

    async def run(self) -> list[Any]:
        """Run the command and return the ideas that it printed.

        Raises:
            AgentFailed: it could not be started, failed, hung, or printed something that is not JSON.
        """
        self._inactivity.reset()
        process = await self._start()
        work = asyncio.create_task(self._talk(process))
        try:
            while not work.done():
                await asyncio.wait([work], timeout=min(self._inactivity.remaining, POLL_INTERVAL))
                if process.returncode is not None:
                    await self._close_streams(process, work)
                elif self._inactivity.remaining <= 0:
                    raise self._failed(
                        f"was inactive for {self._inactivity.limit:g} s and was stopped. If it needs more "
                        f"time, raise --agent-timeout.{'' if self._lines else _HINT}"
                    )
            await work
        finally:
            work.cancel()
            await _stop(process)
            await asyncio.gather(work, return_exceptions=True)
        if process.returncode:
            raise self._failed(f"{describe_exit(process.returncode)}{self._stderr_tail()}")
        return self._ideas

    async def _start(self) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        try:
            return await asyncio.create_subprocess_exec(
                *self._words,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                cwd=self._folder,
                env=self._environment(),
                start_new_session=True,
                limit=self.max_line,
            )
        except OSError as error:
            raise self._failed(f"cannot be run: {error.strerror}") from None

    def _environment(self) -> dict[str, str] | None:
        """Its environment variables; ``None`` for all of ours."""
        return environment(self._context.environment)

    async def _close_streams(self, process: asyncio.subprocess.Process, work: asyncio.Task[None]) -> None:
        """Close the streams of an ended command if a child of its own still holds them open."""
        await asyncio.wait([work], timeout=GRACE)
        if not work.done():
            _signal(process, signal.SIGKILL)
            _close_pipes(process)

    async def _talk(self, process: asyncio.subprocess.Process) -> None:
        """Write the topic, read both streams to their ends, and wait for the process."""
        assert process.stdout is not None
        assert process.stderr is not None
        await self._write(process, self._opening())
        notes = asyncio.create_task(self._listen(process.stderr))
        try:
            await self._read(process, process.stdout)
            await process.wait()
            with suppress(TimeoutError):  # a child of its own may hold the stream open
                await asyncio.wait_for(asyncio.shield(notes), GRACE)
        finally:
            notes.cancel()
            await asyncio.gather(notes, return_exceptions=True)

    def _opening(self) -> Mapping[str, object]:
        topic = self._context.topic
        return {
            "topic": topic.text,
            "before": topic.before,
            "inspirations": list(topic.inspirations),
            "seed": self._context.seed,
            "n_ideas": self._context.n_ideas,
        }

    async def _write(self, process: asyncio.subprocess.Process, value: Any) -> None:
        assert process.stdin is not None
        with suppress(ConnectionError):  # it may not read its stdin
            process.stdin.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            await process.stdin.drain()

    async def _read(self, process: asyncio.subprocess.Process, stream: asyncio.StreamReader) -> None:
        while True:
            try:
                line = await stream.readline()
            except ValueError:
                raise self._failed(f"printed a line of more than {self.max_line:,} bytes") from None
            if not line:
                return
            self._lines, self._bytes = self._lines + 1, self._bytes + len(line)
            if self.max_output is not None and self._bytes > self.max_output:
                raise self._failed(f"printed more than {self.max_output:,} bytes")
            self._inactivity.reset()
            if line.strip():
                await self._handle(process, self._parse(line))

    def _parse(self, line: bytes) -> dict[str, Any]:
        try:
            value = json.loads(line.decode())
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            return value
        shown = one_line(line.decode(errors="replace"), 60)
        raise self._failed(f"printed no JSON object in line {self._lines}: “{shown}”. {_ADVICE}")

    async def _handle(self, process: asyncio.subprocess.Process, value: dict[str, Any]) -> None:
        if set(value) != {"ask"}:
            self._ideas.append(value)
            return
        answer: Mapping[str, object]
        try:
            answer = {"answer": await answer_question(value["ask"], self._context)}
        except BudgetExhausted:
            raise
        except (IdeagoraError, ValueError, TypeError) as error:
            answer = {"error": one_line(str(error))}
        await self._write(process, answer)

    async def _listen(self, stream: asyncio.StreamReader) -> None:
        """Show the first lines of stderr as progress; keep reading, or the command would block."""
        rest = b""
        count = 0
        while chunk := await stream.read(65_536):
            *lines, rest = (rest + chunk[-MAX_LINE:]).split(b"\n")
            rest = rest[-MAX_LINE:]
            shown = (
                lines if count <= MAX_PROGRESS_LINES else lines[-MAX_ERROR_LINES:]
            )  # of many, only the last
            for number, line in enumerate(shown, count + 1):
                self._note(line, number)
            count += len(lines)
        if rest:
            self._note(rest, count + 1)

    def _note(self, line: bytes, count: int) -> None:
        text = one_line(line.decode(errors="replace"))
        if not text:
            return
        self._last_lines = [*self._last_lines, text][-MAX_ERROR_LINES:]
        if count < MAX_PROGRESS_LINES:
            self._context.say(text)
        elif count == MAX_PROGRESS_LINES:
            self._context.say("(further output is not shown)")

    def _stderr_tail(self) -> str:
        return f": {' / '.join(self._last_lines)}" if self._last_lines else " and printed nothing on stderr"

    def _failed(self, why: str) -> AgentFailed:
        return AgentFailed(f"{self._name} {one_line(why, 600)}.")


async def answer_question(ask: Any, context: AgentContext) -> Any:
    """Answer one question of a command, as plain JSON values.

    ``{"search": query, "k": 10}``, ``{"paper": id}``, ``{"references": id}``, ``{"citations": id}``,
    ``{"text": id}``, ``{"model": prompt, "system": …, "sample": 0}``.

    Raises:
        ValueError: the question is not one of these.
    """
    options = {"search": ("k",), "model": ("system", "sample")}
    clients = {"model": context.model} | {
        name: getattr(context.library, name) for name in context.library.__slots__
    }
    questions = [name for name in clients if isinstance(ask, dict) and name in ask]
    if len(questions) != 1:
        raise ValueError(f"ask needs exactly one of {', '.join(sorted(clients))}")
    name = questions[0]
    arguments = {key: value for key, value in ask.items() if key != name}
    if unknown := set(arguments) - set(options.get(name, ())):
        raise ValueError(f"{name} does not take {', '.join(sorted(unknown))}")
    return _plain(await clients[name](ask[name], **arguments))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


def environment(more: str) -> dict[str, str]:
    """The environment of a command: enough to start, no keys, and the variables that the user names."""
    names = [*ENVIRONMENT, *(name.strip() for name in more.split(","))]
    wanted = {name: os.environ[name] for name in names if name in os.environ}
    return wanted | {name: value for name, value in os.environ.items() if name.startswith("LC_")}


def describe_exit(code: int) -> str:
    """What an exit code means."""
    if code < 0:
        with suppress(ValueError):
            return f"was killed by {signal.Signals(-code).name}"
    return f"exited with code {code}"


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Stop the whole process group, including its children, and close the pipes to it."""
    _signal(process, signal.SIGTERM)
    try:
        await asyncio.wait_for(asyncio.shield(process.wait()), GRACE if process.returncode is None else 0.05)
    except TimeoutError:
        pass
    finally:
        _signal(process, signal.SIGKILL)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE)
        _close_pipes(process)


def _close_pipes(process: asyncio.subprocess.Process) -> None:
    """Close the pipes, which a child outside the group may hold open; asyncio has no public way."""
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


def kill(process: asyncio.subprocess.Process) -> None:
    """Kill the whole process group."""
    _signal(process, signal.SIGKILL)


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
