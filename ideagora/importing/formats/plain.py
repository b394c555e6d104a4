"""The plain form: a record an idea, with the names that anyone would choose.

``topic``, ``title``, ``motivation``, ``novelty``, ``method`` (or ``idea``, ``text``, ``description``,
``hypothesis``), ``summary``, ``experiment`` (text, list or object), ``references`` (list of
ids), ``agent``. JSON, JSON lines or a table; capitals and blanks in names do not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from ideagora.importing.drafts import Draft, Format, Row, Unusable, each
from ideagora.importing.fields import experiment_of, first_text, names_in, plain_text, text_or_none
from ideagora.schema import Experiment

_BODIES = ("method", "idea", "text", "description", "hypothesis")
_PLANS = ("experiment", "experiments", "experiment_plan")


def _named(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name.strip().lower().replace(" ", "_").replace("-", "_"): entry for name, entry in value.items()}


def _matches(value: Mapping[str, Any]) -> bool:
    fields = _named(value)
    return any(isinstance(fields.get(name), str) for name in _BODIES) and "paperid" not in fields


def _read(row: Row) -> Iterator[Draft]:
    value = _named(row.value)
    body = next((name for name in _BODIES if text_or_none(value, name)), None)
    if body is None:
        raise Unusable("method", f"there is no text under any of {', '.join(_BODIES)}")
    plan = next((value[name] for name in _PLANS if value.get(name)), None)
    yield Draft(
        row=row,
        topic=text_or_none(value, "topic"),
        title=text_or_none(value, "title"),
        motivation=first_text(value, "motivation", "background"),
        novelty=plain_text(value["novelty"]) if isinstance(value.get("novelty"), str) else None,
        method=value[body].strip(),
        summary=text_or_none(value, "summary"),
        experiment=_experiment(plan),
        references=names_in(value.get("references")),
        maker=text_or_none(value, "agent"),
        model=text_or_none(value, "model"),
        notes={"method_from": body} if body != "method" else {},
    )


def _experiment(plan: Any) -> Experiment | None:
    """A plan in our own form as it is, any other as steps."""
    if isinstance(plan, dict) and "steps" in plan:
        try:
            return Experiment.model_validate(plan)
        except ValidationError:
            return experiment_of(plan)
    return experiment_of(plan)


FORMATS = (
    Format(
        name="plain",
        about="anyone: JSON, JSON lines or CSV with plain names",
        looks_for="'method', 'idea', 'text', 'description' or 'hypothesis'",
        matches=_matches,
        read=each(_read),
        is_last=True,
    ),
)
