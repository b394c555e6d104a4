"""The state of SciPIP."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from langgraph.runtime import Runtime

from ideagora.graphs.drafts import DraftsState
from ideagora.graphs.services import Services
from ideagora.schema import Paper, Serialized, Topic

Context = Runtime[Services]


class ShortIdea(TypedDict):
    """An idea before it is refined (``Sketch``), with the papers that it takes something from."""

    title: str
    problem: str
    approach: str
    papers: list[Serialized[Paper]]
    merged_from: NotRequired[list[str]]
    """Titles of the ideas that it was made from."""
    scores: NotRequired[dict[str, Any] | None]
    """The judge's scores with their reason; ``None``: not scored."""


class ScipipState(DraftsState, total=False):
    """Plain JSON values only, as a checkpoint holds them. Short ideas hold their papers themselves."""

    entities: list[str]
    by_meaning: list[Serialized[Paper]]
    papers: list[Serialized[Paper]]
    """One paper of each cluster."""
    from_literature: list[ShortIdea]
    brainstormed: list[ShortIdea]
    merged: list[ShortIdea]
    chosen: list[ShortIdea]
    """The best ideas, with their scores."""


class RefineTask(TypedDict):
    """Payload of ``refine_idea``."""

    topic: Serialized[Topic]
    number: int
    idea: ShortIdea
    pool: list[str]
    """Ids of the papers found."""
