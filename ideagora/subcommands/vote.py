"""``ideagora vote export`` and ``vote import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ideagora.subcommands import options

app = typer.Typer(help="Blind ballots for people, out of an arena's folder and back.", no_args_is_help=True)

FOLDER = Annotated[Path, typer.Argument(help="Folder of an arena's run.")]
VOTER = Annotated[str, typer.Option(help="Who votes: letters, digits, - and _.")]


@app.command(
    "export",
    epilog="Examples:\n\n  ideagora vote export runs/arena --voter ada\n\n"
    "  ideagora vote export runs/arena --voter ada --pairs 40 --out ada.csv",
)
def export(
    folder: FOLDER,
    voter: VOTER,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs to vote on at most.")] = 20,
    out: Annotated[
        Path | None,
        typer.Option(help="A .csv file for a spreadsheet, or .jsonl.", show_default="ballots-<voter>.csv"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Which pairs are drawn; the same for all voters.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Write pairs of ideas to a file in which a person marks the better one, criterion by criterion.

    Nothing in the file says who made an idea. Every voter gets the same pairs, in an order and on sides
    of their own, so that votes can be compared with each other and with the judges.
    """
    from ideagora.commands.vote import export as run

    raise typer.Exit(run(folder, voter, out, pairs, seed, as_json))


@app.command("import", epilog="Example:\n\n  ideagora vote import runs/arena ballots-ada.csv --voter ada")
def import_(
    folder: FOLDER,
    ballots: Annotated[Path, typer.Argument(help="The file, filled in.")],
    voter: VOTER,
    as_json: options.AsJson = False,
) -> None:
    """Take a filled-in ballot file back, as verdicts of a human judge.

    Empty cells are no votes. What can't be read is named by row and column, and the rest counts.
    """
    from ideagora.commands.vote import import_ as run

    raise typer.Exit(run(folder, ballots, voter, as_json))
