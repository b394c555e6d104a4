"""The team: collaborator selection, and the discussion of what to work on."""

from __future__ import annotations

from collections.abc import Hashable

from langgraph.types import Send

from ideagora.agents.virsci.team import CONCLUSION, DISCUSSION, INVITATION, Statement
from ideagora.errors import TopicNotCovered, UnreadableAnswer
from ideagora.graphs.steps.literature.topic_papers import topic_papers
from ideagora.graphs.virsci.state import Context, InviteTask, SpeakTask, VirsciState
from ideagora.graphs.virsci.team import draw_candidates, member, papers_by_author, profile_of
from ideagora.schema import Topic, deserialize, serialize


async def find_scientists(state: VirsciState, runtime: Context) -> VirsciState:
    """Papers on the topic, and the authors who lead or are invited (collaborator selection)."""
    context, options = runtime.context, runtime.context.options
    found = await topic_papers(context, deserialize(Topic, state["topic"]), options.papers)
    papers = found.papers
    drawn = draw_candidates(papers, options.team, context.client.settings.seed)
    if not drawn:
        raise TopicNotCovered(
            f"None of the {len(papers)} papers found names its authors, and virsci draws its team from them. "
            "Use a source with authors (--source semantic-scholar,openalex), add authors to your own papers "
            "(ideagora library add), or use another agent."
        )
    authored = papers_by_author(papers)
    scientists = [member(number, author, authored[author]) for number, author in enumerate(drawn, 1)]
    return {
        "papers": found.serialized,
        "notes": found.notes,
        "scientists": scientists,
        "team": scientists[:1],
    }


def start_invitations(state: VirsciState) -> list[Hashable | Send]:
    """The leader invites the others, in parallel."""
    leader, *others = state["scientists"]
    tasks = [InviteTask(topic=state["topic"], scientist=other, leader=leader) for other in others]
    return [*(Send("invite", task) for task in tasks)] or ["form_team"]


async def invite(state: InviteTask, runtime: Context) -> VirsciState:
    """A scientist accepts or declines."""
    number = state["scientist"]["number"]
    try:
        answer = await INVITATION(
            runtime.context.client,
            topic=state["topic"]["text"],
            scientist=profile_of(state["scientist"]),
            leader=profile_of(state["leader"]),
        )
    except UnreadableAnswer as error:
        return {"notes": [f"Scientist {number} did not answer the invitation: {error}"]}
    if not answer.accepts:
        return {"notes": [f"Scientist {number} declined: {answer.reason}"]}
    return {"accepted": [number]}


def form_team(state: VirsciState, runtime: Context) -> VirsciState:
    """The leader and those who accepted."""
    accepted = set(state.get("accepted", []))
    team = [one for one in state["scientists"] if one["number"] == 1 or one["number"] in accepted]
    runtime.context.say(f"{len(team)} scientists")
    wanted = runtime.context.options.team
    note = f"The team has {len(team)} of {wanted} members." if len(team) < wanted else ""
    return {"team": team, "notes": [note] if note else []}


def start_turn(state: VirsciState, runtime: Context) -> list[Hashable | Send]:
    """All members speak in a turn, in parallel, with the earlier turns in view; then the leader concludes."""
    if state.get("turn", 0) == runtime.context.options.turns:
        return ["conclude"]
    tasks = [
        SpeakTask(topic=state["topic"], scientist=one, statements=state.get("statements", []))
        for one in state["team"]
    ]
    return [Send("speak", task) for task in tasks]


async def speak(state: SpeakTask, runtime: Context) -> VirsciState:
    """A member's contribution to the discussion."""
    number = state["scientist"]["number"]
    try:
        answer = await DISCUSSION(
            runtime.context.client,
            topic=state["topic"]["text"],
            scientist=profile_of(state["scientist"]),
            statements=tuple(deserialize(Statement, statement) for statement in state["statements"]),
        )
    except UnreadableAnswer as error:
        return {"notes": [f"Scientist {number} said nothing readable: {error}"]}
    statement = Statement(number=number, text=answer.text, question=answer.question)
    return {"statements": [serialize(statement)]}


def gather_turn(state: VirsciState) -> VirsciState:
    """End a turn."""
    return {"turn": state.get("turn", 0) + 1}


async def conclude(state: VirsciState, runtime: Context) -> VirsciState:
    """The leader states the team's question; without a discussion or an answer, it is the topic."""
    statements = tuple(deserialize(Statement, statement) for statement in state.get("statements", []))
    topic = state["topic"]["text"]
    if not statements:
        return {"question": topic, "notes": ["Nobody spoke: the team works on the topic itself."]}
    try:
        answer = await CONCLUSION(runtime.context.client, topic=topic, statements=statements)
    except UnreadableAnswer as error:
        return {"question": topic, "notes": [f"The discussion has no conclusion: {error}"]}
    return {"question": answer.question}
