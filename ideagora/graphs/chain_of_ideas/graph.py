"""The Chain-of-Ideas agent (arXiv 2410.13185, section 3) as a state machine.

Queries, anchors, one branch per anchor, the choice among the branches' ideas, and the experiment for the
best one. Branches are graphs of their own (``branch.py``) and run in parallel; one that fails is recorded
with its reason and costs only its own idea.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from itertools import combinations
from typing import cast

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from ideagora.agents.arena.judges import IDEA_JUDGE
from ideagora.agents.views import idea_view
from ideagora.errors import AllBranchesFailed, UnreadableAnswer
from ideagora.graphs.agent import Failure
from ideagora.graphs.chain_of_ideas import direction, duplicate_ideas, experiment, leads
from ideagora.graphs.chain_of_ideas.branch import build_branch
from ideagora.graphs.chain_of_ideas.chains import anchors, growth, proposals
from ideagora.graphs.chain_of_ideas.choice import novelty_key, rank_branches, score_duels
from ideagora.graphs.chain_of_ideas.loading import load_topic
from ideagora.graphs.chain_of_ideas.records import Duel
from ideagora.graphs.chain_of_ideas.state import (
    BranchState,
    ChainTask,
    Context,
    DraftPair,
    IdeationState,
    LeadTask,
    PairTask,
    branch_update,
    chain_task,
    live_chains,
)
from ideagora.graphs.services import Services
from ideagora.graphs.steps.literature.topic_similarity import topic_similarity
from ideagora.models.usage import usage_label
from ideagora.schema import FAR_FROM_TOPIC, NoveltyCheck, Paper, deserialize


def start_branches(state: IdeationState) -> list[Hashable | Send]:
    """One branch per chain, in parallel."""
    tasks = [chain_task(state, chain) for chain in live_chains(state)]
    return [Send("explore_branch", task) for task in tasks] or ["gather"]


async def explore_branch(state: ChainTask, runtime: Context) -> IdeationState:
    """Derive an idea from one chain; a failure is recorded and the other branches continue."""
    update = await branch_update(state, runtime.context, _explore(state, runtime.context))
    if "failures" in update:
        return update
    return {"branches": [*update["chains"].values()]}


async def _explore(task: ChainTask, context: Services) -> BranchState:
    branch = build_branch().compile()
    start = {**task["chain"], "topic": task["topic"]}
    final = await branch.ainvoke(start, context=context)  # type: ignore[call-overload]
    result = {key: final[key] for key in sorted(final) if key not in ("topic", "proposed")}
    papers = [Paper.model_validate(link["paper"]) for link in final["links"]]
    similarity = await topic_similarity(context.library, load_topic(task), papers)
    result["topic_similarity"] = round(sum(similarity.values()) / len(similarity), 4)
    return cast(BranchState, result)


def gather(state: IdeationState) -> IdeationState:
    """Join the branches; ``pair_up`` decides what comes next."""
    return {}


def pair_up(state: IdeationState, runtime: Context) -> list[Hashable | Send]:
    """Have every pair of branches judged in both orders, in parallel; a single branch needs no judge.

    When leads are made (``leads.py``), no branch has a draft to judge.
    """
    branches = sorted(state.get("branches", []), key=lambda branch: branch["branch"])
    if not branches:
        raise AllBranchesFailed(_explain_failures(state.get("failures", [])))
    if runtime.context.makes_leads:
        return ["choose_pairs"]
    duels = _start_duels(state, {branch["branch"] for branch in branches})
    looks_for_twins = ["find_twins"] if runtime.context.options.twins else []
    return [*looks_for_twins, *duels] if duels else ["choose"]


def _start_duels(state: IdeationState, involved: Collection[int]) -> list[Send]:
    """Every pair with at least one of these branches, in both orders."""
    branches = sorted(state["branches"], key=lambda branch: branch["branch"])
    pairs = [
        DraftPair(first=first, second=second)
        for one, other in combinations(branches, 2)
        if one["branch"] in involved or other["branch"] in involved
        for first, second in ((one, other), (other, one))
    ]
    return [Send("judge_pair", PairTask(topic=state["topic"], pair=pair)) for pair in pairs]


def settle(state: IdeationState) -> IdeationState:
    """Join the verdicts and the search for duplicates; ``after_verdicts`` decides what comes next."""
    return {}


def after_verdicts(state: IdeationState) -> list[Hashable | Send]:
    """Draft duplicates again, once; then choose."""
    return [*duplicate_ideas.start_redrafts(state)] or ["choose"]


def join_redrafts(state: IdeationState) -> IdeationState:
    """Join the redrafts; ``judge_again`` decides what comes next."""
    return {}


def judge_again(state: IdeationState) -> list[Hashable | Send]:
    """Judge the pairs whose idea has changed."""
    changed = {twin["branch"] for twin in state["redrafted"] if twin["changed"]}
    return [*_start_duels(state, changed)] or ["choose"]


def _explain_failures(failures: list[Failure]) -> str:
    reasons = "; ".join(f"branch {f['branch']} ({f['query']}): {f['error']}" for f in failures)
    return f"No branch produced an idea. {reasons}"


async def judge_pair(state: PairTask, runtime: Context) -> IdeationState:
    """Judge one pair in one order; an unreadable verdict is recorded as unscored, never as a tie."""
    first, second = state["pair"]["first"], state["pair"]["second"]
    duel = Duel(
        first=first["branch"],
        second=second["branch"],
        judge=runtime.context.client.settings.model_of("judge"),
        criteria=None,
        overall=None,
        reason="",
    )
    with usage_label("choice"):
        try:
            answer = await IDEA_JUDGE(
                runtime.context.client,
                topic=load_topic(state).text,
                first=idea_view(first["draft"]),
                second=idea_view(second["draft"]),
            )
        except UnreadableAnswer as error:
            return {"duels": [{**duel, "reason": str(error)}]}
    criteria = answer.model_dump(exclude={"reason", "overall"})
    return {"duels": [{**duel, "criteria": criteria, "overall": answer.overall, "reason": answer.reason}]}


def choose(state: IdeationState) -> IdeationState:
    """Rank the branches; the idea with the highest winning rate gets an experiment (section 3.3)."""
    checks = {
        branch["branch"]: deserialize(NoveltyCheck, branch["novelty_check"]) for branch in state["branches"]
    }
    scores = score_duels(state.get("duels", []), list(checks))
    too_close = {number for number, check in checks.items() if check.status == "too_close"}
    similarity = {branch["branch"]: branch.get("topic_similarity") for branch in state["branches"]}
    far = {number for number, value in similarity.items() if value is not None and value < FAR_FROM_TOPIC}
    novelty = {number: novelty_key(check) for number, check in checks.items()}
    ranking = rank_branches(scores, too_close, far, novelty)
    return {"ranking": [score.as_state() for score in ranking]}


def choose_pairs(state: IdeationState, runtime: Context) -> IdeationState:
    """Select the pairs of limitation and mechanism, across all chains, that leads are made of."""
    avoided = [paper.abstract or "" for paper in load_topic(state).avoided]
    pairs = leads.select_pairs(leads.without_pairs(state["branches"], avoided), leads.MAX_LEADS + 2)
    if not pairs:
        raise AllBranchesFailed(
            "No lead: no open limitation in the chains is close enough to a mechanism of another paper. "
            "Try a related topic, or a language model (--model)."
        )
    return {"pairs": [{**pair, "number": number} for number, pair in enumerate(pairs, 1)]}


def start_leads(state: IdeationState) -> list[Send]:
    """One lead per pair, in parallel."""
    tasks = [LeadTask(topic=state["topic"], pair=pair) for pair in state["pairs"]]
    return [Send("make_lead", task) for task in tasks]


async def make_lead(state: LeadTask, runtime: Context) -> IdeationState:
    """Write one lead, with its novelty check and a cheap first test."""
    return {"leads": [await leads.make_lead(runtime.context, load_topic(state), state["pair"])]}


def build_graph() -> StateGraph[IdeationState, Services, IdeationState, IdeationState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(IdeationState, context_schema=Services)
    graph.add_node("plan_queries", anchors.plan_queries)
    graph.add_node("find_anchors", anchors.find_anchors)
    graph.add_node("place_anchors", growth.place_anchors)
    graph.add_node("extend_chain", proposals.extend_chain)
    graph.add_node("grow", growth.grow)
    graph.add_node("study_chain", direction.study_chain)
    graph.add_node("find_cures", direction.find_cures)
    graph.add_node("explore_branch", explore_branch)
    graph.add_node("gather", gather)
    graph.add_node("judge_pair", judge_pair)
    graph.add_node("find_twins", duplicate_ideas.find_twins)
    graph.add_node("settle", settle)
    graph.add_node("redraft_twin", duplicate_ideas.redraft_twin)
    graph.add_node("join_redrafts", join_redrafts)
    graph.add_node("choose_pairs", choose_pairs)
    graph.add_node("make_lead", make_lead)
    graph.add_node("choose", choose)
    graph.add_node("plan_experiment", experiment.plan_for_idea)
    graph.add_edge(START, "plan_queries")
    graph.add_edge("plan_queries", "find_anchors")
    graph.add_edge("find_anchors", "place_anchors")
    after_growth = ["extend_chain", "study_chain", "find_cures"]
    graph.add_conditional_edges("place_anchors", growth.next_growth, after_growth)
    graph.add_edge("extend_chain", "grow")
    graph.add_conditional_edges("grow", growth.next_growth, after_growth)
    graph.add_edge("study_chain", "find_cures")
    graph.add_conditional_edges("find_cures", start_branches, ["explore_branch", "gather"])
    graph.add_edge("explore_branch", "gather")
    graph.add_conditional_edges("gather", pair_up, ["judge_pair", "find_twins", "choose", "choose_pairs"])
    graph.add_conditional_edges("choose_pairs", start_leads, ["make_lead"])
    graph.add_edge("make_lead", END)
    graph.add_edge("judge_pair", "settle")
    graph.add_edge("find_twins", "settle")
    graph.add_conditional_edges("settle", after_verdicts, ["redraft_twin", "choose"])
    graph.add_edge("redraft_twin", "join_redrafts")
    graph.add_conditional_edges("join_redrafts", judge_again, ["judge_pair", "choose"])
    graph.add_conditional_edges("choose", experiment.start_experiments, ["plan_experiment"])
    graph.add_edge("plan_experiment", END)
    return graph
