"""The declaration of ``ideagora arena``: its options, their help, and nothing else."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ideagora.subcommands import options

JUDGING, FIGURES = "Judging", "Figures"


class Protocol(StrEnum):
    """Which rules are followed."""

    default = "default"
    paper = "paper"
    both = "both"


class Schedule(StrEnum):
    """Which pairs are judged."""

    round_robin = "round-robin"
    swiss = "swiss"
    adaptive = "adaptive"
    balanced = "balanced"


EPILOG = (
    "Examples:\n\n  ideagora arena direct rag --topic 'tool use by language models'\n\n"
    "  ideagora arena chain-of-ideas rag mine=ideas:my_ideas.jsonl --topics topics.txt --judge openai/gpt-4o "
    "--budget 5\n\n  ideagora arena ideas:a.jsonl ideas:b.jsonl --protocol both --json"
)


def declare(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("arena", epilog=EPILOG)(arena)


def arena(
    things: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="THINGS…",
            help="Two or more contestants: agents (see: ideagora agents), ideas:FILE, folders of runs, names "
            "of imports. LABEL=THING gives it another name.",
            show_default=False,
        ),
    ] = None,
    topic: Annotated[
        list[str] | None,
        typer.Option(help="What ideas are compared on; repeatable. Else: those of the files."),
    ] = None,
    topics: options.Topics = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            help="Model that judges; repeatable: each verdict is by one of them.",
            show_default="--judge-model",
            rich_help_panel=JUDGING,
        ),
    ] = None,
    protocol: Annotated[
        Protocol,
        typer.Option(
            help="paper: as in Chain of Ideas, Elo over all verdicts. default: a disagreement under swap is "
            "a tie, Bradley-Terry with intervals. both: the default with the paper's figures beside.",
            rich_help_panel=JUDGING,
        ),
    ] = Protocol.default,
    schedule: Annotated[
        Schedule, typer.Option(help="Which pairs meet.", rich_help_panel=JUDGING)
    ] = Schedule.round_robin,
    verdicts: Annotated[
        int | None,
        typer.Option(
            help="Verdicts at most.", show_default="what the schedule asks for", rich_help_panel=JUDGING
        ),
    ] = None,
    certainty: Annotated[
        float | None,
        typer.Option(
            help="Stop when all neighbours are told apart so surely (adaptive).",
            show_default="0.95",
            rich_help_panel=JUDGING,
        ),
    ] = None,
    top_k: Annotated[
        int | None,
        typer.Option(help="Only who is in the top K matters (adaptive).", rich_help_panel=JUDGING),
    ] = None,
    criteria: Annotated[
        str | None,
        typer.Option(
            help="Criteria for ideas, with commas between them.",
            show_default="novelty,significance,clarity,feasibility,effectiveness",
            rich_help_panel=JUDGING,
        ),
    ] = None,
    experiments: Annotated[
        bool,
        typer.Option("--experiments", help="Judge the experiment designs, too.", rich_help_panel=JUDGING),
    ] = False,
    no_style: Annotated[
        bool,
        typer.Option(
            "--no-style",
            help="Judge ideas as they were written, not told in one style.",
            rich_help_panel=JUDGING,
        ),
    ] = False,
    bias_aware: Annotated[
        bool,
        typer.Option(
            "--bias-aware",
            help="Also a rating corrected for position, length and judge.",
            rich_help_panel=FIGURES,
        ),
    ] = False,
    bootstrap: Annotated[
        int | None,
        typer.Option(
            help="Intervals from so many resamples of the topics.",
            show_default="in closed form",
            rich_help_panel=FIGURES,
        ),
    ] = None,
    ablation_of: Annotated[
        str | None,
        typer.Option(help="Score the others by 2/1/0 against this contestant.", rich_help_panel=FIGURES),
    ] = None,
    seed: options.Seed = None,
    model: options.Model = None,
    reader_model: options.ReaderModel = None,
    judge_model: options.JudgeModel = None,
    api_base: options.ApiBase = None,
    budget: options.Budget = None,
    price_prompt: options.PricePrompt = None,
    price_completion: options.PriceCompletion = None,
    completion_limit: options.CompletionLimit = None,
    timeout: options.Timeout = None,
    retries: options.Retries = None,
    concurrency: options.Concurrency = None,
    replay: options.Replay = False,
    agent_timeout: options.AgentTimeout = None,
    before: options.Before = None,
    exclude: options.Exclude = None,
    source: options.Source = None,
    no_full_text: options.NoFullText = False,
    store: options.Store = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The arena's folder.", show_default="<home>/arenas/…", rich_help_panel=options.OUTPUT
        ),
    ] = None,
    home: options.Home = None,
    as_json: options.AsJson = False,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            help="Judge anew; answered calls stay cached, and what could not be read is asked again.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = False,
    no_page: Annotated[
        bool, typer.Option("--no-page", help="Neither page nor plots.", rich_help_panel=options.OUTPUT)
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare ideas in pairs before blind judges: who proposes better ones, and how sure is that?

    Agents make their ideas first; ideas already made are taken as they are, and any mix is fine. Every
    verdict is kept in the folder. The same command again goes on where it was stopped, and adding a
    contestant pays for its pairs only. Needs no key: offline, measured properties stand in for a judge.
    """
    settings = options.settings_in(locals())
    from ideagora.commands.arena import Request, run

    chosen = {
        "protocol": protocol.value, "schedule": schedule.value, "max_comparisons": verdicts,
        "confidence": certainty,
        "top_k": top_k, "experiments": experiments or None, "style": False if no_style else None,
        "bias_aware": bias_aware or None, "bootstrap": bootstrap, "ablation_of": ablation_of,
        "criteria": _listed(criteria),
    }  # fmt: skip
    request = Request(
        contestants=tuple(things or ()), topic=tuple(topic or ()), topics=topics, judges=tuple(judge or ()),
        options=options.given(chosen), settings=settings, before=before, excluded=tuple(exclude or ()),
        out=out, as_json=as_json, fresh=fresh, quiet=quiet, page=not no_page,
    )  # fmt: skip
    raise typer.Exit(run(request))


def _listed(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(part.strip() for part in text.split(",") if part.strip())
