"""The agent ``ai-researcher`` for the registry."""

from __future__ import annotations

from pydantic import BaseModel, Field

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, imported, set_option
from ideagora.graphs.drafts import drafted_ideas


class ResearcherOptions(AgentOptions):
    """Options of the agent, with modest defaults."""

    ideas: int = Field(default=1, ge=1, le=20)
    """Number of ideas, the best-ranked ones that pass the filters."""
    actions: int = Field(default=3, ge=1, le=20)
    """Maximum number of searches of the literature review."""
    papers: int = Field(default=24, ge=1, le=120)
    """Maximum number of papers found (paper: 120)."""
    papers_per_action: int = Field(default=8, ge=1, le=20)
    """Papers taken from one search (paper: 20)."""
    seeds: int = Field(default=12, ge=2, le=4000)
    """Number of seed ideas (paper: 4,000)."""
    proposals: int = Field(default=6, ge=1, le=200)
    """Maximum number of seeds that are expanded (paper: all that are left)."""
    duplicate_similarity: float = Field(default=0.8, gt=0, le=1)
    """Cosine from which a seed counts as a duplicate of an earlier one (paper: 0.8)."""
    rounds: int = Field(default=3, ge=1, le=20)
    """Swiss rounds of the ranking (paper: 5)."""
    allow_thin: bool = False
    """Continue with the nearest papers if none is about the topic (--allow-off-topic)."""


def agent() -> Agent:
    """Many seed ideas, de-duplicated, expanded, ranked and filtered."""
    return Agent(
        name="ai-researcher",
        about="Writes many short ideas, half of them from literature, drops duplicates, expands the rest and "
        "ranks the proposals in Swiss rounds.",
        source="AI-Researcher, Si et al., arXiv 2409.04109",
        options=ResearcherOptions(),
        build=imported("ideagora.graphs.ai_researcher.graph:build_graph"),
        ideas=drafted_ideas,
        expected_calls=_expected_calls,
        set_ideas=set_option("ideas", seeds=lambda ideas: 3 * ideas, proposals=lambda ideas: 2 * ideas),
        steps=(
            "search_literature",
            "score_papers",
            "select_papers",
            "write_seeds",
            "gather_seeds",
            "drop_duplicates",
            "write_proposal",
            "draw_round",
            "judge_pair",
            "choose_best",
            "filter_proposal",
            "design_experiment",
        ),
    )


def _expected_calls(options: BaseModel) -> dict[Group, int]:
    """Calls if no seed is a duplicate and the best proposals pass the filters."""
    from ideagora.graphs.ai_researcher.literature_review import SCORED_PER_CALL
    from ideagora.graphs.ai_researcher.seed_ideas import seed_counts

    assert isinstance(options, ResearcherOptions)
    proposals = min(options.proposals, options.seeds)
    games = proposals // 2 * min(options.rounds, proposals - 1 + proposals % 2)
    seeds, scoring = len(seed_counts(options.seeds)), -(-options.papers // SCORED_PER_CALL)
    ideas = min(options.ideas, proposals)
    return {
        "main": seeds + proposals + ideas,
        "reader": options.actions - 1,
        "judge": scoring + games + 2 * ideas,
    }
