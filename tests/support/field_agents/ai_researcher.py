"""The roles of ``ai-researcher``."""

from __future__ import annotations

import re
from typing import Any

from ideagora.agents.ai_researcher import literature_review, proposals, seeds
from ideagora.agents.views import IdeaView
from ideagora.models.call import Inputs
from tests.support.baseline_samples import PAPERS, PARTS, SEARCHABLE, TOPIC
from tests.support.standin import SIDES, _count, _idea, _word

SEED = proposals.SeedView(
    title="Critiques That Steer Search",
    problem="Search repeats dead ends: it keeps no record of why a branch failed.",
    mechanism="Write a critique of each dead end, and show the nearest ones when steps are rated.",
    test="Share of puzzles solved at equal cost, with and without the critiques.",
)
IDEA = IdeaView(
    title=PARTS["title"], motivation=PARTS["motivation"], novelty=PARTS["novelty"], method=PARTS["method"]
)

SAMPLES: dict[str, tuple[Inputs, dict[str, Any]]] = {
    "literature_action": (
        literature_review.ActionInputs(
            topic=TOPIC,
            papers=tuple(
                literature_review.FoundPaper(title=paper.title, year=paper.year) for paper in PAPERS
            ),
            actions=(literature_review.PastAction(text=f"keyword query: {TOPIC}", new_papers=2),),
        ),
        {
            "reason": 'Nothing on "memory" that isn\'t a prompt, {so far}.',
            "action": "references",
            "query": None,
            "paper": 1,
        },
    ),
    "paper_scorer": (
        literature_review.ScoreInputs(topic=TOPIC, papers=PAPERS),
        {
            "scores": [
                {"paper": 0, "reason": "It's search itself, {with a rating}.", "score": 9},
                {"paper": 1, "reason": 'A naïve "memory", yet tested.', "score": 7},
            ]
        },
    ),
    "seed_ideator": (
        seeds.SeedInputs(topic=TOPIC, papers=PAPERS, earlier=("Voting with Fewer Chains",), count=2),
        {
            "seeds": [
                {**SEED.model_dump(), "papers": [0, 1]},
                {
                    "title": "Forget Early, {Search} Late",
                    "problem": 'A "memory" grows; it\'s never cleaned.',
                    "mechanism": "Entries that did not change a rating are dropped, naïvely by age.",
                    "test": "Size of the memory at equal success.",
                    "papers": [1],
                },
            ]
        },
    ),
    "proposal_writer": (
        proposals.ProposalInputs(topic=TOPIC, seed=SEED, papers=PAPERS, built_on=2),
        {
            **SEARCHABLE,
            "sources": [
                {"part": "method", "paper": 1, "quote": "stores that critique in an episodic memory"}
            ],
        },
    ),
    "feasibility_judge": (
        proposals.FeasibilityInputs(topic=TOPIC, idea=IDEA, evaluation=PARTS["evaluation"]),
        {
            "obstacles": ['Critiques need a "strong" model, {by API}; it\'s naïve to train one.'],
            "verdict": "feasible",
        },
    ),
}


def _action(prompt: str) -> dict[str, Any]:
    side = SIDES[len(re.findall(r"new papers: \d+", prompt)) % len(SIDES)]
    return {"reason": "It is missing.", "action": "keyword_query", "query": side, "paper": None}


def _scores(prompt: str) -> dict[str, Any]:
    count = _count(prompt, "Papers, numbered from 0:")
    return {"scores": [{"paper": n, "reason": "On the topic.", "score": 8} for n in range(count)]}


def _seeds(prompt: str) -> dict[str, Any]:
    several = re.search(r"Propose (\d+) different", prompt)
    word = _word(prompt)
    shown = _count(prompt, "numbered from 0:")
    return {
        "seeds": [
            {
                "title": f"Seed {n} {word}",
                "problem": f"Problem {n} of {word}.",
                "mechanism": f"Mechanism {n} of {word}.",
                "test": "Compare.",
                "papers": [0] if shown else [],
            }
            for n in range(int(several[1]) if several else 1)
        ]
    }


def _feasibility(prompt: str) -> dict[str, Any]:
    return {"obstacles": [], "verdict": "feasible"}


ANSWERS = {
    "SearchAction": _action,
    "PaperScores": _scores,
    "Seeds": _seeds,
    "Proposal": _idea,
    "Feasibility": _feasibility,
}
ROLES = {
    "literature_action": "SearchAction",
    "paper_scorer": "PaperScores",
    "seed_ideator": "Seeds",
    "proposal_writer": "Proposal",
    "feasibility_judge": "Feasibility",
}
