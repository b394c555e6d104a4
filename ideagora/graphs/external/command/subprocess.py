"""One run of a command: the topic goes in, questions are answered, ideas come out, all within bounds."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ideagora.errors import AgentFailed, BudgetExhausted, IdeagoraError
from ideagora.graphs.external.context import AgentContext
from ideagora.models.redact import one_line

LONGEST_LINE = 1_000_000
MOST_OUTPUT = 20_000_000
"""Bytes of a line, and of all that a command prints."""
MOST_NOTES = 200
"""Lines of stderr that are shown."""
KEPT_NOTES = 3
"""Lines at its end that are told when it fails."""
GRACE = 2.0
"""Seconds between asking a command to end and ending it."""
LOOK = 0.25
"""Seconds between two looks at whether it is still there."""
PASSED_ON = (
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
_HOW = "Print ideas as JSON lines on stdout, and everything else on stderr"
_HINT = " It gets one line on stdin: read that line, not to the end (head -n 1 helps)."


class CommandSession:
    """A command at work, in a process group of its own."""

    longest_line = LONGEST_LINE
    most_output: int | None = MOST_OUTPUT

    def __init__(self, words: list[str], name: str, folder: Path | None, tools: AgentContext) -> None:
        self._words, self._name, self._folder, self._tools = words, name, folder, tools
        self._patience = tools.bridge.patience
        self._ideas: list[Any] = []
        self._lines = self._bytes = 0
        self._last_notes: list[str] = []

    async def held(self) -> list[Any]:
        """The ideas that it printed.

        Raises:
            AgentFailed: it could not be run, failed, hung, or printed what is no idea; says which.
        """
        self._patience.sign_of_life()
        process = await self._started()
        work = asyncio.create_task(self._talk(process))
        try:
            while not work.done():
                await asyncio.wait([work], timeout=min(self._patience.left, LOOK))
                if process.returncode is not None:
                    await self._cut_off(process, work)
                elif self._patience.left <= 0:
                    raise self._failed(
                        f"gave no sign of life for {self._patience.limit:g} s and was ended. If it needs "
                        f"longer, raise --agent-timeout.{'' if self._lines else _HINT}"
                    )
            await work
        finally:
            work.cancel()
            await _ended(process)
            await asyncio.gather(work, return_exceptions=True)
        if process.returncode:
            raise self._failed(f"{how_it_ended(process.returncode)}{self._said()}")
        return self._ideas

    async def _started(self) -> asyncio.subprocess.Process:
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
                limit=self.longest_line,
            )
        except OSError as error:
            raise self._failed(f"cannot be run: {error.strerror}") from None

    def _environment(self) -> dict[str, str] | None:
        """What it sees of the environment; ``None``: all."""
        return environment(self._tools.passed_on)

    async def _cut_off(self, process: asyncio.subprocess.Process, work: asyncio.Task[None]) -> None:
        """It has ended, and a child of its own still holds its streams: that one is not waited for."""
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

    def _opening(self) -> dict[str, Any]:
        topic = self._tools.topic
        return {
            "topic": topic.text,
            "before": topic.before,
            "inspirations": list(topic.inspirations),
            "seed": self._tools.seed,
        }

    async def _write(self, process: asyncio.subprocess.Process, value: Any) -> None:
        assert process.stdin is not None
        with suppress(ConnectionError):  # it may not care to read
            process.stdin.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            await process.stdin.drain()

    async def _read(self, process: asyncio.subprocess.Process, stream: asyncio.StreamReader) -> None:
        while True:
            try:
                line = await stream.readline()
            except ValueError:
                raise self._failed(f"printed a line of more than {self.longest_line:,} bytes") from None
            if not line:
                return
            self._lines, self._bytes = self._lines + 1, self._bytes + len(line)
            if self.most_output is not None and self._bytes > self.most_output:
                raise self._failed(f"printed more than {self.most_output:,} bytes")
            self._patience.sign_of_life()
            if line.strip():
                await self._take(process, self._object(line))

    def _object(self, line: bytes) -> dict[str, Any]:
        try:
            value = json.loads(line.decode())
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            return value
        shown = one_line(line.decode(errors="replace"), 60)
        raise self._failed(f"printed no JSON object in line {self._lines}: “{shown}”. {_HOW}")

    async def _take(self, process: asyncio.subprocess.Process, value: dict[str, Any]) -> None:
        if set(value) != {"ask"}:
            self._ideas.append(value)
            return
        try:
            answer = {"answer": await answered(value["ask"], self._tools)}
        except BudgetExhausted:
            raise
        except (IdeagoraError, ValueError, TypeError) as error:
            answer = {"error": one_line(str(error))}
        await self._write(process, answer)

    async def _listen(self, stream: asyncio.StreamReader) -> None:
        """Show the first lines of stderr as progress; read on to its end, or the command would wait."""
        rest = b""
        count = 0
        while chunk := await stream.read(65_536):
            *lines, rest = (rest + chunk[-LONGEST_LINE:]).split(b"\n")
            rest = rest[-LONGEST_LINE:]
            shown = lines if count <= MOST_NOTES else lines[-KEPT_NOTES:]  # of a flood only the end is read
            for number, line in enumerate(shown, count + 1):
                self._note(line, number)
            count += len(lines)
        if rest:
            self._note(rest, count + 1)

    def _note(self, line: bytes, count: int) -> None:
        text = one_line(line.decode(errors="replace"))
        if not text:
            return
        self._last_notes = [*self._last_notes, text][-KEPT_NOTES:]
        if count < MOST_NOTES:
            self._tools.say(text)
        elif count == MOST_NOTES:
            self._tools.say("(it says more, which is not shown)")

    def _said(self) -> str:
        return f": {' / '.join(self._last_notes)}" if self._last_notes else " and said nothing on stderr"

    def _failed(self, why: str) -> AgentFailed:
        return AgentFailed(f"{self._name} {one_line(why, 600)}.")


async def answered(ask: Any, tools: AgentContext) -> Any:
    """The answer to one question of a command, as plain JSON values.

    ``{"search": query, "k": 10}``, ``{"paper": id}``, ``{"references": id}``, ``{"citations": id}``,
    ``{"text": id}``, ``{"model": prompt, "system": …, "sample": 0}``.

    Raises:
        ValueError: the question is none of these.
    """
    questions = {"search": ("k",), "model": ("system", "sample")}
    clients = {"model": tools.model} | {
        name: getattr(tools.library, name) for name in tools.library.__slots__
    }
    found = [name for name in clients if isinstance(ask, dict) and name in ask]
    if len(found) != 1:
        raise ValueError(f"ask has to have one of {', '.join(sorted(clients))}")
    name = found[0]
    more = {key: value for key, value in ask.items() if key != name}
    if unknown := set(more) - set(questions.get(name, ())):
        raise ValueError(f"{name} does not take {', '.join(sorted(unknown))}")
    return _plain(await clients[name](ask[name], **more))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


def environment(more: str) -> dict[str, str]:
    """What a command sees of the environment: enough to start, no keys, and what the user names."""
    names = [*PASSED_ON, *(name.strip() for name in more.split(","))]
    wanted = {name: os.environ[name] for name in names if name in os.environ}
    return wanted | {name: value for name, value in os.environ.items() if name.startswith("LC_")}


def how_it_ended(code: int) -> str:
    """In words, what an exit code means."""
    if code < 0:
        with suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


async def _ended(process: asyncio.subprocess.Process) -> None:
    """End the whole process group, its children included, and the pipes to it."""
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
    """A child that left the group may hold them open; asyncio has no public way to this."""
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


def kill(process: asyncio.subprocess.Process) -> None:
    """End the whole process group now."""
    _signal(process, signal.SIGKILL)


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
