"""Declares ``ideagora ideas`` with ``import``, ``list``, ``show`` and ``formats``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ideagora.cli import options

app = options.CommandGroup(help="Import ideas made by other systems, and show them.", no_args_is_help=True)


@app.command(
    "import",
    epilog="Examples:\n\n  ideagora ideas import ideas.json --as ai-scientist --topic 'grokking'\n\n"
    "  ideagora ideas import proposals/ ranking.json --as ai-researcher\n\n"
    "  ideagora ideas import ideabench.db            (each model under its own name)\n\n"
    "The simplest format is one JSON object per line; with --topic, only the method is required:\n\n"
    '  {"topic": "…", "title": "…", "motivation": "…", "novelty": "…", "method": "…", "experiment": "…"}',
)
def import_ideas(
    files: Annotated[list[Path], typer.Argument(help="Files, folders of files, or run folders.")],
    name: Annotated[
        str | None,
        typer.Option("--as", help="Name of the ideas in the arena.", show_default="from the files"),
    ] = None,
    topic: Annotated[
        str | None, typer.Option(help="Topic of the ideas, for files that do not name one.")
    ] = None,
    with_seeds: Annotated[
        bool,
        typer.Option(
            "--with-seeds", help="Also import seed ideas, which people wrote for AI-Scientist's templates."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="JSON-lines file to write.",
            show_default="<home>/ideas/NAME.jsonl",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    as_json: options.AsJson = False,
    home: options.Home = None,
) -> None:
    """Import ideas made by another system. The format of a file is detected from its content.

    Reads Chain-of-Ideas, AI-Scientist, AI-Researcher, AI Idea Bench, SciPIP, VirSci, ResearchAgent,
    IdeaBench, LiveIdeaBench, AidanBench, ideagora's own ideas.jsonl, plain JSON or CSV, and Markdown or
    text: see ideagora ideas formats. Problems are listed by row and field; no value is invented. Importing
    the same files again changes nothing; importing more files under the same name adds to it.
    """
    from ideagora.commands.ideas import Request
    from ideagora.commands.ideas import import_ideas as run

    raise typer.Exit(run(Request(tuple(files), name, topic, out, as_json, {"home": home}, with_seeds)))


@app.command("list", epilog="Examples:\n\n  ideagora ideas list\n\n  ideagora ideas list --json")
def list_names(as_json: options.AsJson = False, home: options.Home = None) -> None:
    """List the names of imported ideas."""
    from ideagora.commands.ideas import list_names as run

    raise typer.Exit(run({"home": home}, as_json))


@app.command(
    "show", epilog="Examples:\n\n  ideagora ideas show ai-scientist\n\n  ideagora ideas show ideas.json 3f9a"
)
def show(
    name: Annotated[str, typer.Argument(help="Name of imported ideas, or a file in any known format.")],
    idea: Annotated[
        str | None, typer.Argument(help="Beginning of an idea's id: show that idea in full.")
    ] = None,
    topic: Annotated[
        str | None, typer.Option(help="Topic of the ideas, for a file that does not name one.")
    ] = None,
    as_json: options.AsJson = False,
    home: options.Home = None,
) -> None:
    """List imported ideas, or show one of them in full."""
    from ideagora.commands.ideas import show as run

    raise typer.Exit(run(name, idea, topic, {"home": home}, as_json))


@app.command("formats", epilog="Example:\n\n  ideagora ideas formats")
def list_formats(as_json: options.AsJson = False) -> None:
    """List the file formats that can be imported, and how each is detected."""
    from ideagora.commands.ideas import list_formats as run

    raise typer.Exit(run(as_json))
