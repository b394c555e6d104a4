"""Topics inside and outside the starter corpus: what is answered, and from which papers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import lru_cache
from io import StringIO
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from bench.topics import covered
from ideagora.agents.arena.judges import CRITERIA, IDEA_JUDGE, IdeaPairInputs
from ideagora.agents.views import IdeaView
from ideagora.errors import TopicNotCovered
from ideagora.graphs.chain_of_ideas.chains.anchors import find_anchors, plan_queries
from ideagora.graphs.chain_of_ideas.choice import Score, rank_branches
from ideagora.graphs.chain_of_ideas.direction import find_neighbours
from ideagora.graphs.chain_of_ideas.options import ChainOptions
from ideagora.graphs.steps.experiment import search_for_experiment
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline.relevance import (
    ON_TOPIC_SHARE,
    Coverage,
    coverage,
    shared_words,
    stem,
    topic_scores,
)
from ideagora.report.run.terminal import show_idea
from ideagora.retrieval.corpus.collection import Collection, CollectionSource
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.library import Library
from ideagora.retrieval.spelling import nearest_spelling, words_of
from ideagora.retrieval.store.store import Store, paper_text
from ideagora.schema import Chain, Idea, Link, Paper, ScoredPaper
from tests.support.role_samples import real_embedder, with_weights

THREADS = {"stepwise-reasoning", "retrieval-augmented-generation", "controllable-diffusion"}
COVERED = [topic for topic in covered()[1::16] if THREADS.issuperset(topic.labels)]
"""One of each of these threads."""
NEAR_MISSES = ("adversarial examples for image classifiers", "time series forecasting with transformers")


class OfflineDoor:
    """Answers every call by its role's offline handler."""

    async def ask(self, call: Any) -> Any:
        return call.answer.model_validate(call.handler(ExtractiveModel(real_embedder()), call.inputs))


def sample() -> list[Paper]:
    """Papers of the starter corpus: to encode all of it takes longer than all the tests here."""
    return [paper for paper in starter_corpus().papers[::3] if paper.thread in THREADS]


@lru_cache(maxsize=1)
def corpus() -> Library:
    papers = {paper.id: paper for paper in sample()}
    return Library(
        CollectionSource(Collection(cast(Store, None), real_embedder(), (), papers)), real_embedder()
    )


def found_anchors(state: dict[str, Any], library: Any, client: Any, **options: Any) -> list[Any]:
    context = SimpleNamespace(
        client=client, library=library, options=ChainOptions(**options), say=lambda said: None
    )
    runtime = cast(Any, SimpleNamespace(context=context))

    async def steps() -> list[Any]:
        planned = {} if "queries" in state else await plan_queries(cast(Any, state), runtime)
        return (await find_anchors(cast(Any, {**state, **planned}), runtime))["anchors"]

    return asyncio.run(steps())


@lru_cache(maxsize=200)
def threads_of_anchors(topic: str) -> tuple[str, ...]:
    """Threads of the anchors that the offline model finds in the starter corpus; none: refused."""
    try:
        anchors = found_anchors({"topic": {"text": topic}}, corpus(), OfflineDoor())
    except TopicNotCovered:
        return ()
    return tuple(one["paper"]["thread"] for one in anchors)


@with_weights
def test_covered_topics_are_answered_with_anchors_on_their_thread() -> None:
    """``python -m bench calibrate_offline`` counts all topics, on the whole corpus."""
    found = {topic: threads_of_anchors(topic.text) for topic in COVERED}
    off = [topic.text for topic, threads in found.items() if not set(threads[:1]) & set(topic.labels)]
    assert off == []
    anchors = [(thread, topic.labels) for topic, threads in found.items() for thread in threads]
    assert sum(thread not in labels for thread, labels in anchors) <= 1, anchors


@with_weights
def test_topics_that_share_the_words_of_the_corpus_only_are_refused() -> None:
    assert [topic for topic in NEAR_MISSES if threads_of_anchors(topic)] == []


def test_a_topic_is_covered_by_what_it_is_near_to_and_by_the_words_that_papers_have() -> None:
    fair = Coverage(
        similarity=0.5, other_fields=0.4, shared_words=0.4, missing_words=0.2, by_single_paper=False
    )
    assert fair.is_enough
    assert not replace(fair, similarity=0.3).is_enough
    assert not replace(fair, other_fields=0.6).is_enough
    assert not replace(fair, shared_words=0.0, missing_words=0.8).is_enough
    assert replace(fair, similarity=0.3, by_single_paper=True).is_enough


