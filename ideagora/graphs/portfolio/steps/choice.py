"""The survivors that are far from one another, once their novelty is checked."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import replace
from typing import TypedDict

from langgraph.types import Send

from ideagora.graphs.portfolio.drafters import OF_DRAFTERS
from ideagora.graphs.portfolio.members import (
    Member,
    alive,
    closest_papers,
    known_ideas,
    papers_of,
    parts,
    surpassed,
    text_of,
)
from ideagora.graphs.portfolio.spread import farthest, similarities
from ideagora.graphs.portfolio.state import Context, PortfolioState
from ideagora.graphs.services import Services
from ideagora.graphs.steps.novelty import check_novelty as compare_with_papers
from ideagora.graphs.steps.novelty_requests import MAX_REQUESTS, requests_left
from ideagora.models.usage import usage_label
from ideagora.schema import Serialized, Topic, deserialize, serialize


class NoveltyTask(TypedDict):
    """Payload of ``check_novelty``."""

    topic: Serialized[Topic]
    position: int
    member: Member
    check: int
    """How many ideas the portfolio itself checked before."""


async def choose_ideas(state: PortfolioState, runtime: Context) -> PortfolioState:
    """The survivors that are far from one another, the first one the closest to the topic.

    Ideas that a child of theirs surpasses are passed over unless too few others are left, and known ideas
    unless even then too few are left.
    """
    wanted, living = runtime.context.options.ideas, alive(state)
    known, beaten = known_ideas(state), surpassed(state)
    new = [position for position in living if position not in known and position not in beaten]
    first = await _spread(state, runtime.context, new, wanted)
    second = [position for position in living if position in beaten and position not in known]
    rest = [position for position in living if position in known]
    return {"chosen": [*first, *[*second, *rest][: wanted - len(first)]]}


async def _spread(state: PortfolioState, context: Services, positions: list[int], wanted: int) -> list[int]:
    if not positions:
        return []
    texts = [text_of(state["members"][position]) for position in positions]
    vectors = await asyncio.to_thread(context.library.embedder.encode, [state["topic"]["text"], *texts])
    similarity = similarities(vectors)
    start = int(similarity[0, 1:].argmax())
    return [positions[place] for place in farthest(similarity[1:, 1:], start, wanted)]


def check_chosen(state: PortfolioState) -> list[Hashable | Send]:
    """Check the novelty of those that no check has seen; then compare them."""
    members, checked = state["members"], [one["position"] for one in state.get("checks", [])]
    own = sum(_is_unchecked(members[position]) for position in checked)
    tasks: list[NoveltyTask] = []
    for position in state["chosen"]:
        if position not in checked:
            member = members[position]
            tasks.append(NoveltyTask(topic=state["topic"], position=position, member=member, check=own))
            own += _is_unchecked(member)
    return [Send("check_novelty", task) for task in tasks] or ["draw_comparisons"]


def _is_unchecked(member: Member) -> bool:
    """Whether the agent that drafted an idea has not compared it with papers."""
    check = member["idea"]["novelty_check"]
    return check is None or check["status"] == "unchecked"


async def check_novelty(state: NoveltyTask, runtime: Context) -> PortfolioState:
    """Compare an idea with the closest papers, unless the agent that drafted it has done so."""
    context, member, check = runtime.context, state["member"], state["member"]["idea"]["novelty_check"]
    if _is_unchecked(member):
        own = replace(context, novelty_requests=MAX_REQUESTS - OF_DRAFTERS)
        with usage_label(member["label"]):
            found = await compare_with_papers(
                context,
                deserialize(Topic, state["topic"]),
                {**parts(member), "queries": member["queries"]},
                papers_of(member),
                pool=[paper["id"] for paper in member["idea"]["neighbours"]],
                requests=requests_left(own, state["check"], context.options.ideas),
            )
        check = serialize(found)
    closest = await closest_papers(runtime.context.library, check)
    papers = [serialize(paper) for paper in closest]
    return {"checks": [{"position": state["position"], "check": check, "papers": papers}]}
