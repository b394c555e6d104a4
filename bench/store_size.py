"""100,000 papers: loading against bare Chroma, memory, searching with and without a date, recall.

The vectors are a double's (``bench/texts.py``): clustered as those of texts, made in microseconds, and
the time that takes is taken off. IDEAGORA_BENCH_PAPERS sets another number of papers.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.texts import Clustered, chunks, records
from ideagora.retrieval.store import Store, paper_text
from ideagora.schema import Paper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIZE = int(os.environ.get("IDEAGORA_BENCH_PAPERS", "100000"))
CHUNK = 5_000
QUERIES = 100
K = 10
EARLY, LATE = "2001-01-01", "2015-01-01"
"""Cut-offs that leave some 4 % and 60 % of the papers."""


def main() -> None:
    """Print it all; two minutes or so."""
    with tempfile.TemporaryDirectory() as folder:
        bare = _in_a_process(load_bare, Path(folder) / "bare")
        ours = _in_a_process(load_ours, Path(folder) / "store")
        found = _in_a_process(search, Path(folder) / "store")
    print(f"loading: {ours['rate']:.0f} papers/s, bare Chroma {bare['rate']:.0f}/s, ", end="")
    print(f"ratio {ours['rate'] / bare['rate']:.2f}")
    for name, told in (("store", ours), ("bare", bare)):
        print(f"memory, {name}: " + ", ".join(f"{mib:.0f} MiB at {n:,}" for n, mib in told["memory"].items()))
    for name, value in found.items():
        print(f"{name}: {value}")
    print(
        json.dumps({"benchmark": "store_size", "papers": SIZE, "ratio": ours["rate"] / bare["rate"], **found})
    )


def load_bare(folder: Path) -> dict[str, Any]:
    """The same vectors into Chroma alone, chunk by chunk."""
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
    space: Any = {"hnsw": {"space": "cosine"}}
    collection = client.create_collection("papers", configuration=space, embedding_function=None)

    def write(papers: Sequence[Paper], vectors: NDArray[np.float32]) -> None:
        collection.upsert(ids=[paper.id for paper in papers], embeddings=vectors)

    return _load(write)


def load_ours(folder: Path) -> dict[str, Any]:
    """Records, edges and vectors into a store, chunk by chunk."""
    with Store.open(folder, Clustered()) as store, store.writing():
        return _load(store.add_embedded)


def _load(write: Callable[[Sequence[Paper], NDArray[np.float32]], None]) -> dict[str, Any]:
    embedder, seconds, memory, done = Clustered(), 0.0, {}, 0
    for papers in chunks(SIZE, CHUNK):
        vectors = embedder.encode([paper_text(paper) for paper in papers])
        before = time.perf_counter()
        write(papers, vectors)
        seconds += time.perf_counter() - before
        done += len(papers)
        if done in (SIZE // 10, SIZE // 2, SIZE):
            memory[done] = _memory()
    return {"rate": SIZE / seconds, "memory": memory}


def _memory() -> float:
    """Resident MiB of this process without what it shares with files."""
    fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGESIZE") / 2**20


def search(folder: Path) -> dict[str, Any]:
    """Milliseconds and recall of searches, and what opening and a small addition take."""
    embedder, figures = Clustered(), {}
    queries = embedder.encode([f"query {n}" for n in range(QUERIES)])
    before = time.perf_counter()
    with Store.open(folder, embedder) as store, Store.open(folder, embedder, exact_below=10**9) as exact:
        figures["seconds to open twice"] = round(time.perf_counter() - before, 2)
        for name, ask in (
            ("Chroma's index", partial(store.search, k=K)),
            ("exact", partial(exact.search, k=K)),
            (f"before {LATE}", partial(store.search, k=K, before=LATE)),
            (f"before {EARLY}", partial(store.search, k=K, before=EARLY)),
        ):
            figures |= _milliseconds(name, ask, queries)
        figures["recall@10"] = _recall(store, exact, queries)
        before = time.perf_counter()
        store.add(records(SIZE, SIZE + 32))
        figures["seconds for 32 further papers"] = round(time.perf_counter() - before, 2)
    return figures


def _milliseconds(
    name: str, ask: Callable[[NDArray[np.float32]], object], queries: NDArray[np.float32]
) -> dict[str, float]:
    before = time.perf_counter()
    ask(queries[0])
    first = time.perf_counter() - before
    taken = []
    for query in queries:
        before = time.perf_counter()
        ask(query)
        taken.append(1e3 * (time.perf_counter() - before))
    return {
        f"{name}, p50 ms": round(statistics.median(taken), 1),
        f"{name}, p95 ms": round(statistics.quantiles(taken, n=20)[-1], 1),
        f"{name}, first ms": round(1e3 * first, 1),
    }


def _recall(store: Store, exact: Store, queries: NDArray[np.float32]) -> float:
    """Part of the ten nearest that the store finds."""

    def ids(some: Store, query: NDArray[np.float32]) -> set[str]:
        return {one.paper.id for one in some.search(query, K)}

    return sum(len(ids(store, one) & ids(exact, one)) for one in queries) / (K * len(queries))


def _in_a_process(work: Callable[[Path], dict[str, Any]], folder: Path) -> dict[str, Any]:
    """What a function gives in a fresh process, so that memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, (folder,))
