"""The roles of ``scipip``."""

from __future__ import annotations

import re
from typing import Any

from ideagora.agents.scipip import selection, sketches
from ideagora.models.call import Inputs
from tests.support.baseline_samples import PAPERS, SEARCHABLE, TOPIC
from tests.support.standin import SIDES, _count, _idea, _text, _word

FIRST = sketches.SketchView(
    title="Critiques That Steer Search",
    problem="Search repeats its dead ends.",
    approach="Show the nearest critiques when steps are rated.",
)
SECOND = sketches.SketchView(
    title="Search Like a Mountain Guide",
    problem="Climbers turn back early; search does not.",
    approach="Fix the hour of return before the search starts.",
)
SKETCH = {
    "title": 'Return Times from "Critiques"',
    "problem": "It's unclear when to turn back, {naïvely} or not.",
    "approach": "Critiques of earlier runs set the depth at which a branch is left.",
}

SAMPLES: dict[str, tuple[Inputs, dict[str, Any]]] = {
    "entity_extractor": (
        sketches.EntityInputs(topic=TOPIC),
        {"entities": ['"self-correction"', "tree search, {guided}", "a naïve verifier's score"]},
    ),
    "brainstormer": (
        sketches.BrainstormInputs(topic=TOPIC, count=2),
        {"ideas": [SECOND.model_dump(), SKETCH]},
    ),
    "literature_ideator": (
        sketches.LiteratureInputs(topic=TOPIC, papers=PAPERS, count=2),
        {"ideas": [{**FIRST.model_dump(), "papers": [0, 1]}, {**SKETCH, "papers": [1]}]},
    ),
    "idea_merger": (
        selection.MergeInputs(topic=TOPIC, from_literature=(FIRST,), brainstormed=(SECOND, FIRST), count=2),
        {"ideas": [{**SKETCH, "from_literature": 0, "brainstormed": 1}]},
    ),
    "idea_filter": (
        selection.FilterInputs(topic=TOPIC, ideas=(FIRST, SECOND)),
        {
            "scores": [
                {
                    "idea": 1,
                    "reason": 'A "guide" is a naïve picture, {yet} it\'s new.',
                    "relevance": 4,
                    "novelty": 5,
                    "feasibility": 3,
                },
                {"idea": 0, "reason": "Close to Reflexion.", "relevance": 5, "novelty": 2, "feasibility": 5},
            ]
        },
    ),
    "idea_refiner": (
        selection.RefineIdeaInputs(topic=TOPIC, idea=FIRST, papers=PAPERS),
        {
            **SEARCHABLE,
            "sources": [{"part": "method", "paper": 1, "quote": "writes a critique after a failure"}],
        },
    ),
}


def _wanted(prompt: str) -> int:
    several = re.search(r"[Ww]rite (?:up to )?(\d+) ", prompt)
    return int(several[1]) if several else 1


def _sketches(prompt: str, kind: str, **more: Any) -> dict[str, Any]:
    return {
        "ideas": [
            {
                "title": f"{kind} {SIDES[number % len(SIDES)]} {number} {_word(prompt)}",
                "problem": _text(prompt, "problem", 1),
                "approach": _text(prompt, "approach", 2),
                **more,
            }
            for number in range(_wanted(prompt))
        ]
    }


def _scores(prompt: str) -> dict[str, Any]:
    count = _count(prompt, "Ideas, numbered from 0:")
    fixed = {"reason": _text(prompt, "scores", 1), "relevance": 4, "novelty": 3}
    return {"scores": [{"idea": n, **fixed, "feasibility": 1 + n % 5} for n in range(count)]}


ANSWERS = {
    "TopicEntities": lambda prompt: {"entities": ["tools", "language models"]},
    "Sketches": lambda prompt: _sketches(prompt, "Bold"),
    "LiteratureSketches": lambda prompt: _sketches(prompt, "Grounded", papers=[0]),
    "MergedIdeas": lambda prompt: _sketches(prompt, "Merged", from_literature=0, brainstormed=0),
    "IdeaScores": _scores,
    "RefinedIdea": _idea,
}
ROLES = {
    "entity_extractor": "TopicEntities",
    "brainstormer": "Sketches",
    "literature_ideator": "LiteratureSketches",
    "idea_merger": "MergedIdeas",
    "idea_filter": "IdeaScores",
    "idea_refiner": "RefinedIdea",
}
