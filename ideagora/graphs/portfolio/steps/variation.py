"""One round of variation: which ideas become parents, and their children."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping
from itertools import zip_longest
from typing import Any, TypedDict

from langgraph.types import Send

from ideagora.agents.plain_ideators import proposed_ideas
from ideagora.agents.portfolio.variation import (
    IDEA_COMBINER,
    IDEA_INVERTER,
    IDEA_SIMPLIFIER,
    Citation,
    ParentIdea,
)
from ideagora.agents.role import Role
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.agent import Origin
from ideagora.graphs.drafts import Draft, failure, one_idea
from ideagora.graphs.portfolio.budget import may_begin_round
from ideagora.graphs.portfolio.members import (
    Member,
    Operation,
    alive,
    closest_papers,
    papers_of,
    parts,
    text_of,
)
from ideagora.graphs.portfolio.spread import choose_parents, similarities
from ideagora.graphs.portfolio.state import Context, PortfolioState, Variation
from ideagora.graphs.services import Services
from ideagora.graphs.sources import sourced_draft
from ideagora.graphs.steps.first_plan import paper_briefs
from ideagora.models.usage import usage_label
from ideagora.schema import Paper, Serialized, Topic, serialize

ROLES: dict[str, Role[Any]] = {
    "combined": IDEA_COMBINER,
    "simplified": IDEA_SIMPLIFIER,
    "inverted": IDEA_INVERTER,
}
CITED_PAPERS, CLOSE_PAPERS = 6, 3
"""Papers that a variation is shown: those that its parents cite, and others close to the parents."""


class VariationTask(TypedDict):
    """Payload of ``vary``."""

    topic: Serialized[Topic]
    number: int
    """Number of the child, from 1 over all rounds."""
    round: int
    operation: Operation
    parents: list[int]
    members: list[Member]
    proposed: list[dict[str, str]]
    """Title and summary of the other ideas of the portfolio."""


async def plan_round(state: PortfolioState, runtime: Context) -> PortfolioState:
    """The variations of the next round; none if rounds or budget are used up."""
    begun, context = state.get("rounds", 0), runtime.context
    if not may_begin_round(context.client, context.options, begun, len(alive(state))):
        return {"tasks": []}
    tasks = await asyncio.to_thread(next_variations, context, state, begun + 1)
    return {"tasks": tasks, "variations": tasks, "rounds": begun + bool(tasks)}


def start_round(state: PortfolioState) -> list[Hashable | Send]:
    """The variations in parallel; without any, choose among the survivors."""
    tasks = [variation_task(state, task) for task in state["tasks"]]
    return [Send("vary", task) for task in tasks] or ["choose_ideas"]


def next_variations(context: Services, state: PortfolioState, round_number: int) -> list[Variation]:
    """The variations of a round."""
    living, members = alive(state), state["members"]
    vectors = context.library.embedder.encode([text_of(members[position]) for position in living])
    earlier = state.get("variations", [])
    places = {position: place for place, position in enumerate(living)}
    done = [
        (one["operation"], tuple(places[parent] for parent in one["parents"]))
        for one in earlier
        if set(one["parents"]) <= places.keys()
    ]
    chosen = choose_parents(
        similarities(vectors),
        [len(parts(members[position])["method"].split()) for position in living],
        done,
        context.options.children,
    )
    return [
        Variation(
            number=len(earlier) + number,
            round=round_number,
            operation=operation,
            parents=[living[place] for place in parents],
        )
        for number, (operation, parents) in enumerate(chosen, 1)
    ]


def variation_task(state: PortfolioState, variation: Variation) -> VariationTask:
    """The payload of one variation."""
    members = state["members"]
    return VariationTask(
        topic=state["topic"],
        number=variation["number"],
        round=variation["round"],
        operation=variation["operation"],
        parents=list(variation["parents"]),
        members=[members[position] for position in variation["parents"]],
        proposed=[
            {name: parts(members[position])[name] for name in ("title", "summary")}
            for position in alive(state)
            if position not in variation["parents"]
        ],
    )


async def vary(state: VariationTask, runtime: Context) -> PortfolioState:
    """One child of one idea or two; a child that cannot be written is named, and the others go on."""
    context, label = runtime.context, f"variation {state['number']}"
    with usage_label(label):
        papers = await _papers(context, state)
        if not papers:
            return _not_made(state, "the library has no paper for it")
        shown = [serialize(paper) for paper in papers]
        numbers = {paper["id"]: number for number, paper in enumerate(shown)}
        try:
            answer = await ROLES[state["operation"]](
                context.client,
                topic=state["topic"]["text"],
                parents=tuple(_parent(member, numbers) for member in state["members"]),
                papers=paper_briefs(shown),
                proposed=proposed_ideas(state["proposed"]),
            )
        except UnreadableAnswer as error:
            return _not_made(state, str(error))
        context.say(f"{state['operation']}: {answer.title}")
    draft: Draft = {**sourced_draft(answer, shown), "papers": shown}
    origin = Origin(agent="portfolio", model="", usage={}, answered={})
    child: Member = {
        "queries": list(answer.queries),
        "idea": serialize(one_idea(state["topic"]["text"], draft, None, origin)),
        "operation": state["operation"],
        "agent": None,
        "parents": state["parents"],
        "round": state["round"],
        "change": answer.change,
        "label": label,
    }
    return {"members": [child]}


def _not_made(state: VariationTask, reason: str) -> PortfolioState:
    titles = " and ".join(f"“{member['idea']['title']}”" for member in state["members"])
    why = f"{titles} could not be {state['operation']}: {reason}"
    return {"failures": [failure(why)]}


async def _papers(context: Services, state: VariationTask) -> list[Paper]:
    """The papers that the parents cite, and others that are close to them, those of a novelty check first."""
    members, library = state["members"], context.library
    cited = [paper for member in members for paper in papers_of(member)[: CITED_PAPERS // len(members)]]
    papers = {paper.id: paper for paper in cited}
    checked = [await closest_papers(library, member["idea"]["novelty_check"]) for member in members]
    queries = [f"{state['topic']['text']}. {parts(m)['title']}. {parts(m)['purpose']}" for m in members]
    found = [[one.paper for one in await library.search(query, CITED_PAPERS)] for query in queries]
    near = [paper for row in zip_longest(*checked, *found) for paper in row if paper]
    new = {paper.id: paper for paper in near if paper.id not in papers}
    return [*papers.values(), *list(new.values())[:CLOSE_PAPERS]]


def _parent(member: Member, numbers: Mapping[str, int]) -> ParentIdea:
    idea = parts(member)
    cited: dict[str, list[int]] = {}
    for source in idea["sources"]:
        if source["paper_id"] in numbers:
            cited.setdefault(source["part"], []).append(numbers[source["paper_id"]])
    return ParentIdea(
        title=idea["title"],
        motivation=idea["motivation"],
        novelty=idea["novelty"],
        method=idea["method"],
        purpose=idea["purpose"],
        mechanism=idea["mechanism"],
        evaluation=idea["evaluation"],
        cites=tuple(
            Citation(part=part, papers=tuple(dict.fromkeys(papers))) for part, papers in cited.items()
        ),
    )
