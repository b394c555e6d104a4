"""The judging graph: prepare what is judged, then ask judges round by round until there is nothing to ask.

    prepare_item × n (in parallel)
      → draw_round ⇄ ask_judge × n (in parallel)
      → complete_record

The arena, the benchmarks and the juries run on it; each is an ``Evaluation``. The state contains small
integers only; texts stay with the evaluation and in the caches, verdicts in the folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.errors import IdeagoraError, ModelUnavailable, RequestRejected, UnreadableAnswer
from ideagora.evaluators.judging.evaluation import Evaluation, Key, Progress
from ideagora.evaluators.judging.verdict_log import VerdictLog
from ideagora.graphs.reducers import concatenate
from ideagora.graphs.services import Services

BATCH = 1024
"""Maximum number of questions per step, after which a checkpoint is written."""


@dataclass(frozen=True)
class JudgingContext:
    """What nodes use and checkpoints do not contain."""

    evaluation: Evaluation
    log: VerdictLog
    semaphore: asyncio.Semaphore
    """Limits the number of questions asked at once, so that later ones see that a judge is down."""
    down: dict[str, str] = field(default_factory=dict)
    """Model -> why it is unavailable; it is not called again in this attempt."""
    failures: list[IdeagoraError] = field(default_factory=list)
    """Errors that may pass, other than those of judges, such as a source that is down."""


class JudgingState(TypedDict, total=False):
    """The state in checkpoints: plain and small."""

    round: int
    """Number of rounds drawn."""
    dropped: Annotated[list[list[Any]], concatenate]
    """Items that could not be prepared: key and reason."""
    rows: Annotated[list[list[int]], concatenate]
    """What later rounds depend on."""
    skipped: Annotated[list[list[int]], concatenate]
    """Questions that could not be asked; the graph ends after their step, and the next attempt asks again."""
    queue: list[list[int]]
    """Questions of the round that are still to be asked."""
    batch: list[list[int]]


class ItemPayload(TypedDict):
    """What ``prepare_item`` is sent."""

    item: list[int]


class QuestionPayload(TypedDict):
    """What ``ask_judge`` is sent."""

    question: list[int]


Context = Runtime[Services]


def _judging(runtime: Context) -> JudgingContext:
    context: JudgingContext = runtime.context.options
    return context


def _progress(state: JudgingState) -> Progress:
    return Progress(state["round"], state.get("rows", []), state.get("dropped", []))


def enter(state: JudgingState) -> JudgingState:
    """Start with empty queues."""
    return {"round": 0, "queue": [], "batch": []}


def send_items(state: JudgingState, runtime: Context) -> list[Hashable | Send]:
    """Send all items to be prepared in parallel, if there are any."""
    items = _judging(runtime).evaluation.items()
    sends: list[Hashable | Send] = [Send("prepare_item", ItemPayload(item=list(item))) for item in items]
    return sends or ["draw_round"]


async def prepare_item(state: ItemPayload, runtime: Context) -> JudgingState:
    """Prepare one item; one that cannot be prepared is dropped with the reason."""
    judging, item = _judging(runtime), state["item"]
    model = judging.evaluation.preparation_model
    if model in judging.down:
        return _dropped(judging, item, judging.down[model])
    try:
        await judging.evaluation.prepare(runtime.context, item)
    except ModelUnavailable as error:
        if model is not None:
            judging.down[model] = str(error)
        return _dropped(judging, item, str(error))
    except (UnreadableAnswer, RequestRejected) as error:
        return _dropped(judging, item, str(error).partition(" All replies are in")[0])
    return {}


def _dropped(judging: JudgingContext, item: list[int], why: str) -> JudgingState:
    return {"dropped": [[*item, judging.evaluation.drop_reason(why)]]}


def draw_round(state: JudgingState, runtime: Context) -> JudgingState:
    """The next batch of the round, or of the next round that has questions.

    Raises:
        IdeagoraError: a question failed for a reason that may pass; the same command asks it again.
    """
    judging, number = _judging(runtime), state["round"]
    if judging.failures:
        raise judging.failures[0]
    queue = state["queue"]
    while not queue:
        drawn = judging.evaluation.next_round(_progress({**state, "round": number}))
        if drawn is None:
            break
        queue, number = [list(question) for question in drawn], number + 1
    return {"round": number, "batch": queue[:BATCH], "queue": queue[BATCH:]}


def send_questions(state: JudgingState) -> list[Hashable | Send]:
    """Send the batch to the judges in parallel; without one, complete the record."""
    if state.get("skipped"):  # the next round may depend on them
        return [END]
    sends: list[Hashable | Send] = [
        Send("ask_judge", QuestionPayload(question=question)) for question in state["batch"]
    ]
    return sends or ["complete_record"]


async def ask_judge(state: QuestionPayload, runtime: Context) -> JudgingState:
    """Ask one judge one question: the verdict goes to the folder, what later rounds need to the state."""
    judging, question = _judging(runtime), state["question"]
    judge = judging.evaluation.judge(question)
    async with judging.semaphore:
        if judge in judging.down:
            return {"skipped": [question]}
        try:
            verdict = await judging.evaluation.ask(runtime.context, question)
        except ModelUnavailable as error:
            judging.down[judge] = str(error)
            return {"skipped": [question]}
        except IdeagoraError as error:
            if error.fatal or not error.retryable:
                raise
            judging.failures.append(error)
            return {}
    judging.log.add(verdict)
    row = judging.evaluation.row(question, verdict)
    return {} if row is None else {"rows": [list(row)]}


async def complete_record(state: JudgingState, runtime: Context) -> JudgingState:
    """Restore lost verdicts from the cache, then write all in order."""
    judging = _judging(runtime)
    evaluation, progress = judging.evaluation, _progress(state)
    asked = evaluation.asked(progress)
    lost = [question for question in asked if evaluation.verdict_id(question) not in judging.log]
    await asyncio.gather(*(_restore(judging, runtime.context, question) for question in lost))
    await evaluation.complete(runtime.context, progress)
    judging.log.finalize(evaluation.verdict_id(question) for question in evaluation.asked(progress))
    return {}


async def _restore(judging: JudgingContext, services: Services, question: Key) -> None:
    async with judging.semaphore:
        judging.log.add(await judging.evaluation.ask(services, question))


def build_graph() -> StateGraph[JudgingState, Services, JudgingState, JudgingState]:
    """The judging graph."""
    graph = StateGraph(JudgingState, context_schema=Services)
    graph.add_node("enter", enter)
    graph.add_node("prepare_item", prepare_item)
    graph.add_node("draw_round", draw_round)
    graph.add_node("ask_judge", ask_judge)
    graph.add_node("complete_record", complete_record)
    graph.add_edge(START, "enter")
    graph.add_conditional_edges("enter", send_items, ["prepare_item", "draw_round"])
    graph.add_edge("prepare_item", "draw_round")
    graph.add_conditional_edges("draw_round", send_questions, ["ask_judge", "complete_record", END])
    graph.add_edge("ask_judge", "draw_round")
    graph.add_edge("complete_record", END)
    return graph
