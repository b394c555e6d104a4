"""The portfolio as a state machine: draft, merge, vary in rounds, check, spread, rank.

Several agents draft in parallel. Near twins are merged. In each round, parents are combined, simplified or
turned upside down, and a child that loses to a parent does not survive. Of the survivors, those that are far
from one another remain, once their novelty is checked; they are ranked with the arena's judge and adaptive
schedule.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import replace
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.errors import AllBranchesFailed, IdeagoraError
from ideagora.graphs.agent import Origin
from ideagora.graphs.drafts import failure
from ideagora.graphs.portfolio import variation
from ideagora.graphs.portfolio.budget import may_begin_round
from ideagora.graphs.portfolio.drafters import small_agent
from ideagora.graphs.portfolio.finish import finish, write_overview
from ideagora.graphs.portfolio.members import (
    PortfolioState,
    alive,
    closest_papers,
    drafted,
    known_ideas,
    named,
    papers_of,
    parts,
    surpassed,
    text_of,
)
from ideagora.graphs.portfolio.ranking import next_pairs, pair_tasks, rate
from ideagora.graphs.portfolio.spread import farthest, similarities, two_dimensions
from ideagora.graphs.services import Services
from ideagora.graphs.steps.duplicates import find_same_ideas
from ideagora.graphs.steps.first_plan import design_experiment
from ideagora.graphs.steps.novelty import check_novelty as compare_with_papers
from ideagora.graphs.steps.swiss_ranking import judge_pair
from ideagora.models.usage import label_scope, usage_label
from ideagora.schema import Topic

Context = Runtime[Services]


class DraftTask(TypedDict):
    """Payload of ``draft``."""

    topic: dict[str, Any]
    drafter: str


class NoveltyTask(TypedDict):
    """Payload of ``check_novelty``."""

    topic: dict[str, Any]
    position: int
    member: dict[str, Any]


def prepare(state: PortfolioState) -> PortfolioState:
    """Nothing; the drafters start in parallel from here."""
    return {}


def start_drafts(state: PortfolioState, runtime: Context) -> list[Send]:
    """One task per agent that drafts."""
    names = runtime.context.options.drafters
    return [Send("draft", DraftTask(topic=state["topic"], drafter=name)) for name in names]


async def draft(state: DraftTask, runtime: Context) -> PortfolioState:
    """The ideas of one agent at a small setting; its failure is recorded, and the others continue."""
    name, topic = state["drafter"], Topic.model_validate(state["topic"])
    agent = small_agent(name, runtime.context.options.drafts)
    services = replace(runtime.context, options=agent.options)
    context = services if agent.context is None else agent.context(services, topic)
    with label_scope(name):
        try:
            final = await agent.build().compile().ainvoke(agent.start(topic), context=context)
        except IdeagoraError as error:
            if error.fatal:  # it concerns the whole run
                raise
            runtime.context.say(f"failed: {error}")
            return {"failures": [failure(f"{name}: {error}")]}
        ideas = agent.ideas(final, Origin(agent=name, model="", usage={}, answered={}))
        runtime.context.say(f"{len(ideas)} ideas")
    failures = [failure(f"{name}: {one['error']}") for one in agent.failures(final)]
    return {
        "members": [drafted(idea, name) for idea in ideas[: runtime.context.options.drafts]],
        "failures": failures if ideas or failures else [failure(f"{name}: it wrote no idea")],
        "notes": [f"{name}: {note}" for note in agent.notes(final)],
    }


async def merge_twins(state: PortfolioState, runtime: Context) -> PortfolioState:
    """Leave out ideas that repeat an earlier one; those of earlier rounds were compared before."""
    living, members, rounds = alive(state), state.get("members", []), state.get("rounds", 0)
    if not living:
        reasons = dict.fromkeys(one["error"].partition(": ")[2] for one in state.get("failures", []))
        raise AllBranchesFailed("No agent drafted an idea: " + "; ".join(reasons))
    settled = sum(members[position]["round"] < rounds for position in living) if rounds else 0
    found = await find_same_ideas(
        runtime.context,
        Topic.model_validate(state["topic"]),
        [parts(members[position]) for position in living],
        settled,
    )
    runtime.context.say(f"{len(living) - len(found)} different ideas")
    return {
        "removed": [
            {
                "position": living[one.later],
                "kind": "twin",
                "why": f"repeats {named(members[living[one.earlier]])}",
            }
            for one in found
        ]
    }


async def plan_round(state: PortfolioState, runtime: Context) -> PortfolioState:
    """The variations of the next round; none if rounds or budget are used up."""
    begun, context = state.get("rounds", 0), runtime.context
    if not may_begin_round(context.client, context.options, begun, len(alive(state))):
        return {"tasks": []}
    tasks = await variation.variations_of(context, state, begun + 1)
    return {"tasks": tasks, "variations": tasks, "rounds": begun + bool(tasks)}


def start_round(state: PortfolioState) -> list[Hashable | Send]:
    """The variations in parallel; without any, choose among the survivors."""
    tasks = [variation.variation_task(state, task) for task in state["tasks"]]
    return [Send("vary", task) for task in tasks] or ["choose_ideas"]


def gather_children(state: PortfolioState) -> PortfolioState:
    """Join the variations; their comparisons start from here."""
    return {}


def start_comparisons(state: PortfolioState) -> list[Hashable | Send]:
    """Each child against each parent, in both orders."""
    pairs = variation.parent_pairs(state)
    return [*_judged(state, "compare_with_parent", pairs, state["rounds"])] or ["select_children"]


def _judged(state: PortfolioState, node: str, pairs: list[tuple[int, int]], number: int) -> list[Send]:
    drafts = {position: parts(state["members"][position]) for pair in pairs for position in pair}
    return [Send(node, task) for task in pair_tasks(state["topic"], drafts, pairs, number)]


def select_children(state: PortfolioState) -> PortfolioState:
    """A child that loses to a parent does not survive."""
    return {"removed": variation.lost_children(state)}


async def choose_ideas(state: PortfolioState, runtime: Context) -> PortfolioState:
    """The survivors that are far from one another, the first one the closest to the topic.

    Ideas that a child of theirs surpasses are passed over unless too few others are left, and known ideas
    unless even then too few are left.
    """
    wanted, living = runtime.context.options.ideas, alive(state)
    known, beaten = known_ideas(state), surpassed(state)
    new = [position for position in living if position not in known and position not in beaten]
    first = await _spread(state, runtime.context, new, wanted)
    second = [position for position in living if position in beaten and position not in known]
    rest = [position for position in living if position in known]
    return {"chosen": [*first, *[*second, *rest][: wanted - len(first)]]}


async def _spread(state: PortfolioState, context: Services, positions: list[int], wanted: int) -> list[int]:
    if not positions:
        return []
    texts = [text_of(state["members"][position]) for position in positions]
    vectors = await asyncio.to_thread(context.library.embedder.encode, [state["topic"]["text"], *texts])
    similarity = similarities(vectors)
    start = int(similarity[0, 1:].argmax())
    return [positions[place] for place in farthest(similarity[1:, 1:], start, wanted)]


def check_chosen(state: PortfolioState) -> list[Hashable | Send]:
    """Check the novelty of those that no check has seen; then compare them."""
    checked = {one["position"] for one in state.get("checks", [])}
    tasks = [
        NoveltyTask(topic=state["topic"], position=position, member=state["members"][position])
        for position in state["chosen"]
        if position not in checked
    ]
    return [Send("check_novelty", task) for task in tasks] or ["draw_comparisons"]


async def check_novelty(state: NoveltyTask, runtime: Context) -> PortfolioState:
    """Compare an idea with the closest papers, unless the agent that drafted it has done so."""
    member, check = state["member"], state["member"]["idea"]["novelty_check"]
    if check is None or check["status"] == "unchecked":
        with usage_label(member["label"]):
            topic = Topic.model_validate(state["topic"])
            found = await compare_with_papers(
                runtime.context, topic, {**parts(member), "queries": member["queries"]}, papers_of(member)
            )
        check = found.model_dump(mode="json")
    closest = await closest_papers(runtime.context.library, check)
    papers = [paper.model_dump(mode="json") for paper in closest]
    return {"checks": [{"position": state["position"], "check": check, "papers": papers}]}


def draw_comparisons(state: PortfolioState) -> PortfolioState:
    """Join the comparisons; the next ones start from here."""
    return {}


def compare_ideas(state: PortfolioState, runtime: Context) -> list[Hashable | Send]:
    """The next pairs of the adaptive schedule, in parallel; then the ranking."""
    options, seed = runtime.context.options, runtime.context.client.settings.seed
    pairs = next_pairs(state["chosen"], state.get("games", []), options.comparisons, seed)
    return [*_judged(state, "judge_pair", pairs, 0)] or ["rank_ideas"]


async def rank_ideas(state: PortfolioState, runtime: Context) -> PortfolioState:
    """The chosen ideas with their ratings, best first, and the map of all ideas."""
    import numpy as np

    ratings = rate(state["chosen"], state.get("games", []))
    ranked = list(ratings) or state["chosen"]
    texts = [text_of(member) for member in state["members"]]
    vectors = await asyncio.to_thread(runtime.context.library.embedder.encode, texts)
    return {
        "chosen": ranked,
        "ratings": [rating.model_dump() for rating in ratings.values()],
        "map": two_dimensions(vectors),
        "similarity": similarities(vectors)[np.ix_(ranked, ranked)].tolist(),
    }


def build_graph() -> StateGraph[PortfolioState, Services, PortfolioState, PortfolioState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(PortfolioState, context_schema=Services)
    graph.add_node("prepare", prepare)
    graph.add_node("draft", draft)
    graph.add_node("merge_twins", merge_twins)
    graph.add_node("plan_round", plan_round)
    graph.add_node("vary", variation.vary)
    graph.add_node("gather_children", gather_children)
    graph.add_node("compare_with_parent", judge_pair)
    graph.add_node("select_children", select_children)
    graph.add_node("choose_ideas", choose_ideas)
    graph.add_node("check_novelty", check_novelty)
    graph.add_node("draw_comparisons", draw_comparisons)
    graph.add_node("judge_pair", judge_pair)
    graph.add_node("rank_ideas", rank_ideas)
    graph.add_node("design_experiment", design_experiment)
    graph.add_node("write_overview", write_overview)
    graph.add_edge(START, "prepare")
    graph.add_conditional_edges("prepare", start_drafts, ["draft"])
    graph.add_edge("draft", "merge_twins")
    graph.add_edge("merge_twins", "plan_round")
    graph.add_conditional_edges("plan_round", start_round, ["vary", "choose_ideas"])
    graph.add_edge("vary", "gather_children")
    graph.add_conditional_edges(
        "gather_children", start_comparisons, ["compare_with_parent", "select_children"]
    )
    graph.add_edge("compare_with_parent", "select_children")
    graph.add_edge("select_children", "merge_twins")
    graph.add_conditional_edges("choose_ideas", check_chosen, ["check_novelty", "draw_comparisons"])
    graph.add_edge("check_novelty", "choose_ideas")
    graph.add_conditional_edges("draw_comparisons", compare_ideas, ["judge_pair", "rank_ideas"])
    graph.add_edge("judge_pair", "draw_comparisons")
    graph.add_conditional_edges("rank_ideas", finish, ["design_experiment", "write_overview"])
    graph.add_edge("design_experiment", END)
    graph.add_edge("write_overview", END)
    return graph
