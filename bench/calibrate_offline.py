"""Calibrate the offline model's thresholds on the starter corpus.

Relevance: which topics of ``bench/topics.py`` are answered, separately for the calibration topics, on which
the rule was chosen, and the unseen test topics. Novelty: similarity of a paper's problem and method sentences
to the closest sentences of similar papers (which should stay below "same") and to the closest other sentences
of the same paper, which serve as paraphrases.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from scipy.stats import binomtest

from bench.topics import Which, covered, uncovered
from ideagora.agents.novelty import RELATED, SAME
from ideagora.models.embeddings.embedder import load_embedder
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts
from ideagora.models.offline.relevance import COVERAGE_THRESHOLD, Coverage, coverage
from ideagora.retrieval.corpus.starter import starter_corpus

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ideagora.schema import Paper

NEAREST = 8
"""Number of similar papers that a paper is compared with."""


def main() -> None:
    """Print both calibrations."""
    home = Path(os.environ.get("IDEAGORA_HOME", Path.home() / ".ideagora"))
    engine = ExtractiveModel(load_embedder("all-MiniLM-L6-v2", home / "cache"))
    papers = [paper for paper in starter_corpus().papers if paper.abstract]
    vectors = engine.vectors([_text(paper) for paper in papers])
    relevance = _relevance(engine, papers)
    novelty = _novelty(engine, papers, vectors)
    print(json.dumps({"benchmark": "calibrate_offline", **relevance, **novelty}))


def _text(paper: Paper) -> str:
    return f"{paper.title}. {paper.abstract}"


def _relevance(engine: ExtractiveModel, papers: list[Paper]) -> dict[str, float]:
    """Return the shares of answered topics inside and outside the corpus, by list."""
    paper_texts = [_text(paper) for paper in papers]
    shares: dict[str, float] = {}
    for name, topics_of in (("covered", covered), ("uncovered", uncovered)):
        for which in get_args(Which):
            topics = topics_of(which)
            results = {topic.text: coverage(engine, topic.text, paper_texts) for topic in topics}
            share = _show_answered(f"{name}, {which}", results, name == "covered")
            shares[f"{name}_answered_{which}"] = share
    return {"limit": COVERAGE_THRESHOLD, **shares}


def _show_answered(name: str, results: dict[str, Coverage], are_covered: bool) -> float:
    """Print how many topics are answered and the errors; return the share answered."""
    number = sum(result.is_enough for result in results.values())
    low, high = binomtest(number, len(results)).proportion_ci(method="wilson")
    print(f"{name}: {number} of {len(results)} answered (95 % interval {low:.3f} to {high:.3f})")
    for topic, result in results.items():
        if result.is_enough != are_covered:
            print(f"  {'answered' if result.is_enough else 'refused'}: {topic} (score {result.score:.3f})")
    return round(number / len(results), 3)


def _novelty(engine: ExtractiveModel, papers: list[Paper], vectors: NDArray[np.float32]) -> dict[str, float]:
    import numpy as np

    among = vectors @ vectors.T
    others: dict[str, list[float]] = {"problem": [], "method": []}
    own: dict[str, list[float]] = {"problem": [], "method": []}
    too_close = []
    for i, paper in enumerate(papers):
        facets = engine.facets(paper.abstract or "", ["problem", "method", "finding", "limitation"])
        near = [j for j in np.argsort(-among[i]) if j != i][:NEAREST]
        elsewhere = [s for j in near for s in texts.sentences(papers[j].abstract or "")]
        highest = {}
        for facet in others:
            if sentence := facets[facet]:
                highest[facet] = max(engine.similarity(sentence, elsewhere))
                others[facet].append(highest[facet])
                own[facet].append(max(engine.similarity(sentence, _rest(paper, sentence))))
        too_close.append(len(highest) == 2 and min(highest.values()) >= SAME)
    print(f"novelty, similarity of a paper's sentence (same {SAME}, related {RELATED})")
    for facet in others:
        _show(f"{facet}, to the nearest sentence of {NEAREST} near papers", others[facet])
        _show(f"{facet}, to the nearest of its own paper (a paraphrase)", own[facet])
    print(f"  published papers that would be called too close to another: {np.mean(too_close):.3f}")
    return {"same": SAME, "related": RELATED, "papers_too_close": round(float(np.mean(too_close)), 4)}


def _rest(paper: Paper, sentence: str) -> list[str]:
    """Return the title and the other sentences of a paper, the closest available paraphrases."""
    return [paper.title, *(s for s in texts.sentences(paper.abstract or "") if s not in sentence)]


def _show(what: str, values: list[float]) -> None:
    import numpy as np

    shares = zip((5, 50, 90, 95, 99), np.percentile(values, [5, 50, 90, 95, 99]), strict=True)
    figures = "  ".join(f"p{percent} {value:.2f}" for percent, value in shares)
    print(f"  {what:56} {figures}  at or above same: {np.mean(np.array(values) >= SAME):.3f}")
