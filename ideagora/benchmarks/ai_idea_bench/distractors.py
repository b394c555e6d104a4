"""The paper elsewhere in the data set that is an option of the multiple choice (section 3.2.1).

The paper defines it as the one most similar to all targets. That is the same paper for every target, and
mostly about something else, so by default it is the target closest to the one in question, which is what
the released code looks for as well, among the inspirations of other targets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ideagora.benchmarks.ai_idea_bench.parts import Part, target_part
from ideagora.benchmarks.ai_idea_bench.samples import Inspiration, Sample
from ideagora.benchmarks.benchmark import Unscored
from ideagora.retrieval.cutoff import title_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ideagora.models.embeddings.embedder import Embedder

    Choose = Callable[[NDArray[np.float32], Sequence[Sequence[int]]], list[int | None]]
    """(vectors of the targets, per target the rows that are no option) -> per target the row chosen."""

CHUNK = 512
"""Rows of the similarity matrix that are computed at once: 7 MB for 3,495 targets."""


def choose_elsewhere(
    samples: Sequence[Sample], part: Part, embedder: Embedder, choose: Choose
) -> Mapping[str, Sample]:
    """Sample id -> the other sample chosen by a part; samples without one are left out.

    Never an option: the target itself, a second record of it, and its inspirations.
    """
    usable = [sample for sample in samples if _has(sample, part)]
    if not usable:
        return {}
    vectors = embedder.encode([target_part(sample, part) for sample in usable])
    places = choose(vectors, list(related(usable)))
    pairs = zip(usable, places, strict=True)
    return {sample.id: usable[place] for sample, place in pairs if place is not None}


def nearest(vectors: NDArray[np.float32], excluded: Sequence[Sequence[int]]) -> list[int | None]:
    """For each row the row with the highest cosine that is not excluded; ``None`` if all are.

    Args:
        vectors: rows of unit length, shape (n, dimension).
        excluded: for each row the rows that are no option, with itself.
    """
    import numpy as np

    found: list[int | None] = []
    for start in range(0, len(vectors), CHUNK):
        similarity = vectors[start : start + CHUNK] @ vectors.T
        for row, places in zip(similarity, excluded[start : start + CHUNK], strict=True):
            row[list(places)] = -np.inf
            best = int(row.argmax())
            found.append(best if np.isfinite(row[best]) else None)
    return found


def most_central(vectors: NDArray[np.float32], excluded: Sequence[Sequence[int]]) -> list[int | None]:
    """For each row the row with the highest mean cosine to all rows that is not excluded; as ``nearest``."""
    import numpy as np

    order = np.argsort(-(vectors @ vectors.mean(axis=0)), kind="stable").tolist()
    return [next((place for place in order if place not in places), None) for places in map(set, excluded)]


def related(samples: Sequence[Sample]) -> Iterator[list[int]]:
    """For each sample the places of the samples that are the same paper, or one of its inspirations."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, sample in enumerate(samples):
        for name in _names(sample):
            places[name].append(place)
    for place, sample in enumerate(samples):
        papers: list[Sample | Inspiration] = [sample, *sample.inspirations]
        names = [name for paper in papers for name in _names(paper)]
        yield sorted({place, *(other for name in names for other in places.get(name, ()))})


def _names(paper: Sample | Inspiration) -> list[str]:
    title = title_key(paper.title or "")
    return [name for name in (f"id {paper.paper_id}" if paper.paper_id else "", title) if name]


def _has(sample: Sample, part: Part) -> bool:
    try:
        return bool(target_part(sample, part))
    except Unscored:
        return False
