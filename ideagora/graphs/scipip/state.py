"""The state of SciPIP."""

from __future__ import annotations

from typing import TypedDict

from langgraph.runtime import Runtime

from ideagora.graphs.drafts import DraftsState, Record
from ideagora.graphs.services import Services

Context = Runtime[Services]


class ScipipState(DraftsState, total=False):
    """Plain JSON values only, as a checkpoint holds them. Short ideas hold their papers themselves."""

    entities: list[str]
    by_meaning: list[Record]
    papers: list[Record]
    """One paper of each cluster."""
    from_literature: list[Record]
    brainstormed: list[Record]
    merged: list[Record]
    chosen: list[Record]
    """The best ideas, with their scores."""


class RefineTask(TypedDict):
    """Payload of ``refine_idea``."""

    topic: Record
    number: int
    idea: Record
