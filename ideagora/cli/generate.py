"""Declares ``ideagora generate`` and its options."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from ideagora.cli import options

EPILOG = (
    "Examples:\n\n  ideagora generate 'tool use by language models' --branches 2\n\n"
    "  ideagora generate 'grokking' --model openai/gpt-4o --reader-model openai/gpt-4o-mini --budget 2\n\n"
    "  ideagora generate 'grokking' --before 2024-08-01 --json\n\n"
    "  ideagora generate 'grokking' --focus 'without training' --like notes.md --avoid ~/.ideagora/runs\n\n"
    "  ideagora generate 'grokking' --agent mine.py:ideate"
)


@dataclass(frozen=True)
class AgentOptions:
    """Which agent generates the ideas, and its own options."""

    PANEL: ClassVar[str] = options.AGENTS
    agent: Annotated[
        str,
        typer.Option(
            help="Agent that generates the ideas: a name listed by 'ideagora agents', path.py:object, "
            "module:object, 'command:PROGRAM ARGUMENTS', ideas:FILE or real-paper:FILE_OR_ID."
        ),
    ] = "chain-of-ideas"
    ideas: Annotated[
        int | None,
        typer.Option(help="Number of ideas to request; the agent may return fewer.", show_default="its own"),
    ] = None
    branches: Annotated[
        int | None,
        typer.Option(help="Number of chains; each yields one idea.", show_default="3"),
    ] = None
    length: Annotated[
        int | None, typer.Option(help="Maximum number of papers in a chain.", show_default="5")
    ] = None
    refinements: Annotated[
        int | None,
        typer.Option(help="Rounds of review and revision of the experiment plan.", show_default="1"),
    ] = None
    rewrites: Annotated[
        int | None,
        typer.Option(help="Maximum rewrites of an idea that is too close to a paper.", show_default="2"),
    ] = None
    papers: Annotated[
        int | None, typer.Option(help="Number of papers that the agent reads.", show_default="rag: 10")
    ] = None
    allow_off_topic: Annotated[
        bool,
        typer.Option(
            "--allow-off-topic", help="Continue with the nearest papers if none is about the topic."
        ),
    ] = False
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Any option of the agent, as NAME=VALUE; repeatable. 'ideagora agents show AGENT' lists "
            "them.",
            metavar="NAME=VALUE",
        ),
    ] = None
    agent_timeout: options.AgentTimeout = None


@dataclass(frozen=True)
class SteeringOptions:
    """What the ideas should aim at, build on or avoid."""

    PANEL: ClassVar[str] = "Steer the ideas"
    focus: Annotated[
        str | None,
        typer.Option(help="What you prefer, in your own words, e.g. 'needs no training'."),
    ] = None
    like: Annotated[
        list[Path] | None,
        typer.Option(
            help="File with your own ideas or notes, to be read along with the papers: any format of "
            "'ideagora ideas import', or plain text with one per line. Repeatable.",
            metavar="FILE",
        ),
    ] = None
    avoid: Annotated[
        list[Path] | None,
        typer.Option(
            help="Ideas that must not be proposed again: a file as for --like, the folder of an earlier run, "
            "or a folder of runs. Repeatable.",
            metavar="FILE",
        ),
    ] = None


def declare(app: typer.Typer) -> None:
    """Add the command to the application."""
    command = options.expand_groups(generate)
    app.command("generate", epilog=EPILOG)(command)


def generate(
    *,
    topic: Annotated[
        str | None, typer.Argument(help="Topic of the ideas, in a few words.", show_default=False)
    ] = None,
    topics: options.Topics = None,
    agent: AgentOptions,
    steering: SteeringOptions,
    model: options.ModelOptions,
    limits: options.LimitOptions,
    literature: options.LiteratureOptions,
    reproducibility: options.ReproducibilityOptions,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the run.", show_default="<home>/runs/…", rich_help_panel=options.OUTPUT),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Print the whole idea, not only its claim and nearest papers.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = False,
    output: options.OutputOptions,
) -> None:
    """Generate research ideas for a topic, each with its chain of papers, novelty check and experiment plan.

    Without --model, the built-in [bold]offline model[/bold] answers: no key, no network. It is not a
    language model; it quotes and combines sentences of papers. Run the same command again to resume a
    stopped run or to show a finished one.
    """
    settings = options.settings_from(model, limits, reproducibility, output, literature, agent.agent_timeout)
    options.start_embedder(settings)
    from ideagora.commands.generate import Request, run

    request = Request(
        topic=topic,
        topics=topics,
        agent=agent.agent,
        options=_agent_options(agent),
        ideas=agent.ideas,
        settings=settings,
        before=literature.before,
        excluded=tuple(literature.exclude or ()),
        focus=steering.focus,
        like=tuple(steering.like or ()),
        avoid=tuple(steering.avoid or ()),
        out=out,
        as_json=output.as_json,
        fresh=reproducibility.fresh,
        quiet=output.quiet,
        full=full,
    )
    raise typer.Exit(run(request))


def _agent_options(group: AgentOptions) -> dict[str, object]:
    """Return the options that the agent itself takes, as far as they are used."""
    values = {field.name: getattr(group, field.name) for field in fields(group)}
    for name in ("agent", "agent_timeout", "ideas", "assignments"):
        del values[name]
    values["allow_thin"] = values.pop("allow_off_topic") or None
    return {**options.without_none(values), **_named_options(group.assignments or [])}


def _named_options(assignments: list[str]) -> dict[str, str]:
    """Return the values of --set by the option's name."""
    from ideagora.errors import UsageError

    named: dict[str, str] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not (name.strip() and equals):
            raise UsageError(f"--set is {assignment!r}. Write NAME=VALUE, for example --set rounds=2.")
        named[name.strip().replace("-", "_")] = value.strip()
    return named
