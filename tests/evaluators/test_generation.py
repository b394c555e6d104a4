"""Several agents generate ideas at once: one limit of calls, nothing mixed, the same results in any order."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from pydantic import PrivateAttr

from ideagora.config import Settings
from ideagora.errors import AgentFailed, BudgetExhausted, MissingKey
from ideagora.evaluators.generation import AgentRun, RunResult, agent_run, generate_ideas, outage_lines
from ideagora.graphs.external.adapter import AgentCode, as_agent
from ideagora.graphs.task import Task
from ideagora.models.budget import create_budget
from ideagora.models.chat_models import ScriptedCall, ScriptedChatModel
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.registry import find_agent
from ideagora.retrieval.library import Library
from ideagora.retrieval.run_notes import RunNotes
from ideagora.schema import Paper, ScoredPaper, Topic
from tests.graphs.test_runtime import World, paper
from tests.support import standin

TOPICS = ("tools", "search", "judging", "planning")


class SlowModel(ScriptedChatModel):
    """A stand-in that takes a while and counts the calls that are out."""

    seconds: Callable[[ScriptedCall], float]
    wait_for: int = 0
    """Nobody is answered before so many calls have been out at once."""
    _out: int = PrivateAttr(default=0)
    _most: int = PrivateAttr(default=0)
    _enough: asyncio.Event = PrivateAttr(default_factory=asyncio.Event)

    @property
    def most(self) -> int:
        """The most calls at once."""
        return self._most

    async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        self._out += 1
        self._most = max(self._most, self._out)
        try:
            call = ScriptedCall(kwargs.get("role"), tuple((m.type, m.text) for m in messages), None, None)
            if self._most >= self.wait_for:
                self._enough.set()
            await self._enough.wait()
            await asyncio.sleep(self.seconds(call))
            return await super()._agenerate(messages, *args, **kwargs)
        finally:
            self._out -= 1


def answer(call: ScriptedCall) -> Any:
    return standin.ANSWERS[(standin.ROLES | standin.PLAIN_ROLES)[str(call.role)]](call.messages[-1][1])


def is_on(topic: str, call: ScriptedCall) -> bool:
    """Whether a call is about a topic."""
    return f">{topic}</" in "".join(call.messages[-1][1].split())


def model(seconds: Callable[[ScriptedCall], float] = lambda call: 0.0) -> SlowModel:
    return SlowModel(replies=answer, seconds=seconds)


class NotingWorld(World):
    """Takes a note for each query, as sources that fail do, and counts who is connected."""

    def __init__(self, papers: Sequence[Paper], notes: RunNotes) -> None:
        super().__init__(papers)
        self.notes = notes
        self.disconnected = 0

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        await asyncio.sleep(0.01)
        self.notes.note("nothing", query)
        return await super().search(query, k)

    async def disconnect(self) -> None:
        self.disconnected += 1


def runs_of(home: Path, names: Sequence[str] = ("direct", "rag"), **settings: Any) -> list[AgentRun]:
    chosen = Settings(home=home, embedder="hash", model="scripted", **settings)
    return [
        agent_run(name, Task(Topic(text=text, before="2005"), agent, agent.options, chosen), home / "arena")
        for name in names
        for agent in [find_agent(name)]
        for text in TOPICS
    ]


def made(
    runs: Sequence[AgentRun], chat: ScriptedChatModel, events: list[Mapping[str, Any]] | None = None
) -> tuple[list[RunResult], NotingWorld]:
    notes = RunNotes()
    world = NotingWorld([paper(number) for number in range(12)], notes)
    library = Library(world, HashEmbedder(), run_notes=notes)
    listener = (events if events is not None else []).append
    results = asyncio.run(generate_ideas(runs, lambda: (library, HashEmbedder), listener, {"scripted": chat}))
    return results, world


def record(run: AgentRun) -> dict[str, Any]:
    contents: dict[str, Any] = json.loads((run.folder / "run.json").read_text(encoding="utf-8"))
    return contents


def test_runs_share_the_calls_and_nothing_else(tmp_path: Path) -> None:
    events: list[Mapping[str, Any]] = []
    chat = SlowModel(replies=answer, seconds=lambda call: 0.02, wait_for=3)
    runs = runs_of(tmp_path, concurrency=3)
    results, world = made(runs, chat, events)
    assert chat.most == 3, "all runs together, not each"
    assert [len(result.ideas) for result in results] == [1] * 8
    for run, result in zip(runs, results, strict=True):
        assert result.ideas[0].topic == run.task.topic.text
        missed = [note for note in record(run)["notes"] if "Nothing found" in note]
        assert len(missed) == (run.name == "rag")
        assert all(f" {run.task.topic.text}”" in note for note in missed)
        others = {topic for topic in TOPICS if topic not in run.task.topic.text}
        assert not any(f" {topic}”" in note for note in missed for topic in others)
        assert run.name == "rag" or not record(run)["held_back"]
    assert world.disconnected == 1, "only the last run closes the connections"
    stages = [event for event in events if event["event"] == "arena"]
    assert [event["done"] for event in stages if event["status"] == "done"] == list(range(1, 9))
    active = {event["run"] for event in events if event["event"] == "call"}
    assert active == set(range(1, 9))


def test_results_do_not_depend_on_which_run_ends_first(tmp_path: Path) -> None:
    def files(home: Path, late: str) -> list[str]:
        chat = model(lambda call: 0.05 if is_on(late, call) else 0.0)
        results, _ = made(runs := runs_of(home), chat)
        texts = [
            [idea.model_dump_json(exclude={"usage", "created"}) for idea in result.ideas]
            for result in results
        ]
        return [*map(str, texts), *(str(record(run)["notes"]) for run in runs)]

    assert files(tmp_path / "a", TOPICS[0]) == files(tmp_path / "b", TOPICS[-1])


def test_a_fatal_error_stops_all_and_the_same_runs_go_on(tmp_path: Path) -> None:
    def breaks(call: ScriptedCall) -> Any:
        return MissingKey("no key") if call.role == "experiment_designer" else answer(call)

    chat = SlowModel(replies=breaks, seconds=lambda call: 0.0 if is_on("tools", call) else 0.03)
    runs = runs_of(tmp_path, concurrency=8)
    with pytest.raises(MissingKey):
        made(runs, chat)
    statuses = {record(run)["status"] for run in runs}
    assert statuses == {"failed", "interrupted"}
    again = model()
    results, _ = made(runs, again)
    assert all(result.ideas for result in results)
    third = model()
    assert made(runs, third)[0] == results
    assert not third.calls
    paid = [call.messages for call in (*chat.calls, *again.calls) if call.role == "direct_ideator"]
    assert len(set(paid)) == len(TOPICS)


def test_other_errors_cost_their_own_entry(tmp_path: Path) -> None:
    def refuses(call: ScriptedCall) -> Any:
        return AgentFailed("it broke") if is_on("search", call) else answer(call)

    runs = runs_of(tmp_path, ("direct",))
    results, _ = made(runs, ScriptedChatModel(replies=refuses))
    assert [result.missing for result in results] == [None, "the agent failed: it broke", None, None]
    assert outage_lines(runs, results) == ()


def test_the_budget_is_one_for_all_runs(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, ("direct",), concurrency=1, budget=0.5)
    chat = ScriptedChatModel(replies=answer, cost_usd=0.2)

    async def main() -> None:
        library = Library(World([]), HashEmbedder())
        budget = create_budget(runs[0].task.settings, {})
        await generate_ideas(
            runs, lambda: (library, HashEmbedder), lambda event: None, {"scripted": chat}, budget
        )

    with pytest.raises(BudgetExhausted):
        asyncio.run(main())
    assert len(chat.calls) == 3, "a single run makes two"


def test_an_agents_own_threads_belong_to_its_run(tmp_path: Path) -> None:
    def ideate(topic: Topic, library: Any) -> list[dict[str, str]]:
        thread = threading.Thread(target=library.search, args=(f"{topic.text} by a thread",))
        thread.start()
        thread.join()
        return [{"title": topic.text, "method": "Search in a thread."}]

    agent = as_agent(ideate, AgentCode("own", "here", "1"))
    settings = Settings(home=tmp_path, embedder="hash", model="scripted")
    runs = [
        agent_run("own", Task(Topic(text=text), agent, agent.options, settings), tmp_path) for text in TOPICS
    ]
    made(runs, model())
    for run in runs:
        assert record(run)["notes"][-1] == f"Nothing found for “{run.task.topic.text} by a thread”."


def test_two_runs_of_one_folder_run_one_after_the_other(tmp_path: Path) -> None:
    (first, *_) = runs_of(tmp_path, ("direct",))
    chat = model(lambda call: 0.01)
    results, _ = made([first, first], chat)
    assert results[0].ideas == results[1].ideas
    assert len(chat.calls) == 2


def test_an_agents_class_is_instantiated_for_every_run(tmp_path: Path) -> None:
    class Remembering:
        def graph(self) -> Any:
            graph: Any = StateGraph(dict)
            graph.add_node("remember", self.remember)
            graph.add_node("tell", self.tell)
            return graph.add_edge(START, "remember").add_edge("remember", "tell")

        async def remember(self, state: dict[str, Any]) -> dict[str, Any]:
            self.topic = state["topic"]
            await asyncio.sleep(0.05)
            return state

        async def tell(self, state: dict[str, Any]) -> dict[str, Any]:
            return {"ideas": [{"title": self.topic, "method": "Remember it."}]}

    agent = as_agent(Remembering, AgentCode("own", "here", "1"))
    settings = Settings(home=tmp_path, embedder="hash", model="scripted")
    runs = [
        agent_run("own", Task(Topic(text=text), agent, agent.options, settings), tmp_path) for text in TOPICS
    ]
    results, _ = made(runs, model())
    assert [result.ideas[0].title for result in results] == list(TOPICS)
