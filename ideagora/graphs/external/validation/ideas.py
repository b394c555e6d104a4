"""Validate the ideas of an external agent; an invalid one gets a reason with its number and field.

Missing fields are not filled in. Unknown fields are kept in the idea's ``extra``.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypedDict, cast

from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError, field_validator

from ideagora.errors import AgentFailed
from ideagora.models.redact import one_line, redact_values
from ideagora.schema import (
    Chain,
    Experiment,
    Idea,
    NoveltyCheck,
    Paper,
    Serialized,
    Source,
    Topic,
    Usage,
    stable_id,
)

if TYPE_CHECKING:
    from ideagora.graphs.agent import Origin

MAX_IDEAS = 100
MAX_IDEA_LENGTH = 50_000
"""Characters of an idea's texts; those of built-in agents have about 3,000."""
MAX_TITLE_LENGTH = 300
MAX_REFERENCES = 500
MAX_RECORD_LENGTH = 1_000_000
"""Characters of the whole record as JSON."""
_ADVICE = 'Return a list of ideas: [{"title": "…", "method": "…"}].'
_RUN_FIELDS = frozenset({"id", "topic", "agent", "branch", "wins", "model", "usage", "created", "extra"})
"""Fields of ``Idea`` that the run writes itself."""
_PLAN = ("steps", "datasets", "baselines", "metrics", "ablations", "risks", "refuted_if")


