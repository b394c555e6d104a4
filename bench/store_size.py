"""A store of 100,000 papers: load time against plain Chroma, memory, search time and recall.

The vectors are synthetic and clustered (``bench/texts.py``); the time to make them is not counted.
IDEAGORA_BENCH_PAPERS sets another number of papers.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.texts import Clustered, chunks, records
from ideagora.retrieval.store.store import Store, paper_text
from ideagora.schema import Paper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIZE = int(os.environ.get("IDEAGORA_BENCH_PAPERS", "100000"))
CHUNK = 5_000
QUERIES = 100
ROUNDS = 5
K = 10
EARLY, LATE = "2001-01-01", "2015-01-01"
"""Cut-offs that leave about 4 % and 60 % of the papers."""


def main() -> None:
    """Print all figures; takes two to five minutes."""
    with tempfile.TemporaryDirectory() as folder:
        memory = _run_in_process(load, Path(folder) / "store")
        both = _run_in_process(load_side_by_side, Path(folder) / "both")
        search_times = _run_in_process(search, Path(folder) / "store")
    print("memory while loading: " + ", ".join(f"{mib:.0f} MiB at {n} papers" for n, mib in memory.items()))
    for name, value in (both | search_times).items():
        print(f"{name}: {value}")
    print(json.dumps({"benchmark": "store_size", "papers": SIZE, "mib": memory, **both, **search_times}))


def load(folder: Path) -> dict[str, Any]:
    """Load records, edges and vectors into a store; returns resident MiB by number of papers."""
    memory = {"0": _memory()}
    done = 0
    with Store.open(folder, Clustered()) as store, store.write_lock():
        for papers, vectors in _loads():
            store.add_embedded(papers, vectors)
            done += len(papers)
            if done in (SIZE // 10, SIZE // 2, SIZE):
                memory[f"{done:,}"] = _memory()
    return memory


def load_side_by_side(folder: Path) -> dict[str, Any]:
    """Load the same chunks into a store and into plain Chroma in turns, under the same conditions."""
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder / "bare"), Settings(anonymized_telemetry=False))
    space: Any = {"hnsw": {"space": "cosine"}}
    collection = client.create_collection("papers", configuration=space, embedding_function=None)
    ours = bare = 0.0
    with Store.open(folder / "store", Clustered()) as store, store.write_lock():
        for papers, vectors in _loads():
            start = time.perf_counter()
            store.add_embedded(papers, vectors)
            between = time.perf_counter()
            collection.upsert(ids=[paper.id for paper in papers], embeddings=vectors)
            ours, bare = ours + between - start, bare + time.perf_counter() - between
    return {
        "papers/s": round(SIZE / ours),
        "bare Chroma, vectors/s": round(SIZE / bare),
        "ratio": round(bare / ours, 2),
    }


def _loads() -> Iterator[tuple[Sequence[Paper], NDArray[np.float32]]]:
    embedder = Clustered()
    for papers in chunks(SIZE, CHUNK):
        yield papers, embedder.encode([paper_text(paper) for paper in papers])


def _memory() -> float:
    """Resident memory of this process in MiB, without shared pages."""
    fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return round((int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGESIZE") / 2**20)


def search(folder: Path) -> dict[str, Any]:
    """Search time and recall, and the time to open a store and to add a few papers."""
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
    rounds = []
    for _ in range(ROUNDS):
        taken = []
        for query in queries:
            before = time.perf_counter()
            ask(query)
            taken.append(1e3 * (time.perf_counter() - before))
        rounds.append(statistics.median(taken))
    return {
        f"{name}, p50 ms (best of {ROUNDS} rounds)": round(min(rounds), 1),
        f"{name}, first ms": round(1e3 * first, 1),
    }


def _recall(store: Store, exact: Store, queries: NDArray[np.float32]) -> float:
    """Fraction of the ten nearest papers that the store finds."""

    def ids(searched: Store, query: NDArray[np.float32]) -> set[str]:
        return {scored.paper.id for scored in searched.search(query, K)}

    return sum(len(ids(store, query) & ids(exact, query)) for query in queries) / (K * len(queries))


def _run_in_process(work: Callable[[Path], dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Run a function in a new process, so that its memory is measured alone."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, (folder,))
