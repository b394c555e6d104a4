"""The two paths to short ideas, from literature and from brainstorming, and their merger."""

from __future__ import annotations

from ideagora.agents.scipip.selection import IDEA_MERGER
from ideagora.agents.scipip.sketches import BRAINSTORMER, LITERATURE_IDEATOR, Sketch, SketchView
from ideagora.errors import AllBranchesFailed, UnreadableAnswer
from ideagora.graphs.drafts import failure, reasons
from ideagora.graphs.scipip.state import Context, ScipipState, ShortIdea
from ideagora.graphs.steps.first_plan import paper_briefs
from ideagora.schema import Paper, Serialized


async def write_from_literature(state: ScipipState, runtime: Context) -> ScipipState:
    """The path from literature: ideas from the papers of the clusters."""
    try:
        answer = await LITERATURE_IDEATOR(
            runtime.context.client,
            topic=state["topic"]["text"],
            papers=paper_briefs(state["papers"]),
            count=runtime.context.options.sketches,
        )
    except UnreadableAnswer as error:
        return {"from_literature": [], "failures": [failure(f"the path from literature: {error}")]}
    return {
        "from_literature": [
            _short_idea(idea, [state["papers"][number] for number in idea.papers]) for idea in answer.ideas
        ]
    }


async def brainstorm(state: ScipipState, runtime: Context) -> ScipipState:
    """The path without literature."""
    try:
        answer = await BRAINSTORMER(
            runtime.context.client, topic=state["topic"]["text"], count=runtime.context.options.sketches
        )
    except UnreadableAnswer as error:
        return {"brainstormed": [], "failures": [failure(f"the brainstormed path: {error}")]}
    return {"brainstormed": [_short_idea(idea, []) for idea in answer.ideas]}


async def merge_paths(state: ScipipState, runtime: Context) -> ScipipState:
    """Ideas made of one from each path; if only one path has ideas, they go on alone."""
    literature, brainstormed = state["from_literature"], state["brainstormed"]
    alone: list[ShortIdea] = [
        {**idea, "merged_from": [idea["title"]]} for idea in (*literature, *brainstormed)
    ]
    if not alone:
        raise AllBranchesFailed(f"Neither path has an idea. {reasons(state)}")
    if not literature or not brainstormed:
        return {"merged": alone}
    try:
        answer = await IDEA_MERGER(
            runtime.context.client,
            topic=state["topic"]["text"],
            from_literature=tuple(sketch_view(idea) for idea in literature),
            brainstormed=tuple(sketch_view(idea) for idea in brainstormed),
            count=runtime.context.options.sketches,
        )
    except UnreadableAnswer as error:
        return {"merged": alone, "failures": [failure(f"the paths were not merged: {error}")]}
    merged: list[ShortIdea] = []
    for idea in answer.ideas:
        parents = literature[idea.from_literature], brainstormed[idea.brainstormed]
        titles = [parent["title"] for parent in parents]
        merged.append({**_short_idea(idea, parents[0]["papers"]), "merged_from": titles})
    return {"merged": merged}


def _short_idea(sketch: Sketch, papers: list[Serialized[Paper]]) -> ShortIdea:
    return ShortIdea(title=sketch.title, problem=sketch.problem, approach=sketch.approach, papers=papers)


def sketch_view(idea: ShortIdea) -> SketchView:
    """A short idea as roles see it."""
    return SketchView(title=idea["title"], problem=idea["problem"], approach=idea["approach"])
