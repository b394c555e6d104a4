"""Duplicates among ideas by the similarity of their texts (Si et al., arXiv 2409.04109, section 3.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from ideagora.models.embeddings.embedder import Embedder


class Duplicate(NamedTuple):
    """A text that repeats an earlier one."""

    position: int
    of: int
    """Position of the earlier text, which is kept."""
    similarity: float


async def find_duplicates(embedder: Embedder, texts: Sequence[str], threshold: float) -> list[Duplicate]:
    """The texts whose cosine to an earlier text that is kept is at least ``threshold``, in their order."""
    import numpy as np

    vectors = np.asarray(await asyncio.to_thread(embedder.encode, list(texts)))
    kept: list[int] = []
    duplicates: list[Duplicate] = []
    for position in range(len(texts)):
        near = np.round((vectors[kept] @ vectors[position]).astype(float), 4) if kept else np.zeros(0)
        if len(near) and near.max() >= threshold:
            duplicates.append(Duplicate(position, kept[int(near.argmax())], float(near.max())))
        else:
            kept.append(position)
    return duplicates
