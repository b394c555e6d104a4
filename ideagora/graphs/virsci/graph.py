"""VirSci (Su et al., arXiv 2410.09403) as a state machine.

A team of virtual scientists is drawn from the authors of papers on the topic. Its members discuss what to
work on, propose ideas side by side and vote on their novelty; a vote for none starts another round. The
leader writes the abstract, reviews it against the literature and revises it.
"""

from __future__ import annotations

from collections.abc import Hashable

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from ideagora.agents.idea_inputs import EarlierDraft, TooClose
from ideagora.agents.views import paper_brief
from ideagora.agents.virsci.ideas import ABSTRACT_WRITER, NOVELTY_VOTE, TEAM_IDEATOR, Candidate, RejectedIdea
from ideagora.agents.virsci.team import CONCLUSION, DISCUSSION, INVITATION, Profile, Statement
from ideagora.errors import AllBranchesFailed, TopicNotCovered, UnreadableAnswer
from ideagora.graphs.services import Services
from ideagora.graphs.single_idea import usage_name
from ideagora.graphs.sources import checked_sources
from ideagora.graphs.steps.first_plan import PlanTask, design_experiment, paper_briefs, source_papers
from ideagora.graphs.steps.novelty import check_novelty
from ideagora.graphs.steps.topic_papers import topic_papers
from ideagora.graphs.virsci.state import (
    AbstractTask,
    Context,
    IdeaTask,
    InviteTask,
    Record,
    SpeakTask,
    VirsciState,
    VoteTask,
    failure,
    reasons,
)
from ideagora.graphs.virsci.team import count_votes as tally
from ideagora.graphs.virsci.team import draw_candidates, member, papers_by_author
from ideagora.models.usage import usage_label
from ideagora.schema import ClosestPaper, DroppedDraft, NoveltyCheck, Paper, Topic

CANDIDATES = 3
"""Ideas that the team votes on, those with the highest own scores."""
TOPIC_PAPERS = 5
"""Papers on the topic that an ideator and the leader are shown, beside those that they build on."""
COMPARED = 2
"""Papers that each candidate is shown with."""


async def find_scientists(state: VirsciState, runtime: Context) -> VirsciState:
    """Papers on the topic, and the authors who lead or are invited (collaborator selection)."""
    context, options = runtime.context, runtime.context.options
    papers = await topic_papers(context, Topic.model_validate(state["topic"]), options.papers)
    drawn = draw_candidates(papers, options.team, context.client.settings.seed)
    if not drawn:
        raise TopicNotCovered(
            f"None of the {len(papers)} papers found names its authors, and virsci draws its team from them. "
            "Use a source with authors (--source semantic-scholar,openalex) or another agent."
        )
    authored = papers_by_author(papers)
    scientists = [member(number, author, authored[author]) for number, author in enumerate(drawn, 1)]
    return {
        "papers": [paper.model_dump(mode="json") for paper in papers],
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
            scientist=_profile(state["scientist"]),
            leader=_profile(state["leader"]),
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
            scientist=_profile(state["scientist"]),
            statements=tuple(Statement(**statement) for statement in state["statements"]),
        )
    except UnreadableAnswer as error:
        return {"notes": [f"Scientist {number} said nothing readable: {error}"]}
    return {"statements": [{"number": number, **answer.model_dump(mode="json")}]}


def gather_turn(state: VirsciState) -> VirsciState:
    """End a turn."""
    return {"turn": state.get("turn", 0) + 1}


async def conclude(state: VirsciState, runtime: Context) -> VirsciState:
    """The leader states the team's question; without a discussion or an answer, it is the topic."""
    statements = tuple(Statement(**statement) for statement in state.get("statements", []))
    topic = state["topic"]["text"]
    if not statements:
        return {"question": topic, "notes": ["Nobody spoke: the team works on the topic itself."]}
    try:
        answer = await CONCLUSION(runtime.context.client, topic=topic, statements=statements)
    except UnreadableAnswer as error:
        return {"question": topic, "notes": [f"The discussion has no conclusion: {error}"]}
    return {"question": answer.question}


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
            scientist=_profile(scientist),
            papers=paper_briefs(shown),
            own=len(own),
            rejected=tuple(RejectedIdea(**idea) for idea in state["rejected"]),
        )
    except UnreadableAnswer as error:
        return {"failures": [failure(f"scientist {scientist['number']} proposed no idea: {error}")]}
    idea = {**answer.model_dump(mode="json"), "by": scientist["number"], "round": state["round"]}
    return {"proposed": [{**idea, "papers": [shown[number] for number in answer.papers]}]}


