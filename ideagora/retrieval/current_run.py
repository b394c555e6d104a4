"""The run that a literature request belongs to, since several runs may share sources and caches.

It is a context variable, so tasks and threads (``asyncio.to_thread``) that a run starts inherit it.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ideagora.schema import Paper

if TYPE_CHECKING:
    from ideagora.retrieval.run_notes import RunNotes


@dataclass(frozen=True)
class CurrentRun:
    """What sources and caches keep apart by run."""

    id: str
    """The id under which cached responses are recorded for a replay; empty: they are not."""
    notes: RunNotes
    resumed: bool = False
    """Whether the run was stopped before; it gets the responses that it has seen, whatever their age."""
    papers: dict[str, Paper] = field(default_factory=dict)
    """The records that the run has retrieved, by id."""


current_run: ContextVar[CurrentRun | None] = ContextVar("ideagora_literature_run", default=None)
"""The run of this context; ``None`` outside of runs."""
