"""``ideagora library``: own papers, and the store of literature."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ideagora.subcommands import options

app = typer.Typer(help="Your own papers and the store of literature.", no_args_is_help=True)


@app.command(
    "add",
    epilog="Examples:\n\n  ideagora library add paper.pdf references.bib\n\n  ideagora library add ~/papers",
)
def add(
    paths: Annotated[list[Path], typer.Argument(help="Files, and folders with all below them.")],
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    store: options.Store = None,
    home: options.Home = None,
) -> None:
    """Put your own papers into the store: PDF, BibTeX, RIS, CSL-JSON, JSON lines, or folders of them.

    What cannot be read is named at the end and stops nothing. Papers that are there already are
    brought up to date, and the same command goes on where it was stopped.
    """
    from ideagora.commands.library import add

    raise typer.Exit(add(paths, options.given({"store": store, "home": home}), as_json, quiet))


@app.command(
    "check", epilog="Example:\n\n  ideagora library check examples/own_source.py:Notes --query 'tool use'"
)
def check(
    source: Annotated[str, typer.Argument(help="module:object, path.py:object, or a source's name.")],
    query: Annotated[str, typer.Option(help="Words for which the source has papers.")] = "language models",
    as_json: options.AsJson = False,
    home: options.Home = None,
) -> None:
    """Try a source of literature: what works, what doesn't, and how to mend it."""
    from ideagora.commands.check_source import check

    raise typer.Exit(check(source, query, options.given({"home": home}), as_json))


@app.command("stats")
def stats(
    as_json: options.AsJson = False,
    store: options.Store = None,
    home: options.Home = None,
) -> None:
    """Say what the store holds."""
    from ideagora.commands.library import stats

    raise typer.Exit(stats(options.given({"store": store, "home": home}), as_json))


@app.command("search", epilog="Example:\n\n  ideagora library search 'tool use' --k 5 --before 2024")
def search(
    query: Annotated[str, typer.Argument(help="What to look for, in a few words.")],
    k: Annotated[int, typer.Option("--k", min=1, max=1000, help="Papers to show.")] = 10,
    before: Annotated[
        str | None, typer.Option(help="Cut-off date (YYYY, YYYY-MM, YYYY-MM-DD): only older papers.")
    ] = None,
    as_json: options.AsJson = False,
    store: options.Store = None,
    home: options.Home = None,
) -> None:
    """Find the papers of the store that are nearest to a query."""
    from ideagora.commands.library import search

    raise typer.Exit(search(query, k, before, options.given({"store": store, "home": home}), as_json))


@app.command(
    "migrate",
    epilog="Examples:\n\n  ideagora library migrate http://127.0.0.1:8000\n\n"
    "  ideagora library migrate ~/papers-store --from http://127.0.0.1:8000",
)
def migrate(
    to: Annotated[str, typer.Argument(help="A folder, or a Chroma server as http://host:port.")],
    from_: Annotated[
        str | None,
        typer.Option("--from", help="The store to read: a folder or a server.", show_default="--store"),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    store: options.Store = None,
    home: options.Home = None,
) -> None:
    """Copy a store to another place, and check that everything arrived.

    The store that is read stays as it is. What the other place has already is not sent again, so
    the same command goes on where it was stopped. Between stores of different embedders every paper
    is embedded anew, with the embedder of the settings.
    """
    from ideagora.commands.library import migrate

    raise typer.Exit(migrate(to, from_, options.given({"store": store, "home": home}), as_json, quiet))
