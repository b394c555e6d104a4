"""Lines of ResearchAgent: a core paper, and problem, method and experiment that were made for it.

The released pipeline stops after the problem; then that is the one text that there is, and the idea's
body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ideagora.importing.drafts import Draft, Format, Row, Unusable, each
from ideagora.importing.fields import experiment_of, first_text, labelled, needed_text, text_or_none, unpacked


def _matches(value: Mapping[str, Any]) -> bool:
    return {"paper", "problem"} <= value.keys() and "references" in value


def _read(row: Row) -> Iterator[Draft]:
    value = row.value
    paper = unpacked(value, "paper")
    if not isinstance(paper, dict):
        raise Unusable("paper", "an object with the title of the core paper is needed")
    has_method = text_or_none(value, "method") is not None
    motivation = ("problem", "problem_rationale") if has_method else ("problem_rationale",)
    plan = text_or_none(value, "experiment")
    rationale = ("Rationale", first_text(value, "experiment_rationale"))
    yield Draft(
        row=row,
        topic=needed_text(paper, "title"),
        motivation=labelled(value, *motivation),
        method=labelled(value, "method", "method_rationale") if has_method else needed_text(value, "problem"),
        experiment=experiment_of(plan, rationale) if plan else None,
        notes={"method_from": "method" if has_method else "problem"},
    )


FORMATS = (
    Format(
        name="research-agent",
        about="ResearchAgent: ideas.jsonl",
        looks_for="'paper', 'problem' and 'references'",
        matches=_matches,
        read=each(_read),
    ),
)
