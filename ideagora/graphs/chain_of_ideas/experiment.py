"""The experiments for the best ideas, in parallel (section 3.4); in the paper, only the best one gets one."""

from __future__ import annotations

from langgraph.types import Send

from ideagora.agents.views import PaperBrief, paper_brief, past_experiments
from ideagora.graphs.chain_of_ideas.loading import link_ids, load_entities, load_links
from ideagora.graphs.chain_of_ideas.state import BranchState, Context, ExperimentTask, IdeationState
from ideagora.graphs.drafts import usage_name
from ideagora.graphs.services import Services
from ideagora.graphs.steps.experiment import ExperimentState, plan_experiment
from ideagora.models.usage import usage_label
from ideagora.schema import Experiment, NoveltyCheck, Serialized, deserialize, serialize

RELATED = 3
"""Papers outside the chain that the designer is shown."""


def start_experiments(state: IdeationState, runtime: Context) -> list[Send]:
    """One experiment for each of the best ideas, as many as the options want."""
    branches = {branch["branch"]: branch for branch in state["branches"]}
    best = state["ranking"][: runtime.context.options.experiments]
    tasks = [
        ExperimentTask(topic=state["topic"], place=place, idea=branches[score["branch"]])
        for place, score in enumerate(best)
    ]
    return [Send("plan_experiment", task) for task in tasks]


async def plan_for_idea(state: ExperimentTask, runtime: Context) -> IdeationState:
    """Design, review and refine the experiment of one idea."""
    branch, place = state["idea"], state["place"]
    start = ExperimentState(
        topic=state["topic"],
        draft=branch["draft"],
        past=[serialize(experiment) for experiment in past_experiments(load_links(branch))],
        source=await _source(branch, runtime.context),
        related=[serialize(paper) for paper in await _related_papers(branch, runtime.context)],
        entities=[serialize(entity) for entity in load_entities(branch, runtime.context)],
        refinements=runtime.context.options.refinements,
    )
    with usage_label(usage_name("experiment", place + 1)):
        experiment = await plan_experiment(runtime.context, start)
    return {"experiments": [{"place": place, "experiment": serialize(experiment)}]}


def _source_id(branch: BranchState) -> str | None:
    direction = branch.get("direction")
    return direction["mechanism_from"] if direction else None


async def _source(branch: BranchState, context: Services) -> Serialized[PaperBrief] | None:
    """The paper that the direction's mechanism is from; ``None`` if it was stated from memory."""
    paper_id = _source_id(branch)
    paper = await context.library.paper(paper_id) if paper_id else None
    return serialize(paper_brief(paper)) if paper else None


async def _related_papers(branch: BranchState, context: Services) -> list[PaperBrief]:
    """The closest papers of the novelty check that are neither in the chain nor the mechanism's source."""
    closest = deserialize(NoveltyCheck, branch["novelty_check"]).closest
    known = {*link_ids(branch), _source_id(branch)}
    related = [close.paper_id for close in closest if close.paper_id not in known][:RELATED]
    papers = [await context.library.paper(paper_id) for paper_id in related]
    return [paper_brief(paper) for paper in papers if paper is not None]


def load_experiments(state: IdeationState) -> dict[int, Experiment]:
    """The experiments by the place of their ideas in the ranking, from 0."""
    return {
        planned["place"]: deserialize(Experiment, planned["experiment"])
        for planned in state.get("experiments", [])
    }
