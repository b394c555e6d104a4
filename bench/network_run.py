"""Chain-of-Ideas on a loopback Semantic Scholar, with PDFs from a second loopback host, on a loopback model.

Semantic Scholar takes 0.3 s per request and refuses (429) a second one within a second; a PDF takes 0.3 s,
a call 1 s. 3 branches, length 5, one refinement, in a new home. Every paper has a PDF.

For comparison, the published implementation with the same settings: 68 s with this limit, 46 s without any.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from bench.chain_of_ideas import TOPIC, Timeline
from bench.process import ideagora
from bench.texts import abstracts
from ideagora.retrieval.corpus.starter import starter_corpus
from tests.support.literature_server import Fault, File, LiteratureServer, ReceivedRequest, Work
from tests.support.local_files import pdf, wrap_lines
from tests.support.loopback import Body, Loopback
from tests.support.standin import wanted_schema

REQUEST_SECONDS = 0.3
INTERVAL = 1.0
TOLERANCE = 0.05
"""Seconds by which two requests may arrive closer together than they were sent."""
CITES = 30
"""References of a paper; on average, as many papers cite it."""
SYNTHETIC = 340
"""Works besides those of the starter corpus."""
PAGES = 10
PUBLISHED = {"seconds": 68.0, "seconds without any limit": 46.0}
AIMS = {"seconds": 25.0, "paced requests": 16}
"""Upper limits; the seconds need an otherwise idle machine."""
Span = tuple[float, float]


@dataclass
class Host(LiteratureServer):
    """A server that takes some time for each request, and records when."""

    spans: list[Span] = field(default_factory=list)

    def record(self, request: ReceivedRequest) -> Fault | None:
        """Record the request and wait."""
        started = time.perf_counter()
        fault = super().record(request)
        time.sleep(REQUEST_SECONDS)
        with self._lock:
            self.spans.append((started, time.perf_counter()))
        return fault

    def __enter__(self) -> Self:
        super().__enter__()
        return self


@dataclass
class PacedHost(Host):
    """A server that refuses requests which follow the previous one too closely."""

    refused: int = 0
    _last: float = float("-inf")

    def record(self, request: ReceivedRequest) -> Fault | None:
        """Refuse the request if it comes too early."""
        with self._lock:
            now = time.perf_counter()
            is_early = now - self._last < INTERVAL - TOLERANCE
            self.refused += is_early
            self._last = self._last if is_early else now
        fault = super().record(request)
        return Fault(429, headers={"Retry-After": "1"}) if is_early else fault


class PdfHost(Host):
    """A host of PDFs with an address of its own."""

    host: ClassVar[str] = "127.0.0.2"


def works() -> list[Work]:
    """The starter corpus and synthetic papers, each citing earlier ones that share many words with it."""
    papers = [*starter_corpus().papers, *abstracts(SYNTHETIC)]
    dated = [
        Work(f"p{n:03}", paper.title, paper.abstract, f"20{14 + n // 60}-{n // 5 % 12 + 1:02}-01")
        for n, paper in enumerate(papers[start] for start in _interleaved(len(papers)))
    ]
    return [
        Work(
            work.name,
            work.title,
            work.abstract,
            work.date,
            arxiv=_arxiv_id(n),
            cited=2 * CITES,
            cites=tuple(cited.name for cited in _nearest(work, dated[:n])),
        )
        for n, work in enumerate(dated)
    ]


def _interleaved(number: int) -> list[int]:
    """Numbers below ``number`` in an order that mixes the two kinds of papers."""
    return sorted(range(number), key=lambda n: n * 7919 % number)


def _arxiv_id(number: int) -> str:
    return f"{14 + number // 60}{number // 5 % 12 + 1:02}.{number:05}"


def _nearest(work: Work, earlier: Sequence[Work]) -> list[Work]:
    return sorted(earlier, key=lambda other: -len(other.words & work.words))[:CITES]


def full_text(work: Work) -> bytes:
    """A PDF of ten pages."""
    sections = ("1 Introduction", "2 Related Work", "3 Method", "4 Experiments", "5 Limitations")
    prose = f"{work.abstract} " * 30
    pages = [
        [(18.0, (work.title or "")[:60]), (12.0, sections[n % len(sections)]), *wrap_lines(prose, 95)[:50]]
        for n in range(PAGES)
    ]
    return pdf(pages, "/CreationDate (D:20220517120000Z)")


class Model(Timeline):
    """The stand-in, whose searches have words of the papers that it was shown, so that each differs."""

    def answer(self, body: Body) -> str:
        """Return the stand-in's answer, after the latency."""
        text, prompt = super().answer(body), str(body["messages"][-1]["content"])
        fields: dict[str, Any] = json.loads(text)
        match wanted_schema(body):
            case "Trend":
                for n, cure in enumerate(fields["cures"]):
                    cure["query"] = f"{cure['field']} for {_words(prompt, n)}"
            case "IdeaDraft" | "Review":
                fields["queries"] = [_words(prompt, n) for n in range(len(fields["queries"]))]
        return json.dumps(fields)