def test_one_paper_covers_a_topic_by_its_title_but_not_by_its_words_alone() -> None:
    engine, others = (
        ExtractiveModel(HashEmbedder()),
        ["Soup. It is hot.", "Tea. It is green.", "Milk. It is cold."],
    )
    own = "Image captioning of street scenes. Images of streets are captioned."
    assert coverage(engine, "image captioning", [*others, own]).by_single_paper
    assert not coverage(engine, "image captioning", [*others, f"Streets. {own}"]).by_single_paper
    assert coverage(engine, "image captioning", [*others, own]).missing_words == 0.0
    assert coverage(engine, "image captioning", others).missing_words == 1.0


class Accepting:
    """A judge that accepts every paper; a query that finds little gets no better one."""

    async def ask(self, call: Any) -> Any:
        if call.role == "query_reworder":
            return call.answer(reason="None is better.", query=call.inputs.query)
        numbers = range(len(call.inputs.papers))
        judged = {"reason": "Yes.", "contribution": "method", "grade": 2}
        judgements = [{"paper": n, **judged} for n in numbers]
        return call.answer.model_validate({"judgements": judgements, "best_first": numbers})


class Searched:
    """A library whose searches and similarities are given."""

    def __init__(self, hits: dict[str, list[str]], nearness: dict[str, float]) -> None:
        self.hits, self.nearness = hits, nearness

    def size(self) -> int:
        return 4

    def prefetch(self, **papers: list[Paper]) -> None:
        return None

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        return await self.similar([Paper(id=name, title=name) for name in self.hits[query]], query)

    async def similar(self, papers: list[Paper], query: str) -> list[ScoredPaper]:
        return [ScoredPaper(paper=paper, similarity=self.nearness[paper.id]) for paper in papers]

    async def references(self, paper: Paper) -> list[Paper]:
        return [Paper(id="b", title="b")] if paper.id == "a" else []

    async def citations(self, paper: Paper) -> list[Paper]:
        return []


def test_an_anchor_that_only_an_aspect_found_is_near_to_the_topic_itself() -> None:
    library = Searched({"whole": ["a"], "aspect": ["far", "near"]}, {"a": 0.6, "near": 0.4, "far": 0.1})
    state = {"topic": {"text": "whole"}, "queries": ["whole", "aspect"]}
    found = found_anchors(state, library, Accepting(), branches=2)
    assert [(one["query"], one["paper"]["id"]) for one in found] == [("whole", "a"), ("aspect", "near")]
    library.hits["aspect"] = ["far"]
    assert [one["paper"]["id"] for one in found_anchors(state, library, Accepting(), branches=2)] == ["a"]


def test_an_anchor_is_recorded_with_the_query_that_found_it() -> None:
    """The aspect's own hit is linked to the first anchor, so a hit of another query is taken."""
    library = Searched({"whole": ["a", "c"], "aspect": ["b"]}, {"a": 0.6, "b": 0.5, "c": 0.4})
    state = {"topic": {"text": "whole"}, "queries": ["whole", "aspect"]}
    found = found_anchors(state, library, Accepting(), branches=2)
    assert [(one["query"], one["paper"]["id"]) for one in found] == [("whole", "a"), ("whole", "c")]


def test_words_of_a_topic_are_found_by_stem_and_by_initials() -> None:
    assert stem("retrieval") == stem("retrieve")
    assert stem("verification") == stem("verify")
    assert stem("personalised") == stem("personalization")
    assert stem("controllable") == stem("control")
    assert stem("agents") == stem("agent")
    assert stem("prompting") == stem("prompts")
    assert shared_words("RAG", "Retrieval-Augmented Generation for Tasks. It retrieves.") == 1.0
    assert shared_words("RAG", "Clothes. They are sold.") == 0.0
    assert shared_words("tool use by language models", "Tools. They are sold.") == 1 / 2.6
    assert shared_words("of the", "A title. And a text of it.") == 0.5


def test_aboutness_is_measured_against_the_paper_in_the_centre() -> None:
    engine = ExtractiveModel(HashEmbedder())
    papers = ["tree search. tree search over thoughts", "cooking. recipes of soups"]
    shares = topic_scores(engine, "tree search", papers)
    assert shares[0] == 1.0 > shares[1]
    assert topic_scores(engine, "tree search", []) == []
    assert topic_scores(engine, "tree search", [papers[1]], papers[0])[0] < 0.55


