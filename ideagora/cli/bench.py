"""Declares ``ideagora bench``: the benchmarks, and ``score``, ``fetch`` and ``build``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypedDict

import typer
from typer.core import TyperGroup

from ideagora.benchmarks.registry import BENCHMARKS
from ideagora.cli import options

if TYPE_CHECKING:
    from ideagora.benchmarks.benchmark import ProtocolName


class Export(StrEnum):
    """Formats of other tools."""

    inspect = "inspect"
    hf = "hf"


@dataclass(frozen=True)
class SampleOptions:
    """Which samples are used, and how often."""

    PANEL: ClassVar[str] = "Samples"
    data: Annotated[
        Path | None,
        typer.Option(help="Data set in its published form.", show_default="the set that ships with ideagora"),
    ] = None
    limit: Annotated[
        str | None,
        typer.Option(help="Number of samples such as 10, or a range such as 10-20.", show_default="all"),
    ] = None
    sample_id: Annotated[
        list[str] | None, typer.Option(help="Id of a sample to use; repeatable.", show_default="all")
    ] = None
    sample_shuffle: Annotated[
        int | None,
        typer.Option(
            help="Shuffle the samples with this seed before --limit.", show_default="order of the file"
        ),
    ] = None
    epochs: Annotated[
        int, typer.Option(min=1, max=100, help="Repetitions of every sample, each with its own seed.")
    ] = 1
    ideas: Annotated[
        int | None,
        typer.Option(
            min=1, max=100, help="Number of ideas per agent and sample.", show_default="the benchmark's own"
        ),
    ] = None
    benchmark_option: Annotated[
        list[str] | None,
        typer.Option(
            "--benchmark-option",
            "-T",
            metavar="NAME=VALUE",
            help="Option of the benchmark itself (see its page in docs/); repeatable.",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True)
class JudgingOptions:
    """Who judges what."""

    PANEL: ClassVar[str] = "Judging"
    judge: Annotated[
        list[str] | None,
        typer.Option(
            help="Model that judges; repeatable. Every judge answers every question; liveideabench draws "
            "three for each idea.",
            show_default="--judge-model",
        ),
    ] = None
    protocol: Annotated[
        options.Protocol,
        typer.Option(
            help="paper: follow the paper to the letter. default: correct what is unsound (see the "
            "benchmark's page in docs/). both: print both tables."
        ),
    ] = options.Protocol.default
    only: Annotated[
        str | None,
        typer.Option(help="Measures to compute, separated by commas, e.g. imcq,i2i.", show_default="all"),
    ] = None


@dataclass(frozen=True)
class RunJudgingOptions(JudgingOptions):
    """Whether, and by whom, the ideas of a run are judged."""

    no_score: Annotated[
        bool,
        typer.Option(
            "--no-score",
            help="Only generate the ideas; judge them later with 'ideagora bench score FOLDER'.",
        ),
    ] = False


@dataclass(frozen=True)
class ExportOptions:
    """For which other tools the results are written."""

    PANEL: ClassVar[str] = options.OUTPUT
    export: Annotated[
        list[Export] | None,
        typer.Option(
            help="Also write the results for another tool: inspect (log for Inspect's viewer), hf "
            "(Parquet files and a data set card); repeatable."
        ),
    ] = None
    no_page: options.NoPage = False


class _RequestFields(TypedDict):
    """The fields of ``Request`` that a run and ``score`` have in common."""

    judges: tuple[str, ...]
    protocols: tuple[ProtocolName, ...]
    only: tuple[str, ...]
    exports: tuple[str, ...]
    as_json: bool
    fresh: bool
    quiet: bool
    page: bool


def _request_fields(
    judging: JudgingOptions,
    reproducibility: options.ReproducibilityOptions,
    export: ExportOptions,
    output: options.OutputOptions,
) -> _RequestFields:
    protocols: dict[options.Protocol, tuple[ProtocolName, ...]] = {
        options.Protocol.default: ("default",),
        options.Protocol.paper: ("paper",),
        options.Protocol.both: ("default", "paper"),
    }
    return {
        "judges": tuple(judging.judge or ()),
        "protocols": protocols[judging.protocol],
        "only": options.split_names(judging.only),
        "exports": tuple(one.value for one in export.export or ()),
        "as_json": output.as_json,
        "fresh": reproducibility.fresh,
        "quiet": output.quiet,
        "page": not export.no_page,
    }


class _BenchmarkGroup(TyperGroup):
    """The group of benchmarks, which also accepts one from outside: module:object or path.py:object."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name; for a benchmark from outside, the same command under its name."""
        known = super().get_command(ctx, cmd_name)
        if known is not None or ":" not in cmd_name:
            return known
        outside = typer.Typer()
        outside.command(cmd_name, cls=options.Command)(options.expand_groups(_command_for(cmd_name)))
        return typer.main.get_command(outside)


