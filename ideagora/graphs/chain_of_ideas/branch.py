"""The state machine of one branch: grow a chain, then generate an idea from it (sections 3.2 and 3.3)."""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph

from ideagora.graphs.chain_of_ideas import direction, growth, idea_generation
from ideagora.graphs.chain_of_ideas.state import BranchState
from ideagora.graphs.services import Services


def build_branch() -> StateGraph[BranchState, Services, BranchState, BranchState]:
    """The graph of one branch, not compiled."""
    graph = StateGraph(BranchState, context_schema=Services)
    graph.add_node("place_anchor", growth.place_anchor)
    graph.add_node("extend_forward", growth.extend_forward)
    graph.add_node("extend_backward", growth.extend_backward)
    graph.add_node("grow", growth.grow)
    graph.add_node("read_papers", growth.read_papers)
    graph.add_node("analyse_trend", direction.analyse_trend)
    graph.add_node("predict_direction", direction.predict_direction)
    graph.add_node("draft_idea", idea_generation.draft_idea)
    graph.add_node("judge_novelty", idea_generation.judge_novelty)
    graph.add_node("drop_draft", idea_generation.drop_draft)
    graph.add_edge(START, "place_anchor")
    graph.add_edge("place_anchor", "grow")
    graph.add_conditional_edges(
        "grow", growth.next_growth, ["extend_forward", "extend_backward", "read_papers"]
    )
    graph.add_edge("extend_forward", "grow")
    graph.add_edge("extend_backward", "grow")
    graph.add_edge("read_papers", "analyse_trend")
    graph.add_edge("analyse_trend", "predict_direction")
    graph.add_conditional_edges("predict_direction", idea_generation.after_direction, ["draft_idea", END])
    graph.add_edge("draft_idea", "judge_novelty")
    graph.add_conditional_edges("judge_novelty", idea_generation.after_novelty, ["drop_draft", END])
    graph.add_edge("drop_draft", "draft_idea")
    return graph
