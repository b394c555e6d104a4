"""The end: the experiments that are missing, and the overview of the chosen ideas."""

from __future__ import annotations

from collections.abc import Hashable

from langgraph.types import Send

from ideagora.agents.portfolio.overview import OVERVIEW_WRITER, ListedIdea
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.portfolio.members import Member, papers_of, parts
from ideagora.graphs.portfolio.state import Context, PortfolioState
from ideagora.graphs.steps.first_plan import PlanTask
from ideagora.models.usage import usage_label
from ideagora.schema import Paper, Serialized, serialize


def finish(state: PortfolioState) -> list[Hashable | Send]:
    """The experiments that are missing and the overview, in parallel.

    An experiment is planned with the papers that the idea cites and the closest ones of its novelty check.
    """
    members = state["members"]
    closest = {one["position"]: one["papers"] for one in state.get("checks", [])}
    tasks = [
        PlanTask(
            topic=state["topic"],
            draft=parts(members[position]),
            number=place,
            papers=_without_repetitions(
                [serialize(paper) for paper in papers_of(members[position])] + closest.get(position, [])
            ),
        )
        for place, position in enumerate(state["chosen"], 1)
        if members[position]["idea"]["experiment"] is None
    ]
    return [*(Send("design_experiment", task) for task in tasks), "write_overview"]


def _without_repetitions(papers: list[Serialized[Paper]]) -> list[Serialized[Paper]]:
    return list({paper["id"]: paper for paper in papers}.values())


async def write_overview(state: PortfolioState, runtime: Context) -> PortfolioState:
    """What the ideas have in common, and the question that each one answers."""
    members = state["members"]
    with usage_label("overview"):
        try:
            answer = await OVERVIEW_WRITER(
                runtime.context.client,
                topic=state["topic"]["text"],
                ideas=tuple(_listed(members, position) for position in state["chosen"]),
            )
        except UnreadableAnswer as error:
            return {"notes": [f"There is no overview: {error}"]}
    return {"overview": serialize(answer)}


def _listed(members: list[Member], position: int) -> ListedIdea:
    idea, parents = parts(members[position]), members[position]["parents"]
    made_from = tuple(members[parent]["idea"]["title"] for parent in parents)
    return ListedIdea(
        title=idea["title"],
        summary=idea["summary"],
        purpose=idea["purpose"],
        mechanism=idea["mechanism"],
        evaluation=idea["evaluation"],
        made_from=made_from,
    )
