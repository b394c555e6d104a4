"""Papers that are stored before they are embedded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.store.embedding import embed_pending
from ideagora.retrieval.store.migration import StoreLocation, migrate
from ideagora.retrieval.store.store import Store, paper_text
from ideagora.schema import Paper

EMBEDDER = HashEmbedder()
BRIDGE = Paper(id="p:1", title="Bridges", abstract="Narrow bridges at night.")
FERRY = Paper(id="p:2", title="Ferries", abstract="Ferries on wide rivers.", references=("p:1",))
TUNNEL = Paper(id="p:1", title="Tunnels", abstract="Long tunnels below mountains.")


class Counting(HashEmbedder):
    """The hash embedder with a list of all texts that it encoded."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return super().encode(texts)


def best(store: Store, paper: Paper) -> Paper:
    """The paper nearest to another one's text."""
    return store.search(EMBEDDER.encode([paper_text(paper)])[0], 2)[0].paper


def test_the_next_search_embeds_what_was_stored_without_vectors(tmp_path: Path) -> None:
    for exact_below in (1, 20_000):
        folder, embedder = tmp_path / str(exact_below), Counting()
        with Store.open(folder, embedder, exact_below=exact_below) as store:
            assert store.add([BRIDGE, FERRY], embed_later=True) == (2, 0, 0)
            assert store.add([BRIDGE], embed_later=True) == (0, 0, 1)
            assert (store.count(), store.references("p:2"), embedder.asked) == (2, [BRIDGE], [])
        with Store.open(folder, embedder, exact_below=exact_below) as store:  # as after a killed process
            assert best(store, FERRY) == FERRY
            store.add([TUNNEL], embed_later=True)
            assert store.get("p:1") == TUNNEL
            assert best(store, TUNNEL) == TUNNEL
            assert best(store, FERRY) == FERRY
            assert sorted(embedder.asked) == sorted(map(paper_text, (BRIDGE, FERRY, TUNNEL)))


def test_a_dropped_vector_does_not_come_back(tmp_path: Path) -> None:
    with Store.open(tmp_path / "old", EMBEDDER) as store:
        store.add([BRIDGE, FERRY])
        store.add([TUNNEL], embed_later=True)
    next((tmp_path / "old").glob("vectors.*")).unlink()  # made anew from Chroma, which has the old vector
    migrate(StoreLocation(None, tmp_path / "old"), StoreLocation(None, tmp_path / "new"), EMBEDDER)
    for folder in ("old", "new"):
        with Store.open(tmp_path / folder, EMBEDDER) as store:
            assert best(store, TUNNEL) == TUNNEL
            assert store.search(EMBEDDER.encode([paper_text(TUNNEL)])[0], 1)[0].similarity == 1.0


def test_what_another_process_writes_while_texts_are_embedded_is_kept(tmp_path: Path) -> None:
    class Slow(HashEmbedder):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            with Store.open(tmp_path, EMBEDDER) as other:
                other.add([TUNNEL, FERRY.model_copy(update={"references": ("p:9",)})], embed_later=True)
            return super().encode(texts)

    with Store.open(tmp_path, EMBEDDER) as store:
        store.add([BRIDGE, FERRY], embed_later=True)
        embed_pending(store.backend, Slow())
        assert store.backend.ids_without_vector() == ["p:1"]
        ferry = store.get("p:2")
        assert ferry is not None
        assert ferry.references == ("p:9",)
        assert best(store, TUNNEL) == TUNNEL
