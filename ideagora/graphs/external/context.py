"""What an agent from outside gets: topic, library, model door, seed. Nothing else.

A call is made in the colour of the code that makes it. Where an event loop runs (``async def``), it
gives an awaitable; elsewhere it waits and gives the result. The work itself is done in the run's own
event loop, where cut-off, bans, budget, cache and usage hold.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ideagora.errors import AgentFailed, BudgetExhausted
from ideagora.graphs.external.arguments import asked_paper, count, id_of, is_model, text_of
from ideagora.graphs.external.inactivity import InactivityTimeout
from ideagora.models.call import Call, FreeText, Inputs
from ideagora.models.redact import one_line
from ideagora.models.usage import current_label, usage_label
from ideagora.schema import Paper, Topic

if TYPE_CHECKING:
    from ideagora.graphs.services import Services

T = TypeVar("T")
Check = Callable[[Any, Any], str | None]
"""(inputs, answer) -> what is wrong with the answer."""


class AgentCancelled(BaseException):
    """Raised inside an agent that the run no longer waits for. Not an Exception: it is not to be caught."""


class LoopBridge:
    """Carries calls of foreign code, from whatever thread or loop, into the run's event loop."""

    def __init__(self, limit: float) -> None:
        self.patience = InactivityTimeout(limit)
        self.spent: BudgetExhausted | None = None
        """The hard stop that a call met: it holds even where the agent swallows it."""
        self._loop = asyncio.get_running_loop()
        self._label = current_label.get() or "shared"
        self._out: set[concurrent.futures.Future[Any]] = set()
        self._is_closed = False

    def __call__(self, work: Coroutine[Any, Any, T]) -> Any:
        """The result, or an awaitable of it where an event loop runs."""
        if self._is_closed:
            work.close()
            raise AgentCancelled("the run does not wait for this agent any more")
        here = _running_loop()
        future = asyncio.run_coroutine_threadsafe(self._counted(work), self._loop)
        self._out.add(future)
        future.add_done_callback(self._out.discard)
        return future.result() if here is None else asyncio.wrap_future(future, loop=here)

    def close(self) -> None:
        """No further call goes through, and those that are out are given up."""
        self._is_closed = True
        for future in list(self._out):
            future.cancel()

    async def _counted(self, work: Coroutine[Any, Any, T]) -> T:
        self.patience.call_begins()
        try:
            with usage_label(self._label):
                return await work
        except BudgetExhausted as error:
            self.spent = error
            raise
        finally:
            self.patience.call_ends()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class LibraryClient:
    """The library for an agent from outside. What the topic forbids does not exist in it.

    Every method gives its result, or an awaitable of it in ``async`` code. Where a paper is asked
    for, its id or the paper itself will do.
    """

    __slots__ = ("citations", "paper", "references", "search", "text")

    search: Callable[..., Any]
    """``search(query, k=10)``: up to k papers, nearest first."""
    paper: Callable[..., Any]
    """``paper(id)``: the paper, or ``None`` when the library has none that may be seen."""
    references: Callable[..., Any]
    """``references(paper)``: the papers that it cites."""
    citations: Callable[..., Any]
    """``citations(paper)``: the papers that cite it, oldest first."""
    text: Callable[..., Any]
    """``text(paper)``: the longest text there is, a string: full text, abstract or title."""

    def __init__(self, services: Services, bridge: LoopBridge) -> None:
        library = services.library  # not kept: what an agent holds has no way to what is behind it

        async def search(query: str, k: int) -> list[Paper]:
            return [scored.paper for scored in await library.search(query, k)]

        async def known(paper: Paper | str) -> Paper | None:
            return await library.paper(paper if isinstance(paper, str) else paper.id)

        async def references(paper: Paper | str) -> list[Paper]:
            found = await known(paper)
            return await library.references(found) if found else []

        async def citations(paper: Paper | str) -> list[Paper]:
            found = await known(paper)
            return await library.citations(found) if found else []

        async def text(paper: Paper | str) -> str:
            found = await known(paper)
            if found is None:
                raise AgentFailed(f"text() was asked for {id_of(paper)}, which the library does not have.")
            return (await library.text(found))[0]

        self.search = lambda query, k=10: bridge(search(text_of(query, "query"), count(k)))
        self.paper = lambda paper_id: bridge(known(asked_paper(paper_id)))
        self.references = lambda paper: bridge(references(asked_paper(paper)))
        self.citations = lambda paper: bridge(citations(asked_paper(paper)))
        self.text = lambda paper: bridge(text(asked_paper(paper)))


