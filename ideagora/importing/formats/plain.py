"""The plain format: one record per idea, with common field names.

``topic``, ``title``, ``motivation``, ``novelty``, ``method`` (or ``idea``, ``text``, ``description``,
``hypothesis``), ``summary``, ``experiment`` (text, list or object), ``references`` (list of
ids), ``agent``, ``model``, ``sample`` (its id in a benchmark). JSON, JSON Lines or CSV; capitals and
spaces in names are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from ideagora.importing.fields import first_text, json_as_text, optional_text, parse_experiment, string_list
from ideagora.importing.records import FieldError, Format, ParsedIdea, Row, read_each
from ideagora.schema import Experiment

_BODIES = ("method", "idea", "text", "description", "hypothesis")
_PLANS = ("experiment", "experiments", "experiment_plan")


def _named(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name.strip().lower().replace(" ", "_").replace("-", "_"): entry for name, entry in value.items()}


def _matches(value: Mapping[str, Any]) -> bool:
    fields = _named(value)
    return any(isinstance(fields.get(name), str) for name in _BODIES) and "paperid" not in fields


def _read(row: Row) -> Iterator[ParsedIdea]:
    value = _named(row.value)
    body = next((name for name in _BODIES if optional_text(value, name)), None)
    if body is None:
        raise FieldError("method", f"no text in any of {', '.join(_BODIES)}")
    plan = next((value[name] for name in _PLANS if value.get(name)), None)
    yield ParsedIdea(
        row=row,
        topic=optional_text(value, "topic"),
        title=optional_text(value, "title"),
        motivation=first_text(value, "motivation", "background"),
        novelty=json_as_text(value["novelty"]) if isinstance(value.get("novelty"), str) else None,
        method=value[body].strip(),
        summary=optional_text(value, "summary"),
        experiment=_experiment(plan),
        references=string_list(value.get("references")),
        agent=optional_text(value, "agent"),
        model=optional_text(value, "model"),
        notes=_notes(value, body),
    )


def _notes(value: Mapping[str, Any], body: str) -> dict[str, str]:
    """Notes on an idea: the field of its method, and the sample of a benchmark that it is about."""
    sample = value.get("sample")
    is_id = isinstance(sample, str | int) and not isinstance(sample, bool)
    return ({"method_from": body} if body != "method" else {}) | ({"sample": str(sample)} if is_id else {})


def _experiment(plan: Any) -> Experiment | None:
    """Return a plan in ideagora's own format unchanged, and any other as steps."""
    if isinstance(plan, dict) and "steps" in plan:
        try:
            return Experiment.model_validate(plan)
        except ValidationError:
            return parse_experiment(plan)
    return parse_experiment(plan)


FORMATS = (
    Format(
        name="plain",
        about="JSON, JSON Lines or CSV with common field names",
        looks_for="'method', 'idea', 'text', 'description' or 'hypothesis'",
        matches=_matches,
        read=read_each(_read),
        is_fallback=True,
    ),
)
