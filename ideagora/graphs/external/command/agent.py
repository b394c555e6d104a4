"""External agents that are programs in any language: ``command:PROGRAM ARGUMENTS``.

The program reads one JSON line with the topic and prints its ideas, one JSON object per line. In between it
may print ``{"ask": {…}}`` and read the answer as its next line, to use the library and the model. Its
stderr is shown as progress.

It runs without a shell, without keys in its environment, and in an empty temporary folder.
"""

from __future__ import annotations

import asyncio
import hashlib
import shlex
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langgraph.runtime import Runtime

from ideagora.errors import UsageError
from ideagora.graphs.agent import Agent
from ideagora.graphs.external.adapter import AgentCode, adapt_agent
from ideagora.graphs.external.command.subprocess import CommandSession
from ideagora.graphs.external.context import AgentContext
from ideagora.graphs.external.state import ExternalState, one_step_graph
from ideagora.graphs.external.validation.ideas import plain_ideas
from ideagora.graphs.external.validation.references import resolve_references

STEP = "run_command"


def load_agent(line: str) -> Agent:
    """The agent of a command line; its name omits folders.

    Raises:
        UsageError: the line cannot be split, or there is no such program.
    """
    words = _words(line)
    name = f"command:{shlex.join(Path(word).name if '/' in word else word for word in words)}"
    return adapt_agent(
        AgentCode(name, source=f"command:{line}", fingerprint=_fingerprint(words)),
        about="A program that reads a topic and prints ideas.",
        build=lambda: _build_graph(words, name),
        steps=(STEP,),
    )


def _words(line: str) -> list[str]:
    """Program and arguments; paths become absolute, because it runs in another folder."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"command:{line} cannot be split into words: {error}. Check the quotes.") from None
    if not words:
        raise UsageError("command: does not name a program. Write 'command:PROGRAM ARGUMENTS'.")
    program = shutil.which(words[0])
    if program is None:
        hint = f" For a file in this folder, write ./{words[0]}." if Path(words[0]).is_file() else ""
        raise UsageError(f"There is no executable program {words[0]!r}.{hint}")
    rest = [str(Path(word).resolve()) if _is_file(word) else word for word in words[1:]]
    return [str(Path(program).absolute()), *rest]


def _is_file(word: str) -> bool:
    try:
        return Path(word).exists() and word not in (".", "..")
    except (OSError, ValueError):
        return False


def _fingerprint(words: list[str]) -> str:
    """A hash of the line and of the files it names, except large ones such as the program itself."""
    digest = hashlib.sha256(shlex.join(words).encode("utf-8", "surrogateescape"))
    for word in words:
        path = Path(word)
        if path.is_file() and path.stat().st_size < 1_000_000:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _build_graph(words: list[str], name: str) -> Any:
    async def run_command(state: ExternalState, runtime: Runtime[AgentContext]) -> ExternalState:
        with TemporaryDirectory(prefix="ideagora-command-", ignore_cleanup_errors=True) as folder:
            ideas = await CommandSession(words, name, Path(folder), runtime.context).run()
        values = await asyncio.to_thread(plain_ideas, ideas, name)
        return await resolve_references(values, runtime.context, name)

    return one_step_graph(STEP, run_command)
