"""Synthetic texts and vectors for benchmarks, about as similar to each other as those of papers."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.schema import Paper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SENTENCES = 6
"""Sentences of a synthetic abstract, about 100 words."""
DIMENSION = 384
DIRECTIONS = 300
NOISE = 0.6


@cache
def _sentences() -> tuple[str, ...]:
    texts = [paper.abstract or "" for paper in starter_corpus().papers]
    return tuple(part for text in texts for part in re.split(r"(?<=[.?!])\s+", text) if part)


def abstracts(number: int, seed: int = 0) -> list[Paper]:
    """Return papers with distinct abstracts, composed of sentences of the starter corpus."""
    chance = random.Random(seed)
    return [
        Paper(
            id=f"bench:{n:06}",
            title=f"{n}: {chance.choice(_sentences())[:60]}",
            abstract=" ".join(chance.sample(_sentences(), SENTENCES)),
            source="bench",
        )
        for n in range(number)
    ]


def records(first: int, last: int) -> list[Paper]:
    """Return papers n = first … last - 1 of realistic size, with dates over 25 years."""
    return [
        Paper(
            id=f"bench:{n:06}",
            title=f"On question {n} of subject {n % DIRECTIONS}",
            abstract=f"Record {n}. " + "It treats a question that is as long as others. " * 20,
            date=f"{2000 + n * 7919 % 25}-{1 + n * 31 % 12:02}",
            references=tuple(f"bench:{n - step:06}" for step in range(1, 6) if n >= step),
            source="bench",
        )
        for n in range(first, last)
    ]


class Clustered:
    """A fake embedder whose vectors cluster around 300 directions."""

    name = "clustered"
    dimension = DIMENSION

    def __init__(self) -> None:
        import numpy as np

        chance = np.random.default_rng(1)
        centres = chance.normal(size=(DIRECTIONS, DIMENSION))
        self._centres = centres / np.linalg.norm(centres, axis=1, keepdims=True)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, the same for equal texts."""
        import zlib

        import numpy as np

        seeds = [zlib.crc32(text.encode()) for text in texts]
        noise = np.stack(
            [np.random.Generator(np.random.SFC64(seed)).normal(size=DIMENSION) for seed in seeds]
        )
        rows = self._centres[[seed % DIRECTIONS for seed in seeds]] + NOISE * noise / DIMENSION**0.5
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows, dtype=np.float32)


def chunks(number: int, size: int) -> Iterator[list[Paper]]:
    """Yield records in lists of ``size``, created lazily."""
    return (records(first, min(first + size, number)) for first in range(0, number, size))