class PromptInputs(Inputs):
    """What the offline model answers a free prompt from."""

    system: str | None
    prompt: str


class ModelClient:
    """The model door for an agent from outside: budget, cache, replay and usage hold.

    ``model(prompt)`` gives text, ``model(prompt, schema=SomePydanticModel)`` an instance of it; in
    ``async`` code an awaitable of either. The same prompt gives the same answer; ``sample=1, 2, …``
    asks for further ones.
    """

    __slots__ = ("_ask",)

    def __init__(self, services: Services, bridge: LoopBridge, name: str) -> None:
        client = services.client

        async def ask(call: Call[Any]) -> Any:
            answer = await client.ask(call)
            return answer.text if isinstance(answer, FreeText) else answer

        self._ask: Callable[..., Any] = lambda *given: bridge(ask(_call(name, *given)))

    def __call__(
        self,
        prompt: str,
        system: str | None = None,
        schema: type[Any] | None = None,
        sample: int = 0,
    ) -> Any:
        """Ask the run's main model.

        Raises:
            BudgetExhausted: the run is over; do not go on.
            UnreadableAnswer: no reply could be read after the bounded tries.
            ModelError: the provider could not be asked.
        """
        return self.checked(prompt, system, schema, sample)

    def checked(
        self,
        prompt: str,
        system: str | None,
        schema: type[Any] | None,
        sample: int,
        check: Check | None = None,
    ) -> Any:
        """The same, and an answer that ``check`` has a complaint about is asked for again."""
        told = None if system is None else text_of(system, "system")
        if schema is not None and not is_model(schema):
            raise ValueError(f"schema is {schema!r:.80}: give a pydantic model (the class itself)")
        return self._ask(text_of(prompt, "prompt"), told, schema, sample, check)


def _call(
    name: str,
    prompt: str,
    system: str | None,
    schema: type[Any] | None,
    sample: int,
    check: Check | None,
) -> Call[Any]:
    from ideagora.agents.role import answer_format
    from ideagora.graphs.external.offline import handler_for

    return Call(
        role=f"plugin:{name}",
        group="main",
        system=system or "",
        prompt=prompt if schema is None else f"{prompt}\n\n{answer_format(schema)}",
        answer=FreeText if schema is None else schema,
        inputs=PromptInputs(system=system, prompt=prompt),
        handler=handler_for(schema),
        sample=sample,
        check=check,
    )


@dataclass(frozen=True)
class AgentContext:
    """All that an agent from outside is given; the ``runtime.context`` of a graph's steps."""

    bridge: LoopBridge
    topic: Topic
    library: LibraryClient
    model: ModelClient
    seed: int
    passed_on: str
    """Environment variables that a command may see."""
    tell: Callable[[str], None]

    @classmethod
    def of(cls, services: Services, topic: Topic, name: str) -> AgentContext:
        """Tools for one agent at one topic; called inside the run's event loop."""
        settings = services.client.settings
        bridge = LoopBridge(settings.agent_timeout)
        unnamed = topic.model_copy(update={"excluded": ()})  # a ban names what must not be seen
        books, model = LibraryClient(services, bridge), ModelClient(services, bridge, name)
        given = (unnamed, books, model, settings.seed)
        return cls(bridge, *given, settings.agent_env, services.say)

    def say(self, text: object) -> None:
        """Tell whoever watches the run, in a few words, what was just found."""
        self.bridge.patience.sign_of_life()
        self.tell(one_line(str(text)))