app = options.CommandGroup(
    cls=_BenchmarkGroup,
    help="Run published benchmarks on agents or on existing ideas.",
    invoke_without_command=True,
    epilog="Examples:\n\n  ideagora bench\n\n  ideagora bench ai-idea-bench direct rag --limit 5\n\n"
    "  ideagora bench path/to/benchmark.py:MyBenchmark direct",
)


@app.callback()
def list_benchmarks(context: typer.Context, as_json: options.AsJson = False) -> None:
    """Run published benchmarks on agents or on existing ideas. Without a name: list them."""
    if context.invoked_subcommand is None:
        from ideagora.commands.bench import list_all

        raise typer.Exit(list_all(as_json))


Agents = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="AGENTS",
        help="One or more of: agents (see 'ideagora agents'), model:NAME, ideas:FILE, folders of runs, "
        "benchmarks and arenas, names of imported ideas. Write LABEL=AGENT to rename one.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(help="Folder of the run.", show_default="<home>/bench/…", rich_help_panel=options.OUTPUT),
]


@dataclass(frozen=True)
class OwnOptions:
    """Options that a single benchmark has besides ``-T``; by default none."""

    PANEL: ClassVar[str] = "Samples"

    @property
    def stated(self) -> tuple[str, ...]:
        """The options as ``NAME=VALUE``."""
        return ()


@dataclass(frozen=True)
class AidanBenchOptions(OwnOptions):
    """Options of AidanBench."""

    no_speculation: Annotated[
        bool,
        typer.Option(
            "--no-speculation",
            help="Request an answer only after the previous one is judged: saves the answer that is "
            "discarded when a loop ends, but takes about twice as long.",
        ),
    ] = False

    @property
    def stated(self) -> tuple[str, ...]:
        """``speculation=off``, if it is asked for."""
        return ("speculation=off",) if self.no_speculation else ()


_OWN: dict[str, type[OwnOptions]] = {"aidanbench": AidanBenchOptions}


def _command_for(name: str) -> Any:
    """The function behind ``ideagora bench NAME``."""

    def bench(
        *,
        agents: Agents = None,
        samples: SampleOptions,
        own: OwnOptions,
        judging: RunJudgingOptions,
        agent_timeout: options.AgentTimeout = None,
        model: options.ModelOptions,
        limits: options.LimitOptions,
        literature: options.LiteratureOptions,
        reproducibility: options.ReproducibilityOptions,
        out: Out = None,
        export: ExportOptions,
        output: options.OutputOptions,
    ) -> None:
        """Run the benchmark on agents or existing ideas."""
        settings = options.settings_from(model, limits, reproducibility, output, literature, agent_timeout)
        if name == "aidanbench" and any("model:" in agent for agent in agents or ()):
            options.start_embedder(settings)  # the second answer of a loop is compared with the first

        from ideagora.commands.bench import Request, run

        request = Request(
            benchmark=name,
            benchmark_options=(*(samples.benchmark_option or ()), *own.stated),
            agents=tuple(agents or ()),
            data=samples.data,
            limit=samples.limit,
            sample_ids=tuple(samples.sample_id or ()),
            shuffle=samples.sample_shuffle,
            epochs=samples.epochs,
            ideas=samples.ideas,
            scored=not judging.no_score,
            settings=settings,
            before=literature.before,
            excluded=tuple(literature.exclude or ()),
            out=out,
            **_request_fields(judging, reproducibility, export, output),
        )
        raise typer.Exit(run(request))

    bench.__annotations__["own"] = _OWN.get(name, OwnOptions)
    return bench


_HELP = {
    "ai-idea-bench": "Match ideas with target papers: AI Idea Bench 2025 (arXiv 2504.14191).\n\n"
    "Agents get a topic and its inspiration papers, and propose ideas. Judges compare these with the paper "
    "that built on them (multiple choice, idea to idea, idea to topic), with each other, and with other "
    "literature. Every verdict is saved, so the same command resumes. Without --model or --judge, everything "
    "runs offline, as a smoke test: no key needed.",
    "aidanbench": "Count distinct, coherent answers to open-ended questions: AidanBench.\n\n"
    "A model (model:NAME) answers a question repeatedly, seeing its earlier answers, until a judge finds one "
    "incoherent or it repeats an earlier one; --ideas is the maximum. Answers of agents and imported answers "
    "are judged in order. Every verdict is saved, so the same command resumes. model:offline "
    "without --judge runs offline, as a smoke test: no key needed.",
    "ideabench": "Rank ideas against a target paper's own: IdeaBench (arXiv 2411.02429).\n\n"
    "Agents get the abstracts of a paper's references. Judges rank their ideas together with the paper's own "
    "idea (Insight Score) and rate the overlap. Every verdict is saved, so the same command resumes. Without "
    "--model or --judge, everything runs offline, as a smoke test: no key needed.",
    "liveideabench": "Judge ideas from a single keyword: LiveIdeaBench (arXiv 2412.17596).\n\n"
    "Models (model:NAME) or agents get a keyword and propose two ideas of about 100 words. Three judges, "
    "drawn for each idea from the panel (--judge, best first, or -T panel=FILE) and never its author, rate "
    "originality, feasibility and clarity. One judge says how different the ideas are (fluency); flexibility "
    "is the 30th percentile over keywords. Every verdict is saved, so the same command resumes.",
}