def test_a_misspelled_topic_is_offered_the_nearest_spelling() -> None:
    known = words_of(["Retrieval-Augmented Generation. Diffusion models of video; prompting."])
    for text, wanted in {
        "retreival augmented genration": "retrieval augmented generation",
        "difusion models for vidoe": "diffusion models for video",
        "chain of thougt promting": "chain of thougt prompting",
        "wheat yield of alpine meadows": None,
        "retrieval": None,
        "": None,
    }.items():
        assert nearest_spelling(text, known) == wanted


@with_weights
def test_a_refusal_names_the_nearest_spelling() -> None:
    with pytest.raises(TopicNotCovered, match="Did you mean “retrieval augmented generation”"):
        found_anchors({"topic": {"text": "retreival augmented genration"}}, corpus(), OfflineDoor())


def test_an_idea_whose_chain_is_far_from_the_topic_never_wins() -> None:
    scores = [Score(1, won=2), Score(2, lost=2), Score(3, tied=2)]
    assert [score.branch for score in rank_branches(scores, set(), {1})] == [3, 2, 1]
    assert [score.branch for score in rank_branches(scores, {3}, {1})] == [2, 3, 1]
    assert [score.branch for score in rank_branches(scores, set(), {1, 2, 3})] == [1, 3, 2]


def test_the_offline_judge_lets_no_idea_far_from_the_topic_win() -> None:
    near = {"title": "Tree search", "motivation": "tree search", "novelty": "search", "method": "tree search"}
    far = {
        "title": "Soup",
        "motivation": "soup",
        "novelty": "More salt.",
        "method": "Use GPT-4, T5 and BERT.",
    }
    for first, second, better in ((near, far, "first"), (far, near, "second")):
        inputs = IdeaPairInputs(topic="tree search", first=IdeaView(**first), second=IdeaView(**second))
        said = IDEA_JUDGE.offline(ExtractiveModel(HashEmbedder()), inputs)
        assert {getattr(said, name) for name in CRITERIA} == {better}


def test_the_panel_warns_of_a_chain_that_is_far_from_the_topic() -> None:
    def shown(similarity: float | None) -> str:
        link = Link(paper=Paper(id="a", title="A"), position=0, reason="r")
        chain = Chain(query="q", anchor="a", links=(link,), topic_similarity=similarity)
        idea = Idea(id="i", topic="t", agent="x", title="T", method="M", chain=chain, model="offline")
        console = Console(record=True, width=120, file=StringIO())
        show_idea(console, idea, 0, "report.html")
        return console.export_text()

    assert "may be off topic" in shown(0.12)
    assert "Mean similarity of these papers to the topic: 0.52" in shown(0.52)
    assert "off topic" not in shown(0.52)
    assert "Similarity of these" not in shown(None)


def test_papers_beside_a_chain_for_leads_are_of_no_unrelated_field() -> None:
    library = Searched({"whole": ["a", "other", "b"]}, {"a": 0.6, "b": 0.4, "other": 0.05})
    context = cast(Any, SimpleNamespace(library=library, makes_leads=True, options=ChainOptions()))
    state = cast(Any, {"topic": {"text": "whole"}})
    chain = cast(Any, {"links": []})
    (papers,) = asyncio.run(find_neighbours(state, chain, context)).values()
    assert [paper.id for paper in papers] == ["a", "b"]


def test_searches_for_the_experiment_bring_no_unrelated_papers() -> None:
    near = {"a": 0.6, "b": 0.5, "other": 0.44}
    library = Searched({"q": ["a", "other"], "r": ["a", "b"], "s": ["other"]}, near)
    runtime = cast(Any, SimpleNamespace(context=SimpleNamespace(library=library)))
    state = cast(Any, {"topic": {"text": "whole"}, "review": {"queries": ["q", "r", "s"]}})
    searches = asyncio.run(search_for_experiment(state, runtime))["searches"]
    found = {search["query"]: [paper["id"] for paper in search["papers"]] for search in searches}
    assert found == {"q": ["a"], "r": ["b"], "s": []}


@with_weights
def test_ones_own_papers_decide_whether_a_topic_is_covered() -> None:
    topic = "soil microbiology of alpine meadows"
    own = "Soil microbiology of alpine meadows under snow. Bacteria of alpine soils are sequenced in winter."
    engine, starter = ExtractiveModel(real_embedder()), [paper_text(paper) for paper in sample()[:20]]
    assert not coverage(engine, topic, starter).is_enough
    assert coverage(engine, topic, [*starter, own]).is_enough
    assert [share >= ON_TOPIC_SHARE for share in topic_scores(engine, topic, [*starter, own])] == [
        False
    ] * 20 + [True]
