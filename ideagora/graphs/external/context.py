"""What an external agent gets: topic, library, model, seed, number of ideas. Nothing else.

Calls block in sync code and are awaitable in async code. They run in the run's own event loop, where
cut-off, exclusions, budget, cache and usage apply.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ideagora.errors import AgentFailed, BudgetExhausted
from ideagora.graphs.external.inactivity import InactivityTimeout
from ideagora.graphs.external.offline import PromptInputs, handler_for
from ideagora.graphs.external.validation.arguments import (
    check_count,
    check_paper_id,
    check_prompt,
    check_text,
    short_id,
)
from ideagora.models.call import Call, FreeText
from ideagora.models.redact import one_line
from ideagora.models.usage import current_label, usage_label
from ideagora.schema import Paper, Topic

if TYPE_CHECKING:
    from ideagora.graphs.services import Services

T = TypeVar("T")
Check = Callable[[Any, Any], str | None]
"""(inputs, answer) -> what is wrong with the answer, or ``None``."""


class AgentCancelled(BaseException):
    """Raised inside an agent that the run no longer waits for. Not an Exception: it must not be caught."""


class LoopBridge:
    """Runs calls of third-party code, from any thread or event loop, in the run's event loop."""

    def __init__(self, limit: float) -> None:
        self.inactivity = InactivityTimeout(limit)
        self.budget_error: BudgetExhausted | None = None
        """Raised by a call; it ends the run even if the agent catches it."""
        self._loop = asyncio.get_running_loop()
        self._label = current_label.get() or "shared"
        self._variables = contextvars.copy_context()  # the run's; threads of the agent have none
        self._pending: set[concurrent.futures.Future[Any]] = set()
        self._is_closed = False

    def __call__(self, work: Coroutine[Any, Any, T]) -> Any:
        """The result, or an awaitable of it if an event loop is running."""
        if self._is_closed:
            work.close()
            raise AgentCancelled("the run no longer waits for this agent")
        here = _running_loop()
        start = self._variables.copy().run
        future = start(asyncio.run_coroutine_threadsafe, self._tracked(work), self._loop)
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return future.result() if here is None else asyncio.wrap_future(future, loop=here)

    def close(self) -> None:
        """Reject further calls and cancel the pending ones."""
        self._is_closed = True
        for future in list(self._pending):
            future.cancel()

    async def _tracked(self, work: Coroutine[Any, Any, T]) -> T:
        self.inactivity.call_begins()
        try:
            with usage_label(self._label):
                return await work
        except BudgetExhausted as error:
            self.budget_error = error
            raise
        finally:
            self.inactivity.call_ends()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class LibraryClient:
    """The library of an external agent, without papers that the topic excludes.

    Methods block in sync code and are awaitable in async code. A paper can be passed by id or as the paper
    itself.
    """

    __slots__ = ("citations", "paper", "references", "search", "text")

    search: Callable[..., Any]
    """``search(query, k=10)``: up to k papers, most similar first."""
    paper: Callable[..., Any]
    """``paper(id)``: the paper, or ``None`` if it is not in the library."""
    references: Callable[..., Any]
    """``references(paper)``: the papers that it cites."""
    citations: Callable[..., Any]
    """``citations(paper)``: the papers that cite it, oldest first."""
    text: Callable[..., Any]
    """``text(paper)``: the longest available text, as a string: full text, abstract or title."""

    def __init__(self, services: Services, bridge: LoopBridge) -> None:
        library = services.library  # only in closures, so that an agent cannot reach what is behind it

        async def search(query: str, k: int) -> list[Paper]:
            return [scored.paper for scored in await library.search(query, k)]

        async def find(paper_id: str) -> Paper | None:
            return await library.paper(paper_id)

        async def references(paper_id: str) -> list[Paper]:
            paper = await find(paper_id)
            return await library.references(paper) if paper else []

        async def citations(paper_id: str) -> list[Paper]:
            paper = await find(paper_id)
            return await library.citations(paper) if paper else []

        async def text(paper_id: str) -> str:
            paper = await find(paper_id)
            if paper is None:
                raise AgentFailed(
                    f"text() was called with {short_id(paper_id)}, which is not in the library."
                )
            return (await library.text(paper))[0]

        self.search = lambda query, k=10: bridge(search(check_text(query, "query"), check_count(k)))
        self.paper = lambda paper_id: bridge(find(check_paper_id(paper_id)))
        self.references = lambda paper: bridge(references(check_paper_id(paper)))
        self.citations = lambda paper: bridge(citations(check_paper_id(paper)))
        self.text = lambda paper: bridge(text(check_paper_id(paper)))


class ModelClient:
    """The model of an external agent; budget, cache, replay and usage apply.

    ``model(prompt)`` returns text, ``model(prompt, schema=SomePydanticModel)`` an instance of the class; in
    async code an awaitable of either. The same prompt returns the same answer; ``sample=1, 2, …`` requests
    further ones.
    """

    __slots__ = ("_ask",)

    def __init__(self, services: Services, bridge: LoopBridge, name: str) -> None:
        client = services.client

        async def ask(call: Call[Any]) -> Any:
            answer = await client.ask(call)
            return answer.text if isinstance(answer, FreeText) else answer

        self._ask: Callable[..., Any] = lambda *arguments: bridge(ask(_make_call(name, *arguments)))

    def __call__(
        self,
        prompt: str,
        system: str | None = None,
        schema: type[Any] | None = None,
        sample: int = 0,
    ) -> Any:
        """Ask the run's main model.

        Raises:
            BudgetExhausted: the run is over; do not continue.
            UnreadableAnswer: no reply could be read, after all attempts.
            ModelError: the provider could not be reached or rejected the request.
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
        """Ask the run's main model, and again if ``check`` rejects the answer."""
        text, message = check_prompt(prompt, system, schema)
        return self._ask(text, message, schema, sample, check)


def _make_call(
    name: str,
    prompt: str,
    system: str | None,
    schema: type[Any] | None,
    sample: int,
    check: Check | None,
) -> Call[Any]:
    from ideagora.agents.role import answer_format

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
    """Everything an external agent gets; the ``runtime.context`` of a graph's steps."""

    bridge: LoopBridge
    topic: Topic
    library: LibraryClient
    model: ModelClient
    seed: int
    environment: str
    """Names of further environment variables that a command may see, separated by commas."""
    notify: Callable[[str], None]
    n_ideas: int | None = None
    """The number of ideas that are wanted; ``None``: as many as the agent likes."""

    @classmethod
    def create(cls, services: Services, topic: Topic, name: str) -> AgentContext:
        """The context of one agent for one topic; called inside the run's event loop."""
        settings = services.client.settings
        bridge = LoopBridge(settings.agent_timeout)
        return cls(
            bridge,
            topic.model_copy(update={"excluded": ()}),  # an exclusion names what must not be seen
            LibraryClient(services, bridge),
            ModelClient(services, bridge, name),
            settings.seed,
            settings.agent_env,
            services.say,
            getattr(services.options, "ideas", None),
        )

    def say(self, text: object) -> None:
        """Report progress in a few words."""
        self.bridge.inactivity.reset()
        self.notify(one_line(str(text)))
