"""What an agent may ask for: its arguments are looked at before anything is done."""

from __future__ import annotations

from pydantic import BaseModel

from ideagora.models.redact import one_line
from ideagora.schema import Paper

LONGEST_PROMPT = 1_000_000
"""Characters of a prompt at most."""


def asked_paper(paper: object) -> Paper | str:
    """The paper or its id; raises ValueError for anything else."""
    if isinstance(paper, Paper):
        return paper
    return text_of(paper, "paper")


def id_of(paper: Paper | str) -> str:
    """The id, short enough for a message."""
    return one_line(paper if isinstance(paper, str) else paper.id, 80)


def count(k: object) -> int:
    """A number of papers from 1 to 1000; raises ValueError for anything else."""
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= 1000:
        raise ValueError(f"k is {k!r}: give a whole number from 1 to 1000")
    return k


def text_of(value: object, name: str) -> str:
    """A text that can be sent; raises ValueError where it is none, empty or too long."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} is {value!r:.80}: give a text that is not empty")
    if len(value) > LONGEST_PROMPT:
        raise ValueError(f"{name} has {len(value):,} characters; {LONGEST_PROMPT:,} are the most")
    return value.encode("utf-8", "replace").decode()  # half a surrogate pair can be sent to nobody


def is_model(schema: object) -> bool:
    """Whether it is a class of pydantic models."""
    return isinstance(schema, type) and issubclass(schema, BaseModel)
