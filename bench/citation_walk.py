"""Requests of one branch to a loopback server, by kind and by step of the walk.

A step of the walk (one paper forward or backward) should send at most one request to each source, plus
batches of records. Other requests of the branch are printed too: searches (anchor, neighbours, novelty),
single papers, PDFs. Rate limits use a simulated clock.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ideagora.commands.generate import Request, run
from ideagora.config import SettingOverrides
from ideagora.schema import Paper
from tests.support.literature_server import (
    LiteratureServer,
    ReceivedRequest,
    Work,
    hurry,
    open_at,
    settings_for,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SOURCES = ("semantic-scholar", "openalex", "semantic-scholar,openalex,arxiv")
PAPERS, CITES = 240, 30
TOPIC = "language model agents"


class Patch:
    """``setattr`` like that of pytest's monkeypatch."""

    def setattr(self, target: Any, name: str, value: Any) -> None:
        """Set the attribute, without undoing it."""
        setattr(target, name, value)


def citing_works() -> list[Work]:
    """Papers in order of their dates, each citing the previous thirty."""
    return [
        Work(
            f"p{n}",
            f"Language model agents with skill {n}",
            f"Language model agents fail at long tasks. We propose agents with skill {n}. It solves {n} "
            "percent more. However, they are slow.",
            f"20{10 + n // 12}-{n % 12 + 1:02}-01",
            arxiv=f"{10 + n // 12}{n % 12 + 1:02}.{n:05}",
            cited=PAPERS - n,
            cites=tuple(f"p{earlier}" for earlier in range(max(0, n - CITES), n)),
        )
        for n in range(PAPERS)
    ]


def kind_of(request: ReceivedRequest) -> str:
    """The kind of a request."""
    path, wanted = request.path, request.query.get("filter", "")
    if path.startswith("/pdf/"):
        return "PDF"
    if request.service == "arxiv":
        return "batch" if "id_list" in request.query else "search"
    if path.endswith(("/references", "/citations")) or wanted.startswith("cites:"):
        return "neighbours"
    if path.endswith("/batch") or wanted:
        return "batch"
    return "search" if path.endswith("/search") or "search" in request.query else "paper"


def main() -> None:
    """Print requests of a walk and of a whole branch, for each choice of sources."""
    results = {}
    for source in SOURCES:
        steps = asyncio.run(_walk(source))
        branch = _branch(source)
        worst = max(counts["requests per source"] for counts in steps)
        print(f"{source}: at most {worst} requests per source and step, plus batches")
        print("  step         " + "  ".join(f"{kind:>10}" for kind in ("neighbours", "paper", "batch")))
        for counts in steps:
            row = "  ".join(f"{counts[kind]:10}" for kind in ("neighbours", "paper", "batch"))
            print(f"  {counts['step']:12} {row}")
        print("  a whole branch: " + ", ".join(f"{kind} {number}" for kind, number in sorted(branch.items())))
        results[source] = {"worst_step": worst, "branch": dict(sorted(branch.items()))}
    print(json.dumps({"benchmark": "citation_walk", **results}))


async def _walk(source: str) -> list[dict[str, Any]]:
    """Three steps forward and three backward from the paper in the middle."""
    with LiteratureServer(citing_works()) as server, tempfile.TemporaryDirectory() as home:
        library = open_at(NOW, settings_for(server, Path(home), source))
        found = await library.search(f"{TOPIC} skill {PAPERS // 2}", 5)
        steps: list[dict[str, Any]] = []
        for name, ask in (("forward", library.citations), ("backward", library.references)):
            tip: Paper = found[0].paper
            for number in range(1, 4):
                before = len(server.requests)
                neighbours = await ask(tip)
                steps.append(_counted(f"{name} {number}", server.requests[before:]))
                tip = neighbours[len(neighbours) // 2]
        await library.disconnect()
        library.close()
    return steps


def _counted(step: str, requests: Sequence[ReceivedRequest]) -> dict[str, Any]:
    kinds = Counter(kind_of(request) for request in requests)
    sources = Counter(request.service for request in requests if kind_of(request) != "batch")
    return {"step": step, "requests per source": max(sources.values(), default=0), **_zeros(), **kinds}


def _zeros() -> dict[str, int]:
    return dict.fromkeys(("neighbours", "paper", "batch"), 0)


def _branch(source: str) -> Counter[str]:
    """A run of one branch at the default length."""
    import contextlib
    import io
    import os

    with LiteratureServer(citing_works()) as server, tempfile.TemporaryDirectory() as home:
        hurry(Patch(), NOW)
        settings = settings_for(server, Path(home), source)
        flags: SettingOverrides = {
            "home": settings.home, "source": settings.source, "embedder": settings.embedder,
        }  # fmt: skip
        for service in ("semantic_scholar", "openalex", "arxiv"):
            os.environ[f"IDEAGORA_{service.upper()}_URL"] = getattr(settings, f"{service}_url")
        os.environ["IDEAGORA_FORBID_REAL_CALLS"] = "1"
        request = Request(topic=TOPIC, settings=flags, as_json=True, quiet=True)
        request = replace(request, options={"branches": 1, "allow_thin": True})
        with contextlib.redirect_stdout(io.StringIO()):
            assert run(request) == 0
        return Counter(kind_of(one) for one in server.requests)
