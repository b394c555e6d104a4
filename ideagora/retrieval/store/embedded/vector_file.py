"""Vectors as rows of one flat file (float32, little-endian), for exact searches.

Rows are only ever added, and which paper has which row stands in the records. So a reader needs no
lock, and rows that a killed writer left are overwritten by the next. When the file has to be made anew,
it gets another name, and the records change over to it in one transaction.
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
"""Vectors have unit length; one that is off has been damaged on disk."""
_CHECK_BATCH = 8_192


@dataclass(frozen=True)
class VectorFileInfo:
    """What the manifest says of the file."""

    file: str
    count: int = 0
    """Rows that papers have; the file is longer where a writer was killed."""
    dimension: int | None = None
    """``None`` until the first vector."""

    @classmethod
    def read(cls, line: str) -> Self:
        """From a line of the manifest."""
        return cls(**json.loads(line))

    def __str__(self) -> str:
        return json.dumps(vars(self))

    def next_file(self) -> str:
        """Name of the file that takes this one's place."""
        return file_name(int(self.file.split(".")[1]) + 1)


def file_name(number: int) -> str:
    """Name of the n-th file of a store."""
    return f"vectors.{number}.f32"


def is_vector_file(name: str) -> bool:
    """Whether a file in the store's folder holds rows."""
    return name.startswith("vectors.") and name.endswith(".f32")


class VectorFile:
    """The rows of one store's folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._checked: tuple[str, int] = ("", 0)

    def exists(self, note: VectorFileInfo) -> bool:
        """Whether the file is there, or need not be."""
        return note.count == 0 or (self._folder / note.file).is_file()

    def append(self, note: VectorFileInfo, vectors: NDArray[np.float32]) -> VectorFileInfo:
        """Write rows behind the others, by who holds the folder alone; gives the new note.

        Raises:
            StoreCorrupted: the file is shorter than it was left.
        """
        dimension = note.dimension or vectors.shape[1]
        path = self._folder / note.file
        with translate_errors(self._folder, path), path.open("ab") as file:
            if file.tell() < 4 * dimension * note.count:
                raise self._damaged(note, "it is shorter than it was left")
            file.truncate(4 * dimension * note.count)  # what a killed writer wrote
            file.write(vectors.astype("<f4").tobytes())
            file.flush()
            os.fsync(file.fileno())
        return VectorFileInfo(note.file, note.count + len(vectors), dimension)

    def fill(self, file: str, vectors: Iterable[NDArray[np.float32]]) -> VectorFileInfo:
        """Write a new file, over what a killed process left of it."""
        (self._folder / file).unlink(missing_ok=True)
        note = VectorFileInfo(file)
        for some in vectors:
            note = self.append(note, some)
        return note

    def remove_others(self, note: VectorFileInfo) -> None:
        """Remove files that are not in use; those that other processes have open stay readable for them."""
        for path in self._folder.iterdir():
            if is_vector_file(path.name) and path.name != note.file:
                path.unlink(missing_ok=True)

    def matrix(self, note: VectorFileInfo) -> NDArray[np.float32]:
        """All rows, shape (note.count, dimension), mapped into memory; each row is checked once.

        Raises:
            StoreCorrupted: rows are missing, or have no unit length.
            FileNotFoundError: the file was made anew under another name.
        """
        import numpy as np

        if note.count == 0 or note.dimension is None:
            return np.empty((0, 0), dtype=np.float32)
        path = self._folder / note.file
        if path.stat().st_size < 4 * note.dimension * note.count:
            raise self._damaged(note, "it is shorter than it was left")
        shape = (note.count, note.dimension)
        matrix = np.asarray(np.memmap(path, dtype="<f4", mode="r", shape=shape))
        self._check(note, matrix)
        return matrix

    def _check(self, note: VectorFileInfo, matrix: NDArray[np.float32]) -> None:
        import numpy as np

        first = self._checked[1] if self._checked[0] == note.file else 0
        for start in range(first, len(matrix), _CHECK_BATCH):
            some = matrix[start : start + _CHECK_BATCH]
            lengths = np.sqrt(np.einsum("ij,ij->i", some, some))
            if not np.all(np.abs(lengths - 1) < _UNIT_TOLERANCE):  # so written that NaN is damage too
                raise self._damaged(note, "some vectors are not of unit length")
        self._checked = (note.file, len(matrix))

    def _damaged(self, note: VectorFileInfo, what: str) -> StoreCorrupted:
        return corrupted_error(self._folder, f"{note.file}: {what}", self._folder / note.file)
