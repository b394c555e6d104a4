"""``ideagora agreement``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def agreement(
    raters: Annotated[
        list[Path],
        typer.Argument(help="Run folders, verdicts or votes (.jsonl), leaderboards (.json), scores (.csv)."),
    ],
    criteria: Annotated[
        str | None, typer.Option(help="Only these, with commas between them.", show_default="all")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Say how far raters agree: people and models, judge and judge, or any two sets of scores.

    Verdicts are compared match by match and by the ratings that follow from them; scores by Pearson,
    Spearman, Kendall and intraclass correlations. Every figure comes with its interval and its n. A table
    of scores has a column that names the item (idea, id, item, agent), maybe one called topic, and numbers.
    """
    from ideagora.commands.agreement import run

    names = [name.strip() for name in (criteria or "").split(",") if name.strip()]
    raise typer.Exit(run(raters, names, as_json))
