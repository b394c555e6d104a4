"""What an ideation agent is to the runtime: a graph, a first state, and ideas out of the last one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ideagora.config import Group
from ideagora.schema import Idea, Topic, Usage

if TYPE_CHECKING:
    from ideagora.graphs.services import Services


@dataclass(frozen=True)
class Origin:
    """What the runtime knows about how ideas came about, to be written into them."""

    agent: str
    model: str
    usage: Mapping[str, Usage]
    """Usage by label (branch)."""
    answered: Mapping[str, str]
    """Time of the last answer used, by label (ISO, UTC)."""


@dataclass(frozen=True)
class Agent:
    """An ideation agent as the runtime sees it. ``build`` gives an uncompiled LangGraph graph."""

    name: str
    about: str
    source: str
    """The paper it comes from, or where it was plugged in from."""
    options: BaseModel
    build: Callable[[], Any]
    start: Callable[[Topic], dict[str, Any]]
    ideas: Callable[[Mapping[str, Any], Origin], list[Idea]]
    """Best first. The state of an incomplete run may lack anything; then it gives what there is."""
    failures: Callable[[Mapping[str, Any]], list[dict[str, Any]]]
    expected_calls: Callable[[BaseModel], dict[Group, int] | None]
    """``None``: the agent does not say."""
    steps: tuple[str, ...]
    """Names of the graph's nodes, in the order in which they usually run."""
    notes: Callable[[Mapping[str, Any]], list[str]] = lambda state: []
    """What of the literature could not be used, for the report."""
    fingerprint: str = ""
    """Changes with the code or file of an agent from outside, so that its old runs are not taken for new."""
    context: Callable[[Services, Topic], Any] | None = None
    """What the nodes get instead of ``Services``."""
    subgraphs: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    """Graphs that steps run inside themselves, by the step's name, to be drawn with it."""
    target_paper: str | None = None
    """A file or an id: the one paper that the agent is about. It is read before cut-off and bans apply."""
    own_topic: str | None = None
    """What a run is called for which no topic was given, where the agent finds the topic itself."""
    unready: str | None = None
    """What is missing before the agent can run, and what to do."""
