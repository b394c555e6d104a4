"""Which samples of a data set are used. The options are named as in evaluation harnesses such as Inspect."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import TypeVar

from ideagora.errors import UsageError
from ideagora.schema import Record

S = TypeVar("S")


class Selection(Record):
    """A part of a data set."""

    limit: str | None = None
    """``10``: the first ten samples; ``10-20``: the tenth to the twentieth."""
    sample_ids: tuple[str, ...] = ()
    shuffle: int | None = None
    """Seed of a random order, which is applied before ``limit``; ``None``: the order of the file."""

    def choose(self, samples: Mapping[str, S]) -> dict[str, S]:
        """The chosen samples by id, in their order.

        Raises:
            UsageError: there is no sample or no such one, or ``limit`` is not a number or a range.
        """
        if not samples:
            raise UsageError("The data set has no sample. Give another one with --data.")
        if unknown := [name for name in self.sample_ids if name not in samples]:
            raise UsageError(
                f"--sample-id {unknown[0]} is not in the data set, which has {len(samples)} samples, "
                f"such as {', '.join(list(samples)[:3])}."
            )
        ids = [name for name in samples if not self.sample_ids or name in self.sample_ids]
        if self.shuffle is not None:
            random.Random(self.shuffle).shuffle(ids)
        first, last = _bounds(self.limit, len(ids))
        return {name: samples[name] for name in ids[first:last]}


def _bounds(limit: str | None, size: int) -> tuple[int, int]:
    if limit is None:
        return 0, size
    match = re.fullmatch(r"(?:(\d{1,9})-)?(\d{1,9})", limit.strip(), re.ASCII)
    if match is None:
        raise UsageError(f"--limit is {limit!r}: write a number such as 10, or a range such as 10-20.")
    first, last = int(match[1] or 1), int(match[2])
    if first < 1 or last < first or first > size:
        raise UsageError(f"--limit is {limit!r}: choose samples between 1 and {size}.")
    return first - 1, min(last, size)
