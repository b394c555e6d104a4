"""The paper elsewhere in the data set that is an option of the multiple choice (section 3.2.1).

The paper defines it as the one most similar to all targets. That is the same paper for every target, and
mostly about something else, so by default it is the target closest to the one in question, which is what
the released code looks for as well, among the inspirations of other targets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ideagora.benchmarks.ai_idea_bench.parts import Part, target_part
from ideagora.benchmarks.ai_idea_bench.samples import Inspiration, Sample
from ideagora.benchmarks.benchmark import ProtocolName, Unscored
from ideagora.retrieval.restrictions.cutoff import title_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ideagora.models.embeddings.embedder import Embedder

CHUNK = 512
"""Rows of the similarity matrix that are computed at once: 7 MB for 3,495 targets."""


Elsewhere = Mapping[ProtocolName, Mapping[str, Sample]]
"""Protocol -> sample id -> the other sample chosen; samples without one are left out."""


def choose_elsewhere(samples: Sequence[Sample], part: Part, embedder: Embedder) -> Elsewhere:
    """The paper elsewhere in the data set for every sample that has a part, under both protocols.

    Never an option: the target itself, a second record of it, and its inspirations.
    """
    usable = [sample for sample in samples if _has(sample, part)]
    if not usable:
        return {"default": {}, "paper": {}}
    vectors = embedder.encode([target_part(sample, part) for sample in usable])
    excluded = list(related(usable))
    chosen: dict[ProtocolName, list[int | None]] = {
        "default": nearest(vectors, excluded),
        "paper": most_central(vectors, excluded),
    }
    return {protocol: _by_sample(usable, places) for protocol, places in chosen.items()}


def _by_sample(samples: Sequence[Sample], places: Sequence[int | None]) -> Mapping[str, Sample]:
    pairs = zip(samples, places, strict=True)
    return {sample.id: samples[place] for sample, place in pairs if place is not None}


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
