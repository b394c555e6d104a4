"""What an agent from outside gave, looked at strictly: ideas, or reasons by number and field.

Nothing is filled in. A field that is not ours is kept in the idea's ``extra``.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import AsyncIterable, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError, field_validator

from ideagora.errors import AgentFailed
from ideagora.models.redact import one_line, redact_values
from ideagora.schema import (
    Chain,
    Experiment,
    Idea,
    NoveltyCheck,
    Paper,
    Source,
    Topic,
    Usage,
    stable_id,
)

if TYPE_CHECKING:
    from ideagora.graphs.agent import Origin

MOST_IDEAS = 100
LONGEST_IDEA = 50_000
"""Characters of an idea's texts; one of ours has some 3,000."""
LONGEST_TITLE = 300
MOST_REFERENCES = 500
LONGEST_RECORD = 1_000_000
"""Characters of the whole record as JSON."""
_HOW = 'Return a list of ideas: [{"title": "…", "method": "…"}].'
_OURS = frozenset({"id", "topic", "agent", "branch", "wins", "model", "usage", "created", "extra"})
"""Fields of ``Idea`` that the run writes itself."""
_PLAN = ("steps", "datasets", "baselines", "metrics", "ablations", "risks", "refuted_if")


class GivenIdea(BaseModel):
    """The fields that an agent from outside may give; others are kept beside them."""

    model_config = ConfigDict(extra="allow")

    title: StrictStr
    method: StrictStr
    motivation: StrictStr | None = None
    novelty: StrictStr | None = None
    summary: StrictStr | None = None
    experiment: Experiment | None = None
    references: tuple[StrictStr, ...] = Field(default=(), max_length=MOST_REFERENCES)
    sources: tuple[Source, ...] = ()
    chain: Chain | None = None
    novelty_check: NoveltyCheck | None = None
    facets: dict[StrictStr, StrictStr] = Field(default_factory=dict)
    neighbours: tuple[Paper, ...] = ()

    @field_validator("title", "method")
    @classmethod
    def _said(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("it is empty")
        return value.strip()

    @field_validator("title")
    @classmethod
    def _short(cls, value: str) -> str:
        if len(value) > LONGEST_TITLE:
            raise ValueError(f"it has {len(value):,} characters; {LONGEST_TITLE} are the most for a title")
        return " ".join(value.split())

    @field_validator("motivation", "novelty", "summary")
    @classmethod
    def _absent(cls, value: str | None) -> str | None:
        return value.strip() or None if value is not None else None

    @field_validator("experiment", mode="before")
    @classmethod
    def _plan(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"steps": (value.strip(),)} if value.strip() else None
        return {"steps": tuple(value)} if isinstance(value, list) else value

    @field_validator("references", mode="before")
    @classmethod
    def _ids(cls, value: Any) -> Any:
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            raise ValueError("give a list of paper ids")
        return tuple(one["id"] if isinstance(one, Mapping) and "id" in one else one for one in value)


def plain_ideas(given: Any, name: str) -> list[Any]:
    """What was given as plain JSON values; runs in the agent's thread, since reading runs its code.

    Raises:
        AgentFailed: it is no list, or holds what JSON cannot; names the idea.
    """
    if given is None:
        raise AgentFailed(f"{name} returned None. {_HOW}")
    if isinstance(given, str | bytes):
        raise AgentFailed(f"{name} returned a text, “{one_line(str(given), 60)}”. {_HOW}")
    if isinstance(given, Mapping | BaseModel) or dataclasses.is_dataclass(given):
        given = [given]
    if inspect.iscoroutine(given) or isinstance(given, AsyncIterable) or not isinstance(given, Iterable):
        raise AgentFailed(f"{name} returned something of type {type(given).__name__}. {_HOW}")
    items = list(islice(given, MOST_IDEAS + 1))
    if len(items) > MOST_IDEAS:
        raise AgentFailed(
            f"{name} returned more than {MOST_IDEAS} ideas. Return the best ones first, and fewer."
        )
    return [plain_idea(item, number) for number, item in enumerate(items, 1)]


def plain_idea(item: Any, number: int) -> Any:
    """Plain JSON values of one idea; a reason (a string) where that cannot be had."""
    if isinstance(item, Idea):
        item = item.model_dump(mode="json", exclude=set(_OURS)) | item.extra
    elif isinstance(item, BaseModel):
        item = item.model_dump(mode="json")
    elif dataclasses.is_dataclass(item) and not isinstance(item, type):
        item = dataclasses.asdict(item)
    elif not isinstance(item, Mapping) and hasattr(item, "title") and hasattr(item, "__dict__"):
        item = vars(item)
    if not isinstance(item, Mapping):
        return f"idea {number} is of type {type(item).__name__} ({one_line(repr(item), 60)}). {_HOW}"
    try:
        text = json.dumps(dict(item), allow_nan=False, ensure_ascii=False, default=_record)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        return f"idea {number} cannot be written as JSON: {one_line(str(error), 120)}."
    if len(text) > LONGEST_RECORD:
        return f"idea {number} has {len(text):,} characters in all; {LONGEST_RECORD:,} are the most."
    return json.loads(text)


def _record(value: Any) -> Any:
    if isinstance(value, Paper):
        return value.id
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} is no JSON value")


