"""The state machine of one branch: from its chain to an idea (section 3.3)."""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph

from ideagora.graphs.chain_of_ideas import direction, idea_generation
from ideagora.graphs.chain_of_ideas.state import BranchState
from ideagora.graphs.services import Services


def build_branch() -> StateGraph[BranchState, Services, BranchState, BranchState]:
    """The graph of one branch, not compiled."""
    graph = StateGraph(BranchState, context_schema=Services)
    graph.add_node("predict_direction", direction.predict_direction)
    graph.add_edge(START, "predict_direction")
    graph.add_conditional_edges("predict_direction", idea_generation.after_direction, ["draft_idea", END])
    return _with_drafting(graph)


def build_redraft() -> StateGraph[BranchState, Services, BranchState, BranchState]:
    """The graph that drafts another idea for a branch whose direction is known, not compiled."""
    graph = StateGraph(BranchState, context_schema=Services)
    graph.add_edge(START, "draft_idea")
    return _with_drafting(graph)


def _with_drafting(
    graph: StateGraph[BranchState, Services, BranchState, BranchState],
) -> StateGraph[BranchState, Services, BranchState, BranchState]:
    graph.add_node("draft_idea", idea_generation.draft_idea)
    graph.add_node("judge_novelty", idea_generation.judge_novelty)
    graph.add_node("drop_draft", idea_generation.drop_draft)
    graph.add_edge("draft_idea", "judge_novelty")
    graph.add_conditional_edges("judge_novelty", idea_generation.after_novelty, ["drop_draft", END])
    graph.add_edge("drop_draft", "draft_idea")
    return graph
