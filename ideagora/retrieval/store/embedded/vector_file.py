"""Vectors as rows of one flat file (float32, little-endian), for exact searches.

Rows are only appended, and the records say which paper has which row. So a reader needs no lock, and
rows of a killed writer are overwritten by the next one. A rebuilt file gets a new name, and the records
switch to it in one transaction.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ideagora.retrieval.store.errors import corrupted_error, translate_errors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ideagora.errors import StoreCorrupted

_UNIT_TOLERANCE = 1e-3
"""Vectors have unit length; any other length means damage on disk."""
_CHECK_BATCH = 8_192


@dataclass(frozen=True)
class VectorFileInfo:
    """The manifest's entry for the file."""

    file: str
    count: int = 0
    """Rows that belong to papers; the file is longer if a writer was killed."""
    dimension: int | None = None
    """``None`` until the first vector."""

    @classmethod
    def read(cls, line: str) -> Self:
        """Parse the manifest's entry."""
        return cls(**json.loads(line))

    def __str__(self) -> str:
        return json.dumps(vars(self))

    def next_file(self) -> str:
        """Name of the file that replaces this one."""
        return file_name(int(self.file.split(".")[1]) + 1)


def file_name(number: int) -> str:
    """Name of the n-th file of a store."""
    return f"vectors.{number}.f32"


def is_vector_file(name: str) -> bool:
    """Whether a file name in the store's folder is that of a file of vectors."""
    return name.startswith("vectors.") and name.endswith(".f32")


class VectorFile:
    """The file of vectors in one store's folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._checked: tuple[str, int] = ("", 0)

    def exists(self, info: VectorFileInfo) -> bool:
        """Whether the file exists, or has no rows yet."""
        return info.count == 0 or (self._folder / info.file).is_file()

    def append(self, info: VectorFileInfo, vectors: NDArray[np.float32]) -> VectorFileInfo:
        """Append rows, under the write lock; returns the new manifest entry.

        Raises:
            StoreCorrupted: the file is shorter than its manifest entry says.
        """
        dimension = info.dimension or vectors.shape[1]
        path = self._folder / info.file
        with translate_errors(self._folder, path), path.open("ab") as file:
            if file.tell() < 4 * dimension * info.count:
                raise self._damaged(info, "it is shorter than expected")
            file.truncate(4 * dimension * info.count)  # drop the rows of a killed writer
            file.write(vectors.astype("<f4").tobytes())
            file.flush()
            os.fsync(file.fileno())
        return VectorFileInfo(info.file, info.count + len(vectors), dimension)

    def fill(self, file: str, vectors: Iterable[NDArray[np.float32]]) -> VectorFileInfo:
        """Write a new file, replacing an unfinished one; returns its manifest entry."""
        (self._folder / file).unlink(missing_ok=True)
        info = VectorFileInfo(file)
        for batch in vectors:
            info = self.append(info, batch)
        return info

    def remove_others(self, info: VectorFileInfo) -> None:
        """Remove the other files of vectors; processes that have one open can still read it."""
        for path in self._folder.iterdir():
            if is_vector_file(path.name) and path.name != info.file:
                path.unlink(missing_ok=True)

    def matrix(self, info: VectorFileInfo) -> NDArray[np.float32]:
        """All rows, shape (info.count, dimension), mapped into memory; each row is checked once.

        Raises:
            StoreCorrupted: rows are missing, or not of unit length.
            FileNotFoundError: the file was replaced by one with a new name.
        """
        import numpy as np

        if info.count == 0 or info.dimension is None:
            return np.empty((0, 0), dtype=np.float32)
        path = self._folder / info.file
        if path.stat().st_size < 4 * info.dimension * info.count:
            raise self._damaged(info, "it is shorter than expected")
        shape = (info.count, info.dimension)
        matrix = np.asarray(np.memmap(path, dtype="<f4", mode="r", shape=shape))
        self._check(info, matrix)
        return matrix

    def _check(self, info: VectorFileInfo, matrix: NDArray[np.float32]) -> None:
        import numpy as np

        first = self._checked[1] if self._checked[0] == info.file else 0
        for start in range(first, len(matrix), _CHECK_BATCH):
            batch = matrix[start : start + _CHECK_BATCH]
            lengths = np.sqrt(np.einsum("ij,ij->i", batch, batch))
            if not np.all(np.abs(lengths - 1) < _UNIT_TOLERANCE):  # also true for NaN
                raise self._damaged(info, "some vectors are not of unit length")
        self._checked = (info.file, len(matrix))

    def _damaged(self, info: VectorFileInfo, what: str) -> StoreCorrupted:
        return corrupted_error(self._folder, f"{info.file}: {what}", self._folder / info.file)