async def select_ideas(state: VirsciState, runtime: Context) -> VirsciState:
    """The ideas of this round with the highest own scores, each with the papers closest to it."""
    number, wanted = state.get("round", 0), max(CANDIDATES, runtime.context.options.ideas)
    ideas = [idea for idea in state.get("proposed", []) if idea["round"] == number]
    if not ideas:
        raise AllBranchesFailed(f"Nobody proposed an idea. {reasons(state)}")
    ranked = sorted(ideas, key=lambda idea: -(idea["novelty"] + idea["feasibility"] + idea["clarity"]))
    candidates = []
    for idea in ranked[:wanted]:
        found = await runtime.context.library.search(f"{idea['title']}. {idea['idea']}", COMPARED)
        candidates.append({**idea, "closest": [one.paper.model_dump(mode="json") for one in found]})
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
            scientist=_profile(state["scientist"]),
            candidates=tuple(
                Candidate(title=one["title"], idea=one["idea"], closest=paper_briefs(one["closest"]))
                for one in state["candidates"]
            ),
        )
    except UnreadableAnswer as error:
        return {"notes": [f"The vote of scientist {number} does not count: {error}"]}
    return {"votes": [{"by": number, "round": state["round"], **answer.model_dump(mode="json")}]}


def count_votes(state: VirsciState, runtime: Context) -> VirsciState:
    """The ideas with the most votes; a vote for none rejects all and starts another round, if one is left."""
    options, number = runtime.context.options, state.get("round", 0)
    votes = [one for one in state.get("votes", []) if one["round"] == number]
    counts, is_rejected = tally(len(state["candidates"]), votes)
    why = "; ".join(one["reason"] for one in votes if one["choice"] is None)
    if is_rejected and number + 1 < options.rounds:
        rejected = [{"title": one["title"], "reason": why} for one in state["candidates"]]
        titles = "; ".join(f"“{one['title']}”" for one in state["candidates"])
        return {
            "round": number + 1,
            "chosen": [],
            "rejected": [*state.get("rejected", []), *rejected],
            "notes": [f"The vote of round {number + 1} rejected {titles}."],
        }
    order = sorted(range(len(counts)), key=lambda place: (-counts[place], place))
    note = "The vote rejected all ideas of the last round; the first of them are kept." if is_rejected else ""
    chosen = [{**state["candidates"][place], "votes": counts[place]} for place in order[: options.ideas]]
    return {"chosen": chosen, "notes": [note] if note else []}


def after_votes(state: VirsciState) -> list[Send]:
    """Another round of ideas, or the abstracts of the chosen ones, in parallel."""
    if not state["chosen"]:
        return start_ideas(state)
    tasks = [
        AbstractTask(
            topic=state["topic"], number=number, question=state["question"], idea=idea, papers=state["papers"]
        )
        for number, idea in enumerate(state["chosen"], 1)
    ]
    return [Send("write_abstract", task) for task in tasks]


async def write_abstract(state: AbstractTask, runtime: Context) -> VirsciState:
    """The leader's abstract, reviewed against the literature and revised if it is too close to a paper."""
    context, idea, topic = runtime.context, state["idea"], Topic.model_validate(state["topic"])
    papers = {paper["id"]: paper for paper in [*idea["papers"], *state["papers"][:TOPIC_PAPERS]]}
    dropped: list[DroppedDraft] = []
    with usage_label(usage_name("idea", state["number"])):
        while True:
            try:
                draft = await _draft_abstract(context, state, papers, dropped)
            except UnreadableAnswer as error:
                return {"failures": [failure(f"no abstract of “{idea['title']}”: {error}")]}
            known = [Paper.model_validate(paper) for paper in source_papers(draft, list(papers.values()))]
            check = await check_novelty(context, topic, draft, known, tuple(dropped))
            if check.status != "too_close" or len(dropped) == context.options.revisions:
                break
            dropped.append(_dropped(draft, check))
            for close in dropped[-1].too_close:
                paper = await context.library.paper(close.paper_id)
                papers |= {paper.id: paper.model_dump(mode="json")} if paper else {}
    kept = {"papers": list(papers.values()), "votes": idea["votes"]}
    return {"written": [{**draft, **kept, "novelty_check": check.model_dump(mode="json")}]}


