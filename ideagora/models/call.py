"""One call to a model, as a role states it. The door (``client.py``) carries it out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from ideagora.config import Group

if TYPE_CHECKING:
    from ideagora.models.offline import ExtractiveModel

    OfflineHandler = Callable[[ExtractiveModel, Any], dict[str, Any]]
    """How the offline model fills a role's answer: (engine, inputs) -> the answer's fields."""


COMPLETION_LIMIT = 8_192
"""Tokens that an answer may have at most, unless the role or the settings say otherwise."""


class Answer(BaseModel):
    """Base of all typed answers. Unknown fields are ignored: models like to add some."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class FreeText(Answer):
    """The whole reply as it is, without its thinking: for whoever wrote a prompt of their own."""

    text: str


class Inputs(BaseModel):
    """Base of all typed inputs of roles."""

    model_config = ConfigDict(frozen=True, extra="forbid")


A = TypeVar("A", bound=Answer)


@dataclass(frozen=True)
class Call(Generic[A]):
    """A role's request: rendered messages, the typed answer wanted, and the offline recipe."""

    role: str
    group: Group
    system: str
    prompt: str
    answer: type[A]
    inputs: Inputs
    handler: OfflineHandler
    temperature: float | None = None
    """Sampling temperature of the role; the settings' value goes before it; ``None``: not sent."""
    sample: int = 0
    """Index among repeated samples of the same request (part of the cache key)."""
    completion_limit: int = COMPLETION_LIMIT
    """Tokens of the answer at most; a reasoning model gets a multiple of it for its thinking."""
    model: str | None = None
    """Who is asked instead of the model that serves the group (one of several judges)."""
    check: Callable[[Inputs, A], str | None] | None = None
    """What no schema can say (indices that exist, …): the complaint, or ``None`` when all is well."""
