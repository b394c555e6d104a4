"""What a graph's nodes may use: the typed context that LangGraph hands to each of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ideagora.errors import RunError

if TYPE_CHECKING:
    from ideagora.models.client import LLMClient
    from ideagora.retrieval.library import Library
    from ideagora.retrieval.target_paper import TargetPaper


@dataclass(frozen=True)
class Services:
    """The model door, the library with cut-off and bans applied, the agent's options, and a voice."""

    client: LLMClient
    books: Library | None
    """The library, where the graph was given one."""
    options: Any
    """The agent's own options (a frozen pydantic model)."""
    say: Callable[[str], None]
    """Tell the user, in a few words, what was just found; labelled with the branch at work."""
    target_paper: Callable[[], Awaitable[TargetPaper]] | None = None
    """Reads the paper that the run is about, whatever cut-off and bans say; ``None``: it is about none."""

    @property
    def makes_leads(self) -> bool:
        """Whether the offline model is at work: it gives leads in place of ideas."""
        return self.client.settings.model_of("main") == "offline"

    @property
    def library(self) -> Library:
        """The library of a graph that reads literature."""
        if self.books is None:
            raise RunError("This graph was started without a library.")
        return self.books
