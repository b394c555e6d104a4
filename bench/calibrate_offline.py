"""What the offline model's thresholds say yes and no to, on the starter corpus.

Relevance: topics that describe a thread against the papers of that thread, of other threads, and
topics that have nothing to do with the corpus. Novelty: a paper's own problem and method sentences
against the nearest sentences of its nearest other papers (they should stay below "same"), and of the
same paper, which stand for the same thing said in other words.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ideagora.agents.literature import RELEVANT
from ideagora.agents.novelty import RELATED, SAME
from ideagora.models.embeddings import load_embedder
from ideagora.models.offline import Engine
from ideagora.models.offline import text as texts
from ideagora.retrieval.starter import starter_corpus

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ideagora.schema import Paper

ON_TOPIC = {
    "stepwise-reasoning": (
        "step-wise reasoning of language models",
        "chain-of-thought prompting for mathematical problems",
        "verifying intermediate reasoning steps",
        "tree search over reasoning paths",
        "reinforcement learning for reasoning models",
    ),
    "research-ideation": (
        "large language model agents for scientific discovery",
        "automatic generation of research ideas",
        "automating peer review with language models",
        "hypothesis generation from scientific literature",
        "AI systems that write research papers",
    ),
    "retrieval-augmented-generation": (
        "retrieval-augmented generation",
        "dense passage retrieval for open-domain question answering",
        "deciding when to retrieve during generation",
        "graph-based retrieval for language models",
        "citing sources in generated answers",
    ),
    "agents-and-tool-use": (
        "language model agents that use tools",
        "multi-agent collaboration of language models",
        "web navigation agents",
        "calling APIs from language models",
        "software engineering agents",
    ),
    "judging-by-language-models": (
        "language models as judges",
        "position bias of model judges",
        "reward models and human preferences",
        "evaluation of generated text",
        "self-preference of evaluators",
    ),
    "controllable-diffusion": (
        "controllable text-to-image diffusion",
        "adding spatial control to diffusion models",
        "subject-driven image generation",
        "fast sampling of diffusion models",
        "text-guided image editing",
    ),
}
OFF_TOPIC = (
    "protein folding with molecular dynamics",
    "soil microbiology of alpine meadows",
    "medieval trade routes",
    "traffic forecasting with sensors",
    "wheat yield under drought",
    "gravitational wave detection",
    "antibiotic resistance in hospitals",
    "central bank interest rates",
    "battery electrolyte chemistry",
    "migration of arctic birds",
    "constitutional law",
    "fluid dynamics of turbines",
    "asdf qwer zxcv",
    "cooking recipes",
    "knitting patterns",
    "football tactics",
)
NEAREST = 8
"""Other papers that a paper's sentences are compared with."""


def main() -> None:
    """Print both calibrations."""
    home = Path(os.environ.get("IDEAGORA_HOME", Path.home() / ".ideagora"))
    engine = Engine(load_embedder("all-MiniLM-L6-v2", home / "cache"))
    papers = [paper for paper in starter_corpus().papers if paper.abstract]
    vectors = engine.vectors([_text(paper) for paper in papers])
    relevance = _relevance(engine, papers, vectors)
    novelty = _novelty(engine, papers, vectors)
    print(json.dumps({"benchmark": "calibrate_offline", **relevance, **novelty}))


def _text(paper: Paper) -> str:
    return f"{paper.title}. {paper.abstract}"


def _relevance(engine: Engine, papers: list[Paper], vectors: NDArray[np.float32]) -> dict[str, float]:
    import numpy as np

    threads = np.array([paper.thread for paper in papers])
    inside, outside, best = [], [], []
    for thread, topics in ON_TOPIC.items():
        for topic in topics:
            scores = vectors @ engine.vectors([topic])[0]
            inside.append(scores[threads == thread])
            outside.append(scores[threads != thread])
            best.append(scores.max())
    off = np.array([(vectors @ engine.vectors([topic])[0]).max() for topic in OFF_TOPIC])
    own, other, top = np.concatenate(inside), np.concatenate(outside), np.array(best)
    print(f"relevance, {len(papers)} papers, {len(top)} topics on and {len(off)} off the corpus")
    print("limit   papers of the thread   of other threads   topics answered   off-topic answered")
    for limit in (0.30, 0.34, RELEVANT, 0.42, 0.46):
        shares = [(values >= limit).mean() for values in (own, other, top, off)]
        mark = "  <- in use" if limit == RELEVANT else ""
        print(
            f"{limit:.2f}  {shares[0]:20.2f}  {shares[1]:17.3f}  {shares[2]:16.2f}  {shares[3]:19.2f}{mark}"
        )
    return {
        "relevant": RELEVANT,
        "topics_answered": round(float((top >= RELEVANT).mean()), 3),
        "off_topic_answered": round(float((off >= RELEVANT).mean()), 3),
    }


def _novelty(engine: Engine, papers: list[Paper], vectors: NDArray[np.float32]) -> dict[str, float]:
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