class ExternalIdea(BaseModel):
    """The fields that an external agent may set; other fields are kept in ``extra``."""

    model_config = ConfigDict(extra="allow")

    title: StrictStr
    method: StrictStr
    motivation: StrictStr | None = None
    novelty: StrictStr | None = None
    summary: StrictStr | None = None
    experiment: Experiment | None = None
    references: tuple[StrictStr, ...] = Field(default=(), max_length=MAX_REFERENCES)
    sources: tuple[Source, ...] = ()
    chain: Chain | None = None
    novelty_check: NoveltyCheck | None = None
    facets: dict[StrictStr, StrictStr] = Field(default_factory=dict)
    neighbours: tuple[Paper, ...] = ()

    @field_validator("title", "method")
    @classmethod
    def _require_text(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("it is empty")
        return value.strip()

    @field_validator("title")
    @classmethod
    def _limit_title(cls, value: str) -> str:
        if len(value) > MAX_TITLE_LENGTH:
            raise ValueError(f"it has {len(value):,} characters; the limit is {MAX_TITLE_LENGTH} for a title")
        return " ".join(value.split())

    @field_validator("motivation", "novelty", "summary")
    @classmethod
    def _empty_to_none(cls, value: str | None) -> str | None:
        return value.strip() or None if value is not None else None

    @field_validator("experiment", mode="before")
    @classmethod
    def _parse_plan(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"steps": (value.strip(),)} if value.strip() else None
        return {"steps": tuple(value)} if isinstance(value, list) else value

    @field_validator("references", mode="before")
    @classmethod
    def _parse_references(cls, value: Any) -> Any:
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            raise ValueError("use a list of paper ids")
        return tuple(item["id"] if isinstance(item, Mapping) and "id" in item else item for item in value)


class ValidIdea(TypedDict):
    """An ``ExternalIdea`` as plain values, with further fields in ``extra``."""

    title: str
    method: str
    motivation: str | None
    novelty: str | None
    summary: str | None
    experiment: Serialized[Experiment] | None
    references: list[str]
    sources: list[Serialized[Source]]
    chain: Serialized[Chain] | None
    novelty_check: Serialized[NoveltyCheck] | None
    facets: dict[str, str]
    neighbours: list[Serialized[Paper]]
    extra: dict[str, Any]


def plain_ideas(result: Any, name: str) -> list[Any]:
    """Convert an agent's result to plain JSON values; runs in the agent's thread, as it may run its code.

    Raises:
        AgentFailed: the result is not a list of ideas, or has too many.
    """
    if result is None:
        raise AgentFailed(f"{name} returned None. {_ADVICE}")
    if isinstance(result, str | bytes):
        raise AgentFailed(f"{name} returned a string, “{one_line(str(result), 60)}”. {_ADVICE}")
    if isinstance(result, Mapping | BaseModel) or dataclasses.is_dataclass(result):
        result = [result]
    if inspect.iscoroutine(result) or isinstance(result, AsyncIterable) or not isinstance(result, Iterable):
        raise AgentFailed(f"{name} returned a value of type {type(result).__name__}. {_ADVICE}")
    items = list(islice(result, MAX_IDEAS + 1))
    if len(items) > MAX_IDEAS:
        raise AgentFailed(f"{name} returned more than {MAX_IDEAS} ideas. Return only the best ones.")
    return [plain_idea(item, number) for number, item in enumerate(items, 1)]


def plain_idea(item: Any, number: int) -> Any:
    """Plain JSON values of one idea, or a string with the reason why it cannot be converted."""
    if isinstance(item, Idea):
        item = item.model_dump(mode="json", exclude=set(_RUN_FIELDS)) | item.extra
    elif isinstance(item, BaseModel):
        item = item.model_dump(mode="json")
    elif dataclasses.is_dataclass(item) and not isinstance(item, type):
        item = dataclasses.asdict(item)
    elif not isinstance(item, Mapping) and hasattr(item, "title") and hasattr(item, "__dict__"):
        item = vars(item)
    if not isinstance(item, Mapping):
        return f"idea {number} is of type {type(item).__name__} ({one_line(repr(item), 60)}). {_ADVICE}"
    try:
        text = json.dumps(dict(item), allow_nan=False, ensure_ascii=False, default=_record)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        return f"idea {number} cannot be written as JSON: {one_line(str(error), 120)}."
    if len(text) > MAX_RECORD_LENGTH:
        return f"idea {number} has {len(text):,} characters in total; the limit is {MAX_RECORD_LENGTH:,}."
    return json.loads(text)


def _record(value: Any) -> Any:
    if isinstance(value, Paper):
        return value.id
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def validate_ideas(values: list[Any], name: str) -> tuple[list[ValidIdea], list[str]]:
    """The valid ideas, and the reasons why the others are invalid.

    Raises:
        AgentFailed: there is no valid idea.
    """
    if not values:
        raise AgentFailed(f"{name} returned no idea (an empty list).")
    good: list[ValidIdea] = []
    bad: list[str] = []
    for number, value in enumerate(values, 1):
        try:
            good.append(_validate(redact_values(value), number))
        except AgentFailed as error:
            bad.append(str(error))
    if not good:
        more = f" {len(bad) - 3} more are not valid." if len(bad) > 3 else ""
        raise AgentFailed(f"{name} returned no valid idea: {' '.join(bad[:3])}{more}")
    return good, bad


def _validate(value: Any, number: int) -> ValidIdea:
    if isinstance(value, str):
        raise AgentFailed(value)
    fields = {name: part for name, part in value.items() if name not in _RUN_FIELDS}
    extra = dict(value["extra"]) if isinstance(value.get("extra"), dict) else {}
    experiment = fields.get("experiment")
    if isinstance(experiment, dict) and (other := set(experiment) - set(Experiment.model_fields)):
        extra["experiment"] = {name: experiment[name] for name in sorted(other)}
        fields["experiment"] = {name: part for name, part in experiment.items() if name not in other}
    try:
        idea = ExternalIdea.model_validate(fields)
    except ValidationError as error:
        raise AgentFailed(f"idea {number}: {_describe_error(error)}") from None
    if (length := _length(idea)) > MAX_IDEA_LENGTH:
        raise AgentFailed(
            f"idea {number} has {length:,} characters; the limit is {MAX_IDEA_LENGTH:,}. An idea is a page, "
            "not a paper."
        )
    extra.update(idea.model_extra or {})
    known = idea.model_dump(mode="json", include=set(ExternalIdea.model_fields))
    return cast("ValidIdea", {**known, "extra": extra})


def _describe_error(error: ValidationError) -> str:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"the field {field} is missing."
    message = first["msg"].removeprefix("Value error, ")
    return f"the field {field} is invalid ({one_line(repr(first['input']), 60)}): {message.lower()}."


def _length(idea: ExternalIdea) -> int:
    texts = (idea.title, idea.method, idea.motivation, idea.novelty, idea.summary)
    plan = json.dumps(idea.experiment.model_dump(include=set(_PLAN))) if idea.experiment else ""
    return sum(len(part) for part in texts if part) + len(plan)


def as_ideas(values: Sequence[ValidIdea], topic: Topic, origin: Origin, place: str = "shared") -> list[Idea]:
    """Convert valid ideas to records. Each has the usage of all calls, which cannot be split among them."""
    answered = origin.answered.get(place)
    return [
        Idea.model_validate(
            {
                **idea,
                "id": stable_id(origin.agent, topic.text, str(number), idea["title"], idea["method"]),
                "topic": topic.text,
                "agent": origin.agent,
                "model": origin.model if answered else "unknown",
                "usage": origin.usage.get(place, Usage()),
                "created": answered,
            }
        )
        for number, idea in enumerate(values, 1)
    ]
