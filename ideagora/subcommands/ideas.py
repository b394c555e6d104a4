"""``ideagora ideas import``, ``list``, ``show`` and ``formats``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ideagora.subcommands import options

app = typer.Typer(help="Ideas that others have made, brought in to be judged.", no_args_is_help=True)


@app.command(
    "import",
    epilog="Examples:\n\n  ideagora ideas import ideas.json --as ai-scientist --topic 'grokking'\n\n"
    "  ideagora ideas import proposals/ ranking.json --as ai-researcher\n\n"
    "  ideagora ideas import ideabench.db            (each model under its own name)\n\n"
    "The plain form is a JSON object a line, all but the method optional if --topic is given:\n\n"
    '  {"topic": "…", "title": "…", "motivation": "…", "novelty": "…", "method": "…", "experiment": "…"}',
)
def bring(
    files: Annotated[list[Path], typer.Argument(help="Files, run folders, or folders of files.")],
    name: Annotated[
        str | None,
        typer.Option("--as", help="Name that the ideas compete under.", show_default="what the files say"),
    ] = None,
    topic: Annotated[
        str | None, typer.Option(help="What the ideas were made for, where the files do not say.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File to put them into (JSON lines).", show_default="<home>/ideas/NAME.jsonl"),
    ] = None,
    as_json: options.AsJson = False,
    home: options.Home = None,
) -> None:
    """Bring in ideas that another system has made. The form of a file is recognised by its content.

    Chain-of-Ideas, AI-Scientist, AI-Researcher, AI Idea Bench, SciPIP, ResearchAgent, IdeaBench,
    LiveIdeaBench, AidanBench, our own ideas.jsonl, and plain JSON or CSV: see ideagora ideas formats.
    What cannot be imported is listed with its row and field, and nothing is made up in its place. The
    same command again changes nothing; further files add to the name.
    """
    from ideagora.commands.ideas import Request
    from ideagora.commands.ideas import bring as run

    raise typer.Exit(run(Request(tuple(files), name, topic, out, as_json, _given(home))))


@app.command("list", epilog="Examples:\n\n  ideagora ideas list\n\n  ideagora ideas list --json")
def listed(as_json: options.AsJson = False, home: options.Home = None) -> None:
    """List the names under which ideas were imported."""
    from ideagora.commands.ideas import listed as run

    raise typer.Exit(run(_given(home), as_json))


@app.command(
    "show", epilog="Examples:\n\n  ideagora ideas show ai-scientist\n\n  ideagora ideas show ideas.json 3f9a"
)
def shown(
    name: Annotated[str, typer.Argument(help="A name of imported ideas, or a file of any known form.")],
    idea: Annotated[str | None, typer.Argument(help="Begin of an idea's id: that idea in full.")] = None,
    topic: Annotated[
        str | None, typer.Option(help="What the ideas of a file were made for, if it does not say.")
    ] = None,
    as_json: options.AsJson = False,
    home: options.Home = None,
) -> None:
    """Show imported ideas, or one of them in full."""
    from ideagora.commands.ideas import shown as run

    raise typer.Exit(run(name, idea, topic, _given(home), as_json))


@app.command("formats", epilog="Example:\n\n  ideagora ideas formats")
def formats(as_json: options.AsJson = False) -> None:
    """List the forms of files that can be imported, and what each is recognised by."""
    from ideagora.commands.ideas import formats as run

    raise typer.Exit(run(as_json))


def _given(home: Path | None) -> dict[str, Any]:
    return {} if home is None else {"home": home}
