"""VirSci (Su et al., arXiv 2410.09403) as a state machine.

A team of virtual scientists is drawn from the authors of papers on the topic. Its members discuss what to
work on, propose ideas in parallel and vote on their novelty; a vote for none starts another round. The
leader writes the abstract, reviews it against the literature and revises it.
"""

from __future__ import annotations

from typing import cast

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from ideagora.agents.virsci.ideas import NOVELTY_VOTE, TEAM_IDEATOR, Candidate, RejectedIdea
from ideagora.errors import AllBranchesFailed, UnreadableAnswer
from ideagora.graphs.drafts import failure, reasons
from ideagora.graphs.services import Services
from ideagora.graphs.steps.first_plan import design_experiment, paper_briefs, start_experiments
from ideagora.graphs.virsci import discussion
from ideagora.graphs.virsci.abstract import write_abstract
from ideagora.graphs.virsci.state import (
    TOPIC_PAPERS,
    AbstractTask,
    CastVote,
    Context,
    IdeaTask,
    ShortIdea,
    TeamMember,
    VirsciState,
    VoteTask,
)
from ideagora.graphs.virsci.team import count_votes as tally
from ideagora.graphs.virsci.team import profile_of
from ideagora.schema import deserialize, serialize

CANDIDATES = 3
"""Ideas that the team votes on, those with the highest own scores."""
COMPARED = 2
"""Papers that each candidate is shown with."""


def start_ideas(state: VirsciState) -> list[Send]:
    """Every member proposes an idea, in parallel."""
    tasks = [
        IdeaTask(
            topic=state["topic"],
            question=state["question"],
            scientist=one,
            papers=state["papers"][:TOPIC_PAPERS],
            rejected=state.get("rejected", []),
            round=state.get("round", 0),
        )
        for one in state["team"]
    ]
    return [Send("propose_idea", task) for task in tasks]


async def propose_idea(state: IdeaTask, runtime: Context) -> VirsciState:
    """A member's idea with its own scores, from papers of its own and on the topic."""
    scientist, own = state["scientist"], state["scientist"]["papers"]
    papers = {paper["id"]: paper for paper in [*own, *state["papers"]]}
    shown = list(papers.values())
    try:
        answer = await TEAM_IDEATOR(
            runtime.context.client,
            topic=state["topic"]["text"],
            question=state["question"],
            scientist=profile_of(scientist),
            papers=paper_briefs(shown),
            own=len(own),
            rejected=tuple(deserialize(RejectedIdea, idea) for idea in state["rejected"]),
        )
    except UnreadableAnswer as error:
        return {"failures": [failure(f"scientist {scientist['number']} proposed no idea: {error}")]}
    idea: ShortIdea = {
        **cast("ShortIdea", answer.model_dump(mode="json")),
        "papers": [shown[number] for number in answer.papers],
        "by": scientist["number"],
        "round": state["round"],
    }
    return {"proposed": [idea]}


async def select_ideas(state: VirsciState, runtime: Context) -> VirsciState:
    """The ideas of this round with the highest own scores, each with the papers closest to it."""
    number, wanted = state.get("round", 0), max(CANDIDATES, runtime.context.options.ideas)
    ideas = [idea for idea in state.get("proposed", []) if idea["round"] == number]
    if not ideas:
        raise AllBranchesFailed(f"No member of the team proposed an idea. {reasons(state)}")
    ranked = sorted(ideas, key=lambda idea: -(idea["novelty"] + idea["feasibility"] + idea["clarity"]))
    candidates: list[ShortIdea] = []
    for idea in ranked[:wanted]:
        found = await runtime.context.library.search(f"{idea['title']}. {idea['idea']}", COMPARED)
        candidates.append({**idea, "closest": [serialize(one.paper) for one in found]})
    return {"candidates": candidates}


def start_votes(state: VirsciState) -> list[Send]:
    """Every member votes, in parallel and without knowing who proposed what."""
    tasks = [
        VoteTask(
            topic=state["topic"],
            scientist=one,
            candidates=state["candidates"],
            round=state.get("round", 0),
        )
        for one in state["team"]
    ]
    return [Send("vote", task) for task in tasks]