def validate_ideas(values: list[Any], name: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The ideas that can be used, as they will be kept, and why the others cannot.

    Raises:
        AgentFailed: there is none; says why, idea by idea.
    """
    if not values:
        raise AgentFailed(f"{name} returned no idea (an empty list).")
    good: list[dict[str, Any]] = []
    bad: list[str] = []
    for number, value in enumerate(values, 1):
        try:
            good.append(_checked(redact_values(value), number))
        except AgentFailed as error:
            bad.append(str(error))
    if not good:
        more = f" {len(bad) - 3} more could not be used either." if len(bad) > 3 else ""
        raise AgentFailed(f"{name} returned no idea that can be used: {' '.join(bad[:3])}{more}")
    return good, bad


def _checked(value: Any, number: int) -> dict[str, Any]:
    if isinstance(value, str):
        raise AgentFailed(value)
    given = {name: part for name, part in value.items() if name not in _OURS}
    extra = dict(value["extra"]) if isinstance(value.get("extra"), dict) else {}
    experiment = given.get("experiment")
    if isinstance(experiment, dict) and (other := set(experiment) - set(Experiment.model_fields)):
        extra["experiment"] = {name: experiment[name] for name in sorted(other)}
        given["experiment"] = {name: part for name, part in experiment.items() if name not in other}
    try:
        idea = GivenIdea.model_validate(given)
    except ValidationError as error:
        raise AgentFailed(f"idea {number}: {_first(error)}") from None
    if (length := _length(idea)) > LONGEST_IDEA:
        raise AgentFailed(
            f"idea {number} has {length:,} characters; {LONGEST_IDEA:,} are the most. An idea is a page, not "
            "a paper."
        )
    extra.update(idea.model_extra or {})
    return {**idea.model_dump(mode="json", include=set(GivenIdea.model_fields)), "extra": extra}


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"the field {field} is missing."
    said = first["msg"].removeprefix("Value error, ")
    return f"the field {field} cannot be used ({one_line(repr(first['input']), 60)}): {said.lower()}."


def _length(idea: GivenIdea) -> int:
    own = (idea.title, idea.method, idea.motivation, idea.novelty, idea.summary)
    plan = json.dumps(idea.experiment.model_dump(include=set(_PLAN))) if idea.experiment else ""
    return sum(len(part) for part in own if part) + len(plan)


def as_ideas(kept: list[dict[str, Any]], topic: Topic, origin: Origin, place: str = "shared") -> list[Idea]:
    """Records of what was kept. Each idea has the usage of all calls, since each came of all of them."""
    answered = origin.answered.get(place)
    return [
        Idea(
            **{name: part for name, part in idea.items() if name != "extra"},
            id=stable_id(origin.agent, topic.text, str(number), idea["title"], idea["method"]),
            topic=topic.text,
            agent=origin.agent,
            model=origin.model if answered else "unknown",
            usage=origin.usage.get(place, Usage()),
            created=answered,
            extra=idea["extra"],
        )
        for number, idea in enumerate(kept, 1)
    ]
