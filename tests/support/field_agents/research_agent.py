"""``research-agent``: problem and method from a core paper, and reviews of each part."""

from __future__ import annotations

from typing import Any

from ideagora.agents.experiment import CostedPlan
from ideagora.agents.research_agent import parts, review
from tests.support.baseline_samples import PAPERS, PARTS, TOPIC
from tests.support.standin import _idea, _text

ENTITIES = (parts.EntityFrom(name="episodic memory", kind="technique", paper=1),)
REVIEWS = (
    parts.ReviewView(
        criterion="clarity",
        rating=2,
        review="It is vague about memory.",
        suggestions=("Say what is stored.",),
    ),
)
PROBLEM = parts.ProblemView(
    problem="Can a search learn from branches that failed?",
    rationale="Tree of Thoughts forgets its dead ends.",
    purpose="Spend fewer tokens on known failures.",
)
METHOD = parts.MethodView(
    title="Search that Reads Its Own Failures",
    method="1. Search. 2. Write a note on each dead end. 3. Show the notes to the rater.",
    novelty="Tree of Thoughts keeps no notes.",
    mechanism="Notes on dead ends in the rating prompt.",
    evaluation="Puzzles solved per 1,000 tokens.",
)
PLAN = CostedPlan(
    steps=("Reproduce the search.", "Add the notes and compare."),
    datasets=("Game of 24",),
    baselines=("search without notes",),
    metrics=("puzzles solved",),
    ablations=("notes of other puzzles",),
    risks=("notes repeat one another",),
    refuted_if="The notes change nothing.",
    cost="40 GPU hours.",
)

SAMPLES = {
    "problem_finder": (
        parts.ProblemInputs(
            topic=TOPIC, papers=PAPERS, own=1, entities=ENTITIES, reviews=REVIEWS, earlier=PROBLEM
        ),
        {
            "rationale": 'Tree of Thoughts goes back, {and forgets}; it\'s "costly", naïve even.',
            "problem": "Does a record of dead ends save tokens?",
            "purpose": "Spend fewer tokens on failures that are known.",
            "entities_used": ["episodic memory"],
            "sources": [{"part": "motivation", "paper": 0, "quote": "uses many times more tokens"}],
        },
    ),
    "method_developer": (
        parts.MethodInputs(
            topic=TOPIC,
            papers=PAPERS,
            own=1,
            entities=ENTITIES,
            reviews=REVIEWS,
            problem=PROBLEM,
            earlier=METHOD,
        ),
        {
            **{name: text for name, text in PARTS.items() if name not in ("motivation", "purpose")},
            "entities_used": [],
            "sources": [
                {"part": "method", "paper": 1, "quote": "stores that critique in an episodic memory"}
            ],
        },
    ),
    "part_reviewer": (
        review.PartReviewInputs(
            topic=TOPIC,
            papers=PAPERS,
            part="experiment",
            criterion="validity",
            definition="Would its result confirm or refute the claim of the method?",
            problem=PROBLEM,
            method=METHOD,
            plan=PLAN,
        ),
        {
            "review": 'It compares at "equal" cost, {nearly}; that\'s naïve about seeds.',
            "suggestions": ["Repeat with five seeds, it's cheap."],
            "rating": None,
        },
    ),
}


def _problem(prompt: str) -> dict[str, Any]:
    return {
        "rationale": _text(prompt, "rationale", 5),
        "problem": f"{_text(prompt, 'problem', 1)[:-1]}?",
        "purpose": _text(prompt, "purpose", 1),
        "entities_used": [],
        "sources": [{"part": "motivation", "paper": 0, "quote": "nothing that anybody wrote"}],
    }


def _method(prompt: str) -> dict[str, Any]:
    whole = _idea(prompt)
    return {
        **{name: text for name, text in whole.items() if name not in ("motivation", "purpose", "sources")},
        "entities_used": [],
        "sources": whole["sources"],
    }


ANSWERS = {
    "ResearchProblem": _problem,
    "ResearchMethod": _method,
    "PartReview": lambda prompt: {
        "review": _text(prompt, "review", 3),
        "suggestions": [_text(prompt, "suggestion", 1)],
        "rating": 3,
    },
}
ROLES = {
    "problem_finder": "ResearchProblem",
    "method_developer": "ResearchMethod",
    "part_reviewer": "PartReview",
}
