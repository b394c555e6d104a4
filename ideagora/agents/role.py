"""A role: one LLM worker with a prompt, typed inputs, a typed answer and an offline handler.

Roles know neither providers nor graphs. Awaiting a role sends its call through the ``LLMClient``.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from ideagora.config import Group
from ideagora.errors import NoTokenProbabilities
from ideagora.models.call import COMPLETION_LIMIT, A, Call, FreeText, Inputs
from ideagora.prompts.loader import Prompt, check_prompt, load_prompt

if TYPE_CHECKING:
    from ideagora.models.cache.answers import Alternatives
    from ideagora.models.client import LLMClient
    from ideagora.models.offline import ExtractiveModel

ROLES: dict[str, Role[Any]] = {}
"""All roles by name. Defining a role registers it here."""


@dataclass(frozen=True)
class Role(Generic[A]):
    """One LLM worker. An invalid definition raises at import."""

    name: str
    group: Group
    inputs: type[Inputs]
    answer: type[A]
    offline: Callable[[ExtractiveModel, Any], A]
    temperature: float | None = None
    check: Callable[[Any, A], str | None] | None = None
    completion_limit: int = COMPLETION_LIMIT
    """Maximum tokens of an answer, several times the length of a long one."""
    prompts: Path | None = None
    """Folder of the prompt; ``None``: ``ideagora/prompts``."""

    @property
    def prompt(self) -> Prompt:
        """The role's prompt."""
        return load_prompt(self.name, self.prompts)

    def __post_init__(self) -> None:
        if not callable(self.offline):
            raise TypeError(f"role {self.name!r} has no offline handler")
        check_prompt(self.prompt, set(self.inputs.model_fields))
        ROLES[self.name] = self

    async def __call__(
        self, client: LLMClient, *, sample: int = 0, model: str | None = None, **inputs: Any
    ) -> A:
        """Ask ``model``, or by default the model of this role's group, and return the typed answer."""
        return await client.ask(self.call(self.inputs(**inputs), sample, model))

    async def with_alternatives(
        self, client: LLMClient, *, sample: int = 0, model: str | None = None, **inputs: Any
    ) -> tuple[A, Alternatives]:
        """Like calling the role; also returns what might have stood in place of each choice.

        Raises:
            NoTokenProbabilities: the provider does not say.
        """
        call = self.call(self.inputs(**inputs), sample, model)
        reply = await client.reply(replace(call, token_probabilities=True))
        if reply.response.alternatives is None:
            raise NoTokenProbabilities(reply.response.model)
        assert reply.answer is not None
        return reply.answer, reply.response.alternatives

    def call(self, inputs: Inputs, sample: int = 0, model: str | None = None) -> Call[A]:
        """Return the call for these inputs."""
        values = {name: getattr(inputs, name) for name in type(inputs).model_fields}
        system, user = self.prompt.render(values)
        is_text = issubclass(self.answer, FreeText)
        return Call(
            role=self.name,
            group=self.group,
            system=system,
            prompt=user if is_text else f"{user}\n\n{answer_format(self.answer)}",
            answer=self.answer,
            inputs=inputs,
            handler=self.offline,
            temperature=self.temperature,
            completion_limit=self.completion_limit,
            sample=sample,
            model=model,
            check=self.check,
        )


def answer_format(answer: type[BaseModel]) -> str:
    """Return the answer format in words, for models without schema support: a JSON skeleton."""
    skeleton = json.dumps(_skeleton(answer), indent=1, ensure_ascii=False)
    return f"Answer with one JSON object of this form and nothing else:\n{skeleton}"


def _skeleton(kind: Any, meaning: str = "") -> Any:
    origin = get_origin(kind)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {n: _skeleton(f.annotation, f.description or "") for n, f in kind.model_fields.items()}
    if origin in (tuple, list):
        return [_skeleton(get_args(kind)[0], meaning)]
    if origin is Literal:
        return " | ".join(str(value) for value in get_args(kind)) + (f" ({meaning})" if meaning else "")
    if origin in (Union, types.UnionType):
        first = next(a for a in get_args(kind) if a is not type(None))
        return _skeleton(first, meaning if "null" in meaning else f"{meaning}; null if not stated")
    named = {int: "integer", float: "number", bool: "true or false"}.get(kind)
    return f"<{named}: {meaning}>" if named else f"<{meaning}>"
