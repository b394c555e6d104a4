"""Vectors of the default model in files, and those that ship with the package.

A folder has ``vectors.keys`` (a line per text: its key) and ``vectors.f32`` (rows of little-endian float32).
``shipped/`` holds the vectors of texts that the package itself contains (``bench/ship_vectors.py`` makes
them), so that the first store is filled without the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ideagora.models.embeddings.weights import minilm_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEYS_FILE, VECTORS_FILE = "vectors.keys", "vectors.f32"
SHIPPED = Path(__file__).parent / "shipped"


def write_vectors(folder: Path, vectors: Iterable[tuple[str, bytes]]) -> None:
    """Write vectors (key, little-endian float32) to a folder, in the order of their keys."""
    rows = sorted(vectors)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / KEYS_FILE).write_text("".join(f"{key}\n" for key, _ in rows), encoding="utf-8")
    (folder / VECTORS_FILE).write_bytes(b"".join(row for _, row in rows))


def read_vectors(folder: Path) -> Mapping[str, NDArray[np.float32]]:
    """The vectors in a folder by key."""
    import numpy as np

    keys = (folder / KEYS_FILE).read_text(encoding="utf-8").split()
    rows = np.frombuffer((folder / VECTORS_FILE).read_bytes(), dtype="<f4").reshape(len(keys), -1)
    return dict(zip(keys, rows, strict=True))


def shipped_vectors(embedder: str, keys: Iterable[str]) -> dict[str, NDArray[np.float32]]:
    """The shipped vectors among some keys; none for another embedder than the default one."""
    if embedder != minilm_name():
        return {}
    shipped = _shipped()
    return {key: shipped[key] for key in keys if key in shipped}


@lru_cache(maxsize=1)
def _shipped() -> Mapping[str, NDArray[np.float32]]:
    return read_vectors(SHIPPED)
