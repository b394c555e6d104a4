"""The agent ``research-agent`` for the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from ideagora.config import Group
from ideagora.graphs.agent import Agent, AgentOptions, Origin, set_option
from ideagora.schema import Experiment, Idea, Paper, Source, Usage, stable_id

CRITERIA_PER_PART = 5
PARTS = 3


class ResearchAgentOptions(AgentOptions):
    """Options of the agent. The paper reviews and refines each part in up to three rounds."""

    rounds: int = Field(default=1, ge=0, le=5)
    """Rounds of review and refinement of each part (problem, method, experiment)."""
    papers: int = Field(default=10, ge=1, le=50)
    """Maximum number of references of the core paper that are shown, those closest to the topic."""
    entities: int = Field(default=10, ge=0, le=50)
    """Maximum number of entities from beyond the references; 0 switches the entity store off."""
    store_papers: int = Field(default=200, ge=10, le=1000)
    """Papers of the library, those closest to the core paper, that the entity store is built over."""
    ideas: int = Field(default=1, ge=1, le=20)
    """Number of core papers; each yields one idea."""
    allow_thin: bool = False
    """Continue with the nearest papers if none is about the topic (--allow-off-topic)."""


def agent() -> Agent:
    """ResearchAgent."""
    return Agent(
        name="research-agent",
        about="Starts from a core paper, its references and entities that occur with theirs elsewhere; "
        "writes problem, method and experiment, each reviewed on five criteria and refined.",
        source="ResearchAgent, arXiv 2404.07738",
        options=ResearchAgentOptions(),
        build=_build,
        start=lambda topic: {"topic": topic.model_dump(mode="json")},
        ideas=_ideas,
        failures=lambda state: list(state.get("failures", [])),
        notes=_notes,
        expected_calls=_expected_calls,
        set_ideas=set_option("ideas"),
        steps=("find_core_papers", "develop_idea", "gather"),
        subgraphs={"develop_idea": _build_development},
    )


def _build() -> Any:
    from ideagora.graphs.research_agent.graph import build_graph

    return build_graph()


def _build_development() -> Any:
    from ideagora.graphs.research_agent.development import build_development

    return build_development()


def motivation_of(problem: Mapping[str, Any]) -> str:
    """Problem and rationale as one text."""
    return f"{problem['problem']} {problem['rationale']}"


def _expected_calls(options: BaseModel) -> dict[Group, int]:
    """Calls if every reviewer suggests something in every round."""
    assert isinstance(options, ResearchAgentOptions)
    writing = options.ideas * PARTS * (1 + options.rounds)
    reviews = options.ideas * PARTS * options.rounds * CRITERIA_PER_PART
    return {"main": writing, "judge": 1 + reviews}


def _ideas(state: Mapping[str, Any], origin: Origin) -> list[Idea]:
    """The ideas in the order of their core papers, the most relevant first."""
    ideas = sorted(state.get("developed", []), key=lambda developed: int(developed["number"]))
    return [_idea(developed, state["topic"]["text"], origin) for developed in ideas]


def _idea(developed: Mapping[str, Any], topic: str, origin: Origin) -> Idea:
    problem, method, label = developed["problem"], developed["method"], f"core {developed['number']}"
    sources = tuple(Source.model_validate(source) for source in (*problem["sources"], *method["sources"]))
    names = ("title", "method", "novelty", "summary")
    shown = [*developed["papers"], *developed["elsewhere"]]
    return Idea(
        id=stable_id(origin.agent, topic, str(developed["number"]), method["title"], method["method"]),
        topic=topic,
        agent=origin.agent,
        motivation=motivation_of(problem),
        **{name: method[name] for name in names},
        experiment=Experiment.model_validate(developed["plan"]) if developed["plan"] else None,
        references=tuple(dict.fromkeys(source.paper_id for source in sources if source.verbatim)),
        sources=sources,
        neighbours=tuple(Paper.model_validate(paper) for paper in shown),
        facets={
            "purpose": problem["purpose"],
            "mechanism": method["mechanism"],
            "evaluation": method["evaluation"],
        },
        model=origin.model,
        usage=origin.usage.get(label, Usage()),
        created=origin.answered.get(label),
        extra={
            "core_paper": developed["papers"][0]["id"],
            "entities": [entity["name"] for entity in developed["entities"]],
            "reviews": developed["reviews"],
        },
    )


def _notes(state: Mapping[str, Any]) -> list[str]:
    """Core papers without references, reviews that could not be read, and parts that stayed unrefined."""
    developed = sorted(state.get("developed", []), key=lambda one: int(one["number"]))
    return [*state.get("missing", []), *(note for one in developed for note in one["notes"])]
