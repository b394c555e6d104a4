"""Several agents draft in parallel, each with small settings, and near duplicates are merged."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

from langgraph.types import Send

from ideagora.errors import AllBranchesFailed, IdeagoraError, TopicNotCovered
from ideagora.graphs.agent import Origin
from ideagora.graphs.drafts import failure
from ideagora.graphs.portfolio.drafters import OF_DRAFTERS, small_agent
from ideagora.graphs.portfolio.members import alive, drafted, named, parts
from ideagora.graphs.portfolio.state import Context, PortfolioState, RemovedIdea
from ideagora.graphs.steps.duplicates import find_same_ideas
from ideagora.graphs.steps.literature.literature_search import not_covered
from ideagora.models.usage import label_scope
from ideagora.schema import Serialized, Topic


class DraftTask(TypedDict):
    """Payload of ``draft``."""

    topic: Serialized[Topic]
    drafter: str
    novelty_requests: int


def prepare(state: PortfolioState) -> PortfolioState:
    """Nothing; the drafters start in parallel from here."""
    return {}


def start_drafts(state: PortfolioState, runtime: Context) -> list[Send]:
    """One task per agent that drafts."""
    return [
        Send(
            "draft", DraftTask(topic=state["topic"], drafter=name, novelty_requests=int(place < OF_DRAFTERS))
        )
        for place, name in enumerate(runtime.context.options.drafters)
    ]


async def draft(state: DraftTask, runtime: Context) -> PortfolioState:
    """The ideas of one agent at a small setting; its failure is recorded, and the others continue."""
    name, topic = state["drafter"], Topic.model_validate(state["topic"])
    options = runtime.context.options
    agent = small_agent(name, options.drafts, options.allow_thin)
    services = replace(runtime.context, options=agent.options, novelty_requests=state["novelty_requests"])
    context = services if agent.context is None else agent.context(services, topic)
    with label_scope(name):
        try:
            final = await agent.build().compile().ainvoke(agent.start(topic), context=context)
        except IdeagoraError as error:
            if error.fatal:  # it concerns the whole run
                raise
            runtime.context.say(f"failed: {error}")
            is_covered = not isinstance(error, TopicNotCovered)
            return {
                "failures": [failure(f"{name}: {error}")],
                "not_covered": [] if is_covered else [name],
            }
        ideas = agent.ideas(final, Origin(agent=name, model="", usage={}, answered={}))
        runtime.context.say(f"{len(ideas)} ideas")
    failures = [failure(f"{name}: {one['error']}") for one in agent.failures(final)]
    return {
        "members": [drafted(idea, name) for idea in ideas[: options.drafts]],
        "failures": failures if ideas or failures else [failure(f"{name}: it wrote no idea")],
        "notes": [f"{name}: {note}" for note in agent.notes(final)],
    }


async def merge_twins(state: PortfolioState, runtime: Context) -> PortfolioState:
    """Leave out ideas that repeat an earlier one; those of earlier rounds were compared before."""
    living, members, rounds = alive(state), state.get("members", []), state.get("rounds", 0)
    topic = Topic.model_validate(state["topic"])
    if not living:
        if len(state.get("not_covered", [])) == len(runtime.context.options.drafters):
            raise await not_covered(runtime.context, topic)
        reasons = dict.fromkeys(one["error"].partition(": ")[2] for one in state.get("failures", []))
        raise AllBranchesFailed("No agent drafted an idea: " + "; ".join(reasons))
    settled = sum(members[position]["round"] < rounds for position in living) if rounds else 0
    found = await find_same_ideas(
        runtime.context,
        topic,
        [parts(members[position]) for position in living],
        settled,
    )
    runtime.context.say(f"{len(living) - len(found)} different ideas")
    return {
        "removed": [
            RemovedIdea(
                position=living[one.later],
                kind="twin",
                why=f"repeats {named(members[living[one.earlier]])}",
            )
            for one in found
        ]
    }
