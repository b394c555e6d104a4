"""AI-Researcher (Si et al., arXiv 2409.04109, section 3) as a state machine.

A literature review by search actions, many seed ideas of which half are written with literature,
de-duplication, proposals, ranking in Swiss rounds, filters for the best, and their experiments.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from ideagora.agents.ai_researcher.proposals import FEASIBILITY_JUDGE, PROPOSAL_WRITER, SeedView
from ideagora.agents.views import idea_view
from ideagora.errors import AllBranchesFailed, UnreadableAnswer
from ideagora.graphs.ai_researcher import literature_review, seed_ideas
from ideagora.graphs.ai_researcher.state import (
    Context,
    FeasibilityResult,
    FilterResult,
    FilterTask,
    Proposal,
    ProposalTask,
    ResearcherState,
)
from ideagora.graphs.drafts import Draft, failure, reasons
from ideagora.graphs.services import Services
from ideagora.graphs.sources import sourced_draft
from ideagora.graphs.steps.first_plan import (
    design_experiment,
    paper_briefs,
    source_papers,
    start_experiments,
)
from ideagora.graphs.steps.literature.topic_similarity import related_to_topic
from ideagora.graphs.steps.novelty import check_novelty
from ideagora.graphs.steps.novelty_requests import requests_left
from ideagora.graphs.steps.swiss_ranking import judge_pair, next_round, rank, record_of
from ideagora.schema import Paper, Topic, deserialize, serialize

CLOSEST_PAPERS = 5
"""Papers that a proposal is written with, beside those that its seed builds on."""


def start_proposals(state: ResearcherState, runtime: Context) -> list[Send]:
    """Expand the seeds that are left, in parallel."""
    kept = [seed for position, seed in enumerate(state["seeds"]) if position not in state["duplicates"]]
    chosen = kept[: runtime.context.options.proposals]
    return [Send("write_proposal", ProposalTask(topic=state["topic"], seed=seed)) for seed in chosen]


async def write_proposal(state: ProposalTask, runtime: Context) -> ResearcherState:
    """A seed as a proposal, written with the papers it builds on and the closest ones."""
    seed, library = state["seed"], runtime.context.library
    view = SeedView(
        title=seed["title"], problem=seed["problem"], mechanism=seed["mechanism"], test=seed["test"]
    )
    found = [one.paper for one in await library.search(f"{view.title}. {view.mechanism}", CLOSEST_PAPERS)]
    related = await related_to_topic(library, deserialize(Topic, state["topic"]), found)
    papers = {paper["id"]: paper for paper in seed["papers"]}
    for paper in related or found:
        papers.setdefault(paper.id, serialize(paper))
    shown = list(papers.values())
    try:
        answer = await PROPOSAL_WRITER(
            runtime.context.client,
            topic=state["topic"]["text"],
            seed=view,
            papers=paper_briefs(shown),
            built_on=len(seed["papers"]),
        )
    except UnreadableAnswer as error:
        return {"failures": [failure(f"the seed “{view.title}” was not expanded: {error}")]}
    proposal: Proposal = {**sourced_draft(answer, shown), "papers": shown, "seed": view.title}
    return {"proposals": [proposal]}


def draw_round(state: ResearcherState) -> ResearcherState:
    """Join the comparisons; ``compare`` decides what comes next."""
    if not state.get("proposals"):
        raise AllBranchesFailed("No proposal was written: " + reasons(state))
    return {}


def compare(state: ResearcherState, runtime: Context) -> list[Hashable | Send]:
    """The next Swiss round (section 3.3), in parallel."""
    options, seed = runtime.context.options, runtime.context.client.settings.seed
    tasks = next_round(state["topic"], state["proposals"], state.get("games", []), options.rounds, seed)
    return [Send("judge_pair", task) for task in tasks] or ["choose_best"]


def choose_best(state: ResearcherState, runtime: Context) -> ResearcherState:
    """The best proposals that pass the filters, and those that are to be checked before.

    If the filters reject all, the best one remains, and the report says so.
    """
    proposals, wanted = state["proposals"], runtime.context.options.ideas
    games, checks = state.get("games", []), {one["position"]: one for one in state.get("filtered", [])}
    order = rank(len(proposals), games)
    passed = [position for position in order if position in checks and not checks[position]["rejected"]]
    unchecked = [position for position in order if position not in checks][: max(0, wanted - len(passed))]
    if unchecked:
        return {"next_checks": unchecked}
    chosen = passed[:wanted] or order[:1]
    drafts: list[Proposal] = [
        {
            **proposals[position],
            "number": number,
            "novelty_check": checks[position]["novelty_check"],
            "wins": record_of(position, games),
            "extra": {
                "seed": proposals[position]["seed"],
                "feasibility": checks[position]["feasibility"],
            },
        }
        for number, position in enumerate(chosen, 1)
    ]
    rejected = [
        _rejection(proposals[position]["title"], check, position in chosen)
        for position, check in checks.items()
        if check["rejected"]
    ]
    return {"next_checks": [], "drafts": [*drafts], "notes": rejected}


def _rejection(title: str, check: FilterResult, is_kept: bool) -> str:
    is_close = check["novelty_check"]["status"] == "too_close"
    why = "too close to a paper" if is_close else f"infeasible: {check['feasibility']['obstacles'][0]}"
    kept = " No other is left, so it is kept." if is_kept else ""
    return f"The filters reject “{title}” ({why.rstrip('.')}).{kept}"


def check_best(state: ResearcherState) -> list[Send]:
    """Filter the best proposals, in parallel; then design the experiments of those chosen."""
    tasks = [
        FilterTask(
            topic=state["topic"],
            position=position,
            draft=state["proposals"][position],
            check=number,
            pool=[paper["id"] for paper in state["papers"]],
        )
        for number, position in enumerate(state["next_checks"], len(state.get("filtered", [])))
    ]
    return [Send("filter_proposal", task) for task in tasks] or start_experiments(state)


async def filter_proposal(state: FilterTask, runtime: Context) -> ResearcherState:
    """Novelty against the library, and feasibility (section 3.3)."""
    draft, topic = state["draft"], deserialize(Topic, state["topic"])
    sources = source_papers(draft, draft["papers"])
    known = [deserialize(Paper, paper) for paper in sources]
    novelty, feasibility = await asyncio.gather(
        check_novelty(
            runtime.context,
            topic,
            draft,
            known,
            pool=[*state["pool"], *(paper["id"] for paper in draft["papers"])],
            requests=requests_left(runtime.context, state["check"], runtime.context.options.proposals),
        ),
        _judge_feasibility(runtime.context, topic, draft),
    )
    rejected = novelty.status == "too_close" or feasibility["verdict"] == "infeasible"
    return {
        "filtered": [
            {
                "position": state["position"],
                "novelty_check": serialize(novelty),
                "feasibility": feasibility,
                "rejected": rejected,
            }
        ]
    }


async def _judge_feasibility(context: Services, topic: Topic, draft: Draft) -> FeasibilityResult:
    """The judge's answer; its verdict is ``None`` if it cannot be read."""
    try:
        answer = await FEASIBILITY_JUDGE(
            context.client, topic=topic.text, idea=idea_view(draft), evaluation=draft["evaluation"]
        )
    except UnreadableAnswer as error:
        return {"verdict": None, "obstacles": [str(error)]}
    return {"obstacles": list(answer.obstacles), "verdict": answer.verdict}


