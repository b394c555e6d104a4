"""The declaration of ``ideagora generate``: its options, their help, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ideagora.subcommands import options

AGENT = "Agent"
EPILOG = (
    "Examples:\n\n  ideagora generate 'tool use by language models' --branches 2\n\n"
    "  ideagora generate '…' --model openai/gpt-4o --reader-model openai/gpt-4o-mini --budget 2.00\n\n"
    "  ideagora generate '…' --before 2024-08-01 --json"
)


def declare(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("generate", epilog=EPILOG)(generate)


def generate(
    topic: Annotated[str | None, typer.Argument(help="What ideas are wanted for, in a few words.")] = None,
    topics: options.Topics = None,
    agent: Annotated[
        str,
        typer.Option(
            help="Who makes the ideas: a name of ideagora agents, path.py:object, module:object, "
            "'command:…', ideas:FILE or real-paper:FILE_OR_ID.",
            rich_help_panel=AGENT,
        ),
    ] = "chain-of-ideas",
    agent_timeout: options.AgentTimeout = None,
    branches: Annotated[
        int | None,
        typer.Option(help="Chains of ideas, side by side.", show_default="3", rich_help_panel=AGENT),
    ] = None,
    length: Annotated[
        int | None, typer.Option(help="Papers in a chain at most.", show_default="5", rich_help_panel=AGENT)
    ] = None,
    refinements: Annotated[
        int | None,
        typer.Option(help="Rounds of review of the experiment.", show_default="1", rich_help_panel=AGENT),
    ] = None,
    rewrites: Annotated[
        int | None,
        typer.Option(
            help="Rewrites of an idea that is too close to a paper.", show_default="2", rich_help_panel=AGENT
        ),
    ] = None,
    papers: Annotated[
        int | None,
        typer.Option(help="Papers that rag shows the model.", show_default="10", rich_help_panel=AGENT),
    ] = None,
    allow_thin: Annotated[
        bool,
        typer.Option(
            "--allow-thin", help="Go on although the library has nothing on the topic.", rich_help_panel=AGENT
        ),
    ] = False,
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
    before: options.Before = None,
    exclude: options.Exclude = None,
    source: options.Source = None,
    no_full_text: options.NoFullText = False,
    store: options.Store = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The run's folder.", show_default="<home>/runs/…", rich_help_panel=options.OUTPUT),
    ] = None,
    home: options.Home = None,
    as_json: options.AsJson = False,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            help="Begin the run anew instead of going on (answered calls stay cached).",
            rich_help_panel=options.OUTPUT,
        ),
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Make research ideas for a topic, with their chain of papers, novelty evidence and experiment.

    Without a key everything runs on the [bold]offline model[/bold], an extractive engine on sentence
    embeddings. The same command again goes on where a run was stopped, and shows a finished one.
    """
    settings = options.settings_in(locals())
    from ideagora.commands.generate import Request, run

    chosen = {
        "branches": branches, "length": length, "refinements": refinements, "rewrites": rewrites,
        "papers": papers, "allow_thin": allow_thin or None,
    }  # fmt: skip
    request = Request(
        topic=topic, topics=topics, agent=agent, options=options.given(chosen), settings=settings,
        before=before, excluded=tuple(exclude or ()), out=out, as_json=as_json, fresh=fresh, quiet=quiet,
    )  # fmt: skip
    raise typer.Exit(run(request))
