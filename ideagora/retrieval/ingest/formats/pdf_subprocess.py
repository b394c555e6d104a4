"""Reading an untrusted PDF in a subprocess, with limits on time and memory.

    python -m ideagora.retrieval.ingest.formats.pdf_subprocess FILE

prints the result as one JSON object, ``{"document": …}`` or ``{"problem": …}``.
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
"""Limit of the address space, in bytes."""
_FAILED = "reading it takes too much memory or time"


def read_in_subprocess(path: Path) -> ReadResult:
    """The paper in a PDF file, or the problem with it. Blocks; API keys are not passed on."""
    failed = Problem(path=str(path), what=_FAILED, step="Print it to a new PDF.")
    absolute = path.resolve()
    command = [sys.executable, "-P", "-m", "ideagora.retrieval.ingest.formats.pdf_subprocess", str(absolute)]
    try:
        process = subprocess.run(
            command,
            capture_output=True,
            env=_environment(),
            timeout=TIMEOUT_SECONDS,
            check=False,
            cwd=absolute.parent,
        )
    except subprocess.TimeoutExpired:
        return failed
    try:
        result = json.loads(process.stdout)
    except ValueError:
        return failed
    if "document" in result:
        return Document.model_validate(result["document"])
    return Problem.model_validate({**result["problem"], "path": str(path)})


def read_with_limits(path: Path) -> Iterator[ReadResult]:
    """Like ``read_file``, but reads PDFs in a subprocess."""
    if is_pdf(path):
        yield read_in_subprocess(path)
    else:
        yield from read_file(path)


def main(path: str) -> None:
    """Read a file and print the result; the process dies if it exceeds its memory or time."""
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (TIMEOUT_SECONDS, TIMEOUT_SECONDS))
    result = next(iter(read_file(Path(path))))
    kind = "document" if isinstance(result, Document) else "problem"
    sys.stdout.write(json.dumps({kind: result.model_dump(mode="json")}))


def _environment() -> dict[str, str]:
    """The variables that Python needs to import this package."""
    root = str(Path(ideagora.__file__).resolve().parent.parent)
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    passed = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return {**passed, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUTF8": "1"}


if __name__ == "__main__":
    main(sys.argv[1])
