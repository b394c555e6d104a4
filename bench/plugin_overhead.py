"""The overhead of running an external agent, in milliseconds and megabytes.

The same small agent (two searches and one call to the offline model) runs in four ways: the function alone,
as a built-in agent (one node that uses the services directly), as an external agent in this process
(``as_agent``), and as an external agent in its own process (``registry.find_agent``). Describing the agent in
such a process, once per command, is a separate row. Every run has its own cache, so that the model is always
called. The interpreter, the imports and opening the store are not counted. Targets: at most 50 ms and 20 MB
over the function alone in this process, and 500 ms over a built-in agent in its own process. Processor time
is printed too, since wall-clock medians suffer on a busy machine.
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
from ideagora.graphs.external.adapter import AgentCode, as_agent
from ideagora.graphs.external.offline import PromptInputs, handler_for
from ideagora.graphs.external.state import ExternalState
from ideagora.graphs.run_folder import RunFolder
from ideagora.graphs.runtime.job import RunResources
from ideagora.graphs.services import Services
from ideagora.graphs.task import Task, run_task
from ideagora.models.call import Call, FreeText
from ideagora.registry import find_agent
from ideagora.retrieval.factory import open_library
from ideagora.retrieval.library import Library
from ideagora.schema import Topic

RUNS = 30
PROCESSES = 10
"""Number of runs in their own process."""
TOPIC = Topic(text="tool use by language models")
QUERIES = (TOPIC.text, "judging generated text")


class Clock:
    """Wall-clock and processor milliseconds of several runs."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.processor: list[float] = []

    @contextmanager
    def run(self) -> Iterator[None]:
        """Measure the block."""
        wall, processor = time.perf_counter(), _processor_seconds()
        yield
        self.wall.append((time.perf_counter() - wall) * 1000)
        self.processor.append((_processor_seconds() - processor) * 1000)


def _processor_seconds() -> float:
    """The processor time of this process and its finished children."""
    return sum(os.times()[:4])


ALONE = Clock()


def ideate(library: Any, model: Any) -> list[dict[str, Any]]:
    """A small agent that uses library and model, and measures itself."""
    with ALONE.run():
        papers = [paper for query in QUERIES for paper in library.search(query, 3)]
        method = model("\n".join(f"{paper.title}. {paper.abstract}" for paper in papers))
    return [{"title": papers[0].title, "method": method, "references": [paper.id for paper in papers]}]


def built_in() -> Agent:
    """The same agent as a built-in one: its node uses the services directly."""

    async def step(state: ExternalState, runtime: Runtime[Services]) -> ExternalState:
        services = runtime.context
        results = [await services.library.search(query, 3) for query in QUERIES]
        papers = [scored.paper for result in results for scored in result]
        prompt = "\n".join(f"{paper.title}. {paper.abstract}" for paper in papers)
        inputs = PromptInputs(system=None, prompt=prompt)
        call = Call("bench", "main", "", prompt, FreeText, inputs, handler_for(None))
        text = (await services.client.ask(call)).text
        references = tuple(dict.fromkeys(paper.id for paper in papers))
        idea: Any = {"title": papers[0].title, "method": text, "references": references, "extra": {}}
        return {"ideas": [idea]}

    def build() -> Any:
        return StateGraph(ExternalState, context_schema=Services).add_node(step).add_edge(START, "step")

    external = as_agent(ideate, AgentCode("bench:built-in", "bench", ""))
    return replace(external, build=build, context=None)


def main() -> None:
    """Print the overhead of an external agent over the function alone and over a built-in agent."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with open_library(Settings(home=home, embedder="hash")) as library:
            native, in_process, own_process, describing = Clock(), Clock(), Clock(), Clock()
            agents = (
                (built_in(), native),
                (as_agent(ideate, AgentCode("bench:ideate", "bench", "")), in_process),
            )
            _run(built_in(), Clock(), library, home / "warm")  # imports
            for number in range(PROCESSES):
                with describing.run():
                    agent = find_agent(f"{_write_agent(home)}:ideate")
                _run(agent, own_process, library, home / f"own-process-{number}")
            before = _resident_mib()
            for number in range(RUNS):
                for index, (agent, clock) in enumerate(agents):
                    _run(agent, clock, library, home / f"{number}-{index}")
            grown = _resident_mib() - before
    figures: dict[str, Any] = {"grown_mib": round(grown, 1)}
    print(f"{'median of ' + str(RUNS) + ' runs':32}{'wall ms':>10}{'processor ms':>14}")
    rows = (
        ("function_alone", ALONE),
        ("built_in", native),
        ("external", in_process),
        ("own_process", own_process),
        ("describing", describing),
    )
    for name, clock in rows:
        figures[name] = [round(statistics.median(times), 1) for times in (clock.wall, clock.processor)]
        print(f"{name:32}{figures[name][0]:>10}{figures[name][1]:>14}")
    for name in ("function_alone", "built_in"):
        over = [round(a - b, 1) for a, b in zip(figures["external"], figures[name], strict=True)]
        figures[f"over_{name}"] = over
        print(f"{'added to ' + name:32}{over[0]:>10}{over[1]:>14}")
    over = [round(a - b, 1) for a, b in zip(figures["own_process"], figures["built_in"], strict=True)]
    figures["own_process_over_built_in"] = over
    print(f"{'own process added to built_in':32}{over[0]:>10}{over[1]:>14}")
    print(f"memory grew by {grown:.1f} MiB over all runs")
    print(
        json.dumps(
            {"benchmark": "plugin_overhead", "aim_ms": 50, "aim_mib": 20, "aim_process_ms": 500, **figures}
        )
    )


def _write_agent(home: Path) -> Path:
    """Write the same agent to its own file, without imports from this project."""
    file = home / "small.py"
    code = inspect.getsource(ideate).replace("    with ALONE.run():\n", "    if True:\n")
    lines = ("from __future__ import annotations", f"QUERIES = {QUERIES!r}", code)
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def _run(agent: Agent, clock: Clock, library: Library, home: Path) -> None:
    """Measure one run with its own cache."""
    task = Task(TOPIC, agent, agent.options, Settings(home=home, embedder="hash"))
    with clock.run(), RunFolder(home / "run", task.identity) as folder:
        resources = RunResources(lambda: library.embedder, lambda event: None)
        asyncio.run(run_task(task, folder, library, resources))


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20