def build_graph() -> StateGraph[ResearcherState, Services, ResearcherState, ResearcherState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(ResearcherState, context_schema=Services)
    graph.add_node("search_literature", literature_review.search_literature)
    graph.add_node("score_papers", literature_review.score_papers)
    graph.add_node("select_papers", literature_review.select_papers)
    graph.add_node("write_seeds", seed_ideas.write_seeds)
    graph.add_node("gather_seeds", seed_ideas.gather_seeds)
    graph.add_node("drop_duplicates", seed_ideas.drop_duplicates)
    graph.add_node("write_proposal", write_proposal)
    graph.add_node("draw_round", draw_round)
    graph.add_node("judge_pair", judge_pair)
    graph.add_node("choose_best", choose_best)
    graph.add_node("filter_proposal", filter_proposal)
    graph.add_node("design_experiment", design_experiment)
    graph.add_edge(START, "search_literature")
    graph.add_conditional_edges(
        "search_literature", literature_review.after_search, ["search_literature", "score_papers"]
    )
    graph.add_edge("score_papers", "select_papers")
    graph.add_edge("select_papers", "gather_seeds")
    graph.add_conditional_edges("gather_seeds", seed_ideas.start_seeds, ["write_seeds", "drop_duplicates"])
    graph.add_edge("write_seeds", "gather_seeds")
    graph.add_conditional_edges("drop_duplicates", start_proposals, ["write_proposal"])
    graph.add_edge("write_proposal", "draw_round")
    graph.add_conditional_edges("draw_round", compare, ["judge_pair", "choose_best"])
    graph.add_edge("judge_pair", "draw_round")
    graph.add_conditional_edges("choose_best", check_best, ["filter_proposal", "design_experiment"])
    graph.add_edge("filter_proposal", "choose_best")
    graph.add_edge("design_experiment", END)
    return graph
