"""The agent ``gpt-researcher`` for the registry."""

from __future__ import annotations

from pydantic import BaseModel, Field

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, imported, set_option
from ideagora.graphs.drafts import drafted_ideas


class GptResearcherOptions(AgentOptions):
    """Options of the agent."""

    questions: int = Field(default=4, ge=1, le=12)
    """Number of questions that the topic is divided into."""
    papers: int = Field(default=5, ge=1, le=30)
    """Maximum number of papers per question, and of the first search."""
    ideas: int = Field(default=1, ge=1, le=20)
    """Number of ideas, each written with the earlier ones shown."""
    allow_thin: bool = False
    """Continue with the nearest papers if none is about the topic (--allow-off-topic)."""


def agent() -> Agent:
    """GPT-Researcher, which plans and solves."""
    return Agent(
        name="gpt-researcher",
        about="Divides the topic into questions, answers each from papers found for it, in parallel, and "
        "combines the answers into an idea.",
        source="GPT-Researcher baseline of Chain of Ideas, arXiv 2410.13185",
        options=GptResearcherOptions(),
        build=imported("ideagora.graphs.gpt_researcher.graph:build_graph"),
        ideas=drafted_ideas,
        expected_calls=_expected_calls,
        set_ideas=set_option("ideas"),
        steps=("search_topic", "plan_questions", "answer_question", "write_idea", "design_experiment"),
    )


def _expected_calls(options: BaseModel) -> dict[Group, int]:
    assert isinstance(options, GptResearcherOptions)
    return {"judge": 1, "main": 1 + 2 * options.ideas, "reader": options.questions}
