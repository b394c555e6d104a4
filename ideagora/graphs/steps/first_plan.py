"""The experiment of an idea in one call: a plan without review and refinement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.views import PaperBrief, paper_brief
from ideagora.graphs.drafts import Draft, DraftsState, usage_name
from ideagora.graphs.services import Services
from ideagora.graphs.steps.experiment import ExperimentState, plan_experiment
from ideagora.models.usage import usage_label
from ideagora.schema import Paper, Serialized, Source, Topic, deserialize, serialize


class PlanTask(TypedDict):
    """Payload of ``design_experiment``."""

    topic: Serialized[Topic]
    draft: Draft
    number: int
    """Number of the idea, from 1."""
    papers: list[Serialized[Paper]]
    """The papers that the designer is shown."""


def start_experiments(state: DraftsState) -> list[Send]:
    """One ``design_experiment`` per draft, in parallel, each shown the papers that the draft names."""
    return [
        Send(
            "design_experiment",
            PlanTask(
                topic=state["topic"],
                draft=draft,
                number=draft["number"],
                papers=source_papers(draft, draft.get("papers", [])),
            ),
        )
        for draft in state["drafts"]
    ]


async def design_experiment(state: PlanTask, runtime: Runtime[Services]) -> DraftsState:
    """A plan for one idea, as an entry of ``plans``: the idea's number and the plan."""
    start = ExperimentState(
        topic=state["topic"],
        draft=state["draft"],
        related=[serialize(paper) for paper in paper_briefs(state["papers"])],
    )
    with usage_label(usage_name("experiment", state["number"])):
        plan = await plan_experiment(runtime.context, start)
    return {"plans": [{"number": state["number"], "plan": serialize(plan)}]}


def paper_briefs(papers: Sequence[Serialized[Paper]]) -> tuple[PaperBrief, ...]:
    """Papers of a state as roles see them."""
    return tuple(paper_brief(deserialize(Paper, paper)) for paper in papers)


def source_papers(draft: Draft, papers: Sequence[Serialized[Paper]]) -> list[Serialized[Paper]]:
    """Those of the papers that a draft names as its sources."""
    return papers_of(draft.get("sources", ()), papers)


def papers_of(
    sources: Sequence[Serialized[Source]], papers: Sequence[Serialized[Paper]]
) -> list[Serialized[Paper]]:
    """Those of the papers that are sources."""
    ids = {source["paper_id"] for source in sources}
    return [paper for paper in papers if paper["id"] in ids]
