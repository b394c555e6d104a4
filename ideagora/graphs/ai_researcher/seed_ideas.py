"""Seed ideas, half of them written with literature, and the duplicates among them (section 3.2)."""

from __future__ import annotations

from collections.abc import Hashable
from random import Random

from langgraph.types import Send

from ideagora.agents.ai_researcher.seeds import SEED_IDEATOR, Seed
from ideagora.errors import AllBranchesFailed, UnreadableAnswer
from ideagora.graphs.ai_researcher.state import Context, ResearcherState, SeedIdea, SeedTask
from ideagora.graphs.drafts import failure, reasons
from ideagora.graphs.steps.duplicates import find_duplicates
from ideagora.graphs.steps.first_plan import paper_briefs

SEEDS_PER_CALL = 3
SHOWN_PAPERS = 10
"""Papers in a call for seeds: a random sample of the best ones (section 3.2)."""


def gather_seeds(state: ResearcherState) -> ResearcherState:
    """Join the calls for seeds; ``start_seeds`` decides what comes next."""
    return {}


def start_seeds(state: ResearcherState, runtime: Context) -> list[Hashable | Send]:
    """Two calls for seeds in parallel, with literature and without it, until there are enough."""
    done, counts = len(state.get("seed_calls", [])), seed_counts(runtime.context.options.seeds)
    best, tasks = state["best_papers"], []
    for number in range(len(counts))[done : done + 2]:
        random = Random(f"{runtime.context.client.settings.seed} {number}")
        task = SeedTask(
            topic=state["topic"],
            number=number,
            count=counts[number],
            papers=[] if number % 2 else random.sample(best, min(SHOWN_PAPERS, len(best))),
            earlier=[seed["title"] for seed in state.get("seeds", [])],
        )
        tasks.append(Send("write_seeds", task))
    return [*tasks] or ["drop_duplicates"]


def seed_counts(wanted: int) -> list[int]:
    """The number of seeds of each call: an even number of calls of about equal size."""
    calls = 2 * -(-wanted // (2 * SEEDS_PER_CALL))
    return [wanted // calls + (number < wanted % calls) for number in range(calls)]


async def write_seeds(state: SeedTask, runtime: Context) -> ResearcherState:
    """Some seed ideas (section 3.2); ``papers`` is empty for those from the model's own knowledge."""
    done: ResearcherState = {"seed_calls": [state["number"]]}
    try:
        answer = await SEED_IDEATOR(
            runtime.context.client,
            topic=state["topic"]["text"],
            papers=paper_briefs(state["papers"]),
            earlier=tuple(state["earlier"]),
            count=state["count"],
        )
    except UnreadableAnswer as error:
        return {**done, "failures": [failure(f"{state['count']} seeds were not written: {error}")]}
    seeds = [
        SeedIdea(
            title=seed.title,
            problem=seed.problem,
            mechanism=seed.mechanism,
            test=seed.test,
            papers=[state["papers"][number] for number in seed.papers],
        )
        for seed in answer.seeds
    ]
    return {**done, "seeds": seeds}


async def drop_duplicates(state: ResearcherState, runtime: Context) -> ResearcherState:
    """Seeds that repeat an earlier one by the similarity of their texts (section 3.2)."""
    seeds = state.get("seeds", [])
    if not seeds:
        raise AllBranchesFailed("No seed was written: " + reasons(state))
    found = await find_duplicates(
        runtime.context.library.embedder,
        [Seed.model_validate({**seed, "papers": []}).text for seed in seeds],
        runtime.context.options.duplicate_similarity,
    )
    runtime.context.say(f"{len(found)} of {len(seeds)} seeds are duplicates")
    return {
        "duplicates": [one.position for one in found],
        "notes": [
            f"Dropped the seed “{seeds[one.position]['title']}”: similarity {one.similarity:.2f} to "
            f"“{seeds[one.of]['title']}”."
            for one in found
        ],
    }
