"""The arena as a graph: restyle all ideas, then judge rounds of comparisons until the schedule ends.

    restyle_idea × n (in parallel)
      → draw_round ⇄ judge_comparison × n (in parallel)
      → complete_record

The state contains rows of small integers (``comparisons.py``); texts stay in the lineup and the caches,
verdicts in the folder. A checkpoint therefore grows with the number of verdicts only.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.style import RESTYLE, with_plain_style
from ideagora.errors import ModelUnavailable, RequestRejected, UnreadableAnswer
from ideagora.evaluators.arena.comparisons import (
    KINDS,
    Comparison,
    from_row,
    majority_outcome,
    plan_comparisons,
    schedule_entrants,
    to_row,
    verdict_columns,
)
from ideagora.evaluators.arena.judging import JudgePanel, ask_judge, count_words, verdict_id
from ideagora.evaluators.arena.lineup import Kind, Lineup
from ideagora.evaluators.arena.verdict_log import VerdictLog
from ideagora.evaluators.schedules.pairing import Schedule
from ideagora.graphs.services import Services
from ideagora.models.client import LLMClient
from ideagora.models.usage import usage_label
from ideagora.schema import Idea

BATCH = 256
"""Maximum number of comparisons per step, after which a checkpoint is written."""


@dataclass(frozen=True)
class ArenaContext:
    """What nodes use and checkpoints do not contain."""

    panel: JudgePanel
    schedules: Mapping[Kind, Schedule]
    """The schedule of each kind of entry."""
    log: VerdictLog
    max_comparisons: int | None
    """Maximum number of comparisons of each kind."""
    style: bool
    """Whether ideas are restyled before they are judged."""
    down: dict[str, str] = field(default_factory=dict)
    """Model -> why it is unavailable; it is not called again in this attempt."""
    semaphore: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(8))
    """Limits concurrent comparisons, so that later ones see that a judge is down."""
    restyled: dict[str, Idea] = field(default_factory=dict)
    """Idea id -> the restyled idea; filled on first use, from the cache after a restart."""

    @property
    def lineup(self) -> Lineup:
        """The contestants and their entries."""
        return self.panel.lineup

    @cached_property
    def words(self) -> dict[Kind, list[list[int]]]:
        """Word counts of the original entries, shape (topics, contestants), 1 where there is no entry.

        Schedules use these because they are the same after a restart; verdicts count the words shown.
        """
        places = range(len(self.lineup.contestants))
        return {
            kind: [
                [self._length(topic, one, kind) for one in places] for topic in range(len(self.lineup.topics))
            ]
            for kind in self.schedules
        }

    def _length(self, topic: int, contestant: int, kind: Kind) -> int:
        idea = self.lineup.idea(topic, contestant)
        competes = self.lineup.competes(topic, contestant, kind)
        return count_words(idea, kind) if idea is not None and competes else 1

    async def shown(self, client: LLMClient, idea: Idea) -> Idea:
        """The idea as judges see it; its experiment is restyled only if experiments are judged."""
        if not self.style:
            return idea
        if idea.id not in self.restyled:
            whole = idea if "experiment" in self.schedules else idea.model_copy(update={"experiment": None})
            with usage_label("style"):
                self.restyled[idea.id] = await with_plain_style(client, whole)
        return self.restyled[idea.id]


class ArenaState(TypedDict, total=False):
    """The state in checkpoints: plain and small."""

    unstyled: Annotated[list[list[Any]], operator.add]
    """[topic, contestant, reason] of entries that could not be restyled."""
    rows: Annotated[list[list[int]], operator.add]
    """Judged comparisons with their results."""
    skipped: Annotated[list[list[int]], operator.add]
    """Comparisons whose judge was down; the graph ends after their step, and the next attempt asks again."""
    queue: list[list[int]]
    """Comparisons of the round that are still to be judged."""
    batch: list[list[int]]
    comparison: list[int]
    entry: list[int]


Context = Runtime[Services]


def _arena_context(runtime: Context) -> ArenaContext:
    arena: ArenaContext = runtime.context.options
    return arena


def enter(state: ArenaState) -> ArenaState:
    """Start with empty queues."""
    return {"queue": [], "batch": []}


def send_entries(state: ArenaState, runtime: Context) -> list[Hashable | Send]:
    """Send all entries to be restyled in parallel, if style is on."""
    arena = _arena_context(runtime)
    places = [
        (topic, one)
        for topic in range(len(arena.lineup.topics))
        for one in range(len(arena.lineup.contestants))
        if arena.lineup.idea(topic, one) is not None
    ]
    sends: list[Hashable | Send] = [Send("restyle_idea", {"entry": list(place)}) for place in places]
    return sends if arena.style and sends else ["draw_round"]


async def restyle_idea(state: ArenaState, runtime: Context) -> ArenaState:
    """Restyle one idea; an idea that cannot be restyled does not compete."""
    topic, one = state["entry"]
    arena = _arena_context(runtime)
    idea = arena.lineup.idea(topic, one)
    assert idea is not None
    client = runtime.context.client
    model = client.settings.model_of(RESTYLE.group)
    if model in arena.down:
        return _unstyled_entry(topic, one, arena.down[model])
    try:
        await arena.shown(client, idea)
    except ModelUnavailable as error:
        arena.down[model] = str(error)
        return _unstyled_entry(topic, one, str(error))
    except (UnreadableAnswer, RequestRejected) as error:
        return _unstyled_entry(topic, one, str(error).partition(" All replies are in")[0])
    return {}


def _unstyled_entry(topic: int, one: int, why: str) -> ArenaState:
    return {"unstyled": [[topic, one, f"it could not be restyled: {why}"]]}


def draw_round(state: ArenaState, runtime: Context) -> ArenaState:
    """The next batch of the round, or of the next round of the schedule."""
    arena = _arena_context(runtime)
    queue = state["queue"] or [
        list(comparison)
        for kind, of in enumerate(KINDS)
        if of in arena.schedules
        for comparison in _next_round(state, arena, kind)
    ]
    return {"batch": queue[:BATCH], "queue": queue[BATCH:]}


def _next_round(state: ArenaState, arena: ArenaContext, kind: int) -> list[Comparison]:
    rows = [row for row in state.get("rows", []) if row[0] == kind]
    asked = [from_row(row) for row in rows]
    room = None if arena.max_comparisons is None else arena.max_comparisons - len(rows)
    if room is not None and room <= 0:
        return []
    entered = current_entries(arena, state, KINDS[kind])
    entrants = schedule_entrants(arena.lineup, entered, len(arena.panel.judges))
    columns = verdict_columns(rows, arena.lineup, arena.panel.judges, arena.words[KINDS[kind]])
    pairings = arena.schedules[KINDS[kind]].next(
        entrants, columns, [comparison.pairing for comparison in asked]
    )
    return plan_comparisons(pairings[:room], kind, asked)


def current_entries(arena: ArenaContext, state: Mapping[str, Any], kind: Kind) -> list[list[bool]]:
    """Whether each entry can be judged, shape (topics, contestants)."""
    entered = arena.lineup.entered(kind)
    for topic, one, _ in state.get("unstyled", []):
        entered[topic][one] = False
    return entered


def send_comparisons(state: ArenaState) -> list[Hashable | Send]:
    """Send the batch to the judges in parallel; without one, complete the record."""
    if state.get("skipped"):  # the next round may depend on them
        return [END]
    sends: list[Hashable | Send] = [
        Send("judge_comparison", {"comparison": comparison}) for comparison in state["batch"]
    ]
    return sends or ["complete_record"]


async def judge_comparison(state: ArenaState, runtime: Context) -> ArenaState:
    """Judge one comparison: the verdict goes to the folder, the result to the state."""
    comparison, arena = Comparison(*state["comparison"]), _arena_context(runtime)
    judge = arena.panel.judges[comparison.judge]
    async with arena.semaphore:
        if judge in arena.down:
            return {"skipped": [list(comparison)]}
        try:
            values = await _judge(comparison, runtime)
        except ModelUnavailable as error:
            arena.down[judge] = str(error)
            return {"skipped": [list(comparison)]}
    return {"rows": [to_row(comparison, None if values is None else majority_outcome(values.values()))]}


async def _judge(comparison: Comparison, runtime: Context) -> dict[str, float] | None:
    arena, client = _arena_context(runtime), runtime.context.client
    ideas = [arena.lineup.idea(comparison.topic, one) for one in (comparison.first, comparison.second)]
    first, second = [await arena.shown(client, idea) for idea in ideas if idea is not None]
    verdict = await ask_judge(client, arena.panel, comparison, (first, second))
    arena.log.add(verdict)
    return verdict.criteria


async def complete_record(state: ArenaState, runtime: Context) -> ArenaState:
    """Restore lost verdicts from the cache, then write all in order."""
    arena = _arena_context(runtime)
    comparisons = [from_row(row) for row in state.get("rows", [])]
    for comparison in comparisons:
        if arena.log.get(verdict_id(arena.panel, comparison)) is None:
            await _judge(comparison, runtime)
    if arena.style:
        for topic, one in _competing(arena, state):
            idea = arena.lineup.idea(topic, one)
            assert idea is not None
            await arena.shown(runtime.context.client, idea)  # from the cache, for the record
    arena.log.finalize(verdict_id(arena.panel, comparison) for comparison in comparisons)
    return {}


def _competing(arena: ArenaContext, state: ArenaState) -> list[tuple[int, int]]:
    entered = current_entries(arena, state, "idea")
    return [(topic, one) for topic, row in enumerate(entered) for one, there in enumerate(row) if there]


def build_graph() -> StateGraph[ArenaState, Services, ArenaState, ArenaState]:
    """The graph of the arena."""
    graph = StateGraph(ArenaState, context_schema=Services)
    for node in (enter, restyle_idea, draw_round, judge_comparison, complete_record):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "enter")
    graph.add_conditional_edges("enter", send_entries, ["restyle_idea", "draw_round"])
    graph.add_edge("restyle_idea", "draw_round")
    graph.add_conditional_edges("draw_round", send_comparisons, ["judge_comparison", "complete_record", END])
    graph.add_edge("judge_comparison", "draw_round")
    graph.add_edge("complete_record", END)
    return graph
