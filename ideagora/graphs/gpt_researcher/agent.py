"""The agent ``gpt-researcher`` for the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, Origin, set_option
from ideagora.graphs.single_idea import numbered_ideas, one_idea
from ideagora.schema import Idea, Paper


class GptResearcherOptions(AgentOptions):
    """Options of the agent."""

    questions: int = Field(default=4, ge=1, le=12)
    """Number of questions that the topic is divided into."""
    papers: int = Field(default=5, ge=1, le=30)
    """Maximum number of papers per question, and of the first search."""
    ideas: int = Field(default=1, ge=1, le=20)
    """Number of ideas, each written with the earlier ones in view."""
    allow_thin: bool = False
    """Continue with the nearest papers if none is about the topic (--allow-off-topic)."""


def agent() -> Agent:
    """GPT-Researcher, which plans and solves."""
    return Agent(
        name="gpt-researcher",
        about="Divides the topic into questions, answers each from papers found for it, side by side, and "
        "combines the answers into an idea.",
        source="GPT-Researcher baseline of Chain of Ideas, arXiv 2410.13185",
        options=GptResearcherOptions(),
        build=_build,
        start=lambda topic: {"topic": topic.model_dump(mode="json")},
        ideas=_ideas,
        failures=lambda state: list(state.get("failures", [])),
        notes=_notes,
        expected_calls=_expected_calls,
        set_ideas=set_option("ideas"),
        steps=("search_topic", "plan_questions", "answer_question", "write_idea", "design_experiment"),
    )


def _build() -> Any:
    from ideagora.graphs.gpt_researcher.graph import build_graph

    return build_graph()


def _expected_calls(options: BaseModel) -> dict[Group, int]:
    assert isinstance(options, GptResearcherOptions)
    return {"judge": 1, "main": 1 + 2 * options.ideas, "reader": options.questions}


def _ideas(state: Mapping[str, Any], origin: Origin) -> list[Idea]:
    from ideagora.graphs.gpt_researcher.graph import load_papers, load_questions

    papers = [Paper.model_validate(paper) for paper in load_papers(state)]
    topic, questions = state["topic"]["text"], load_questions(state)
    return numbered_ideas(
        state,
        origin,
        lambda draft, plan, own: one_idea(
            topic, draft, plan, own, papers, extra={"synthesis": draft["synthesis"], "questions": questions}
        ),
    )


def _notes(state: Mapping[str, Any]) -> list[str]:
    """Which questions have no answer, and why."""
    return [
        f"The question “{question['question']}” has no answer: {question['missing']}."
        for question in sorted(state.get("answers", []), key=lambda question: int(question["number"]))
        if question["missing"]
    ]
