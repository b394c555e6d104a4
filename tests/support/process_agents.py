"""Agents that do what only a process of their own survives, and answers that only their class can check."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import sys
from datetime import date
from enum import Enum
from typing import Any

from pydantic import BaseModel, Field, field_validator

GOOD = {"title": "A title", "method": "A method."}


def ends_it_well() -> Any:
    os._exit(0)


def ends_it_badly() -> Any:
    os._exit(3)


def kills_itself() -> Any:
    os.kill(os.getpid(), 9)


def crashes() -> Any:
    ctypes.string_at(0)


def holds_the_interpreter() -> Any:
    ctypes.PyDLL(None).sleep(1000)


def patches() -> Any:
    """Changes everything that it reaches of ours, and of what we use."""
    from ideagora.graphs.external.validation import ideas, references
    from ideagora.schema import Idea

    Idea.model_validate = references.resolve_references = ideas.validate_ideas = None  # type: ignore[assignment, method-assign]
    os.chdir("/")
    os.environ["IDEAGORA_SEED"] = "99"
    return [GOOD]


def looks_around() -> Any:
    """Whether it sees what the run's process holds."""
    secrets = [one for one in gc.get_objects() if type(one) is dict and "secret of another contestant" in one]
    judges = [name for name in sys.modules if name.startswith(("ideagora.evaluators", "ideagora.retrieval"))]
    return [{**GOOD, "found": len(secrets), "judges": judges, "process": os.getpid()}]


class Kind(Enum):
    NEW = "new"
    OLD = "old"


class Part(BaseModel):
    text: str = Field(description="what it does")
    weight: float = 1.0


class Draft(BaseModel):
    """A draft."""

    title: str = Field(description="the title")
    kind: Kind
    day: date | None = None
    parts: tuple[Part, ...] = Field(min_length=1)
    notes: list[str] = Field(default_factory=lambda: ["none"])
    copy_: str = Field(alias="copy")

    @field_validator("title")
    @classmethod
    def _short(cls, value: str) -> str:
        if len(value) > 5:
            raise ValueError("five characters are the most")
        return value


def asks_for_a_draft(model: Any) -> Any:
    draft = model("Write a draft.", schema=Draft)
    messages = [
        type(draft).__name__,
        draft.kind.name,
        str(draft.day),
        draft.parts[0].weight,
        draft.notes,
        draft.copy_,
    ]
    return [{"title": draft.title, "method": "m", "told": messages}]


async def asks_side_by_side(model: Any) -> Any:
    late = asyncio.ensure_future(model("slow"))
    texts = await asyncio.gather(*(model(f"prompt {number}") for number in range(3)))
    late.cancel()
    return [{**GOOD, "texts": texts}]


def meets_an_outage(model: Any) -> Any:
    return [{**GOOD, "method": model("outage")}]


def catches_an_unreadable_answer(model: Any) -> Any:
    from ideagora.errors import UnreadableAnswer

    try:
        model("x", schema=Draft)
    except UnreadableAnswer as error:
        return [{**GOOD, "caught": str(error)}]
    return []
