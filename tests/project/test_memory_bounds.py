"""What strangers send takes bounded memory: measured as the peak of a process that reads nothing else."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.literature_server import File, LiteratureServer
from tests.support.local_files import _assemble

MEASURE = """
import resource, sys
from pathlib import Path
def peak(): return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) // 1024
file = Path(sys.argv[1])
{script}
print(peak(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""
IDEAS = """
from ideagora.importing import reader
reader.MAX_IDEAS //= 5
from ideagora.errors import IdeasFileError
from ideagora.importing import read_ideas
try:
    read_ideas(file, topic="t", agent="a")
except IdeasFileError:
    pass
"""
PAPERS = """
from ideagora.retrieval.ingest.formats.pdf_subprocess import read_with_limits
for one in read_with_limits(file): pass
"""
ANSWER = """
from ideagora.retrieval.clients.normalize import parse_json_object
try:
    parse_json_object(file.read_bytes())
except ValueError:
    pass
"""
BODY = """
import asyncio
from ideagora.errors import SourceUnavailable
from ideagora.retrieval.http.client import HttpClient
from ideagora.retrieval.http.service import RateLimitPolicy, HttpRequest, Service
async def ask():
    client = HttpClient(Service("openalex", sys.argv[2], RateLimitPolicy(0.0, retries=0)))
    try:
        await client.fetch(HttpRequest("/body"), bytes)
    except SourceUnavailable:
        pass
    await client.disconnect()
asyncio.run(ask())
"""


def peaks(script: str, file: Path, *arguments: str) -> tuple[int, int]:
    """MiB that a process which runs the script took at most, and its largest child."""
    code = MEASURE.format(script=script)
    done = subprocess.run(
        [sys.executable, "-c", code, str(file), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    own, children = done.stdout.split()[-2:]
    return int(own), int(children)


def brackets(megabytes: int) -> str:
    return "[" + "[]," * (megabytes * 350_000) + "[]]"


FILES: dict[str, tuple[str, str, Callable[[], str]]] = {
    "ideas in one document": (IDEAS, "a.json", lambda: brackets(40)),
    "ideas in one line": (IDEAS, "a.jsonl", lambda: f'{{"method": "x", "a": {brackets(14)}}}\n' * 2),
    "many ideas": (IDEAS, "a.jsonl", lambda: '{"method": "dig a hole and wait in it"}\n' * 40_000),
    "papers in one line": (PAPERS, "a.jsonl", lambda: f'{{"title": "x", "a": {brackets(3)}}}\n'),
    "items of CSL": (PAPERS, "a.json", lambda: f"[{brackets(20)}]"),
    "entries of BibTeX": (PAPERS, "a.bib", lambda: "@misc{a, title = {One Title}, year = 2020}\n" * 20_000),
    "lines of RIS": (PAPERS, "a.ris", lambda: "TY  - JOUR\nTI  - One Title\n" + "\n" * 5_000_000),
    "an answer of a service": (ANSWER, "a.json", lambda: brackets(15)),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_files_and_answers(name: str, tmp_path: Path) -> None:
    script, file_name, content = FILES[name]
    file = tmp_path / file_name
    file.write_text(content(), encoding="utf-8")
    assert peaks(script, file)[0] < 500


def test_a_body_that_unpacks_without_end(tmp_path: Path) -> None:
    packed = gzip.compress(bytes(400 * 2**20), 1)
    with LiteratureServer(()) as server:
        server.files["/openalex/body"] = File(packed, headers={"Content-Encoding": "gzip"})
        assert peaks(BODY, tmp_path, server.url("openalex"))[0] < 250
        server.files["/openalex/body"] = File(bytes(2**16), endless=True)
        assert peaks(BODY, tmp_path, server.url("openalex"))[0] < 250


def test_a_packed_pdf(tmp_path: Path) -> None:
    pack, piece = zlib.compressobj(1), b"a" * 2**20
    stream = b"".join(pack.compress(piece) for _ in range(600)) + pack.flush()
    filters = "[/ASCIIHexDecode /FlateDecode]"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R >>",
        f"<< /Length {2 * len(stream)} /Filter {filters} >>\nstream\n{stream.hex()}\nendstream",
    ]
    (tmp_path / "a.pdf").write_bytes(_assemble(objects))
    own, child = peaks(PAPERS, tmp_path / "a.pdf")
    assert own < 250
    assert child < 1_100


def test_the_measurement_sees_what_is_allocated(tmp_path: Path) -> None:
    assert peaks("taken = b'x' * 600 * 2**20", tmp_path)[0] > 500
