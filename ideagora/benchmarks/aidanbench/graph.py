"""The loop of AidanBench (section 3.1 and Figure 1) on one question.

    answer → judge_coherence ∥ measure_novelty ∥ answer_ahead → decide → (the next answer …) → END

``answer_ahead`` makes the next answer while the current one is judged, and ``decide`` drops it if the loop
has ended; without speculation there is no such step, and ``decide`` leads back to ``answer``. An answer or a
judgement that cannot be had ends the loop as failed, which is not an ending of the benchmark.
"""

from __future__ import annotations

from collections.abc import Awaitable, Hashable
from typing import Annotated, TypedDict, TypeVar

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict

from ideagora.benchmarks.aidanbench.judging import judge_coherence as ask_coherence
from ideagora.benchmarks.aidanbench.judging import judge_novelty as ask_novelty
from ideagora.benchmarks.aidanbench.novelty import AnswerVectors, novelty_of_last
from ideagora.benchmarks.aidanbench.replies import plain_answer
from ideagora.benchmarks.aidanbench.roles import ANSWERER
from ideagora.benchmarks.aidanbench.turns import Thresholds, Turn, ending_of
from ideagora.errors import RequestRejected, UnreadableAnswer
from ideagora.graphs.agent import Failure
from ideagora.graphs.drafts import failure
from ideagora.graphs.reducers import concatenate
from ideagora.graphs.services import Services
from ideagora.models.usage import usage_label
from ideagora.schema import Serialized, Topic

FAILED = "failed"
STEPS_PER_ANSWER = 3
"""Maximum number of steps of the graph for one answer."""
T = TypeVar("T")


class LoopOptions(BaseModel):
    """Options of the loop."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    judge: str
    """The model that judges coherence, and similarity if ``by_model``."""
    coherence: float
    novelty: float
    """The thresholds."""
    maximum: int
    """Maximum number of answers."""
    by_model: bool = False
    """Whether a model judges novelty, too."""
    speculative: bool = True
    """Whether the next answer is made while the current one is judged."""

    @property
    def thresholds(self) -> Thresholds:
        """When an answer ends the loop."""
        return Thresholds(self.coherence, self.novelty)


class LoopState(TypedDict, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    topic: Serialized[Topic]
    answers: Annotated[list[str], concatenate]
    coherence: Annotated[list[float], concatenate]
    novelty: Annotated[list[float], concatenate]
    model_novelty: Annotated[list[float], concatenate]
    """One for each answer that has been judged."""
    ahead: dict[str, str] | None
    """The next ``answer``, or the ``failure`` to make it."""
    ending: str
    """Why the loop ended; absent until then."""
    failures: Annotated[list[Failure], concatenate]


Context = Runtime[Services]


def answer_label(number: int) -> str:
    """The usage label of an answer's own call."""
    return f"answer {number}"


async def _next_answer(state: LoopState, runtime: Context) -> dict[str, str]:
    """A new answer to the question, given all earlier ones; or the reason why there is none."""
    earlier = tuple(state.get("answers", []))
    with usage_label(answer_label(len(earlier) + 1)):
        try:
            found = await ANSWERER(runtime.context.client, question=state["topic"]["text"], earlier=earlier)
        except (UnreadableAnswer, RequestRejected) as error:
            if not earlier:
                raise
            return {"failure": f"answer {len(earlier) + 1}: {_without_path(error)}"}
    return {"answer": plain_answer(found.text)}


def _took(made: dict[str, str]) -> LoopState:
    """The update with a new answer, or with the failure to make it."""
    if "answer" in made:
        return {"answers": [made["answer"]]}
    return {"ending": FAILED, "failures": [failure(made["failure"])]}


async def answer(state: LoopState, runtime: Context) -> LoopState:
    """Answer the question."""
    return _took(await _next_answer(state, runtime))


async def answer_ahead(state: LoopState, runtime: Context) -> LoopState:
    """Make the next answer before it is known whether the loop goes on."""
    return {"ahead": await _next_answer(state, runtime)}


