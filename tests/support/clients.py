"""Model clients for tests, with their own home folder and recorded events and waits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from ideagora.config import Settings
from ideagora.models.call import Answer, Call, Inputs
from ideagora.models.chat_models import ScriptedChatModel
from ideagora.models.client import LLMClient
from ideagora.models.model_registry import ModelRegistry
from ideagora.models.recorder import CallLog
from ideagora.models.usage import UsageTracker
from tests.support.loopback import Loopback

GOOD = '{"label": "related", "why": "both use retrieval"}'
PRICED: dict[str, Any] = {"price_prompt": 1.0, "price_completion": 2.0}
KEY = "very-secret-key-0123456789"


class Label(Answer):
    """A judgement of two texts."""

    label: str
    why: str


class Pair(Inputs):
    """Two texts."""

    first: str = "one"
    second: str = "two"


def handler(engine: Any, inputs: Any) -> Label:
    return Label(label=inputs.first, why=inputs.second)


def call(prompt: str = "Compare.", **changes: Any) -> Call[Label]:
    plain = Call(
        role="judge",
        group="main",
        system="You judge.",
        prompt=prompt,
        answer=Label,
        inputs=Pair(),
        handler=handler,
    )
    return replace(plain, **changes)


@dataclass
class ClientHarness:
    """A client with its tracker, events and waits."""

    client: LLMClient
    tracker: UsageTracker
    events: list[Any] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def logged(self, *names: str) -> list[Any]:
        """Fields of all call events; tuples if there are several."""
        rows = [tuple(event[name] for name in names) for event in self.events if event["event"] == "call"]
        return [row[0] for row in rows] if len(names) == 1 else rows


@asynccontextmanager
async def client_harness(
    home: Path,
    server: Loopback | None = None,
    *,
    chats: dict[str, BaseChatModel] | None = None,
    run_id: str = "run",
    tracker: UsageTracker | None = None,
    retry_counts: Mapping[str, int] | None = None,
    **settings: Any,
) -> AsyncIterator[ClientHarness]:
    """A client on its own home folder; waits between attempts are recorded and skipped."""
    chosen = {"model": "openai/test" if chats is None else "scripted", "retries": 2, **settings}
    if server is not None:
        chosen["api_base"] = server.base
    loaded = Settings(home=home, **chosen)
    tracker = tracker or UsageTracker()
    events: list[Any] = []
    waits: list[float] = []

    async def no_sleep(seconds: float) -> None:
        waits.append(seconds)

    def no_embedder() -> Any:
        raise AssertionError("the test needs no embedder")

    calls = CallLog(run_id, tracker, events.append, home / "raw", retry_counts or {})
    client = LLMClient(ModelRegistry(loaded, no_embedder, chats), calls, sleep=no_sleep)
    try:
        yield ClientHarness(client, tracker, events, waits)
    finally:
        await client.aclose()


def scripted(*replies: Any) -> ScriptedChatModel:
    return ScriptedChatModel(replies={"judge": list(replies)})
