"""Virtual scientists form a team and discuss what to work on.

Source: Su et al. (arXiv 2410.09403), collaborator selection and topic discussion. A scientist is shown by
number, interests and papers, without the name of the author whose papers they are.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from ideagora.agents.role import Role
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

PROMPTS = Path(__file__).parent / "prompts"
JOINS_FROM = 0.2
"""Cosine of a paper of a scientist to the topic from which the offline model accepts an invitation."""


class Profile(Inputs):
    """A virtual scientist."""

    number: int
    papers: tuple[str, ...]
    """Titles of the papers."""
    interests: tuple[str, ...]


class InvitationInputs(Inputs):
    """The topic, the invited scientist, and the leader who invites."""

    topic: str
    scientist: Profile
    leader: Profile


class InvitationReply(Answer):
    """The answer to an invitation."""

    reason: str = Field(description="1 or 2 sentences: what the scientist could contribute, or why not")
    accepts: bool = Field(description="whether the scientist joins the team")


def _reply(engine: ExtractiveModel, inputs: InvitationInputs) -> InvitationReply:
    near = max(engine.similarity(inputs.topic, inputs.scientist.papers), default=0.0)
    return InvitationReply(
        reason=f"The closest paper has similarity {near:.2f} to the topic (minimum {JOINS_FROM:.2f}).",
        accepts=near >= JOINS_FROM,
    )


INVITATION = Role(
    name="team_invitation",
    group="reader",
    inputs=InvitationInputs,
    answer=InvitationReply,
    offline=_reply,
    prompts=PROMPTS,
)


class Statement(Inputs):
    """What a scientist said in the discussion."""

    number: int
    text: str
    question: str


class DiscussionInputs(Inputs):
    """The topic, the scientist who speaks, and the discussion so far."""

    topic: str
    scientist: Profile
    statements: tuple[Statement, ...]


class Contribution(Answer):
    """A contribution to the discussion."""

    text: str = Field(description="2 to 4 sentences: what the scientist knows that bears on the topic")
    question: str = Field(description="the research question that the team should work on, one sentence")


def _discuss(engine: ExtractiveModel, inputs: DiscussionInputs) -> Contribution:
    """Return the scientist's paper and interest that are nearest to the topic."""
    title = inputs.scientist.papers[engine.rank(inputs.topic, inputs.scientist.papers)[0][0]]
    interests = inputs.scientist.interests or (title,)
    interest = interests[engine.rank(inputs.topic, interests)[0][0]]
    topic = texts.without_stop(texts.clip(inputs.topic, 20))
    return Contribution(
        text=f"Of the papers of this scientist, “{title}” is the closest to the topic.",
        question=f"What does “{interest}” contribute to “{topic}”?",
    )


DISCUSSION = Role(
    name="team_discussion",
    group="main",
    inputs=DiscussionInputs,
    answer=Contribution,
    offline=_discuss,
    prompts=PROMPTS,
)


class ConclusionInputs(Inputs):
    """The topic and the whole discussion, for the leader."""

    topic: str
    statements: tuple[Statement, ...]


class Focus(Answer):
    """What the team works on."""

    reason: str = Field(description="1 or 2 sentences: why this question, and what the members bring to it")
    question: str = Field(description="the research question, 1 or 2 sentences")


def _conclude(engine: ExtractiveModel, inputs: ConclusionInputs) -> Focus:
    """Return the question that is most similar to the topic."""
    questions = [statement.question for statement in inputs.statements] or [inputs.topic]
    place, cosine = engine.rank(inputs.topic, questions)[0]
    return Focus(
        reason=f"It is the question closest to the topic (similarity {cosine:.2f}).",
        question=questions[place],
    )


CONCLUSION = Role(
    name="team_conclusion",
    group="main",
    inputs=ConclusionInputs,
    answer=Focus,
    offline=_conclude,
    prompts=PROMPTS,
)
