"""Ideas of two branches with the same purpose and mechanism: the later one is drafted again once.

Checkpoints and node names call them twins.
"""

from __future__ import annotations

from typing import cast

from langgraph.types import Send

from ideagora.agents.idea_inputs import TakenIdea
from ideagora.errors import IdeagoraError
from ideagora.graphs.agent import Failure
from ideagora.graphs.chain_of_ideas.branch import build_redraft
from ideagora.graphs.chain_of_ideas.loading import load_topic
from ideagora.graphs.chain_of_ideas.state import BranchState, Context, IdeationState, TwinTask
from ideagora.graphs.steps.duplicates import find_same_ideas
from ideagora.models.usage import usage_label
from ideagora.schema import DroppedDraft, Serialized, serialize


async def find_twins(state: IdeationState, runtime: Context) -> IdeationState:
    """Which branches repeat the idea of an earlier branch."""
    branches = sorted(state["branches"], key=lambda branch: int(branch["branch"]))
    with usage_label("choice"):
        repeated = await find_same_ideas(
            runtime.context, load_topic(state), [branch["draft"] for branch in branches]
        )
    return {
        "twins": [
            {
                "branch": branches[same.later]["branch"],
                "same_as": branches[same.earlier]["branch"],
                "reason": same.reason,
            }
            for same in repeated
        ]
    }


def start_redrafts(state: IdeationState) -> list[Send]:
    """One redraft for each twin, in parallel; each is shown the ideas of all other branches."""
    branches = {branch["branch"]: branch for branch in state["branches"]}
    redrafted = {twin["branch"] for twin in state.get("redrafted", [])}
    return [
        Send(
            "redraft_twin",
            TwinTask(
                topic=state["topic"],
                twin=branches[twin["branch"]],
                same_as=branches[twin["same_as"]]["draft"]["title"],
                taken=[_taken(branches[number]) for number in sorted(branches) if number != twin["branch"]],
            ),
        )
        for twin in state.get("twins", [])
        if twin["branch"] not in redrafted
    ]


def _taken(branch: BranchState) -> Serialized[TakenIdea]:
    draft = branch["draft"]
    return serialize(
        TakenIdea(
            title=draft["title"],
            summary=draft["summary"],
            purpose=draft["purpose"],
            mechanism=draft["mechanism"],
        )
    )


async def redraft_twin(state: TwinTask, runtime: Context) -> IdeationState:
    """Draft another idea for a branch, with its novelty check; if that fails, the first draft stays."""
    branch = state["twin"]
    number = branch["branch"]
    repeated = DroppedDraft(
        title=branch["draft"]["title"],
        summary=branch["draft"]["summary"],
        too_close=(),
        same_as=state["same_as"],
    )
    start = {
        **branch,
        "topic": state["topic"],
        "taken": state["taken"],
        "dropped": [*branch.get("dropped", []), serialize(repeated)],
    }
    with usage_label(f"branch {number}"):
        try:
            final = await build_redraft().compile().ainvoke(start, context=runtime.context)  # type: ignore[call-overload]
        except IdeagoraError as error:
            if error.fatal:
                raise
            runtime.context.say(f"redraft failed: {error}")
            reason = f"redraft of a twin: {error}"
            failure = Failure(branch=number, query=branch["query"], error=reason)
            return {"failures": [failure], "redrafted": [{"branch": number, "changed": False}]}
    names = ("draft", "novelty_check", "dropped", "avoided")
    changed = cast("BranchState", {name: final[name] for name in names if name in final})
    return {"branches": [{**branch, **changed}], "redrafted": [{"branch": number, "changed": True}]}
