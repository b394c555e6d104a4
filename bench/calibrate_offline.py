"""What the offline model's thresholds say yes and no to, on the starter corpus.

Relevance: which of the topics in ``bench/topics.py`` are answered: those for calibration, on which the rule
was chosen, and the test topics, which it has not seen. Novelty: a paper's own problem and method sentences
against the nearest sentences of its nearest other papers (they should stay below "same"), and of the
same paper, which stand for the same thing said in other words.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from scipy.stats import binomtest

from bench.topics import covered, uncovered
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
"""Other papers that a paper's sentences are compared with."""


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
    """Shares of the topics that are answered, inside and outside the corpus, by list."""
    told = [_text(paper) for paper in papers]
    counted: dict[str, float] = {}
    for name, topics_of in (("covered", covered), ("uncovered", uncovered)):
        for which in ("calibration", "test"):
            topics = topics_of(test=which == "test")
            found = {topic.text: coverage(engine, topic.text, told) for topic in topics}
            share = _show_answered(f"{name}, {which}", found, name == "covered")
            counted[f"{name}_answered_{which}"] = share
    return {"limit": COVERAGE_THRESHOLD, **counted}


def _show_answered(name: str, found: dict[str, Coverage], are_covered: bool) -> float:
    """Print how many topics are answered, with those that are decided wrongly; their share."""
    number = sum(one.is_enough for one in found.values())
    low, high = binomtest(number, len(found)).proportion_ci(method="wilson")
    print(f"{name}: {number} of {len(found)} answered (95 % interval {low:.3f} to {high:.3f})")
    for topic, one in found.items():
        if one.is_enough != are_covered:
            print(f"  {'answered' if one.is_enough else 'refused'}: {topic} (score {one.score:.3f})")
    return round(number / len(found), 3)


def _novelty(engine: ExtractiveModel, papers: list[Paper], vectors: NDArray[np.float32]) -> dict[str, float]:
    import numpy as np

    among = vectors @ vectors.T
    others: dict[str, list[float]] = {"problem": [], "method": []}
    own: dict[str, list[float]] = {"problem": [], "method": []}
    too_close = []
    for i, paper in enumerate(papers):
        said = engine.facets(paper.abstract or "", ["problem", "method", "finding", "limitation"])
        near = [j for j in np.argsort(-among[i]) if j != i][:NEAREST]
        elsewhere = [s for j in near for s in texts.sentences(papers[j].abstract or "")]
        highest = {}
        for facet in others:
            if sentence := said[facet]:
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
    """The title and the other sentences of a paper: the nearest thing to the same said otherwise."""
    return [paper.title, *(s for s in texts.sentences(paper.abstract or "") if s not in sentence)]


def _show(what: str, values: list[float]) -> None:
    import numpy as np

    shares = zip((5, 50, 90, 95, 99), np.percentile(values, [5, 50, 90, 95, 99]), strict=True)
    told = "  ".join(f"p{percent} {value:.2f}" for percent, value in shares)
    print(f"  {what:56} {told}  at or above same: {np.mean(np.array(values) >= SAME):.3f}")
