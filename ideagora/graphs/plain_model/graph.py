"""Ask a model for independent ideas on a keyword, each with one call; after a refusal with a second one.

After a refusal, the model is asked once more, with a prompt that states the academic purpose (LiveIdeaBench,
arXiv 2412.17596, supplementary note 5). A second refusal is a failure, never an idea.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.errors import UnreadableAnswer
from ideagora.graphs.agent import Failure
from ideagora.graphs.drafts import failure, usage_name
from ideagora.graphs.plain_model.replies import refuses, split_reply
from ideagora.graphs.plain_model.role import KEYWORD_IDEATOR
from ideagora.graphs.reducers import concatenate
from ideagora.graphs.services import Services
from ideagora.models.usage import usage_label
from ideagora.schema import Serialized, Topic

REFUSED = "refused, also with the academic wording"
"""Beginning of the failure of an idea that the model refused twice."""


class ModelIdea(TypedDict):
    """What a model wrote, in its parts."""

    idea: str
    reasoning: str
    number: int
    refused_first: bool
    """Whether it refused until it was asked with the academic wording."""


class ModelState(TypedDict, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    topic: Serialized[Topic]
    drafts: Annotated[list[ModelIdea], concatenate]
    failures: Annotated[list[Failure], concatenate]


class IdeaTask(TypedDict):
    """Payload of ``write_idea``."""

    keyword: str
    number: int


def send_ideas(state: ModelState, runtime: Runtime[Services]) -> list[Hashable | Send]:
    """Ask for all ideas in parallel; none of them sees the others."""
    keyword = state["topic"]["text"]
    count = runtime.context.options.ideas
    return [Send("write_idea", IdeaTask(keyword=keyword, number=number)) for number in range(1, count + 1)]


async def write_idea(state: IdeaTask, runtime: Runtime[Services]) -> ModelState:
    """One idea; a refusal is asked again once."""
    number, is_refused = state["number"], False
    with usage_label(usage_name("idea", number)):
        for is_academic in (False, True):
            try:
                reply = await KEYWORD_IDEATOR(
                    runtime.context.client,
                    sample=number - 1,
                    keyword=state["keyword"],
                    is_academic=is_academic,
                )
            except UnreadableAnswer as error:
                return _failed(number, str(error))
            if not refuses(reply.text):
                parts = split_reply(reply.text, reply.reasoning)
                idea = ModelIdea(
                    idea=parts.idea, reasoning=parts.reasoning, number=number, refused_first=is_refused
                )
                return {"drafts": [idea]}
            is_refused = True
    return _failed(number, REFUSED)


def _failed(number: int, why: str) -> ModelState:
    return {"failures": [failure(f"idea {number}: {why}")]}


def build_graph() -> StateGraph[ModelState, Services, ModelState, ModelState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(ModelState, context_schema=Services)
    graph.add_node("write_idea", write_idea)
    graph.add_conditional_edges(START, send_ideas, ["write_idea"])
    graph.add_edge("write_idea", END)
    return graph
