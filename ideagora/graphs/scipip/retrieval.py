"""Retrieval by entity and by co-citation, and clusters of what is found."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from ideagora.agents.text.quotes import is_quoted
from ideagora.graphs.services import Services
from ideagora.graphs.steps.literature.topic_similarity import related_to_topic
from ideagora.schema import Paper, Topic

CITING = 10
"""Papers that cite one paper, of which the references are counted."""


async def find_by_entity(context: Services, topic: Topic, entities: Sequence[str]) -> list[Paper]:
    """Papers on the topic whose title or abstract contains one of the entities."""
    found: dict[str, Paper] = {}
    searches = (context.library.search(entity, context.options.papers) for entity in entities)
    for entity, results in zip(entities, await asyncio.gather(*searches), strict=True):
        for scored in results:
            if is_quoted(entity, f"{scored.paper.title} {scored.paper.abstract or ''}"):
                found.setdefault(scored.paper.id, scored.paper)
    related = await related_to_topic(context.library, topic, list(found.values()))
    return related[: context.options.papers]


async def find_by_cocitation(context: Services, topic: Topic, papers: Sequence[Paper]) -> list[Paper]:
    """Papers on the topic that are most often cited together with the given ones."""
    library, known = context.library, {paper.id: paper for paper in papers}
    library.prefetch(neighbors_of=papers)
    citing = [
        paper for row in await asyncio.gather(*map(library.citations, papers)) for paper in row[:CITING]
    ]
    library.prefetch(neighbors_of=citing)
    lists = await asyncio.gather(*map(library.references, citing))
    cited = {other.id: other for row in lists for other in row}
    count = Counter(other.id for row in lists for other in row)
    ranked = sorted((number, paper_id) for paper_id, number in count.items() if paper_id not in known)
    others = [cited[paper_id] for _, paper_id in sorted(ranked, key=lambda pair: (-pair[0], pair[1]))]
    return (await related_to_topic(context.library, topic, others))[: context.options.papers]


async def choose_from_clusters(context: Services, topic: Topic, papers: Sequence[Paper]) -> list[Paper]:
    """One paper of each cluster, the closest to the topic, so that the papers differ; the closest first."""
    ranked = [scored.paper for scored in await context.library.similar(papers, topic.text)]
    labels = await asyncio.to_thread(_cluster, context, ranked)
    first: dict[int, Paper] = {}
    for paper, label in zip(ranked, labels, strict=True):
        first.setdefault(label, paper)
    return list(first.values())


def _cluster(context: Services, papers: Sequence[Paper]) -> list[int]:
    from sklearn.cluster import AgglomerativeClustering

    if len(papers) <= context.options.clusters:
        return list(range(len(papers)))
    vectors = context.library.embedder.encode([f"{paper.title}. {paper.abstract or ''}" for paper in papers])
    clustering = AgglomerativeClustering(n_clusters=context.options.clusters)
    return [int(label) for label in clustering.fit_predict(vectors)]
