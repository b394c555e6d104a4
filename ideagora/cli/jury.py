"""Declares ``ideagora jury`` and its options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from ideagora.cli import options
from ideagora.cli.bench import Export

EPILOG = (
    "Examples:\n\n  ideagora jury ideas.jsonl --judge openai/gpt-4o --judge gemini/gemini-2.5-pro "
    "--judge deepseek/deepseek-chat --budget 5\n\n"
    "  ideagora jury mine=runs/a theirs=published.csv --topic 'tool use' --panel ranking.txt\n\n"
    "  ideagora jury ideas.jsonl --criterion originality --criterion "
    "'ethics: how safe it is to carry out'"
)


@dataclass(frozen=True)
class JuryOptions:
    """Who judges, and by which criteria."""

    PANEL: ClassVar[str] = "Judging"
    judge: Annotated[
        list[str] | None,
        typer.Option(
            help="Model of the panel; repeatable, best first. At most ten are used: one per base model, two "
            "per organisation.",
            show_default="--judge-model",
        ),
    ] = None
    panel: Annotated[
        str | None,
        typer.Option(
            help="Instead of --judge: a file with one model per line, best first, or 'listed' for the list "
            "that ships with ideagora.",
            show_default=False,
        ),
    ] = None
    judges_per_idea: Annotated[
        int,
        typer.Option(
            min=1, max=10, help="Judges drawn for each idea, never its author or a model of its family."
        ),
    ] = 3
    criterion: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME: QUESTION",
            help="Criterion to rate from 1 to 10, in your own words; repeatable. A default criterion needs "
            "only its name.",
            show_default="originality, feasibility, clarity",
        ),
    ] = None
    no_style: Annotated[
        bool,
        typer.Option(
            "--no-style",
            help="Judge ideas as written, without rewriting them in one style first (by --reader-model, or "
            "the first judge).",
        ),
    ] = False
    judge_effects: Annotated[
        bool, typer.Option("--judge-effects", help="Add figures corrected for each judge's harshness.")
    ] = False


def declare(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("jury", epilog=EPILOG)(options.expand_groups(jury))


def jury(
    *,
    ideas: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="IDEAS",
            help="Files in any format that can be imported, run folders, benchmark folders, or names of "
            "imported ideas. Write LABEL=IDEAS to rename their author.",
            show_default=False,
        ),
    ] = None,
    topic: Annotated[
        str | None, typer.Option(help="Topic of ideas without one.", show_default="judges see no topic")
    ] = None,
    judging: JuryOptions,
    model: options.ModelOptions,
    limits: options.LimitOptions,
    reproducibility: options.ReproducibilityOptions,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the jury.", show_default="<home>/bench/…", rich_help_panel=options.OUTPUT
        ),
    ] = None,
    export: Annotated[
        list[Export] | None,
        typer.Option(
            help="Also write the results for another tool: inspect, hf; repeatable.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    output: options.OutputOptions,
    no_page: options.NoPage = False,
) -> None:
    """Rate existing ideas with a panel of models: originality, feasibility, clarity, or your own criteria.

    Three judges are drawn for each idea, excluding its author. They see its topic and text, but neither its
    author nor its own scores. The table has a mean with its interval for each author. Every verdict is
    saved, so the same command resumes. Without --judge, it runs offline, as a smoke test: no key needed.
    """
    from ideagora.commands.bench import Request
    from ideagora.commands.jury import run

    request = Request(
        benchmark_options=tuple(_options(judging)),
        agents=tuple(ideas or ()),
        judges=tuple(judging.judge or ()),
        settings=options.settings_from(model, limits, reproducibility, output),
        out=out,
        exports=tuple(one.value for one in export or ()),
        as_json=output.as_json,
        fresh=reproducibility.fresh,
        quiet=output.quiet,
        page=not no_page,
    )
    raise typer.Exit(run(request, topic))


def _options(judging: JuryOptions) -> Iterator[str]:
    """The jury's own options as NAME=VALUE, which its folder records."""
    yield from (f"criterion={one}" for one in judging.criterion or ())
    yield f"judges={judging.judges_per_idea}"
    if judging.panel is not None:
        yield f"panel={judging.panel}"
    if judging.no_style:
        yield "style=off"
    if judging.judge_effects:
        yield "correct=judges"
