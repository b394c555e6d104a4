"""What the harness adds to the own run of an agent from outside: milliseconds and megabytes.

The same small agent (two searches and one call to the offline model) is run four ways: its function
alone (called with the tools, nothing around it), as a built-in agent would be (one step of a graph that
uses the services itself), from outside in this process (``as_agent``), and from outside in a process of
its own, as ``registry.find_agent`` gives it. What it takes to describe an agent in such a process, once
for a command, is a row by itself. All runs have a cache of their own, so that the model is asked each
time. What every run has before any agent starts is not counted: the interpreter, the imports, the opened
store. Aims: at most 50 ms and 20 MB over the function alone in this process, and 500 ms over a built-in
agent in a process of its own. Wall-clock medians suffer on a busy machine, so processor time stands
beside them.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime

from ideagora.config import Settings
from ideagora.graphs.agent import Agent
from ideagora.graphs.external.adapter import as_agent
from ideagora.graphs.external.offline import PromptInputs, handler_for
from ideagora.graphs.external.references import ExternalState
from ideagora.graphs.run_folder import RunFolder
from ideagora.graphs.services import Services
from ideagora.graphs.task import Task, run_task
from ideagora.models.call import Call, FreeText
from ideagora.registry import find_agent
from ideagora.retrieval.factory import open_library
from ideagora.retrieval.library import Library
from ideagora.schema import Topic

RUNS = 30
PROCESSES = 10
"""Runs in a process of their own."""
TOPIC = Topic(text="tool use by language models")
QUESTIONS = (TOPIC.text, "judging generated text")


class Clock:
    """Wall and processor milliseconds of the runs of one way."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.processor: list[float] = []

    @contextmanager
    def run(self) -> Iterator[None]:
        """Time what is inside."""
        wall, processor = time.perf_counter(), _processor_seconds()
        yield
        self.wall.append((time.perf_counter() - wall) * 1000)
        self.processor.append((_processor_seconds() - processor) * 1000)


def _processor_seconds() -> float:
    """Of this process and of its children that have ended."""
    return sum(os.times()[:4])


ALONE = Clock()


def ideate(library: Any, model: Any) -> list[dict[str, Any]]:
    """A small agent that uses library and model; what passes inside is its own run."""
    with ALONE.run():
        papers = [paper for question in QUESTIONS for paper in library.search(question, 3)]
        method = model("\n".join(f"{paper.title}. {paper.abstract}" for paper in papers))
    return [{"title": papers[0].title, "method": method, "references": [paper.id for paper in papers]}]


def built_in() -> Agent:
    """The same as a built-in agent: its step uses the services, and nothing looks after it."""

    async def step(state: ExternalState, runtime: Runtime[Services]) -> ExternalState:
        services = runtime.context
        found = [await services.library.search(question, 3) for question in QUESTIONS]
        papers = [scored.paper for some in found for scored in some]
        prompt = "\n".join(f"{paper.title}. {paper.abstract}" for paper in papers)
        inputs = PromptInputs(system=None, prompt=prompt)
        call = Call("bench", "main", "", prompt, FreeText, inputs, handler_for(None))
        text = (await services.client.ask(call)).text
        references = tuple(dict.fromkeys(paper.id for paper in papers))
        idea = {"title": papers[0].title, "method": text, "references": references, "extra": {}}
        return {"ideas": [idea]}

    def build() -> Any:
        return StateGraph(ExternalState, context_schema=Services).add_node(step).add_edge(START, "step")

    outside = as_agent(ideate, "bench:built-in", "bench", "")
    return replace(outside, build=build, context=None)


def main() -> None:
    """Print what a run from outside takes beyond the function alone, and beyond a built-in agent."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with open_library(Settings(home=home, embedder="hash")) as library:
            native, outside, apart, describing = Clock(), Clock(), Clock(), Clock()
            agents = ((built_in(), native), (as_agent(ideate, "bench:ideate", "bench", ""), outside))
            _run(built_in(), Clock(), library, home / "warm")  # imports
            for number in range(PROCESSES):
                with describing.run():
                    agent = find_agent(f"{_small(home)}:ideate")
                _run(agent, apart, library, home / f"apart-{number}")
            before = _resident_mib()
            for number in range(RUNS):
                for which, (agent, clock) in enumerate(agents):
                    _run(agent, clock, library, home / f"{number}-{which}")
            grown = _resident_mib() - before
    figures: dict[str, Any] = {"grown_mib": round(grown, 1)}
    print(f"{'median of ' + str(RUNS) + ' runs':32}{'wall ms':>10}{'processor ms':>14}")
    rows = (
        ("function_alone", ALONE),
        ("built_in", native),
        ("from_outside", outside),
        ("own_process", apart),
        ("describing", describing),
    )
    for name, clock in rows:
        figures[name] = [round(statistics.median(one), 1) for one in (clock.wall, clock.processor)]
        print(f"{name:32}{figures[name][0]:>10}{figures[name][1]:>14}")
    for name in ("function_alone", "built_in"):
        over = [round(a - b, 1) for a, b in zip(figures["from_outside"], figures[name], strict=True)]
        figures[f"over_{name}"] = over
        print(f"{'added to ' + name:32}{over[0]:>10}{over[1]:>14}")
    over = [round(a - b, 1) for a, b in zip(figures["own_process"], figures["built_in"], strict=True)]
    figures["own_process_over_built_in"] = over
    print(f"{'own process added to built_in':32}{over[0]:>10}{over[1]:>14}")
    print(f"memory in use grew by {grown:.1f} MiB over all of them")
    print(
        json.dumps(
            {"benchmark": "plugin_overhead", "aim_ms": 50, "aim_mib": 20, "aim_process_ms": 500, **figures}
        )
    )


def _small(home: Path) -> Path:
    """The same agent in a file by itself, which imports nothing of ours."""
    file = home / "small.py"
    code = inspect.getsource(ideate).replace("    with ALONE.run():\n", "    if True:\n")
    lines = ("from __future__ import annotations", f"QUESTIONS = {QUESTIONS!r}", code)
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def _run(agent: Agent, clock: Clock, library: Library, home: Path) -> None:
    """One run with a cache of its own."""
    task = Task(TOPIC, agent, agent.options, Settings(home=home, embedder="hash"))
    with clock.run(), RunFolder(home / "run", task.identity) as folder:
        asyncio.run(run_task(task, folder, library, lambda: library.embedder, lambda event: None))


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20
