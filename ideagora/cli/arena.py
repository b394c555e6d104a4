"""Declares ``ideagora arena`` and its options."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from ideagora.cli import options


class Schedule(StrEnum):
    """Which pairs are compared."""

    round_robin = "round-robin"
    swiss = "swiss"
    adaptive = "adaptive"
    balanced = "balanced"


class VerdictForm(StrEnum):
    """What judges say."""

    signs = "signs"
    graded = "graded"
    probabilities = "probabilities"


EPILOG = (
    "Examples:\n\n  ideagora arena direct rag --topic 'tool use by language models'\n\n"
    "  ideagora arena chain-of-ideas rag mine=ideas:my_ideas.jsonl --topics topics.txt --judge openai/gpt-4o "
    "--budget 5\n\n  ideagora arena ideas:a.jsonl ideas:b.jsonl --protocol both --json"
)


@dataclass(frozen=True)
class ContestantOptions:
    """What the contestants generate."""

    PANEL: ClassVar[str] = "Contestants"
    topic: Annotated[
        list[str] | None,
        typer.Option(help="Topic to compare ideas on; repeatable.", show_default="topics of the idea files"),
    ] = None
    topics: options.Topics = None
    runs: Annotated[
        int | None,
        typer.Option(
            help="Let each agent generate its ideas this many times, with different seeds. The rating covers "
            "all runs; separate figures show how much runs vary, the best idea of each topic, and how "
            "different the ideas are.",
            show_default="1",
        ),
    ] = None
    agent_timeout: options.AgentTimeout = None


@dataclass(frozen=True)
class JudgingOptions:
    """Who judges what, and how often."""

    PANEL: ClassVar[str] = "Judging"
    judge: Annotated[
        list[str] | None,
        typer.Option(
            help="Model that judges; repeatable. Comparisons are divided among the judges.",
            show_default="--judge-model",
        ),
    ] = None
    protocol: Annotated[
        options.Protocol,
        typer.Option(
            help="default: Bradley-Terry ratings with intervals; a judge that changes its mind when the "
            "order is swapped counts as a tie. paper: Elo over all verdicts, as in the Chain-of-Ideas paper. "
            "both: default, and the paper's ratings next to it."
        ),
    ] = options.Protocol.default
    schedule: Annotated[
        Schedule,
        typer.Option(
            help="Which pairs are compared: all, in both orders (round-robin); each once (balanced); those "
            "of similar standing (swiss); or the most informative (adaptive)."
        ),
    ] = Schedule.round_robin
    max_comparisons: Annotated[
        int | None,
        typer.Option(help="Maximum number of comparisons.", show_default="set by --schedule"),
    ] = None
    verdict: Annotated[
        VerdictForm,
        typer.Option(
            help="signs: which idea is better on each criterion. graded: also by how much; a narrow win "
            "counts less. probabilities: as signs, but weighted by the probability of the judge's answers, "
            "for providers that report it."
        ),
    ] = VerdictForm.signs
    repeat: Annotated[
        float | None,
        typer.Option(
            help="Judge this share of the comparisons (such as 0.05) once more in the same order, to tell "
            "the judge's noise from its position bias. Repetitions do not affect ratings."
        ),
    ] = None
    confidence: Annotated[
        float | None,
        typer.Option(
            help="Stop when the order of any two neighbours in the ranking has at least this probability "
            "(adaptive schedule).",
            show_default="0.95",
        ),
    ] = None
    top_k: Annotated[
        int | None, typer.Option(help="Find only the best K contestants (adaptive schedule).")
    ] = None
    criteria: Annotated[
        str | None,
        typer.Option(
            help="Criteria for ideas, separated by commas: novelty, significance, clarity, feasibility, "
            "effectiveness.",
            show_default="all",
        ),
    ] = None
    experiments: Annotated[bool, typer.Option("--experiments", help="Judge experiment plans, too.")] = False
    no_style: Annotated[
        bool,
        typer.Option("--no-style", help="Judge ideas as written, without rewriting them in one style first."),
    ] = False


@dataclass(frozen=True)
class FigureOptions:
    """Which figures are computed from the verdicts."""

    PANEL: ClassVar[str] = "Figures"
    bias_aware: Annotated[
        bool, typer.Option("--bias-aware", help="Add ratings corrected for position, length and judge.")
    ] = False
    votes: Annotated[
        list[Path] | None,
        typer.Option(
            help="File of people's votes on pairs of this arena, as saved by 'ideagora vote import' in "
            "votes/; repeatable. Adds ratings by people: judges' verdicts on all pairs, corrected by the "
            "votes."
        ),
    ] = None
    bootstrap: Annotated[
        int | None,
        typer.Option(
            help="Compute intervals from this many resamples of the topics.",
            show_default="closed-form intervals",
        ),
    ] = None
    ablation_of: Annotated[
        str | None,
        typer.Option(help="Score the other contestants 2/1/0 for a win, tie or loss against this one."),
    ] = None


@dataclass(frozen=True)
class FolderOptions:
    """What is written, and where."""

    PANEL: ClassVar[str] = options.OUTPUT
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Only print which difference in rating this arena could detect, and what it would cost; "
            "make no calls.",
        ),
    ] = False
    out: Annotated[Path | None, typer.Option(help="Folder of the arena.", show_default="<home>/arenas/…")] = (
        None
    )
    no_page: options.NoPage = False


def declare(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("arena", epilog=EPILOG)(options.expand_groups(arena))


def arena(
    *,
    contestants: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CONTESTANTS",
            help="Two or more of: agents (see 'ideagora agents'), ideas:FILE, folders of runs, benchmarks "
            "and arenas, names of imported ideas. Write LABEL=CONTESTANT to rename one.",
            show_default=False,
        ),
    ] = None,
    generation: ContestantOptions,
    judging: JudgingOptions,
    figures: FigureOptions,
    model: options.ModelOptions,
    limits: options.LimitOptions,
    literature: options.LiteratureOptions,
    reproducibility: options.ReproducibilityOptions,
    folder: FolderOptions,
    output: options.OutputOptions,
) -> None:
    """Rank agents, or sets of ideas, by pairwise comparisons with blind judges.

    Agents generate ideas first; existing ideas are judged as they are. Every verdict is saved, so the
    same command resumes a stopped arena, and a new contestant costs only its own comparisons. Without
    --model or --judge, an offline judge compares measurable properties of the texts: no key needed.
    """
    from ideagora.commands.arena import Request, run

    settings = options.settings_from(
        model, limits, reproducibility, output, literature, generation.agent_timeout
    )
    request = Request(
        contestants=tuple(contestants or ()),
        topic=tuple(generation.topic or ()),
        topics=generation.topics,
        judges=tuple(judging.judge or ()),
        options=_arena_options(generation, judging, figures),
        settings=settings,
        before=literature.before,
        excluded=tuple(literature.exclude or ()),
        out=folder.out,
        as_json=output.as_json,
        fresh=reproducibility.fresh,
        quiet=output.quiet,
        page=not folder.no_page,
        plan=folder.plan,
    )
    raise typer.Exit(run(request))


def _arena_options(
    generation: ContestantOptions, judging: JudgingOptions, figures: FigureOptions
) -> dict[str, Any]:
    """Return the fields of ``ArenaOptions`` that the command line sets."""
    values = {"runs": generation.runs, **asdict(judging), **asdict(figures)}
    del values["judge"]
    values["criteria"] = None if judging.criteria is None else options.split_names(judging.criteria)
    values["votes"] = tuple(str(path) for path in figures.votes or ()) or None
    values["style"] = False if values.pop("no_style") else None
    for switch in ("experiments", "bias_aware"):
        values[switch] = values[switch] or None
    return options.without_none(
        {name: value.value if isinstance(value, StrEnum) else value for name, value in values.items()}
    )
