"""The agent ``ai-researcher`` for the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, Origin, set_option
from ideagora.graphs.single_idea import numbered_ideas, one_idea
from ideagora.schema import Idea, NoveltyCheck, Paper


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


def agent() -> Agent:
    """Many seed ideas, de-duplicated, expanded, ranked and filtered."""
    return Agent(
        name="ai-researcher",
        about="Writes many short ideas, half of them from literature, drops duplicates, expands the rest and "
        "ranks the proposals in Swiss rounds.",
        source="AI-Researcher, Si et al., arXiv 2409.04109",
        options=ResearcherOptions(),
        build=_build,
        start=lambda topic: {"topic": topic.model_dump(mode="json")},
        ideas=_ideas,
        failures=lambda state: list(state.get("failures", [])),
        notes=_notes,
        expected_calls=_expected_calls,
        set_ideas=_set_ideas,
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


def _build() -> Any:
    from ideagora.graphs.ai_researcher.graph import build_graph

    return build_graph()


def _set_ideas(options: BaseModel, number: int) -> ResearcherOptions:
    """Enough seeds and proposals for the ideas."""
    assert isinstance(options, ResearcherOptions)
    chosen = set_option("ideas")(options, number)
    assert isinstance(chosen, ResearcherOptions)
    update = {"seeds": max(options.seeds, 3 * number), "proposals": max(options.proposals, 2 * number)}
    return chosen.model_copy(update=update)


def _expected_calls(options: BaseModel) -> dict[Group, int]:
    """Calls if no seed is a duplicate and the best proposals pass the filters."""
    from ideagora.graphs.ai_researcher.graph import seed_counts
    from ideagora.graphs.ai_researcher.literature_review import SCORED_PER_CALL

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


def _ideas(state: Mapping[str, Any], origin: Origin) -> list[Idea]:
    topic = state["topic"]["text"]

    def make(draft: Mapping[str, Any], plan: Mapping[str, Any] | None, own: Origin) -> Idea:
        return one_idea(
            topic,
            draft,
            plan,
            own,
            [Paper.model_validate(paper) for paper in draft["papers"]],
            novelty_check=NoveltyCheck.model_validate(draft["novelty_check"]),
            wins=draft["wins"],
            extra={"seed": draft["seed"], "feasibility": draft["feasibility"]},
        )

    return numbered_ideas(state, origin, make)


def _notes(state: Mapping[str, Any]) -> list[str]:
    """What was searched, which seeds were dropped, and which proposals the filters rejected."""
    searched = [
        f"Searched: {action['text']} ({action['new_papers']} new papers)."
        for action in state.get("actions", [])
    ]
    dropped = [
        f"Dropped the seed “{one['title']}”: similarity {one['similarity']:.2f} to “{one['of']}”."
        for one in state.get("duplicates", [])
    ]
    rejected = [_rejection(state, check) for check in state.get("filtered", []) if check["rejected"]]
    return [*searched, *dropped, *rejected]


def _rejection(state: Mapping[str, Any], check: Mapping[str, Any]) -> str:
    title = state["proposals"][check["position"]]["title"]
    is_close = check["novelty_check"]["status"] == "too_close"
    why = "too close to a paper" if is_close else f"infeasible: {check['feasibility']['obstacles'][0]}"
    is_kept = any(draft["position"] == check["position"] for draft in state.get("drafts", []))
    kept = " No other is left, so it is kept." if is_kept else ""
    return f"The filters reject “{title}” ({why.rstrip('.')}).{kept}"
