"""Declares ``ideagora vote`` with ``export`` and ``import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ideagora.cli import options

app = options.CommandGroup(
    help="Let people vote blind on pairs of ideas from an arena.", no_args_is_help=True
)

FOLDER = Annotated[Path, typer.Argument(help="Folder of an arena.")]
VOTER = Annotated[str, typer.Option(help="Name of the voter: letters, digits, - and _.")]


@app.command(
    "export",
    epilog="Examples:\n\n  ideagora vote export runs/arena --voter ada\n\n"
    "  ideagora vote export runs/arena --voter ada --pairs 40 --out ada.csv",
)
def export(
    folder: FOLDER,
    voter: VOTER,
    pairs: Annotated[int, typer.Option(min=1, help="Maximum number of pairs.")] = 20,
    seed: Annotated[
        int,
        typer.Option(
            help="Random seed for choosing pairs; use the same one for all voters.",
            rich_help_panel=options.ReproducibilityOptions.PANEL,
        ),
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Ballot file: .csv for a spreadsheet, or .jsonl.",
            show_default="ballots-<voter>.csv",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Write a ballot file: pairs of ideas, in which a person marks the better idea on each criterion.

    The file does not name the authors of ideas. All voters get the same pairs, each in a different random
    order, so their votes can be compared with each other and with the judges.
    """
    from ideagora.commands.vote import export as run

    raise typer.Exit(run(folder, voter, out, pairs, seed, as_json))


@app.command("import", epilog="Example:\n\n  ideagora vote import runs/arena ballots-ada.csv --voter ada")
def import_(
    folder: FOLDER,
    ballots: Annotated[Path, typer.Argument(help="Completed ballot file.")],
    voter: VOTER,
    as_json: options.AsJson = False,
) -> None:
    """Import a completed ballot file as the verdicts of a human judge.

    Empty cells are skipped. Unreadable cells are listed by row and column; the others count.
    """
    from ideagora.commands.vote import import_ as run

    raise typer.Exit(run(folder, ballots, voter, as_json))
