"""The portfolio as a state machine, step by step.

1. Draft (``steps/drafting.py``): several agents draft in parallel, and near duplicates are merged.
2. Vary (``steps/variation.py``): in each round, parents are combined, simplified or turned upside down.
3. Select (``steps/selection.py``): a child that loses to a parent does not survive; survivors that are twins
   are merged, and the next round begins if rounds or budget are left.
4. Choose (``steps/choice.py``): of the survivors, those that are far from one another remain, once their
   novelty is checked.
5. Rank (``steps/ranking.py``): the arena's judge and adaptive schedule rank them.
6. Finish (``steps/finish.py``): the experiments that are missing, and an overview of what the ideas share.
"""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph

from ideagora.graphs.portfolio.state import PortfolioState
from ideagora.graphs.portfolio.steps.choice import check_chosen, check_novelty, choose_ideas
from ideagora.graphs.portfolio.steps.drafting import draft, merge_twins, prepare, start_drafts
from ideagora.graphs.portfolio.steps.finish import finish, write_overview
from ideagora.graphs.portfolio.steps.ranking import compare_ideas, draw_comparisons, rank_ideas
from ideagora.graphs.portfolio.steps.selection import gather_children, select_children, start_comparisons
from ideagora.graphs.portfolio.steps.variation import plan_round, start_round, vary
from ideagora.graphs.services import Services
from ideagora.graphs.steps.first_plan import design_experiment
from ideagora.graphs.steps.swiss_ranking import judge_pair

Graph = StateGraph[PortfolioState, Services, PortfolioState, PortfolioState]


def build_graph() -> Graph:
    """The graph of the agent, not compiled."""
    graph: Graph = StateGraph(PortfolioState, context_schema=Services)
    _draft(graph)
    _vary(graph)
    _select(graph)
    _choose(graph)
    _rank(graph)
    _finish(graph)
    return graph


def _draft(graph: Graph) -> None:
    graph.add_node("prepare", prepare)
    graph.add_node("draft", draft)
    graph.add_node("merge_twins", merge_twins)
    graph.add_edge(START, "prepare")
    graph.add_conditional_edges("prepare", start_drafts, ["draft"])
    graph.add_edge("draft", "merge_twins")
    graph.add_edge("merge_twins", "plan_round")


def _vary(graph: Graph) -> None:
    graph.add_node("plan_round", plan_round)
    graph.add_node("vary", vary)
    graph.add_conditional_edges("plan_round", start_round, ["vary", "choose_ideas"])
    graph.add_edge("vary", "gather_children")


def _select(graph: Graph) -> None:
    graph.add_node("gather_children", gather_children)
    graph.add_node("compare_with_parent", judge_pair)
    graph.add_node("select_children", select_children)
    graph.add_conditional_edges(
        "gather_children", start_comparisons, ["compare_with_parent", "select_children"]
    )
    graph.add_edge("compare_with_parent", "select_children")
    graph.add_edge("select_children", "merge_twins")


def _choose(graph: Graph) -> None:
    graph.add_node("choose_ideas", choose_ideas)
    graph.add_node("check_novelty", check_novelty)
    graph.add_conditional_edges("choose_ideas", check_chosen, ["check_novelty", "draw_comparisons"])
    graph.add_edge("check_novelty", "choose_ideas")


def _rank(graph: Graph) -> None:
    graph.add_node("draw_comparisons", draw_comparisons)
    graph.add_node("judge_pair", judge_pair)
    graph.add_node("rank_ideas", rank_ideas)
    graph.add_conditional_edges("draw_comparisons", compare_ideas, ["judge_pair", "rank_ideas"])
    graph.add_edge("judge_pair", "draw_comparisons")
    graph.add_conditional_edges("rank_ideas", finish, ["design_experiment", "write_overview"])


def _finish(graph: Graph) -> None:
    graph.add_node("design_experiment", design_experiment)
    graph.add_node("write_overview", write_overview)
    graph.add_edge("design_experiment", END)
    graph.add_edge("write_overview", END)
