"""Python code in a process of its own that starts at once, since it is forked as commands are."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType

from tests.support.command import SECONDS, fork_context


class Script:
    """A script at work, with pipes to its standard input and from its standard output.

    Args:
        code: what it runs, as with ``python -c``.
        arguments: of its command line.
    """

    def __init__(self, code: str, *arguments: object) -> None:
        self._folder = Path(mkdtemp(prefix="ideagora-script-"))
        for name in ("stdin", "stdout"):
            os.mkfifo(self._folder / name)
        given = (code, [str(one) for one in arguments], dict(os.environ), str(Path.cwd()), str(self._folder))
        self._process = fork_context().Process(target=_run, args=given)
        self._process.start()
        self._stdout = (self._folder / "stdout").open(encoding="utf-8")  # both wait for the other side
        self._stdin = (self._folder / "stdin").open("w", encoding="utf-8")

    def __enter__(self) -> Script:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, at: TracebackType | None) -> None:
        self.kill()
        for stream in (self._stdin, self._stdout):
            stream.close()
        shutil.rmtree(self._folder)

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid or 0

    def line(self) -> str:
        """The next line it writes."""
        return self._stdout.readline()

    def go_on(self) -> None:
        """Let it read a line."""
        print("go", file=self._stdin, flush=True)

    def end(self) -> tuple[int, str]:
        """Its exit code, and the rest of what it writes."""
        rest = self._stdout.read()
        self._process.join(SECONDS)
        assert self._process.exitcode is not None, "the script hangs"
        return self._process.exitcode, rest

    def kill(self) -> None:
        """End it, if it has not ended."""
        self._process.kill()
        self._process.join()


def _run(code: str, arguments: list[str], env: dict[str, str], cwd: str, folder: str) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.argv = ["-c", *arguments]
    sys.stdout = (Path(folder) / "stdout").open("w", encoding="utf-8")
    sys.stdin = (Path(folder) / "stdin").open(encoding="utf-8")
    exec(compile(code, "<script>", "exec"), {"__name__": "__main__"})
