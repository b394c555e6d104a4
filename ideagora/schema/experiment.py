"""Experiment plans."""

from __future__ import annotations

from ideagora.schema.base import Record
from ideagora.schema.literature import Paper


class Experiment(Record):
    """An experiment plan (Tables 17 to 20)."""

    steps: tuple[str, ...]
    datasets: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    ablations: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    refuted_if: str | None = None
    """The outcome that would refute the idea."""
    cost: str | None = None
    """What it takes: computing, annotation, time."""
    first_steps: tuple[str, ...] = ()
    """The steps before the first review, which ``suggestions`` refer to; empty if there was none."""
    defects: tuple[str, ...] = ()
    """Defects of the idea that the reviewer found, each with the change that fixes it."""
    amended_method: str | None = None
    """The idea's method with these defects fixed; ``None`` if nothing was changed."""
    amended_claim: str | None = None
    """The idea's central claim as the review narrowed it; ``None`` if it stayed."""
    suggestions: tuple[str, ...] = ()
    """The reviewer's suggestions."""
    declined: tuple[str, ...] = ()
    """Suggestions that the refiner did not follow, each with its reason."""
    searched: tuple[str, ...] = ()
    """Queries of the literature searches for the refinement."""
    found: tuple[Paper, ...] = ()
    """Papers from these searches that the refiner got."""
    nothing_found: tuple[str, ...] = ()
    """Those of ``searched`` that found no paper close enough."""
    rounds: int = 0
    """Number of refinements."""
