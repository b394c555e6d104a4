"""A store on a local Chroma server compared with one in a folder: loading, searching, single papers."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.texts import Clustered, chunks, records
from ideagora.retrieval.store.store import Store, paper_text
from tests.support.chroma_server import chroma_server

SIZE = int(os.environ.get("IDEAGORA_BENCH_PAPERS", "10000"))
CHUNK = 1_000
QUERIES = 40
ROUNDS = 5


def main() -> None:
    """Print papers per second and milliseconds per operation for both, as the best round's median."""
    embedder, figures = Clustered(), {}
    with tempfile.TemporaryDirectory() as name, chroma_server(Path(name) / "server") as url:
        for place, its in (("folder", None), ("server", url)):
            with Store.open_at(its, Path(name) / place, embedder) as store:
                figures[place] = {"papers/s": round(_load(store)), **_milliseconds(store, embedder)}
            print(f"{place}: " + ", ".join(f"{about} {value}" for about, value in figures[place].items()))
    print(json.dumps({"benchmark": "store_server", "papers": SIZE, **figures}))


def _load(store: Store) -> float:
    embedder, seconds = Clustered(), 0.0
    with store.write_lock():
        for papers in chunks(SIZE, CHUNK):
            vectors = embedder.encode([paper_text(paper) for paper in papers])
            before = time.perf_counter()
            store.add_embedded(papers, vectors)
            seconds += time.perf_counter() - before
    return SIZE / seconds


def _milliseconds(store: Store, embedder: Clustered) -> dict[str, float]:
    queries = embedder.encode([f"query {n}" for n in range(QUERIES)])
    ids = [paper.id for paper in records(0, QUERIES)]
    ways: dict[str, Callable[[int], object]] = {
        "search ms": lambda n: store.search(queries[n], 10),
        "search with a date ms": lambda n: store.search(queries[n], 10, "2015-01-01"),
        "one paper ms": lambda n: store.get(ids[n]),
        "who cites it ms": lambda n: store.citations(ids[n]),
    }
    return {about: round(min(_median(ask) for _ in range(ROUNDS)), 1) for about, ask in ways.items()}


def _median(ask: Callable[[int], object]) -> float:
    taken = []
    for number in range(QUERIES):
        before = time.perf_counter()
        ask(number)
        taken.append(1e3 * (time.perf_counter() - before))
    return statistics.median(taken)
