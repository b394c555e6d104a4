"""Declares ``ideagora compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ideagora.cli import options


def compare(
    scores: Annotated[
        Path,
        typer.Argument(
            help="Reviews, one row each: .csv, .jsonl, AI-Researcher's .json of columns, or a jury's folder."
        ),
    ],
    by: Annotated[
        str, typer.Option(help="Column with the condition, such as the author of the idea.")
    ] = "condition",
    reference: Annotated[
        str | None,
        typer.Option(
            help="Condition that the others are compared with.", show_default="the first in the file"
        ),
    ] = None,
    criteria: Annotated[
        str | None,
        typer.Option(
            help="Score columns, separated by commas.",
            show_default="columns ending in _score, or all numbers",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare scores of ideas by condition, e.g. whether one agent's ideas score higher than another's.

    The table has the columns idea, condition, scores, and, if known, reviewer and topic. The output has each
    condition's mean over ideas with its 95 % interval, Welch's test on ideas, and two models that allow for
    strict reviewers and difficult topics: a linear one, and a mixed one (needs the extra 'stats'). P-values
    are corrected for the number of criteria (Holm). For pairwise verdicts, use 'ideagora arena'; for how far
    reviewers agree, use 'ideagora agreement'.
    """
    from ideagora.commands.compare import run

    names = [name.strip() for name in (criteria or "").split(",") if name.strip()]
    raise typer.Exit(run(scores, by, reference, names, as_json))
