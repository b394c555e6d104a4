"""The context that LangGraph passes to the nodes of a graph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ideagora.errors import RunError

if TYPE_CHECKING:
    from ideagora.models.client import LLMClient
    from ideagora.retrieval.library import Library
    from ideagora.retrieval.restrictions.target_paper import TargetPaper


@dataclass(frozen=True)
class Services:
    """Model client, library with cut-off and exclusions applied, options, and progress notes."""

    client: LLMClient
    optional_library: Library | None
    """The library, or ``None`` if the graph does not use one."""
    options: Any
    """The agent's own options (a frozen pydantic model)."""
    say: Callable[[str], None]
    """Report progress in a few words, labelled with the current branch."""
    target_paper: Callable[[], Awaitable[TargetPaper]] | None = None
    """Reads the paper that the run is about, even if cut-off or exclusions would hide it; else ``None``."""
    novelty_requests: int | None = None
    """Searches of a web service that novelty checks may make; ``None``: all those of a run."""

    @property
    def makes_leads(self) -> bool:
        """Whether the offline model is used, which produces leads instead of ideas."""
        return self.client.settings.model_of("main") == "offline"

    @property
    def library(self) -> Library:
        """The library. Raises ``RunError`` if the graph was started without one."""
        if self.optional_library is None:
            raise RunError("This graph was started without a library.")
        return self.optional_library
