"""Ideas that repeat others: by the similarity of their texts, or by a judge of purpose and mechanism.

``find_duplicates`` follows Si et al. (arXiv 2409.04109, section 3.2) and suits thousands of short texts.
``find_same_ideas`` asks the duplicate judge about each pair that embeddings do not rule out; offline, the
limits of the novelty judge decide.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from ideagora.agents.duplicates import DUPLICATE_JUDGE, IdeaPair, compared_idea
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.drafts import Draft, Facet
from ideagora.graphs.services import Services
from ideagora.models.embeddings.embedder import Embedder
from ideagora.schema import Topic

POSSIBLY_SAME = 0.3
"""Minimum mean cosine of purposes and mechanisms at which the judge is asked about a pair.

Low, because paraphrases of one idea by other authors have 0.33 to 0.57 (``python -m bench idea_similarity``).
"""


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


@dataclass(frozen=True)
class SameIdea:
    """An idea that repeats an earlier one, by their positions."""

    later: int
    earlier: int
    reason: str | None
    """What the judge says about the difference."""


async def find_same_ideas(
    context: Services, topic: Topic, drafts: Sequence[Draft], settled: int = 0
) -> list[SameIdea]:
    """Return the ideas that repeat an earlier one, each once, in order.

    Args:
        context: client, library (whose embedder is used), progress.
        topic: the topic of all ideas.
        drafts: title, summary, purpose and mechanism of each idea, earlier ones first.
        settled: number of ideas at the start that need not be compared with each other.

    Returns:
        The repetitions; [] if there are none or the answer is unreadable, which is reported as progress.
    """
    pairs = await asyncio.to_thread(_possible_pairs, context.library.embedder, drafts, settled)
    if not pairs:
        return []
    try:
        answer = await DUPLICATE_JUDGE(
            context.client,
            topic=topic.text,
            ideas=tuple(compared_idea(draft) for draft in drafts),
            pairs=tuple(IdeaPair(first=first, second=second) for first, second in pairs),
        )
    except UnreadableAnswer as error:
        context.say(f"duplicates: not judged ({error})")
        return []
    found: dict[int, SameIdea] = {}
    for comparison in answer.comparisons:
        if comparison.same and comparison.first not in found:
            same = SameIdea(comparison.second, comparison.first, comparison.difference)
            found.setdefault(comparison.second, same)
    return [found[later] for later in sorted(found)]


def _possible_pairs(embedder: Embedder, drafts: Sequence[Draft], settled: int) -> list[tuple[int, int]]:
    """Return the pairs (earlier, later) that are similar enough in purpose and mechanism, in order."""
    import numpy as np

    if len(drafts) < 2:
        return []
    similarity = np.zeros((len(drafts), len(drafts)))
    facets: tuple[Facet, ...] = ("purpose", "mechanism")
    for facet in facets:
        vectors = np.asarray(embedder.encode([draft[facet] for draft in drafts]))
        similarity += (vectors @ vectors.T) / 2
    return [
        (first, second)
        for first, second in combinations(range(len(drafts)), 2)
        if second >= settled and similarity[first, second] >= POSSIBLY_SAME
    ]
