"""``ideagora bench fetch`` and ``build``: data sets of benchmarks, published and your own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn
from rich.text import Text

from ideagora.commands.interrupts import run_async
from ideagora.commands.judging import result_or_exit_code
from ideagora.config import SettingOverrides, load_settings
from ideagora.errors import IdeagoraError, UsageError
from ideagora.graphs.run_fields import RunFields
from ideagora.graphs.run_folder import RunFolder
from ideagora.report.console import plain

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.benchmarks.ideabench.build import Filtered
    from ideagora.config import Settings

TARGETS, RAW, FILTERED = "target_papers.csv", "raw_references.csv", "filtered_references.csv"


@dataclass(frozen=True)
class FetchRequest:
    """Arguments of ``fetch``."""

    benchmark: str
    folder: Path | None = None
    papers: bool = False
    repository: str | None = None
    endpoint: str | None = None
    revision: str = "main"
    yes: bool = False
    quiet: bool = False


def fetch(request: FetchRequest, settings: SettingOverrides) -> int:
    """Download a published data set after saying size and licence; returns the exit code."""
    from ideagora.benchmarks.fetch.download import fetch
    from ideagora.benchmarks.fetch.listing import look_up, published_data

    def run(errors: Console) -> int:
        data = published_data(request.benchmark)
        listing = look_up(
            data,
            papers=request.papers,
            repository=request.repository,
            endpoint=request.endpoint,
            revision=request.revision,
        )
        folder = request.folder or load_settings(**settings).home / "data" / request.benchmark
        errors.print(Text(f"{plain(str(listing))} Folder: {folder}"), soft_wrap=True)
        if not request.yes and not _confirm(errors):
            errors.print("Nothing was downloaded.")
            return 1
        with _download_progress(errors, request.quiet, listing.size) as show:
            fetch(listing, folder, show)
        Console().print(
            Text(f"Use it: ideagora bench {request.benchmark} AGENTS --data {folder}"), soft_wrap=True
        )
        return 0

    return _exit_code(run)


@contextmanager
def _download_progress(errors: Console, quiet: bool, size: int) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar, and the function that updates it: file, bytes of the whole download so far, total."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    with Progress(*columns, TransferSpeedColumn(), console=errors, disable=quiet, transient=True) as progress:
        task = progress.add_task("", total=size)
        yield lambda file, done, total: progress.update(task, description=plain(file), completed=done)


def _confirm(errors: Console) -> bool:
    """Whether the user agrees; a command without a terminal has to say --yes."""
    if not sys.stdin.isatty():
        raise UsageError("This needs a confirmation, and there is no terminal: add --yes.")
    errors.print("Download? [y/N] ", end="", markup=False)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


class FilteredFields(TypedDict):
    """What ``build --json`` prints: the file, and the fields of ``Filtered``."""

    file: str
    kept: int
    unrated: int
    dropped: dict[str, int]
    targets_left_out: list[str]
    problems: list[str]


class _State(TypedDict, total=False):
    result: FilteredFields


def build(
    benchmark: str,
    data: Path,
    settings: SettingOverrides,
    as_json: bool,
    quiet: bool,
    chats: Mapping[str, BaseChatModel] | None = None,
) -> int:
    """Filter the references of new targets; returns the exit code."""

    def run(errors: Console) -> int:
        if benchmark != "ideabench":
            raise UsageError(f"There is nothing to build for {benchmark!r}. Use ideabench.")
        found = run_async(_filter(data, load_settings(**settings), chats))
        for problem in found["problems"]:
            errors.print(Text(f"not used: {plain(problem)}", style="yellow"), soft_wrap=True)
        if as_json:
            print(json.dumps(found, ensure_ascii=False))
            return 0
        _print_filtered(found)
        return 0

    return _exit_code(run)


def _print_filtered(found: FilteredFields) -> None:
    console = Console()
    console.print(f"{found['kept']} references kept, {sum(found['dropped'].values())} dropped.")
    for reason, number in found["dropped"].items():
        console.print(Text(f"  {number} {plain(reason)}"))
    if left := found["targets_left_out"]:
        console.print(Text(f"Targets with too few references: {plain(', '.join(left))}."))
    console.print(Text(f"Written: {found['file']}"), soft_wrap=True)


async def _filter(
    data: Path, settings: Settings, chats: Mapping[str, BaseChatModel] | None
) -> FilteredFields:
    """Run the filter as a job, so that it has a folder, a bill and a budget."""
    from langgraph.graph import END, START, StateGraph
    from langgraph.runtime import Runtime

    from ideagora.benchmarks.ideabench.build import filter_references
    from ideagora.graphs.runtime.job import Job, RunResources
    from ideagora.graphs.runtime.run_job import run_job
    from ideagora.graphs.services import Services
    from ideagora.models.embeddings.embedder import load_embedder
    from ideagora.schema import stable_id

    folder = data.absolute()
    results: list[FilteredFields] = []

    async def filter_all(state: _State, runtime: Runtime[Services]) -> _State:
        out = folder / FILTERED
        result = await filter_references(runtime.context.client, folder / TARGETS, folder / RAW, out)
        return {"result": _as_json(out, result)}

    def create_graph() -> Any:
        graph = StateGraph(_State, context_schema=Services)
        graph.add_node("filter_references", filter_all)
        graph.add_edge(START, "filter_references")
        graph.add_edge("filter_references", END)
        return graph

    def finish(state: Mapping[str, Any], tracker: Any, down: tuple[str, ...]) -> RunFields:
        results.append(state.get("result", {}))
        return {}

    model = settings.model_of("judge")
    identity = stable_id("build ideabench", str(folder), model)
    job = Job(
        name="build-ideabench",
        identity=identity,
        settings=settings,
        record={"topic": {"text": f"references of {folder}"}, "agent": "build-ideabench"},
        build=create_graph,
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


def _as_json(file: Path, result: Filtered) -> FilteredFields:
    return {
        "file": str(file),
        "kept": result.kept,
        "unrated": result.unrated,
        "dropped": dict(result.dropped),
        "targets_left_out": result.targets_left_out,
        "problems": [str(one) for one in result.problems],
    }


def _exit_code(work: Callable[[Console], int]) -> int:
    """The exit code of a command; an expected error is one line."""
    errors = Console(stderr=True)
    return result_or_exit_code(errors, partial(work, errors), stopped="Stopped. The same command continues.")
