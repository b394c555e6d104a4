"""A job: one graph to run in one folder, with what it needs and what is done with its result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ideagora.config import Settings
from ideagora.graphs.run_fields import RunFields
from ideagora.graphs.services import Services
from ideagora.models.usage import UsageTracker

if TYPE_CHECKING:
    import asyncio

    from langchain_core.language_models import BaseChatModel

    from ideagora.models.budget import Budget
    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.retrieval.restrictions.target_paper import TargetPaper
    from ideagora.schema.events import Listener


Finish = Callable[[Mapping[str, Any], UsageTracker, tuple[str, ...]], RunFields | Awaitable[RunFields]]
"""Gets a graph's final state, the usage and the outages; returns further fields of ``run.json``."""


@dataclass(frozen=True)
class RunResources:
    """What a command lends to each of its runs."""

    embedder: Callable[[], Embedder]
    """Creates the embedder of the offline model."""
    listener: Listener
    """Gets every event."""
    chats: Mapping[str, BaseChatModel] | None = None
    """Chat models by name, instead of those of the providers."""
    budget: Budget | None = None
    """The budget of the whole command; ``None`` to apply that of the settings to each run alone."""
    slots: asyncio.Semaphore | None = None
    """The limit of concurrent calls; ``None`` to apply ``concurrency`` to each run alone."""


@dataclass(frozen=True)
class Job:
    """One graph to run in one folder."""

    name: str
    identity: str
    """The same for the same work; identifies folder, checkpoints and run."""
    settings: Settings
    record: RunFields
    """Fields of ``run.json`` besides the settings: topic, agent, options, …"""
    build: Callable[[], Any]
    """Returns the graph, not compiled."""
    start: Mapping[str, object]
    """The initial state."""
    finish: Finish
    """Writes the results. The state of an incomplete run may lack what the graph did not reach."""
    options: Any = None
    down: tuple[str, ...] = ()
    """Outages before the graph began, which make the run incomplete in any case."""
    first_text: str = ""
    """A text that will be embedded, to load the model during the first call; empty if none will be."""
    recursion_limit: int = 200
    """Maximum number of steps."""
    context: Callable[[Services], Any] | None = None
    """Creates the context of the nodes, if it is not ``Services``; called in the run's event loop."""
    target_paper: Callable[[], Awaitable[TargetPaper]] | None = None
    """Reads the paper that the job is about, even if cut-off or exclusions would hide it."""
    cutoff: str | None = None
    """Date from which on the models must not use what they know; every call states it."""
    models: tuple[str, ...] | None = None
    """The models that may be called; ``None`` for those of the settings."""

    @property
    def allowed_models(self) -> tuple[str, ...]:
        """The models that may be called."""
        return tuple(self.settings.models) if self.models is None else self.models
