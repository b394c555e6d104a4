"""Offline handler for free prompts: answers with sentences of the prompt, chosen by similarity.

It cannot follow instructions. It only repeats what the prompt says, so the prompt has to contain material,
and it refuses answers that it would have to invent (a number, a yes or no).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ideagora.errors import RequestRejected
from ideagora.models.call import Inputs
from ideagora.models.offline import text as texts

if TYPE_CHECKING:
    from ideagora.models.offline import ExtractiveModel

SENTENCES = 4
"""Sentences of a free-text answer."""
ENOUGH = 3
"""With so many sentences of material, the lines with the question are ignored."""
MAX_SENTENCES = 400
"""Sentences of a prompt that are considered."""
TITLE_WORDS = 14
_ADVICE = "use a real model (--model), or make the field optional"


class PromptInputs(Inputs):
    """Inputs of a free prompt."""

    system: str | None
    prompt: str


def handler_for(schema: type[BaseModel] | None) -> Callable[[ExtractiveModel, PromptInputs], Any]:
    """The offline handler for a schema, or for free text if it is ``None``."""
    return _free_text if schema is None else _typed(schema)


@cache
def _typed(schema: Any) -> Callable[[ExtractiveModel, PromptInputs], Any]:
    """Cached, because the client hashes the code of each handler once."""
    return lambda engine, inputs: _SchemaFiller(engine, inputs.prompt).fill(schema, schema.__name__)


def _free_text(engine: ExtractiveModel, inputs: PromptInputs) -> str:
    """A few sentences, similar to the question and unlike one another, in the prompt's order."""
    parts = _sentences(inputs.prompt)
    chosen = engine.select(_question(inputs.prompt), parts, SENTENCES)
    return " ".join(parts[i] for i in sorted(chosen))


def _sentences(prompt: str) -> list[str]:
    """Sentences of the material, if there is enough; first and last line are taken for the question."""
    lines = [line.strip() for line in prompt.splitlines() if line.strip()]
    middle = _parts(lines[1:-1]) if len(_parts(lines[1:-1])) >= ENOUGH else _parts(lines[1:])
    return (middle if len(middle) >= ENOUGH else _parts(lines)) or [prompt.strip()]


def _parts(lines: list[str]) -> list[str]:
    found = [part for line in lines for part in texts.sentences(line)]
    return list(dict.fromkeys(found))[:MAX_SENTENCES]


def _question(prompt: str) -> str:
    lines = [line.strip() for line in prompt.splitlines() if line.strip()]
    return lines[0] if lines[0] == lines[-1] else f"{lines[0]} {lines[-1]}"


class _SchemaFiller:
    """Fills a schema from one prompt; reuses a sentence only when none are left."""

    def __init__(self, engine: ExtractiveModel, prompt: str) -> None:
        self._engine = engine
        self._parts = _sentences(prompt)
        self._question = _question(prompt)
        self._used: set[int] = set()

    def fill(self, schema: type[BaseModel], place: str) -> dict[str, Any]:
        filled = {}
        for name, field in schema.model_fields.items():
            value = self._field(field, f"{place}.{name}", f"{name} {field.description or ''}")
            if value is not None or field.is_required():
                filled[field.alias or name] = value
        return filled

    def _field(self, field: FieldInfo, place: str, meaning: str) -> Any:
        kinds = get_args(field.annotation) if _is_union(field.annotation) else (field.annotation,)
        if any(_can_fill(kind) for kind in kinds):
            return self._value(next(kind for kind in kinds if _can_fill(kind)), place, meaning)
        if not field.is_required() or type(None) in kinds:
            return None
        raise RequestRejected(f"the offline model cannot answer {place} ({field.annotation}): {_ADVICE}.")

    def _value(self, kind: Any, place: str, meaning: str) -> Any:
        origin, inner = get_origin(kind), get_args(kind)
        if kind is str:
            sentence = self._sentence(meaning)
            return texts.clip(texts.without_stop(sentence), TITLE_WORDS) if "title" in meaning else sentence
        if origin is Literal:
            options = [str(option) for option in inner]
            return inner[self._engine.rank(self._question, options)[0][0]]
        if origin in (list, tuple):
            count = min(3, max(1, len(self._parts) // 4))
            return [self._value(inner[0], place, meaning) for _ in range(count)]
        return self.fill(kind, place)

    def _sentence(self, meaning: str) -> str:
        left = [i for i in range(len(self._parts)) if i not in self._used] or list(range(len(self._parts)))
        ranked = self._engine.rank(f"{self._question} {meaning}", [self._parts[i] for i in left])
        self._used.add(left[ranked[0][0]])
        return self._parts[left[ranked[0][0]]]


def _is_union(kind: Any) -> bool:
    return type(None) in get_args(kind)


def _can_fill(kind: Any) -> bool:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (list, tuple):
        return bool(inner) and _can_fill(inner[0])
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return True
    return kind is str or (origin is Literal and all(isinstance(option, str) for option in inner))