for _name in BENCHMARKS:
    app.command(
        _name,
        help=_HELP[_name],
        epilog=f"Examples:\n\n  ideagora bench {_name} direct rag --limit 5\n\n  ideagora bench {_name} "
        "mine=path/to/agent.py:agent direct --model openai/gpt-4o --judge openai/gpt-4o --budget 10\n\n"
        f"  ideagora bench {_name} ideas:mine.jsonl --judge openai/gpt-4o",
    )(options.expand_groups(_command_for(_name)))


@app.command(
    "score", epilog="Example:\n\n  ideagora bench score runs/bench --judge openai/gpt-4o --only imcq"
)
@options.expand_groups
def score(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder of a benchmark run.")],
    judging: JudgingOptions,
    model: options.ModelOptions,
    limits: options.LimitOptions,
    reproducibility: options.ReproducibilityOptions,
    export: ExportOptions,
    output: options.OutputOptions,
) -> None:
    """Judge the ideas of a benchmark run without generating them again.

    Use it after --no-score, or to try other judges or measures. Earlier verdicts and results are kept in
    separate files.
    """
    from ideagora.commands.bench import Request, score

    settings = options.settings_from(model, limits, reproducibility, output)
    request = Request(
        settings=settings, out=folder, **_request_fields(judging, reproducibility, export, output)
    )
    raise typer.Exit(score(request))


@app.command(
    "fetch",
    epilog="Examples:\n\n  ideagora bench fetch ai-idea-bench\n\n  ideagora bench fetch ai-idea-bench "
    "--folder data --papers --yes",
)
def fetch(
    benchmark: Annotated[str, typer.Argument(help="Name of a benchmark whose data set is published.")],
    folder: Annotated[
        Path | None, typer.Option(help="Folder to download to.", show_default="<home>/data/BENCHMARK")
    ] = None,
    papers: Annotated[bool, typer.Option("--papers", help="Also download the PDFs of the papers.")] = False,
    repository: Annotated[
        str | None, typer.Option(help="OWNER/NAME of a copy on the hub.", show_default="the authors' own")
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(help="Address of the hub.", show_default="HF_ENDPOINT, else the Hugging Face hub"),
    ] = None,
    revision: Annotated[str, typer.Option(help="Branch, tag or commit.")] = "main",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    home: options.Home = None,
    quiet: options.Quiet = False,
) -> None:
    """Download a published data set. Shows its size and licence first; run it again to resume."""
    from ideagora.commands.bench_data import FetchRequest, fetch

    request = FetchRequest(benchmark, folder, papers, repository, endpoint, revision, yes, quiet)
    raise typer.Exit(fetch(request, {"home": home}))


@app.command(
    "build",
    epilog="Example:\n\n  ideagora bench build ideabench --data papers --judge openai/gpt-4o\n\n"
    "  ideagora bench ideabench direct rag --data papers",
)
@options.expand_groups
def build(
    *,
    benchmark: Annotated[str, typer.Argument(help="Name of the benchmark: ideabench.")],
    data: Annotated[
        Path, typer.Option(help="Folder with your own target_papers.csv and raw_references.csv.")
    ],
    judge: Annotated[
        str | None, typer.Option(help="Model that rates references.", show_default="--judge-model")
    ] = None,
    model: options.ModelOptions,
    limits: options.LimitOptions,
    reproducibility: options.ReproducibilityOptions,
    output: options.OutputOptions,
) -> None:
    """Filter the references of new targets by the rules of the benchmark's paper.

    Writes filtered_references.csv to the data folder. Answers are cached, so the same command
    resumes.
    """
    from ideagora.commands.bench_data import build

    settings = options.settings_from(model, limits, reproducibility, output)
    if judge is not None:
        settings["judge_model"] = judge
    raise typer.Exit(build(benchmark, data, settings, output.as_json, output.quiet))
