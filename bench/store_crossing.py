"""The store size at which Chroma's index becomes faster than exact search (``EXACT_BELOW``)."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.texts import Clustered, records
from ideagora.retrieval.store.store import Store, paper_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIZES = (2_000, 5_000, 10_000, 20_000, 40_000)
QUERIES = 50
ROUNDS = 5
K = 10


def main() -> None:
    """Print milliseconds per search by size and method, as the best round's median."""
    embedder, figures = Clustered(), {}
    queries = embedder.encode([f"query {n}" for n in range(QUERIES)])
    with tempfile.TemporaryDirectory() as name:
        folder, done = Path(name), 0
        for size in SIZES:
            with Store.open(folder / "store", embedder) as store, store.write_lock():
                papers = records(done, size)
                store.add_embedded(papers, embedder.encode([paper_text(paper) for paper in papers]))
                done = size
            ways = {"exact": 10**9, "index": 0}
            best = dict.fromkeys(ways, float("inf"))
            for _ in range(ROUNDS):
                for way, exact_below in ways.items():
                    with Store.open(folder / "store", embedder, exact_below=exact_below) as store:
                        store.search(queries[0], K)
                        best[way] = min(best[way], statistics.median(_taken(store, queries)))
            print(f"{size:7,} papers: exact {best['exact']:5.1f} ms, index {best['index']:5.1f} ms")
            figures[size] = {way: round(value, 2) for way, value in best.items()}
    print(json.dumps({"benchmark": "store_crossing", "ms": figures}))


def _taken(store: Store, queries: NDArray[np.float32]) -> list[float]:
    taken = []
    for query in queries:
        before = time.perf_counter()
        store.search(query, K)
        taken.append(1e3 * (time.perf_counter() - before))
    return taken
