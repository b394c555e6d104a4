"""The command line in processes of its own that start at once, for tests that run it often.

A process is forked from a server (multiprocessing's) that has imported the heavy libraries already,
and then calls ``ideagora.cli.main.main`` as the installed script does: its own memory, its own files, and
it can be killed. Some tests still start a whole new interpreter, see ``fresh_interpreter``.
"""

from __future__ import annotations

import atexit
import io
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, cast

import pytest

SECONDS = 120
"""A command that takes longer hangs."""


QUICK = ("agents", "agreement", "compare", "doctor", "ideas", "library", "trust", "vote")
"""Commands that run no agent and no judge."""


@dataclass(frozen=True)
class Done:
    """How a command ended; ``code`` is negative for a signal."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Running:
    """A command at work."""

    process: ForkServerProcess
    folder: Path

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        assert self.process.pid is not None
        os.kill(self.process.pid, number)

    def has_ended(self) -> bool:
        """Whether it is no longer at work."""
        return not self.process.is_alive()

    def wait(self) -> Done:
        """Wait for its end."""
        self.process.join(SECONDS)
        if self.process.exitcode is None:
            self.process.kill()
            raise AssertionError(f"the command hangs: {self.read('err')}")
        done = Done(self.process.exitcode, self.read("out"), self.read("err"))
        shutil.rmtree(self.folder)
        return done

    def read(self, stream: str) -> str:
        """What it has written so far to ``out`` or ``err``."""
        return (self.folder / stream).read_text(encoding="utf-8", errors="replace")


def start(
    arguments: Sequence[str], env: Mapping[str, str | None] | None = None, largest_file: int | None = None
) -> Running:
    """Start ``ideagora`` in this process's folder; ``None`` in ``env`` unsets a variable.

    Args:
        arguments: of the command line.
        env: on top of this process's environment.
        largest_file: bytes to which a file may grow, as on a disk that is full.
    """
    folder = Path(mkdtemp(prefix="ideagora-command-"))
    for stream in ("out", "err"):
        (folder / stream).touch()
    environment = {k: v for k, v in {**os.environ, **(env or {})}.items() if v is not None}
    process = fork_context().Process(
        target=_command, args=(list(arguments), environment, str(Path.cwd()), str(folder), largest_file)
    )
    process.start()
    return Running(process, folder)


def run(
    arguments: Sequence[str], env: Mapping[str, str | None] | None = None, largest_file: int | None = None
) -> Done:
    """Run ``ideagora`` to its end: in this process if it is quick there, since a fork takes longer."""
    if arguments and arguments[0] in QUICK and largest_file is None:
        return run_here(arguments, env or {})
    return start(arguments, env, largest_file).wait()


def run_here(arguments: Sequence[str], env: Mapping[str, str | None]) -> Done:
    """Run ``ideagora`` in this process, which may have loaded the embedding model already."""
    from ideagora.cli import main as cli

    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in env.items():
            patch.delenv(name, raising=False) if value is None else patch.setenv(name, value)
        patch.setattr(sys, "argv", ["ideagora", *arguments])
        try:
            cli.run()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
    return Done(code, out.getvalue(), err.getvalue())


def fresh_interpreter(arguments: Sequence[str]) -> subprocess.Popen[str]:
    """Start ``ideagora`` as a user does, in an interpreter that has imported nothing."""
    command = [sys.executable, "-m", "ideagora", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def start_server() -> dict[str, Any]:
    """Start the server that commands are forked from, if it does not run; returns how to reach it."""
    fork_context()
    forkserver.ensure_running()
    return {name: vars(_server())[name] for name in _ADDRESS if name in vars(_server())}


def use_server(address: Mapping[str, Any]) -> None:
    """Fork the commands of this process from the server of another one, which ends it."""
    vars(_server()).update(
        address,
        ensure_running=lambda: None,  # only the process that started it can tell
        _forkserver_alive_fd=os.open(os.devnull, os.O_WRONLY),  # nor does it live as long as this process
    )


_ADDRESS = ("_forkserver_address", "_forkserver_authkey")
"""What a client of the server holds; the key came with Python 3.14."""


def _server() -> Any:
    return vars(forkserver)["_forkserver"]


@cache
def fork_context() -> ForkServerContext:
    """Start processes by forking the server, which is started when it is needed first."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.support.warm_up"])
    return context


def _command(
    arguments: list[str], env: dict[str, str], cwd: str, folder: str, largest_file: int | None
) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    for stream, number in (("out", 1), ("err", 2)):
        os.dup2(os.open(Path(folder) / stream, os.O_WRONLY | os.O_APPEND), number)
    if coding := env.get("PYTHONIOENCODING"):  # read when an interpreter starts
        for output in (sys.stdout, sys.stderr):
            cast(io.TextIOWrapper, output).reconfigure(encoding=coding)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    sys.argv = ["ideagora", *arguments]
    from ideagora.cli.main import main

    main()


@cache
def filled_home(embedder: str = "hash") -> Path:
    """A home whose store holds the starter corpus; copy it before use (with ``symlinks=True``).

    Args:
        embedder: ``hash``, or another one, whose vectors all tests of a run share.
    """
    from ideagora.config import Settings
    from ideagora.models.embeddings.cache import CACHE_FILE
    from ideagora.retrieval.factory import open_library

    home = Path(mkdtemp(prefix="ideagora-filled-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    if embedder != "hash":
        (home / "cache").mkdir()
        (home / "cache" / CACHE_FILE).symlink_to(shared_vectors() / CACHE_FILE)
    open_library(Settings(home=home, embedder=embedder)).close()
    return home


def shared_vectors() -> Path:
    """The folder in which the tests keep the vectors of the real embedder that do not ship.

    It is pytest's cache, so the next run finds them; ``pytest --cache-clear`` removes them.
    """
    folder = Path(os.environ["TESTS_VECTORS_FOLDER"])
    folder.mkdir(exist_ok=True)
    return folder
