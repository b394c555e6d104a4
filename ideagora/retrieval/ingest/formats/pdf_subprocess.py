"""Reading a stranger's PDF in a process of its own: it can be stopped, and its memory has a bound.

    python -m ideagora.retrieval.ingest.formats.pdf_subprocess FILE

prints what was found as one JSON object, ``{"document": …}`` or ``{"problem": …}``.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import ideagora
from ideagora.retrieval.ingest.documents import Document, Problem, ReadResult
from ideagora.retrieval.ingest.file_types import is_pdf
from ideagora.retrieval.ingest.read_file import read_file

TIMEOUT_SECONDS = 90
_MAX_MEMORY = 2**30
"""Bytes of address space."""
_FAILED = "reading it takes too much memory or time"


def read_in_subprocess(path: Path) -> ReadResult:
    """The paper in a PDF file, or what is the matter with it. Blocks; no key reaches the process."""
    failed = Problem(path=str(path), what=_FAILED, step="Print it into a new PDF.")
    whole = path.resolve()
    command = [sys.executable, "-P", "-m", "ideagora.retrieval.ingest.formats.pdf_subprocess", str(whole)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            env=_environment(),
            timeout=TIMEOUT_SECONDS,
            check=False,
            cwd=whole.parent,
        )
    except subprocess.TimeoutExpired:
        return failed
    try:
        told = json.loads(done.stdout)
    except ValueError:
        return failed
    if "document" in told:
        return Document.model_validate(told["document"])
    return Problem.model_validate({**told["problem"], "path": str(path)})


def read_with_limits(path: Path) -> Iterator[ReadResult]:
    """As ``read_file``, with a PDF read in a process of its own."""
    if is_pdf(path):
        yield read_in_subprocess(path)
    else:
        yield from read_file(path)


def main(path: str) -> None:
    """Read and print; more memory or time than is allowed ends the process."""
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (TIMEOUT_SECONDS, TIMEOUT_SECONDS))
    found = next(iter(read_file(Path(path))))
    kind = "document" if isinstance(found, Document) else "problem"
    sys.stdout.write(json.dumps({kind: found.model_dump(mode="json")}))


def _environment() -> dict[str, str]:
    """What Python needs to find itself and this package."""
    root = str(Path(ideagora.__file__).resolve().parent.parent)
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUTF8": "1"}


if __name__ == "__main__":
    main(sys.argv[1])
