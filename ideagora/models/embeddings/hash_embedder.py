"""An embedder without a model, for tests."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HASH = "hash"
"""Its name in settings."""


class HashEmbedder:
    """A bag of hashed words and character trigrams, for tests. Not semantic; the same on every machine.

    Texts that share words are similar. Longer words have more weight, so articles and prepositions do not
    dominate.
    """

    name = HASH
    dimension = 512

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode texts, one row of unit length each, shape (len(texts), 512)."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        rows = np.stack([_bag(text, self.dimension) for text in texts])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows.astype(np.float32)


@lru_cache(maxsize=2048)
def _bag(text: str, dimension: int) -> NDArray[np.float64]:
    """The summed weights of a text's features, shape (dimension,); do not write to it."""
    import numpy as np

    features = [_weights(word, dimension) for word in re.findall(r"\w+", text.casefold())]
    if not features:
        return np.asarray(np.eye(1, dimension)[0])
    indices = np.concatenate([places for places, _ in features])
    weights = np.concatenate([values for _, values in features])
    return np.asarray(np.bincount(indices, weights, dimension), dtype=np.float64)


@lru_cache(maxsize=16_384)
def _weights(word: str, dimension: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Indices and signed weights of a word and of its trigrams."""
    import numpy as np

    marked = f"<{word}>"
    trigrams = [marked[start : start + 3] for start in range(len(marked) - 2)]
    buckets = [_bucket(feature, dimension) for feature in (word, *trigrams)]
    sizes = [(min(len(word), 8) / 8) ** 2, *[0.1] * len(trigrams)]
    indices = np.array([index for index, _ in buckets], dtype=np.intp)
    return indices, np.array([sign * size for (_, sign), size in zip(buckets, sizes, strict=True)])


def _bucket(feature: str, dimension: int) -> tuple[int, int]:
    number = int.from_bytes(hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest())
    return number % dimension, 1 if number >> 63 else -1
