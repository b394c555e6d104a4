"""Runs a command in its own process, and measures time and peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class CompletedRun:
    """A finished process."""

    seconds: float
    peak_mib: float
    stdout: str
    cpu_seconds: float
    """User and system time: less than ``seconds`` on a busy machine or while it waits."""


def ideagora(*arguments: str, home: Path, **environment: str) -> CompletedRun:
    """Run the command line in its own home; raises ``SystemExit`` if it fails."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith("IDEAGORA_")}
    command = [sys.executable, "-c", "from ideagora.cli.main import main; main()", *arguments]
    env = {**keep, "IDEAGORA_HOME": str(home), "PYTHONPATH": str(ROOT), **environment}
    before = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, env=env, stdout=out, stderr=err, cwd=home)
        _, status, used = os.wait4(process.pid, 0)  # the memory of this child, not of the largest so far
        seconds = time.perf_counter() - before
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode:
            raise SystemExit(f"ideagora {' '.join(arguments)}: {err.read().strip()[-2000:]}")
        return CompletedRun(seconds, used.ru_maxrss / 1024, out.read(), used.ru_utime + used.ru_stime)
