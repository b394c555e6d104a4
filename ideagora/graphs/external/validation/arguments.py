"""Check the arguments of an agent's calls to library and model, before anything is done."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from ideagora.models.redact import one_line
from ideagora.schema import Paper

MAX_PROMPT = 1_000_000
"""Characters of a prompt."""


def check_paper_id(paper: object) -> str:
    """The id of a paper, given as an id or as the paper itself; raises ValueError for anything else."""
    return paper.id if isinstance(paper, Paper) else check_text(paper, "paper")


def short_id(paper_id: str) -> str:
    """The id, short enough for a message."""
    return one_line(paper_id, 80)


def check_count(k: object) -> int:
    """A number of papers; raises ValueError unless it is an integer from 1 to 1000."""
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= 1000:
        raise ValueError(f"k is {k!r}: pass an integer from 1 to 1000")
    return k


def check_text(value: object, name: str) -> str:
    """A text that can be sent; raises ValueError if it is not a string, empty, or too long."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} is {value!r:.80}: pass a non-empty string")
    if len(value) > MAX_PROMPT:
        raise ValueError(f"{name} has {len(value):,} characters; the limit is {MAX_PROMPT:,}")
    return value.encode("utf-8", "replace").decode()  # lone surrogates cannot be encoded


def check_prompt(prompt: object, system: object, schema: object) -> tuple[str, str | None]:
    """Prompt and system message of a model call; raises ValueError if one of the three is not usable."""
    message = None if system is None else check_text(system, "system")
    if schema is not None and not is_model_class(schema):
        raise ValueError(f"schema is {schema!r:.80}: pass a pydantic model class")
    return check_text(prompt, "prompt"), message


def is_model_class(schema: Any) -> bool:
    """Whether it is a class of pydantic models."""
    return isinstance(schema, type) and issubclass(schema, BaseModel)
