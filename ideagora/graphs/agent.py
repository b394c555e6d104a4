"""An ideation agent for the runtime: a graph, its initial state, and the ideas of its final state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypedDict

from pydantic import BaseModel, ConfigDict, ValidationError

from ideagora.errors import UsageError
from ideagora.schema import Idea, Topic, Usage, serialize

if TYPE_CHECKING:  # every process of an external agent imports this module
    from ideagora.config import Group
    from ideagora.graphs.run_fields import TaskFields
    from ideagora.graphs.services import Services


class AgentOptions(BaseModel):
    """Base of an agent's options. The docstring of each field is its help."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


@dataclass(frozen=True)
class Origin:
    """What the runtime records in ideas about their origin."""

    agent: str
    model: str
    usage: Mapping[str, Usage]
    """Usage by label (branch)."""
    answered: Mapping[str, str]
    """Time of the last answer used, by label (ISO, UTC)."""


class Failure(TypedDict):
    """Why a part of a run gave nothing, as ``run.json`` holds it."""

    branch: int | None
    query: str | None
    """The branch that failed, if it was one."""
    error: str


def imported(function: str) -> Callable[[], Any]:
    """A function that imports ``module:function`` when it is called, and calls it.

    Graphs are imported this way, so that agents can be listed without LangGraph.
    """
    return lambda: resolve_name(function)()


@dataclass(frozen=True)
class Agent:
    """An ideation agent. ``build`` returns a LangGraph graph that is not compiled."""

    name: str
    about: str
    source: str
    """The paper it implements, or where an external agent comes from."""
    options: BaseModel
    build: Callable[[], Any]
    ideas: Callable[[Any, Origin], list[Idea]]
    """The ideas of a state of the graph, best first; the state of an incomplete run is partial."""
    expected_calls: Callable[[BaseModel], dict[Group, int] | None]
    """``None`` if unknown."""
    steps: tuple[str, ...]
    """Names of the graph's nodes, in the order in which they usually run."""
    start: Callable[[Topic], Mapping[str, object]] = lambda topic: {"topic": serialize(topic)}
    """The initial state."""
    failures: Callable[[Any], list[Failure]] = lambda state: [*state.get("failures", [])]
    notes: Callable[[Any], list[str]] = lambda state: [*state.get("notes", [])]
    """Notes for the report, such as papers that could not be read."""
    results: Callable[[Any], TaskFields] = lambda state: {}
    """Further fields of ``run.json``, for the report."""
    fingerprint: str = ""
    """Changes with the code or file of an external agent, so that old runs are not reused."""
    context: Callable[[Services, Topic], Any] | None = None
    """Creates the context of the nodes, if it is not ``Services``."""
    subgraphs: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    """Graphs that run inside a step, by step name, for drawings."""
    target_paper: str | None = None
    """File or id of the paper that the agent is about; read regardless of cut-off and exclusions."""
    own_topic: str | None = None
    """Placeholder topic of a run if the agent determines the topic itself."""
    unready: str | None = None
    """Why the agent cannot run yet, and what to do."""
    reads_literature: bool = True
    """``False``: the library need not be opened for it."""
    model: str | None = None
    """Its own model for all roles; ``None``: those of the settings."""
    is_steerable: bool = False
    """Whether it follows the user's wish (--focus) and avoids given ideas (--avoid)."""
    most_steps: int = 200
    """Maximum number of steps of the graph."""
    set_ideas: Callable[[Any, int], BaseModel] | None = None
    """(options, number) -> options for this number of ideas per run; ``None`` if it cannot be chosen."""


def with_ideas(agent: Agent, number: int) -> Agent:
    """The agent with the number of ideas that each run is asked for; it may return fewer or more.

    Unchanged if the agent offers no choice: a published paper has one idea, a file the ideas that it has.

    Raises:
        UsageError: the agent does not write as many.
    """
    if agent.set_ideas is None:
        return agent
    try:
        return replace(agent, options=agent.set_ideas(agent.options, number))
    except ValidationError as error:
        reason = error.errors()[0]["msg"].lower()
        raise UsageError(f"--ideas is {number}, which {agent.name} does not support: {reason}.") from None


def set_option(name: str, **others: Callable[[int], int]) -> Callable[[BaseModel, int], BaseModel]:
    """A ``set_ideas`` that sets the option of this name.

    Args:
        name: the option that holds the number of ideas.
        others: options that are raised, where they are lower, to what this number of ideas needs.
    """

    def choose(options: BaseModel, number: int) -> BaseModel:
        values = options.model_dump()
        raised = {other: max(values[other], needed(number)) for other, needed in others.items()}
        return type(options)(**{**values, name: number, **raised})

    return choose
