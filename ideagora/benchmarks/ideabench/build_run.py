"""Filters the references of new targets in a run, so that this has a folder, a bill and a budget."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ideagora.benchmarks.ideabench.build import Filtered, filter_references
from ideagora.benchmarks.ideabench.samples import FILTERED, RAW, TARGETS
from ideagora.config import Settings
from ideagora.errors import IdeagoraError
from ideagora.graphs.run_fields import RunFields
from ideagora.graphs.run_folder import RunFolder
from ideagora.graphs.runtime.job import Job, RunResources
from ideagora.graphs.runtime.run_job import run_job
from ideagora.graphs.services import Services
from ideagora.models.embeddings.embedder import load_embedder
from ideagora.schema import stable_id

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class FilteredFields(TypedDict):
    """What ``build --json`` prints: the file, and the fields of ``Filtered``."""

    file: str
    kept: int
    unrated: int
    dropped: dict[str, int]
    targets_left_out: list[str]
    problems: list[str]


class BuildState(TypedDict, total=False):
    """State of the run."""

    result: FilteredFields


async def build_references(
    data: Path, settings: Settings, chats: Mapping[str, BaseChatModel] | None = None
) -> FilteredFields:
    """Filter the references in a folder of targets; returns the file, what was kept and what was not.

    Raises:
        IdeagoraError: the run failed or is incomplete; the same call continues it.
    """
    folder, model = data.absolute(), settings.model_of("judge")
    results: list[FilteredFields] = []

    def finish(state: Mapping[str, Any], tracker: Any, down: tuple[str, ...]) -> RunFields:
        results.append(state.get("result", {}))
        return {}

    identity = stable_id("build ideabench", str(folder), model)
    job = Job(
        name="build-ideabench",
        identity=identity,
        settings=settings,
        record={"topic": {"text": f"references of {folder}"}, "agent": "build-ideabench"},
        build=partial(_build_graph, folder),
        start={},
        finish=finish,
        models=(model,),
    )
    with RunFolder(settings.home / "bench" / f"build-ideabench-{identity[:8]}", identity) as run_folder:
        resources = RunResources(
            lambda: load_embedder(settings.embedder, settings.home / "cache"), lambda event: None, chats
        )
        down = await run_job(job, run_folder, None, resources)
    if down:
        raise IdeagoraError(f"{' '.join(down)} Run the same command again.")
    return results[-1]


def _build_graph(folder: Path) -> StateGraph[BuildState, Services, BuildState, BuildState]:
    async def filter_all(state: BuildState, runtime: Runtime[Services]) -> BuildState:
        out = folder / FILTERED
        result = await filter_references(runtime.context.client, folder / TARGETS, folder / RAW, out)
        return {"result": _as_json(out, result)}

    graph = StateGraph(BuildState, context_schema=Services)
    graph.add_node("filter_references", filter_all)
    graph.add_edge(START, "filter_references")
    graph.add_edge("filter_references", END)
    return graph


def _as_json(file: Path, result: Filtered) -> FilteredFields:
    return {
        "file": str(file),
        "kept": result.kept,
        "unrated": result.unrated,
        "dropped": dict(result.dropped),
        "targets_left_out": result.targets_left_out,
        "problems": [str(one) for one in result.problems],
    }
