"""A command as a whole process: seconds, peak memory, what it printed."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Ran:
    """One finished process."""

    seconds: float
    peak_mib: float
    stdout: str


def ideagora(*arguments: str, home: Path, **environment: str) -> Ran:
    """Run the command line in a home of its own; raises when it fails."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith("IDEAGORA_")}
    before = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", "from ideagora.cli import main; main()", *arguments],
        env={**keep, "IDEAGORA_HOME": str(home), "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        cwd=home,
    )
    seconds = time.perf_counter() - before
    if done.returncode:
        raise SystemExit(f"ideagora {' '.join(arguments)}: {done.stderr.strip()[-2000:]}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # the largest child so far
    return Ran(seconds, peak, done.stdout)
