"""``gpt-researcher``: questions, their answers, and the idea that combines them."""

from __future__ import annotations

import re
from typing import Any

from ideagora.agents.gpt_researcher import roles
from ideagora.agents.idea_inputs import ProposedIdea
from tests.support.baseline_samples import PAPERS, PARTS, TOPIC
from tests.support.standin import _count, _idea, _text

SAMPLES = {
    "question_planner": (
        roles.QuestionPlanInputs(topic=TOPIC, papers=PAPERS, count=2),
        {
            "questions": [
                {"question": 'Why do searches forget "dead ends", {naïvely}?', "query": "dead ends, search"},
                {"question": "What's stored after a failure?", "query": "episodic memory of critiques"},
            ]
        },
    ),
    "question_researcher": (
        roles.QuestionInputs(topic=TOPIC, question="What's stored after a failure?", papers=PAPERS),
        {
            "evidence": [{"paper": 1, "quote": "stores that critique in an episodic memory"}],
            "findings": 'Reflexion stores a "critique", {not the run}; it\'s a naïve memory.',
            "gap": None,
        },
    ),
    "research_synthesizer": (
        roles.SynthesisInputs(
            topic=TOPIC,
            questions=(
                roles.AnsweredQuestion(
                    question="Why do searches forget dead ends?",
                    answer="Tree of Thoughts keeps no record of a branch that it leaves.",
                    gap="Whether a record would save tokens.",
                    papers=(0,),
                ),
                roles.AnsweredQuestion(
                    question="What is stored after a failure?", answer=None, gap=None, papers=()
                ),
            ),
            papers=PAPERS,
            proposed=(ProposedIdea(title="Voting on Critiques", summary="Critiques vote on branches."),),
        ),
        {
            "synthesis": 'Both papers leave the "dead ends" open, {so far}; one isn\'t enough.',
            **PARTS,
            "sources": [
                {"part": "motivation", "paper": 0, "quote": "uses many times more tokens"},
                {"part": "method", "paper": 1, "quote": "stores that critique in an episodic memory"},
            ],
        },
    ),
}


def _plan(prompt: str) -> dict[str, Any]:
    several = re.search(r"Write (\d+) question", prompt)
    count = int(several[1]) if several else 1
    return {
        "questions": [
            {"question": f"{_text(prompt, f'question {n}', 1)[:-1]}?", "query": f"language model agents {n}"}
            for n in range(count)
        ]
    }


def _answer(prompt: str) -> dict[str, Any]:
    last = _count(prompt, "Papers found for it, numbered from 0:") - 1
    return {
        "evidence": [{"paper": n, "quote": _text(prompt, "passage", 1)} for n in sorted({0, last})],
        "findings": _text(prompt, "answer", 4),
        "gap": _text(prompt, "gap", 1),
    }


ANSWERS = {
    "QuestionPlan": _plan,
    "QuestionAnswer": _answer,
    "ResearchedIdea": lambda prompt: {"synthesis": _text(prompt, "synthesis", 5), **_idea(prompt)},
}
ROLES = {
    "question_planner": "QuestionPlan",
    "question_researcher": "QuestionAnswer",
    "research_synthesizer": "ResearchedIdea",
}
