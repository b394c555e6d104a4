"""Declares ``ideagora agreement``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ideagora.cli import options


def agreement(
    raters: Annotated[
        list[Path],
        typer.Argument(
            help="A run folder with several judges; or two or more run folders, verdicts or votes (.jsonl), "
            "leaderboards (.json), scores or reviews (.csv, .jsonl)."
        ),
    ],
    criteria: Annotated[
        str | None, typer.Option(help="Criteria to compare, separated by commas.", show_default="all")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure how far raters agree: people and models, the judges of a run, or any sets of scores.

    Verdicts of an arena are compared pair by pair and by the resulting ratings; scores by Pearson, Spearman,
    Kendall and intraclass correlation. Every figure has a 95 % interval and n. The judges of a benchmark or a
    jury are compared with each other, and their mean with people's scores. A .csv file of scores has a column
    that names the item (idea, id, item or agent; a judged idea by its id in ideas.jsonl), an optional topic
    column, and columns of numbers. With a column reviewer, an idea may have any number of reviews; without
    one, several rows on the same idea are reviews by unknown people. If two people rated the same items,
    their agreement with each other is shown next to the judges': it is the ceiling for a judge.
    """
    from ideagora.commands.agreement import run

    names = [name.strip() for name in (criteria or "").split(",") if name.strip()]
    raise typer.Exit(run(raters, names, as_json))
