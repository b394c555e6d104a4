"""Leaves out of standings what a smoke test does not have: intervals, ranges and probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ideagora.evaluators.arena.leaderboard.records import AuditFigure, PaperRatings, Rows, Standings
from ideagora.evaluators.arena.leaderboard.uncertainty import Bounds


def without_bounds(standings: Standings) -> Standings:
    """The standings without intervals, rank ranges and probabilities of the order, as in a smoke test."""
    biases, paper = standings.biases, standings.paper
    if biases is not None and biases.judges is not None:
        judges = (
            replace(one, position=_unbounded(one.position), length=_unbounded(one.length))
            for one in biases.judges
        )
        biases = replace(biases, judges=tuple(judges))
    if paper is not None:
        criteria = _unbounded_tables(paper.criteria)
        paper = PaperRatings(ranking=_unbounded_rows(paper.ranking), criteria=criteria)
    return replace(
        standings,
        ranking=_unbounded_rows(standings.ranking),
        criteria=_unbounded_tables(standings.criteria),
        separation=(),
        audit=_unbounded_figures(standings.audit),
        audit_breakdown=tuple(
            replace(one, figures=_unbounded_figures(one.figures)) for one in standings.audit_breakdown
        ),
        bias_aware=None if standings.bias_aware is None else _unbounded_rows(standings.bias_aware),
        biases=biases,
        paper=paper,
        runs=tuple(
            replace(one, spread=None, variance_share=None, best_low=None, best_high=None)
            for one in standings.runs
        ),
    )


def _unbounded(figure: AuditFigure) -> AuditFigure:
    return replace(figure, low=None, high=None)


def _unbounded_figures(figures: Mapping[str, AuditFigure]) -> dict[str, AuditFigure]:
    return {name: _unbounded(figure) for name, figure in figures.items()}


def _unbounded_rows(rows: Rows) -> Rows:
    return tuple(replace(row, **Bounds()._asdict()) for row in rows)


def _unbounded_tables(tables: Mapping[str, Rows]) -> dict[str, Rows]:
    return {name: _unbounded_rows(rows) for name, rows in tables.items()}
