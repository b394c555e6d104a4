"""The roles of ``virsci``."""

from __future__ import annotations

from typing import Any

from ideagora.agents.idea_inputs import EarlierDraft, TooClose
from ideagora.agents.virsci import ideas, team
from ideagora.models.call import Inputs
from tests.support.baseline_samples import PAPERS, SEARCHABLE, TOPIC
from tests.support.standin import _idea, _text, _word

LEADER = team.Profile(number=1, papers=(PAPERS[0].title,), interests=("deliberate search",))
MEMBER = team.Profile(number=2, papers=(PAPERS[1].title,), interests=("verbal memory", "agents"))
STATEMENT = team.Statement(
    number=1, text="Search forgets its dead ends.", question="What should a search remember?"
)
IDEA = {
    "title": 'A Memory for "Dead Ends"',
    "idea": "Write a critique of each dead end, {one line}; it's shown when steps are rated, naïvely.",
    "experiment": "Share of puzzles solved at equal cost.",
}

SAMPLES: dict[str, tuple[Inputs, dict[str, Any]]] = {
    "team_invitation": (
        team.InvitationInputs(topic=TOPIC, scientist=MEMBER, leader=LEADER),
        {
            "reason": 'A "verbal" memory is what search lacks {so far}; it\'s naïve.',
            "accepts": True,
        },
    ),
    "team_discussion": (
        team.DiscussionInputs(topic=TOPIC, scientist=MEMBER, statements=(STATEMENT,)),
        {
            "text": 'Critiques helped "agents" {not search}; it\'s a naïve memory.',
            "question": "Which failures are worth a critique?",
        },
    ),
    "team_conclusion": (
        team.ConclusionInputs(topic=TOPIC, statements=(STATEMENT,)),
        {
            "reason": 'It joins "search" {1} and memory; it\'s naïve.',
            "question": "What to remember?",
        },
    ),
    "team_ideator": (
        ideas.TeamIdeaInputs(
            topic=TOPIC,
            question="What should a search remember?",
            scientist=MEMBER,
            papers=PAPERS,
            own=1,
            rejected=(ideas.RejectedIdea(title="Search Again", reason="It is Tree of Thoughts."),),
        ),
        {**IDEA, "papers": [0, 1], "novelty": 7, "feasibility": 8, "clarity": 6},
    ),
    "novelty_vote": (
        ideas.VoteInputs(
            topic=TOPIC,
            scientist=MEMBER,
            candidates=(
                ideas.Candidate(title="Search Again", idea="Search twice.", closest=PAPERS),
                ideas.Candidate(title="A Memory", idea="Remember dead ends.", closest=PAPERS[1:]),
            ),
        ),
        {"reason": 'The first is "Tree of Thoughts" {again}; it\'s a naïve repetition.', "choice": 1},
    ),
    "abstract_writer": (
        ideas.AbstractInputs(
            topic=TOPIC,
            question="What should a search remember?",
            title="A Memory for Dead Ends",
            idea="Write a critique of each dead end.",
            experiment="Share of puzzles solved at equal cost.",
            papers=PAPERS,
            earlier=EarlierDraft(title="A Memory", summary="Remember dead ends."),
            too_close=(TooClose(paper=1, title=PAPERS[1].title, overlap="writes a critique"),),
        ),
        {
            **SEARCHABLE,
            "sources": [{"part": "method", "paper": 1, "quote": "writes a critique after a failure"}],
        },
    ),
}


def _team_idea(prompt: str) -> dict[str, Any]:
    return {
        "title": f"Team idea {_word(prompt)}",
        "idea": _text(prompt, "idea", 3),
        "experiment": _text(prompt, "experiment", 1),
        "papers": [0],
        "novelty": 1 + int(_word(prompt), 16) % 10,
        "feasibility": 5,
        "clarity": 5,
    }


ANSWERS = {
    "InvitationReply": lambda prompt: {"reason": _text(prompt, "reply", 1), "accepts": True},
    "Contribution": lambda prompt: {
        "text": _text(prompt, "statement", 2),
        "question": _text(prompt, "question", 1),
    },
    "Focus": lambda prompt: {"reason": _text(prompt, "reason", 1), "question": _text(prompt, "question", 1)},
    "TeamIdea": _team_idea,
    "Vote": lambda prompt: {"reason": _text(prompt, "vote", 1), "choice": 0},
    "TeamAbstract": _idea,
}
ROLES = {
    "team_invitation": "InvitationReply",
    "team_discussion": "Contribution",
    "team_conclusion": "Focus",
    "team_ideator": "TeamIdea",
    "novelty_vote": "Vote",
    "abstract_writer": "TeamAbstract",
}
