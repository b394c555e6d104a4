"""One call to a model, as a role states it; ``LLMClient.ask`` makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from ideagora.config import Group

if TYPE_CHECKING:
    from ideagora.models.offline import ExtractiveModel

    OfflineHandler = Callable[[ExtractiveModel, Any], BaseModel | Mapping[str, Any] | str]
    """Computes the reply of the offline model: (model, inputs) -> a role's answer, its fields, or text."""


COMPLETION_LIMIT = 8_192
"""Default maximum tokens of an answer."""


A = TypeVar("A", bound="Answer")


class Answer(BaseModel):
    """Base of all typed answers. Unknown fields are ignored, because models often add some."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    @classmethod
    def fields_of_prose(cls, text: str) -> dict[str, Any] | None:
        """The fields of a reply without JSON that has one reading; ``None``: it has none, or several."""
        return None

    def extended_to(self, kind: type[A], **fields: Any) -> A:
        """Return another answer with the fields of this one; ``fields`` are added or take their place."""
        return kind.model_validate({**dict(self), **fields})


class FreeText(Answer):
    """The whole reply without its thinking, for prompts that do not ask for JSON."""

    text: str


class Reply(FreeText):
    """The whole reply, which may be a refusal, and the thinking that it contains."""

    reasoning: str = ""


class Inputs(BaseModel):
    """Base of all typed inputs of roles."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True)
class Call(Generic[A]):
    """A role's request: rendered messages, the answer type, and the offline handler."""

    role: str
    group: Group
    system: str
    prompt: str
    answer: type[A]
    inputs: Inputs
    handler: OfflineHandler
    temperature: float | None = None
    """Sampling temperature of the role, overridden by the settings; ``None``: not sent."""
    sample: int = 0
    """Index among repeated samples of the same request (part of the cache key)."""
    completion_limit: int = COMPLETION_LIMIT
    """Maximum tokens of the answer; a reasoning model gets a multiple of it for its thinking."""
    model: str | None = None
    """Overrides the group's model (one of several judges)."""
    token_probabilities: bool = False
    """Whether the probabilities of the tokens with which the answer's choices begin are requested."""
    check: Callable[[Inputs, A], str | None] | None = None
    """Checks what a schema cannot express (indices that exist, …); returns a complaint, or ``None``."""
