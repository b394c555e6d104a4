"""``ideagora bench``: run a benchmark on agents or existing ideas, or judge a finished run again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from ideagora.benchmarks.benchmark import Benchmark, Plan, ProtocolName, Samples
from ideagora.benchmarks.registry import BENCHMARKS, find_benchmark
from ideagora.benchmarks.results.records import RESULTS_FILE, BenchmarkResult
from ideagora.benchmarks.running.errors import errors_named
from ideagora.benchmarks.running.estimate import agents_without_estimate, expected_bill
from ideagora.benchmarks.running.generated import require_ideas_on_samples
from ideagora.benchmarks.running.idea_log import IdeaLog
from ideagora.benchmarks.running.records import BenchmarkResources, BenchmarkRun
from ideagora.benchmarks.running.rescore import judged_already, load_run, rescore
from ideagora.benchmarks.running.run import problem_notes, run_benchmark
from ideagora.benchmarks.running.selection import Selection
from ideagora.commands.shared.interrupts import run_async
from ideagora.commands.shared.judging import (
    costs_nothing,
    open_resources,
    print_expected_cost,
    result_or_exit_code,
)
from ideagora.commands.shared.preloading import preloading
from ideagora.config import SettingOverrides, Settings, load_settings
from ideagora.errors import BudgetExhausted, UsageError
from ideagora.evaluators.arena.entries.contestants import resolve_contestants
from ideagora.graphs.run_folder import RunFolder
from ideagora.report.console import print_incomplete
from ideagora.report.export import require_library

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


@dataclass(frozen=True)
class Request:
    """Arguments of the commands."""

    benchmark: str = ""
    benchmark_options: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    data: Path | None = None
    limit: str | None = None
    sample_ids: tuple[str, ...] = ()
    shuffle: int | None = None
    epochs: int = 1
    ideas: int | None = None
    judges: tuple[str, ...] = ()
    protocols: tuple[ProtocolName, ...] = ("default",)
    only: tuple[str, ...] = ()
    scored: bool = True
    settings: SettingOverrides = field(default_factory=SettingOverrides)
    before: str | None = None
    excluded: tuple[str, ...] = ()
    out: Path | None = None
    exports: tuple[str, ...] = ()
    as_json: bool = False
    fresh: bool = False
    quiet: bool = False
    page: bool = True


def list_all(as_json: bool) -> int:
    """Print the benchmarks with their papers and measures; returns the exit code."""
    found = [find_benchmark(name) for name in BENCHMARKS]
    if as_json:
        rows = [
            {
                "name": one.name,
                "title": one.title,
                "source": one.source,
                "samples": len(one.load(None).samples),
                "ideas": one.ideas_per_sample,
                "measures": [measure.model_dump() for measure in one.measures],
            }
            for one in found
        ]
        print(json.dumps(rows, ensure_ascii=False))
        return 0
    console = Console()
    for one in found:
        console.print(Text.assemble((one.name, "bold"), f"  {one.title}"))
        console.print(Text(f"  {one.source}", style="dim"))
        shipped = _count(len(one.load(None).samples), one.wording.sample)
        console.print(Text(f"  {shipped} ship with ideagora. Measures (--only):"))
        for group in dict.fromkeys(measure.group for measure in one.measures):
            titles = [measure.title for measure in one.measures if measure.group == group]
            console.print(Text(f"    {group}: {'; '.join(titles)}"))
    console.print(Text("Run one: ideagora bench NAME AGENTS…; see ideagora bench NAME --help.", style="dim"))
    return 0


def run(request: Request, chats: Mapping[str, BaseChatModel] | None = None) -> int:
    """Run a benchmark; returns the exit code (0, 1, 2, 3, 4 or 130)."""

    def start(errors: Console) -> tuple[BenchmarkRun, Path]:
        prepared = _prepare(request)
        return prepared, folder_of(prepared, request.out)

    return run_guarded(request, start, chats)


def results_of(
    request: Request, chats: Mapping[str, BaseChatModel] | None = None
) -> tuple[BenchmarkResult, ...]:
    """Run a benchmark from Python, or resume it; one result per protocol.

    Raises:
        IdeagoraError: as the command reports it.
    """
    prepared = _prepare(request)
    return _execute(request, prepared, folder_of(prepared, request.out), Console(stderr=True), chats)


def score(request: Request, chats: Mapping[str, BaseChatModel] | None = None) -> int:
    """Judge the ideas of a run again; returns the exit code."""

    def start(errors: Console) -> tuple[BenchmarkRun, Path]:
        assert request.out is not None
        settings = load_settings(**request.settings)
        folder = request.out.absolute()
        return load_run(folder, settings, partial(plans_of, request)), folder

    return run_guarded(request, start, chats)


def run_guarded(
    request: Request,
    start: Callable[[Console], tuple[BenchmarkRun, Path]],
    chats: Mapping[str, BaseChatModel] | None,
) -> int:
    """Prepare a run with ``start``, execute it and show its results; returns the exit code."""
    errors = Console(stderr=True)
    path: Path | None = None

    def work() -> tuple[BenchmarkRun, tuple[BenchmarkResult, ...], list[Path]]:
        nonlocal path
        for name in request.exports:  # before anything is paid for
            require_library(name)
        run, path = start(errors)
        done = () if request.fresh or run.generated is None else judged_already(run, path)
        if done and not request.quiet:
            errors.print(
                Text(f"Nothing left to judge: {path} has the results of these judges."), soft_wrap=True
            )
        results = done or _execute(request, run, path, errors, chats)
        return run, results, [_export(name, path, run.benchmark) for name in request.exports if results]

    def so_far() -> str | None:
        file = None if path is None else path / RESULTS_FILE
        return f"The results so far: {file}" if file is not None and file.exists() else None

    done = result_or_exit_code(errors, work, so_far=so_far, folder=request.out)
    if isinstance(done, int):
        return done
    assert path is not None
    run, results, exported = done
    return _show(request, run, results, path, errors, exported)


def _prepare(request: Request) -> BenchmarkRun:
    settings = load_settings(**request.settings)
    benchmark = find_benchmark(request.benchmark, request.benchmark_options)
    plans = plans_of(request, benchmark, settings)
    loaded = _load(benchmark, request)
    selection = Selection(limit=request.limit, sample_ids=request.sample_ids, shuffle=request.shuffle)
    samples = selection.choose(loaded.samples)
    if not request.agents:
        raise UsageError(
            f"Name the agents or ideas to be judged, e.g. ideagora bench {request.benchmark} direct rag."
        )
    with errors_named(benchmark, "topic"):
        topics = [benchmark.topic(sample) for sample in samples.values()]
    contestants = resolve_contestants(request.agents, settings.home, topics, at_least=1)
    benchmark_run = BenchmarkRun(
        benchmark=benchmark,
        data_set=loaded.samples,
        samples=samples,
        contestants=contestants,
        plans=plans,
        ideas=request.ideas or benchmark.ideas_per_sample,
        epochs=request.epochs,
        settings=settings,
        judged=request.scored,
        notes=tuple(problem_notes(loaded.problems, "not a sample")),
        data=request.data,
        before=request.before,
        excluded=request.excluded,
        spec=request.benchmark,
        with_sources="source" in settings.model_fields_set,
        benchmark_options=request.benchmark_options,
    )
    require_ideas_on_samples(benchmark_run)
    return benchmark_run


def _load(benchmark: Benchmark[Any], request: Request) -> Samples[Any]:
    """The data set.

    Raises:
        UsageError: it is neither a file nor a folder, such as a pipe, or the benchmark failed on it.
    """
    data = request.data
    if data is not None and data.exists() and not (data.is_file() or data.is_dir()):
        raise UsageError(f"--data {data} is neither a file nor a folder: write the data to a file first.")
    with errors_named(benchmark, "load", "its data set" if data is None else f"--data {data}"):
        return benchmark.load(data)


def plans_of(request: Request, benchmark: Benchmark[Any], settings: Settings) -> tuple[Plan, ...]:
    """One plan for each protocol.

    Raises:
        UsageError: a measure or judge cannot be used.
    """
    groups = list(dict.fromkeys(measure.group for measure in benchmark.measures))
    if unknown := [name for name in request.only if name not in groups]:
        raise UsageError(f"--only is {unknown[0]!r}: {benchmark.name} has {', '.join(groups)}.")
    if len(set(request.judges)) < len(request.judges):
        raise UsageError(f"--judge is given twice: {', '.join(request.judges)}.")
    judges = benchmark.judges(request.judges, settings.model_of("judge"))
    return tuple(
        Plan(judges=judges, protocol=protocol, only=request.only, seed=settings.seed, before=request.before)
        for protocol in request.protocols
    )


def folder_of(run: BenchmarkRun, out: Path | None) -> Path:
    """``--out``, or a folder in the home; absolute because agents may change the working directory."""
    name = f"{run.benchmark.name}-{run.identity[:8]}"
    return out.absolute() if out is not None else run.settings.home / "bench" / name


def _execute(
    request: Request,
    run: BenchmarkRun,
    path: Path,
    errors: Console,
    chats: Mapping[str, BaseChatModel] | None,
) -> tuple[BenchmarkResult, ...]:
    if not request.quiet:
        _say_cost(run, path, request, errors)
    with open_resources(run.settings, errors, request.quiet) as opened:
        progress = opened.progress
        listener = preloading(progress.on_event, _load_libraries) if request.page else progress.on_event
        means = BenchmarkResources(opened.library, opened.embedder, listener, chats, request.fresh)
        execution = run_benchmark(run, path, means) if run.generated is None else rescore(run, path, means)
        try:
            results = run_async(execution)
        except BudgetExhausted:
            if request.page and (path / RESULTS_FILE).exists():
                _write_page(path)
            raise
        if request.page and results:
            progress.set_status("drawing the page")
            _write_page(path)
        return results


def _load_libraries() -> None:
    from ideagora.report.bench.page import load_libraries

    load_libraries()


def _write_page(path: Path) -> None:
    from ideagora.report.bench.page import write_benchmark_report

    write_benchmark_report(path)


def _say_cost(run: BenchmarkRun, path: Path, request: Request, errors: Console) -> None:
    """Print the expected cost, unless no calls are left."""
    models = set(run.models if run.judged else ())
    for one in run.contestants.agents:
        models |= set(run.settings.models if one.agent.model is None else (one.agent.model,))
    if not costs_nothing(run.settings, models, path, request.fresh, run.identity):
        generated = None if run.generated is None else IdeaLog(path)
        print_expected_cost(errors, expected_bill(run, generated), agents_without_estimate(run))


def _show(
    request: Request,
    run: BenchmarkRun,
    results: tuple[BenchmarkResult, ...],
    path: Path,
    errors: Console,
    exported: Sequence[Path],
) -> int:
    record = RunFolder(path, "").read() or {}
    outages = [str(line) for line in record.get("outages", ())]
    if request.as_json:
        content = {"run": str(path), "results": [result.as_json() for result in results]}
        print(json.dumps(content, ensure_ascii=False))
    else:
        _print(run, results, path, request)
    for written in exported:
        errors.print(Text(f"Exported: {written}"), soft_wrap=True)
    if outages:
        print_incomplete(errors, outages)
        return 4
    return 0


def _print(run: BenchmarkRun, results: tuple[BenchmarkResult, ...], path: Path, request: Request) -> None:
    console = Console()
    if not results:
        ideas = sum(IdeaLog(path).counts.values())
        counted = f"{_count(ideas, 'idea')} for {_count(len(run.samples), 'sample')}"
        console.print(Text(f"{path} has {counted}."), soft_wrap=True)
        console.print(Text(f"Judge them: ideagora bench score {path}"), soft_wrap=True)
        return
    from ideagora.report.bench.terminal import terminal_table

    for result in results:
        console.print(terminal_table(result))
    if request.page:
        console.print(Text(f"Report with plots: {path / 'report.html'}", overflow="fold"), soft_wrap=True)
    files = f"All figures: {path / RESULTS_FILE}; verdicts: {path / 'verdicts.jsonl'}"
    console.print(Text(files, overflow="fold"), soft_wrap=True)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _export(name: str, path: Path, benchmark: Benchmark[Any]) -> Path:
    """Write the folder's results in a format of another tool; returns where."""
    module = import_module(f"ideagora.report.export.{name}")
    written: Path = getattr(module, f"export_{name}")(path, path / name, benchmark)
    return written
