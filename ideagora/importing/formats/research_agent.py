"""Lines of ResearchAgent: a core paper with a generated problem, method and experiment.

The released pipeline stops after the problem, which then becomes the idea's method.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ideagora.importing.fields import (
    decode_field,
    first_text,
    join_fields,
    optional_text,
    parse_experiment,
    required_text,
)
from ideagora.importing.records import FieldError, Format, ParsedIdea, Row, read_each


def _matches(value: Mapping[str, Any]) -> bool:
    return {"paper", "problem"} <= value.keys() and "references" in value


def _read(row: Row) -> Iterator[ParsedIdea]:
    value = row.value
    paper = decode_field(value, "paper")
    if not isinstance(paper, dict):
        raise FieldError("paper", "expected an object with the title of the core paper")
    has_method = optional_text(value, "method") is not None
    motivation = ("problem", "problem_rationale") if has_method else ("problem_rationale",)
    plan = optional_text(value, "experiment")
    rationale = ("Rationale", first_text(value, "experiment_rationale"))
    yield ParsedIdea(
        row=row,
        topic=required_text(paper, "title"),
        motivation=join_fields(value, *motivation),
        method=join_fields(value, "method", "method_rationale")
        if has_method
        else required_text(value, "problem"),
        experiment=parse_experiment(plan, rationale) if plan else None,
        notes={"method_from": "method" if has_method else "problem"},
    )


FORMATS = (
    Format(
        name="research-agent",
        about="ResearchAgent: ideas.jsonl",
        looks_for="'paper', 'problem' and 'references'",
        matches=_matches,
        read=read_each(_read),
    ),
)