async def judge_coherence(state: LoopState, runtime: Context) -> LoopState:
    """Judge the last answer (section 3.3)."""
    client, judge = runtime.context.client, runtime.context.options.judge
    asked = ask_coherence(client, judge, state["topic"]["text"], state["answers"][-1])
    found, why = await _judged(asked)
    return {"coherence": [found]} if found is not None else {"failures": [failure(f"coherence: {why}")]}


async def judge_novelty(state: LoopState, runtime: Context) -> LoopState:
    """Ask a model how similar the last answer is to the earlier ones."""
    client, judge = runtime.context.client, runtime.context.options.judge
    found, why = await _judged(ask_novelty(client, judge, state["topic"]["text"], state["answers"]))
    return {"model_novelty": [found]} if found is not None else {"failures": [failure(f"similarity: {why}")]}


async def _judged(asked: Awaitable[T]) -> tuple[T | None, str]:
    """What a judge says, or why it cannot be used."""
    with usage_label("judge"):
        try:
            return await asked, ""
        except (UnreadableAnswer, RequestRejected) as error:
            return None, _without_path(error)


def _without_path(error: Exception) -> str:
    return str(error).partition(" All replies are in")[0]


def decide(state: LoopState, runtime: Context) -> LoopState:
    """End the loop, or go on with the answer that was made meanwhile."""
    options: LoopOptions = runtime.context.options
    if state.get("failures"):
        return {"ending": FAILED, "ahead": None}
    stated = state["model_novelty"][-1] if options.by_model else None
    turn = Turn(state["coherence"][-1], state["novelty"][-1], stated)
    ending: str | None = ending_of(turn, options.thresholds)
    if ending is None and len(state["answers"]) >= options.maximum:
        ending = "maximum"
    if ending is not None:
        return {"ending": ending, "ahead": None}
    ahead = state.get("ahead")
    return {} if ahead is None else {**_took(ahead), "ahead": None}


def judges(state: LoopState, runtime: Context) -> list[Hashable]:
    """Judge the last answer by all measures concurrently, and request the next one meanwhile."""
    options: LoopOptions = runtime.context.options
    if "ending" in state:
        return [END]
    steps: list[Hashable] = ["judge_coherence", "measure_novelty"]
    if options.by_model:
        steps.append("judge_novelty")
    if options.speculative and len(state["answers"]) < options.maximum:
        steps.append("answer_ahead")
    return steps


def after_decision(state: LoopState, runtime: Context) -> list[Hashable]:
    """End, judge the answer that was made ahead, or make the next one."""
    if "ending" in state:
        return [END]
    return judges(state, runtime) if len(state["answers"]) > len(state["coherence"]) else ["answer"]


def build_graph() -> StateGraph[LoopState, Services, LoopState, LoopState]:
    """The graph of one question, not compiled. It keeps the answers' vectors; a restart makes them again."""
    vectors = AnswerVectors()

    async def measure_novelty(state: LoopState, runtime: Context) -> LoopState:
        """Compare the last answer with all earlier ones (section 3.2)."""
        library = runtime.context.library
        return {"novelty": [await novelty_of_last(vectors, state["answers"], lambda: library.embedder)]}

    graph = StateGraph(LoopState, context_schema=Services)
    graph.add_node("answer", answer)
    graph.add_node("judge_coherence", judge_coherence)
    graph.add_node("measure_novelty", measure_novelty)
    graph.add_node("judge_novelty", judge_novelty)
    graph.add_node("answer_ahead", answer_ahead)
    graph.add_node("decide", decide)
    graph.add_edge(START, "answer")
    at_once = ["judge_coherence", "measure_novelty", "judge_novelty", "answer_ahead"]
    graph.add_conditional_edges("answer", judges, [*at_once, END])
    for name in at_once:
        graph.add_edge(name, "decide")
    graph.add_conditional_edges("decide", after_decision, ["answer", *at_once, END])
    return graph
