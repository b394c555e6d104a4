"""``ai-scientist``: the next idea of an archive, reflections on it, and the search for its novelty."""

from __future__ import annotations

import re
from typing import Any

from ideagora.agents.ai_scientist import ideas, novelty_search
from ideagora.agents.idea_inputs import ProposedIdea
from tests.support.baseline_samples import PAPERS, PARTS, TOPIC
from tests.support.standin import _between, _count, _idea, _text

DRAFT = ideas.DraftView(
    title="Search with a Scratchpad of Failures",
    summary="Dead branches leave a note that later ratings read.",
    motivation="Tree of Thoughts visits the same dead ends again.",
    method="1. Search. 2. Note each dead end. 3. Show the notes to the rater.",
    novelty="Tree of Thoughts keeps no notes.",
    purpose="Save tokens on branches that are known to fail.",
    mechanism="Notes on dead branches in the rating prompt.",
    evaluation="Puzzles solved per 1,000 tokens.",
)
ARCHIVE = (ProposedIdea(title="Voting on Critiques", summary="Critiques vote on branches."),)
ANSWER = {
    "considerations": 'What if "notes" mislead, {as they may}? It\'s worth a test, naïve or not.',
    **PARTS,
    "sources": [
        {"part": "motivation", "paper": 0, "quote": "uses many times more tokens"},
        {"part": "method", "paper": 1, "quote": "stores that critique in an episodic memory"},
    ],
    "interestingness": 6,
    "feasibility": 8,
    "originality": None,
}

SAMPLES = {
    "archive_ideator": (ideas.ArchiveInputs(topic=TOPIC, papers=PAPERS, proposed=ARCHIVE), ANSWER),
    "archive_reflector": (
        ideas.ReflectionInputs(
            topic=TOPIC,
            papers=PAPERS,
            proposed=ARCHIVE,
            draft=DRAFT,
            sources=(ideas.DraftSource(part="method", paper=1, quote="writes a critique after a failure"),),
            scores=(5, 7, 6),
            round=2,
            rounds=4,
        ),
        {**ANSWER, "done": False},
    ),
    "novelty_searcher": (
        novelty_search.NoveltySearchInputs(
            topic=TOPIC, idea=DRAFT, queries=("memory of failed branches",), papers=PAPERS, remaining=1
        ),
        {
            "considerations": 'The second paper stores "critiques", {not notes}; it\'s the same, naïvely.',
            "decision": "not novel",
            "query": None,
            "closest": [
                {
                    "paper": 1,
                    "overlap": 'stores that "critique" in an episodic memory',
                    "difference": None,
                    "already_there": True,
                },
                {
                    "paper": 0,
                    "overlap": None,
                    "difference": "It doesn't remember, {it goes back}.",
                    "already_there": False,
                },
            ],
        },
    ),
}


def _archived(prompt: str) -> dict[str, Any]:
    rated = {name: 5 + len(prompt) % 4 for name in ideas.SCORES}
    return {"considerations": _text(prompt, "thought", 3), **_idea(prompt), **rated}


def _step(prompt: str) -> dict[str, Any]:
    """A search while one is left, then the decision that the idea is new."""
    thought = _text(prompt, "thought", 2)
    if int(_between(prompt, "Searches left: ", "\n")):
        number = len(re.findall(r"(?m)^- <material", prompt))
        query = f"language model agents {number}"
        return {"considerations": thought, "decision": "search", "query": query, "closest": []}
    found = range(min(2, _count(prompt, "Papers found by these searches")))
    closest = [
        {"paper": n, "overlap": None, "difference": _text(prompt, "difference", 1), "already_there": False}
        for n in found
    ]
    return {"considerations": thought, "decision": "novel", "query": None, "closest": closest}


ANSWERS = {
    "ArchivedIdea": _archived,
    "ReflectedIdea": lambda prompt: {**_archived(prompt), "done": False},
    "NoveltyStep": _step,
}
ROLES = {
    "archive_ideator": "ArchivedIdea",
    "archive_reflector": "ReflectedIdea",
    "novelty_searcher": "NoveltyStep",
}
