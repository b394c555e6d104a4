"""The messages between the run and an agent's process: JSON objects, one per line.

The run sends an order, then a reply to each question. The run checks what it gets, since the agent's code
could write to the pipe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, final

if TYPE_CHECKING:
    from ideagora.schema import Serialized, Topic


class AgentDescription(TypedDict, total=False):
    """What the runtime needs to know about an object."""

    is_call: bool
    """Whether it is a callable agent. If not, it is a graph or an ``Agent``, and the rest is missing."""
    known_as: str
    """Name without folders."""
    code: str
    """Fingerprint of the code."""
    step: str
    about: str
    calls: int | None


class ObjectOrder(TypedDict):
    """Which object to load, and the run's process."""

    parent: int
    spec: str
    """``path.py:object``, ``module:object``, or the value of an entry point."""
    name: str
    is_entry_point: bool


class DescribeOrder(ObjectOrder):
    """Describe the object."""

    do: Literal["describe"]


class RunOrder(ObjectOrder):
    """Run the object as an agent."""

    do: Literal["run"]
    code: str
    """The fingerprint that it had when it was described."""
    topic: Serialized[Topic]
    seed: int
    n_ideas: int | None


class Question(TypedDict, total=False):
    """A call of the library or the model: one of their methods, with its arguments."""

    search: str
    k: int
    paper: str
    references: str
    citations: str
    text: str
    model: str
    """The prompt."""
    system: str
    sample: int
    schema: dict[str, Any]
    """JSON schema of the answer."""
    rejected: list[tuple[Any, str]]
    """Answers that the agent's class did not accept, each with the reason."""


class Ask(TypedDict):
    """A question, which is answered by an ``Answer`` or a ``CallError`` with the same number."""

    ask: Question
    id: int


class Cancel(TypedDict):
    """The answer to this question is no longer awaited."""

    cancel: int


@final
class Answer(TypedDict):
    """The answer to a question."""

    answer: Any
    id: int


@final
class CallError(TypedDict):
    """Why a question has no answer."""

    error: str
    kind: str
    """Name of the error's class."""
    id: int


class Described(TypedDict):
    """The reply to a ``DescribeOrder``."""

    described: AgentDescription


class Refused(TypedDict):
    """Why the object is not an agent."""

    refused: str


class Started(TypedDict):
    """The object is loaded, and the agent begins."""

    started: Literal[True]


class Proposed(TypedDict):
    """One idea, as plain values."""

    idea: Any


class Unusable(TypedDict):
    """Why one idea cannot be used."""

    unusable: str


class Returned(TypedDict):
    """The agent has ended."""

    returned: int
    """Number of ideas."""
    printed: int
    """Number of characters that it printed."""


class Raised(TypedDict):
    """The agent raised an error."""

    raised: str
    kind: str
    """Name of the error's class."""
    question: int | None
    """Number of the question whose error it is."""
    printed: int


Order = DescribeOrder | RunOrder
Message = Ask | Cancel | Described | Refused | Started | Proposed | Unusable | Returned | Raised
"""From the agent's process."""
Reply = Answer | CallError