async def _draft_abstract(
    context: Services, state: AbstractTask, papers: dict[str, Record], dropped: list[DroppedDraft]
) -> Record:
    places = {paper_id: place for place, paper_id in enumerate(papers)}
    close: dict[str, ClosestPaper] = {one.paper_id: one for draft in dropped for one in draft.too_close}
    last = dropped[-1] if dropped else None
    answer = await ABSTRACT_WRITER(
        context.client,
        topic=state["topic"]["text"],
        question=state["question"],
        **{name: state["idea"][name] for name in ("title", "idea", "experiment")},
        papers=tuple(paper_brief(Paper.model_validate(paper)) for paper in papers.values()),
        earlier=EarlierDraft(title=last.title, summary=last.summary) if last else None,
        too_close=tuple(
            TooClose(paper=places[paper_id], title=one.title, overlap=one.overlap)
            for paper_id, one in close.items()
            if paper_id in places
        ),
    )
    draft = answer.model_dump(mode="json")
    return {**draft, "sources": checked_sources(draft["sources"], list(papers.values()))}


def _dropped(draft: Record, check: NoveltyCheck) -> DroppedDraft:
    too_close = tuple(close for close in check.closest if close.too_close)
    return DroppedDraft(title=draft["title"], summary=draft["summary"], too_close=too_close)


def gather(state: VirsciState) -> VirsciState:
    """Join the abstracts."""
    if not state.get("written"):
        raise AllBranchesFailed(f"No abstract was written. {reasons(state)}")
    return {"drafts": state["written"]}


def start_experiments(state: VirsciState) -> list[Send]:
    """Design the experiments, in parallel."""
    tasks = [
        PlanTask(
            topic=state["topic"], draft=draft, number=number, papers=source_papers(draft, draft["papers"])
        )
        for number, draft in enumerate(state["drafts"], 1)
    ]
    return [Send("design_experiment", task) for task in tasks]


def _profile(scientist: Record) -> Profile:
    return Profile(**scientist["profile"])


def build_graph() -> StateGraph[VirsciState, Services, VirsciState, VirsciState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(VirsciState, context_schema=Services)
    graph.add_node("find_scientists", find_scientists)
    graph.add_node("invite", invite)
    graph.add_node("form_team", form_team)
    graph.add_node("speak", speak)
    graph.add_node("gather_turn", gather_turn)
    graph.add_node("conclude", conclude)
    graph.add_node("propose_idea", propose_idea)
    graph.add_node("select_ideas", select_ideas)
    graph.add_node("vote", vote)
    graph.add_node("count_votes", count_votes)
    graph.add_node("write_abstract", write_abstract)
    graph.add_node("gather", gather)
    graph.add_node("design_experiment", design_experiment)
    graph.add_edge(START, "find_scientists")
    graph.add_conditional_edges("find_scientists", start_invitations, ["invite", "form_team"])
    graph.add_edge("invite", "form_team")
    graph.add_conditional_edges("form_team", start_turn, ["speak", "conclude"])
    graph.add_edge("speak", "gather_turn")
    graph.add_conditional_edges("gather_turn", start_turn, ["speak", "conclude"])
    graph.add_conditional_edges("conclude", start_ideas, ["propose_idea"])
    graph.add_edge("propose_idea", "select_ideas")
    graph.add_conditional_edges("select_ideas", start_votes, ["vote"])
    graph.add_edge("vote", "count_votes")
    graph.add_conditional_edges("count_votes", after_votes, ["propose_idea", "write_abstract"])
    graph.add_edge("write_abstract", "gather")
    graph.add_conditional_edges("gather", start_experiments, ["design_experiment"])
    graph.add_edge("design_experiment", END)
    return graph
