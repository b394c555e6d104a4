"""Agents from outside that behave badly, or differently from what a plain one does.

Each run of a function imports this file in a new process, so it has to be light.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypedDict

from pydantic import BaseModel

GOOD = {"title": "A title", "method": "A method."}


# --- functions --------------------------------------------------------------------------------


def good() -> list[dict[str, Any]]:
    return [GOOD]


def raises(topic: Any) -> Any:
    return [GOOD][5]


def hangs(topic: Any) -> Any:
    while True:
        pass


def sleeps() -> Any:
    time.sleep(1000)


async def blocks_its_loop() -> Any:
    while True:
        pass


async def awaits_for_ever() -> Any:
    await asyncio.Event().wait()


def exits() -> Any:
    sys.exit(3)


def interrupts() -> Any:
    raise KeyboardInterrupt


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def raises_worse() -> Any:
    raise Unspeakable


def nothing() -> Any:
    return None


def empty() -> Any:
    return []


def text() -> Any:
    return "Ideas: \x1b[31m1. do research"


def number() -> Any:
    return 42


def garbage() -> Any:
    return [3, "x", {"title": 1, "method": "m"}, {"title": "t"}]


def novel() -> Any:
    return [{"title": "A novel", "method": "word " * 20_000}]


def long_title() -> Any:
    return [{"title": "word " * 100, "method": "m"}]


def endless() -> Iterator[Any]:
    while True:
        yield GOOD


async def endless_async() -> AsyncIterator[Any]:
    while True:
        yield GOOD


async def waits_for_nothing(topic: Any, library: Any) -> Any:
    return [{**GOOD, "title": library.search(topic.text)[0].title}]


def no_json() -> Any:
    return [{**GOOD, "handle": threading.Lock()}]


def not_a_number() -> Any:
    return [{**GOOD, "score": float("nan")}]


def half_a_character() -> Any:
    return [{"title": "\ud800", "method": "m"}]


def wrong_experiment() -> Any:
    return [{**GOOD, "experiment": {"steps": [1, 2]}}]


def half_good() -> Any:
    return [GOOD, {"title": " ", "method": "m"}]


def wants_a_database(topic: Any, database: Any) -> Any:
    return [GOOD]


def swallows(library: Any, model: Any) -> Any:
    with suppress(Exception):
        model("One sentence. Another sentence.")
    return [GOOD]


def prints() -> Any:
    print("printed by the agent")
    sys.stdout.buffer.write(b"bytes of the agent\n")
    sys.stdout.flush()
    subprocess.run(["echo", "printed by its child"], check=True)
    return [GOOD]


def leaves_a_thread() -> Any:
    threading.Thread(target=time.sleep, args=(1000,)).start()
    return [GOOD]


def speaks_markup() -> Any:
    return [{"title": "<script>alert(1)</script>\x1b[31m[red]x", "method": "<img src=x onerror=alert(1)>"}]


# --- what an agent may return ------------------------------------------------------------------


@dataclass
class AsDataclass:
    title: str
    method: str


class AsModel(BaseModel):
    title: str
    method: str
    references: list[str] = []


class AsObject:
    def __init__(self) -> None:
        self.title, self.method = "An object", "A method."


def shapes() -> Any:
    return [
        {**GOOD, "experiment": ["first", "second"], "score": 3, "agent": "somebody else", "id": "mine"},
        AsDataclass("A dataclass", "A method."),
        AsModel(title="A model", method="A method.", references=["arxiv:2302.04761", "arxiv:0000.00000"]),
        AsObject(),
    ]


def one() -> Any:
    return GOOD


class Callable_:
    """An object that can be called."""

    calls = 2

    def __call__(self, topic: Any, seed: int) -> Any:
        return [{**GOOD, "title": f"{topic.text} {seed} {topic.excluded}"}]


def looks(topic: Any, library: Any) -> Any:
    """Uses every part of the library, as a plain function."""
    results = library.search(topic.text, 3)
    papers = {paper.id: paper for paper in results}
    for paper in results:
        papers |= {other.id: other for other in library.references(paper)}
        papers |= {other.id: other for other in library.citations(paper.id)}
    text = library.text(results[0])
    missing = library.paper("arxiv:0000.00000")
    return [
        {"title": results[0].title, "method": text, "references": list(papers), "missing": missing},
    ]


async def looks_async(topic: Any, library: Any) -> Any:
    """The same as ``looks`` in async code, side by side."""
    results = await library.search(topic.text, 3)
    papers = {paper.id: paper for paper in results}
    for paper in results:
        both = await asyncio.gather(library.references(paper), library.citations(paper.id))
        papers |= {other.id: other for some in both for other in some}
    text, missing = await asyncio.gather(library.text(results[0]), library.paper("arxiv:0000.00000"))
    return [
        {"title": results[0].title, "method": text, "references": list(papers), "missing": missing},
    ]


def asks_for_the_banned(topic: Any, library: Any) -> Any:
    """Looks for a paper by all paths, and cites it."""
    wanted = "arxiv:2302.04761"
    seen = [library.paper(wanted)]
    for paper in library.search("Toolformer: language models can teach themselves to use tools", 20):
        seen += [paper, *library.references(paper), *library.citations(paper)]
    visible = [paper.id for paper in seen if paper and paper.id == wanted]
    dates = sorted(paper.date or "?" for paper in seen if paper)
    extra = {"found": visible, "latest": dates[-1] if dates else None, "banned": list(topic.excluded)}
    return [{**GOOD, "references": [wanted], **extra}]


class Answer(BaseModel):
    title: str
    method: str


def asks(topic: Any, model: Any, seed: int) -> Any:
    """Asks in both ways, and the first one twice."""
    prompt = f"A first sentence on {topic.text}. A second one on search. A third on judges. A fourth."
    plain, again, other = model(prompt), model(prompt), model(prompt, system="Be brief.", sample=1)
    typed = model(prompt, schema=Answer)
    return [{"title": typed.title, "method": typed.method, "texts": [plain, again, other], "seed": seed}]


# --- graphs -----------------------------------------------------------------------------------


class State(TypedDict, total=False):
    topic: str
    value: Any
    ideas: list[Any]


def graph_of(*steps: Any, loop: bool = False) -> Any:
    """A class whose graph has these steps one after the other."""

    class Graph:
        """A graph of a test."""

        def graph(self) -> Any:
            from langgraph.graph import START, StateGraph

            graph = StateGraph(State).add_sequence(list(steps)).add_edge(START, steps[0].__name__)
            return graph.add_edge(steps[-1].__name__, steps[0].__name__) if loop else graph

    return Graph


def answer(state: Any) -> Any:
    return {"ideas": [GOOD]}


def lock(state: Any) -> Any:
    return {"value": threading.Lock()}


def no_update(state: Any) -> Any:
    return [1]


def same(state: Any) -> Any:
    return {"topic": state["topic"]}


def sleeping(state: Any) -> Any:
    time.sleep(1000)


async def busy(state: Any) -> Any:
    while True:
        pass


def failing(state: Any) -> Any:
    raise ValueError("the step fails")


def asking_a_person(state: Any) -> Any:
    from langgraph.types import interrupt

    return {"value": interrupt("what now?")}


GraphWithLock = graph_of(lock, answer)
GraphWithoutUpdate = graph_of(no_update)
GraphWithoutEnd = graph_of(same, loop=True)
GraphWithoutIdeas = graph_of(same)
GraphAsleep = graph_of(sleeping)
GraphBusy = graph_of(busy)
GraphFailing = graph_of(failing)
GraphAsking = graph_of(asking_a_person, answer)


class Inner(TypedDict, total=False):
    value: Any


def inner_step(state: Any, runtime: Any) -> Any:
    return {"value": [paper.id for paper in runtime.context.library.search("tool use", 2)]}


class Nested:
    """A graph with a graph as a step, a first state and ideas of its own making."""

    def graph(self) -> Any:
        from langgraph.graph import END, START, StateGraph

        inner = StateGraph(Inner).add_node(inner_step).add_edge(START, "inner_step").compile()
        graph = StateGraph(State).add_node("inner", inner).add_node(asks_model)
        graph.add_edge(START, "inner").add_conditional_edges("inner", self.decide, ["asks_model", END])
        return graph

    def decide(self, state: Any) -> str:
        return "asks_model" if state["value"] else "__end__"

    def start(self, topic: Any) -> Any:
        return {"topic": topic.text.upper()}

    def ideas(self, state: Any) -> Any:
        return [{"title": state["topic"], "method": state["value"][-1], "references": state["value"][:-1]}]


async def asks_model(state: Any, runtime: Any) -> Any:
    text = await runtime.context.model("A sentence on tools. Another sentence.")
    return {"value": [*state["value"], text]}


class NoGraph:
    def graph(self) -> Any:
        return 5


class CompiledGraph:
    def graph(self) -> Any:
        return graph_of(answer)().graph().compile()


class NeedsArguments:
    def __init__(self, path: str) -> None:
        self.path = path

    def __call__(self) -> Any:
        return [GOOD]


five = 5
