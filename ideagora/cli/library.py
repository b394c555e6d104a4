"""Declares ``ideagora library`` with ``add``, ``check``, ``stats``, ``search`` and ``migrate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ideagora.cli import options

app = options.CommandGroup(help="Add your own papers, and search or move the store.", no_args_is_help=True)


@app.command(
    "add",
    epilog="Examples:\n\n  ideagora library add paper.pdf references.bib\n\n  ideagora library add ~/papers",
)
def add(
    paths: Annotated[list[Path], typer.Argument(help="Files, and folders with their subfolders.")],
    store: options.Store = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    home: options.Home = None,
) -> None:
    """Add your own papers to the store: PDF, BibTeX, RIS, CSL-JSON, JSON lines, or folders of them.

    Unreadable files are listed at the end and skipped. Known papers are updated. Run the same command
    again to resume.
    """
    from ideagora.commands.library import add

    raise typer.Exit(add(paths, {"store": store, "home": home}, as_json, quiet))


@app.command(
    "check", epilog="Example:\n\n  ideagora library check examples/own_source.py:Notes --query 'tool use'"
)
def check(
    source: Annotated[str, typer.Argument(help="module:object, path.py:object, or the name of a source.")],
    query: Annotated[str, typer.Option(help="Query for which the source has papers.")] = "language models",
    as_json: options.AsJson = False,
    home: options.Home = None,
) -> None:
    """Test a literature source: what works, what does not, and how to fix it."""
    from ideagora.commands.checks.source import check

    raise typer.Exit(check(source, query, {"home": home}, as_json))


@app.command("stats", epilog="Example:\n\n  ideagora library stats --json")
def stats(
    store: options.Store = None,
    as_json: options.AsJson = False,
    home: options.Home = None,
) -> None:
    """Show how many papers, citations and full texts the store has."""
    from ideagora.commands.library import stats

    raise typer.Exit(stats({"store": store, "home": home}, as_json))


@app.command("search", epilog="Example:\n\n  ideagora library search 'tool use' --k 5 --before 2024")
def search(
    query: Annotated[str, typer.Argument(help="Search query, in a few words.")],
    k: Annotated[int, typer.Option("--k", min=1, max=1000, help="Number of papers to show.")] = 10,
    before: Annotated[
        str | None,
        typer.Option(
            help="Cut-off date (YYYY, YYYY-MM or YYYY-MM-DD): show only papers published before it.",
            rich_help_panel=options.LITERATURE,
        ),
    ] = None,
    store: options.Store = None,
    as_json: options.AsJson = False,
    home: options.Home = None,
) -> None:
    """Search the store for the papers most similar to a query."""
    from ideagora.commands.library import search

    raise typer.Exit(search(query, k, before, {"store": store, "home": home}, as_json))


@app.command(
    "migrate",
    epilog="Examples:\n\n  ideagora library migrate http://127.0.0.1:8000\n\n"
    "  ideagora library migrate ~/papers-store --from http://127.0.0.1:8000",
)
def migrate(
    to: Annotated[str, typer.Argument(help="Target: a folder, or a Chroma server as http://host:port.")],
    from_: Annotated[
        str | None,
        typer.Option("--from", help="Store to copy: a folder or a server.", show_default="--store"),
    ] = None,
    store: options.Store = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    home: options.Home = None,
) -> None:
    """Copy a store to a folder or server, and verify the copy.

    The source is not changed. Papers that the target already has are not sent again, so the same command
    resumes a stopped copy. If the stores use different embedders, every paper is embedded again with the
    embedder from the settings.
    """
    from ideagora.commands.library import migrate

    raise typer.Exit(migrate(to, from_, {"store": store, "home": home}, as_json, quiet))
