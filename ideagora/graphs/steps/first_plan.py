"""The experiment of an idea in one call: a plan without review and refinement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.views import PaperBrief, paper_brief
from ideagora.graphs.drafts import DraftsState, Record, usage_name
from ideagora.graphs.services import Services
from ideagora.graphs.steps.experiment import ExperimentState, plan_experiment
from ideagora.models.usage import usage_label
from ideagora.schema import Paper


class PlanTask(TypedDict):
    """Payload of ``design_experiment``."""

    topic: Record
    draft: Record
    number: int
    """Number of the idea, from 1."""
    papers: list[Record]
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


async def design_experiment(state: PlanTask, runtime: Runtime[Services]) -> Any:
    """A plan for one idea, as an entry of ``plans``: the idea's number and the plan."""
    start = ExperimentState(
        topic=state["topic"],
        draft=state["draft"],
        related=[paper.model_dump(mode="json") for paper in paper_briefs(state["papers"])],
    )
    with usage_label(usage_name("experiment", state["number"])):
        plan = await plan_experiment(runtime.context, start)
    return {"plans": [{"number": state["number"], "plan": plan.model_dump(mode="json")}]}


def paper_briefs(papers: Sequence[Mapping[str, Any]]) -> tuple[PaperBrief, ...]:
    """Papers of a state as roles see them."""
    return tuple(paper_brief(Paper.model_validate(paper)) for paper in papers)


def source_papers(draft: Mapping[str, Any], papers: Sequence[Mapping[str, Any]]) -> list[Record]:
    """Those of the papers that a draft names as its sources."""
    ids = {source["paper_id"] for source in draft.get("sources", ())}
    return [dict(paper) for paper in papers if paper["id"] in ids]
