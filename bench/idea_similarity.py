"""The three cosines by which ideas and queries are compared with papers and with each other.

``NEAR_QUERY``: the best result of a query on a subject of the starter corpus against one on another subject.
``NEAR`` (recollections): paraphrases of papers in the starter corpus, with their rank, against ideas on other
subjects. ``POSSIBLY_SAME`` (duplicates): paraphrases of one idea against ideas on other topics.

Also how many of twelve papers are among the ten closest to their purpose and to their mechanism in other
words, alone and with the topic: the novelty check searches with the better of the two.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ideagora.graphs.steps.duplicates import POSSIBLY_SAME
from ideagora.graphs.steps.near_search import NEAR_QUERY
from ideagora.graphs.steps.novelty import BY_FACET
from ideagora.graphs.steps.recollections import NEAR
from ideagora.models.embeddings.embedder import Embedder, load_embedder
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.store.store import paper_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TEXTS = Path(__file__).parent / "topic_lists" / "idea_texts.json"
"""Queries and ideas in our own words. Two of the queries on the corpus's subjects fit none of its papers."""


def main() -> None:
    """Print the shares at or above each limit."""
    home = Path(os.environ.get("IDEAGORA_HOME", Path.home() / ".ideagora"))
    embedder = load_embedder("all-MiniLM-L6-v2", home / "cache")
    papers = _encode(embedder, [paper_text(paper) for paper in starter_corpus().papers])
    texts = json.loads(TEXTS.read_text(encoding="utf-8"))
    figures = {
        "queries_in_the_corpus": _share(_best(embedder, papers, texts["near_queries"]), NEAR_QUERY),
        "queries_elsewhere": _share(_best(embedder, papers, texts["far_queries"]), NEAR_QUERY),
        "paraphrases_of_papers": _share(_best(embedder, papers, texts["paraphrases"]), NEAR),
        "ideas_elsewhere": _share(_best(embedder, papers, texts["other_ideas"]), NEAR),
    }
    twins, others = _twins(embedder, texts["twins"])
    figures["paraphrases_of_ideas"] = _share(twins, POSSIBLY_SAME)
    figures["ideas_of_other_topics"] = _share(others, POSSIBLY_SAME)
    for facet in ("purpose", "mechanism"):
        for with_topic in (False, True):
            name = f"{facet}{'_with_topic' * with_topic}"
            figures[f"found_by_{name}"] = _found(embedder, papers, texts["facets"], facet, with_topic)
    for name, figure in figures.items():
        print(f"{name:24} {figure}")
    print(json.dumps({"benchmark": "idea_similarity", **figures}))


def _encode(embedder: Embedder, texts: list[str]) -> NDArray[np.float32]:
    import numpy as np

    return np.asarray(embedder.encode(texts))


def _best(embedder: Embedder, papers: NDArray[np.float32], texts: list[str]) -> list[float]:
    """Return the cosine of each text to its closest paper."""
    return [float(best) for best in (_encode(embedder, texts) @ papers.T).max(axis=1)]


def _twins(embedder: Embedder, pairs: list[list[list[str]]]) -> tuple[list[float], list[float]]:
    """Return the mean cosines of purposes and mechanisms within and between the pairs of paraphrases."""
    import numpy as np

    similarity = np.zeros((len(pairs), len(pairs)))
    for facet in (0, 1):
        first, second = (_encode(embedder, [pair[side][facet] for pair in pairs]) for side in (0, 1))
        similarity += (first @ second.T) / 2
    within = np.eye(len(pairs), dtype=bool)
    return [float(value) for value in similarity[within]], [float(value) for value in similarity[~within]]


def _found(
    embedder: Embedder, papers: NDArray[np.float32], texts: list[dict[str, str]], facet: str, with_topic: bool
) -> str:
    """Return how many papers are among the closest to a facet of theirs."""
    titles = [paper.title for paper in starter_corpus().papers]
    queries = [f"{text[facet]} ({text['topic']})" if with_topic else text[facet] for text in texts]
    cosines = _encode(embedder, queries) @ papers.T
    own = [next(n for n, title in enumerate(titles) if title.startswith(text["paper"])) for text in texts]
    found = sum((row > row[number]).sum() < BY_FACET for row, number in zip(cosines, own, strict=True))
    return f"{found} of {len(texts)} among the {BY_FACET} closest papers"


def _share(values: list[float], limit: float) -> str:
    reached = sum(value >= limit for value in values)
    return f"{reached} of {len(values)} at or above {limit:.2f}; {min(values):.2f} to {max(values):.2f}"