def _words(prompt: str, seed: int) -> str:
    """Four long words of a prompt."""
    long_words = sorted(set(re.findall(r"[a-z]{8,}", prompt)))
    return " ".join(random.Random(f"{seed} {prompt}").sample(long_words, 4))


def endpoint(request: ReceivedRequest) -> str:
    """The endpoint of Semantic Scholar's API that a request is for."""
    path = request.path.removeprefix("/graph/v1/paper/")
    if path in ("search", "batch"):
        return path
    return path.rpartition("/")[2] if "/" in path else "paper"


def duplicates(requests: Sequence[ReceivedRequest]) -> int:
    """The number of requests that repeat an earlier one."""
    each = Counter((r.service, r.path, json.dumps([r.query, r.body], sort_keys=True)) for r in requests)
    return sum(each.values()) - len(each)


@dataclass(frozen=True)
class Measured:
    """What one run did."""

    seconds: float
    cpu_seconds: float
    started: float
    literature: PacedHost
    pdfs: PdfHost
    model: Model

    def figures(self) -> dict[str, float]:
        """The figures that are printed and compared."""
        asked = [*self.literature.requests, *self.pdfs.requests]
        return {
            "seconds": round(self.seconds, 1),
            "paced requests": len(self.literature.requests),
            "PDFs": len(self.pdfs.requests),
            "calls": len(self.model.spans),
            "longest chain": self.model.longest_chain,
            "duplicates": duplicates(asked),
            "refused (429)": self.literature.refused,
            "CPU seconds": round(self.cpu_seconds, 1),
        }


def main() -> None:
    """Run the command in a new home, and print figures and time line."""
    measured = _measure()
    figures = measured.figures()
    print(f"{'':18}{'ours':>8}{'at most':>9}{'published':>11}")
    for name, value in figures.items():
        print(f"{name:18}{value:>8}{AIMS.get(name, ''):>9}{PUBLISHED.get(name, ''):>11}")
    print(f"published without any limit: {PUBLISHED['seconds without any limit']} s")
    counts = Counter(map(endpoint, measured.literature.requests))
    print("paced requests by endpoint: " + ", ".join(f"{name} {n}" for name, n in sorted(counts.items())))
    _print_lanes(measured)
    print(json.dumps({"benchmark": "network_run", **figures, "by_endpoint": counts}))


def _measure() -> Measured:
    model, papers = Model(), works()
    pdfs = {f"/pdf/{work.arxiv}": File(full_text(work)) for work in papers}
    with (
        tempfile.TemporaryDirectory() as folder,
        PacedHost(papers) as literature,
        PdfHost((), files=pdfs) as files,
        Loopback(model.answer) as server,
    ):
        arguments = ("generate", TOPIC, "--model", "openai/stand-in", "--api-base", server.base)
        started = time.perf_counter()
        result = ideagora(
            *arguments,
            *("--source", "semantic-scholar", "--concurrency", "16", "--json"),
            home=Path(folder),
            IDEAGORA_SEMANTIC_SCHOLAR_URL=literature.url("semantic-scholar"),
            IDEAGORA_ARXIV_URL=files.url(""),
            IDEAGORA_FORBID_REAL_CALLS="1",
        )
    return Measured(result.seconds, result.cpu_seconds, started, literature, files, model)


WIDTH = 120


def _print_lanes(measured: Measured) -> None:
    """A time line: how many requests or calls are out in each part of the run."""
    step = measured.seconds / WIDTH
    lanes = {
        "searches": measured.literature.spans,
        "PDFs": measured.pdfs.spans,
        "calls": measured.model.spans,
    }
    print(f"time line, {step:.2f} s a column:")
    busy = [False] * WIDTH
    for name, spans in lanes.items():
        out = [_overlapping(spans, measured.started + column * step, step) for column in range(WIDTH)]
        busy = [was or count > 0 for was, count in zip(busy, out, strict=True)]
        print(f"  {name:9}" + "".join(" " if not count else str(min(count, 9)) for count in out))
    print(f"  {'(none)':9}" + "".join(" " if is_busy else "-" for is_busy in busy))
    print(f"neither request nor call out: {busy.count(False) * step:.1f} s")


def _overlapping(spans: Sequence[Span], start: float, length: float) -> int:
    return sum(first < start + length and last > start for first, last in spans)