async def vote(state: VoteTask, runtime: Context) -> VirsciState:
    """A vote for the most novel idea, or for none; one that cannot be read does not count."""
    number = state["scientist"]["number"]
    try:
        answer = await NOVELTY_VOTE(
            runtime.context.client,
            topic=state["topic"]["text"],
            scientist=profile_of(state["scientist"]),
            candidates=tuple(
                Candidate(title=one["title"], idea=one["idea"], closest=paper_briefs(one["closest"]))
                for one in state["candidates"]
            ),
        )
    except UnreadableAnswer as error:
        return {"notes": [f"The vote of scientist {number} does not count: {error}"]}
    cast_vote = CastVote(by=number, round=state["round"], choice=answer.choice, reason=answer.reason)
    return {"votes": [cast_vote]}


def count_votes(state: VirsciState, runtime: Context) -> VirsciState:
    """The ideas with the most votes; a vote for none rejects all and starts another round, if one is left."""
    options, number = runtime.context.options, state.get("round", 0)
    votes = [one for one in state.get("votes", []) if one["round"] == number]
    counts, is_rejected = tally(len(state["candidates"]), votes)
    why = "; ".join(one["reason"] for one in votes if one["choice"] is None)
    if is_rejected and number + 1 < options.rounds:
        rejected = [serialize(RejectedIdea(title=one["title"], reason=why)) for one in state["candidates"]]
        titles = "; ".join(f"“{one['title']}”" for one in state["candidates"])
        return {
            "round": number + 1,
            "chosen": [],
            "rejected": [*state.get("rejected", []), *rejected],
            "notes": [f"The vote of round {number + 1} rejected {titles}."],
        }
    order = sorted(range(len(counts)), key=lambda place: (-counts[place], place))
    note = "The vote rejected all ideas of the last round; the first of them are kept." if is_rejected else ""
    chosen: list[ShortIdea] = [
        {**state["candidates"][place], "votes": counts[place]} for place in order[: options.ideas]
    ]
    return {"chosen": chosen, "notes": [note] if note else []}


def after_votes(state: VirsciState) -> list[Send]:
    """Another round of ideas, or the abstracts of the chosen ones, in parallel."""
    if not state["chosen"]:
        return start_ideas(state)
    team = [
        TeamMember(
            scientist=one["number"],
            papers_of=one["author"],
            papers=[paper["id"] for paper in one["papers"]],
        )
        for one in state["team"]
    ]
    tasks = [
        AbstractTask(
            topic=state["topic"],
            number=number,
            question=state["question"],
            idea=idea,
            papers=state["papers"],
            team=team,
        )
        for number, idea in enumerate(state["chosen"], 1)
    ]
    return [Send("write_abstract", task) for task in tasks]


def gather(state: VirsciState) -> VirsciState:
    """Join the abstracts."""
    if not state.get("drafts"):
        raise AllBranchesFailed(f"No abstract was written. {reasons(state)}")
    return {}


def build_graph() -> StateGraph[VirsciState, Services, VirsciState, VirsciState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(VirsciState, context_schema=Services)
    graph.add_node("find_scientists", discussion.find_scientists)
    graph.add_node("invite", discussion.invite)
    graph.add_node("form_team", discussion.form_team)
    graph.add_node("speak", discussion.speak)
    graph.add_node("gather_turn", discussion.gather_turn)
    graph.add_node("conclude", discussion.conclude)
    graph.add_node("propose_idea", propose_idea)
    graph.add_node("select_ideas", select_ideas)
    graph.add_node("vote", vote)
    graph.add_node("count_votes", count_votes)
    graph.add_node("write_abstract", write_abstract)
    graph.add_node("gather", gather)
    graph.add_node("design_experiment", design_experiment)
    graph.add_edge(START, "find_scientists")
    graph.add_conditional_edges("find_scientists", discussion.start_invitations, ["invite", "form_team"])
    graph.add_edge("invite", "form_team")
    graph.add_conditional_edges("form_team", discussion.start_turn, ["speak", "conclude"])
    graph.add_edge("speak", "gather_turn")
    graph.add_conditional_edges("gather_turn", discussion.start_turn, ["speak", "conclude"])
    graph.add_conditional_edges("conclude", start_ideas, ["propose_idea"])
    graph.add_edge("propose_idea", "select_ideas")
    graph.add_conditional_edges("select_ideas", start_votes, ["vote"])
    graph.add_edge("vote", "count_votes")
    graph.add_conditional_edges("count_votes", after_votes, ["propose_idea", "write_abstract"])
    graph.add_edge("write_abstract", "gather")
    graph.add_conditional_edges("gather", start_experiments, ["design_experiment"])
    graph.add_edge("design_experiment", END)
    return graph
