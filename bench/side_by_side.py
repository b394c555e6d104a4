"""Agents' runs side by side: seconds against the fewest possible, calls / concurrency × seconds per call.

A model in this process answers after 0.2 s. ``direct`` and ``rag`` run on 60 topics each, two calls per run,
with the starter corpus and the hashing embedder; then again, when every run is done. Processor seconds are
those of graph, checkpoints, cache and run folders, which share one core.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from ideagora.agents.role import ROLES
from ideagora.config import Settings
from ideagora.evaluators.generation import AgentRun, agent_runs, generate_ideas
from ideagora.models.chat_models import ScriptedCall, ScriptedChatModel
from ideagora.registry import find_agent
from ideagora.retrieval.factory import open_library
from ideagora.schema import Topic

SECONDS = 0.2
TOPICS = 60
CONCURRENCY = (8, 32)


class SlowModel(ScriptedChatModel):
    """Answers after a while."""

    async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(SECONDS)
        return await super()._agenerate(*args, **kwargs)


def main() -> None:
    """Print the seconds for each concurrency, and one JSON line."""
    figures: dict[str, Any] = {}
    for concurrency in CONCURRENCY:
        with tempfile.TemporaryDirectory() as home:
            settings = Settings(
                home=Path(home), embedder="hash", model="scripted", concurrency=concurrency, source="starter"
            )
            agents = [(name, find_agent(name)) for name in ("direct", "rag")]
            topics = [Topic(text=f"language model agents, question {number}") for number in range(TOPICS)]
            runs = agent_runs(agents, topics, settings, Path(home) / "arena")
            processor = time.process_time()
            first, calls = _seconds(runs, settings)
            processor = time.process_time() - processor
            again, _ = _seconds(runs, settings)
        least = calls / concurrency * SECONDS
        print(
            f"{len(runs)} runs, {calls} calls, {concurrency} at once: {first:.1f} s, the fewest possible "
            f"{least:.1f} s, {processor:.1f} s of the processor; again {again:.1f} s"
        )
        figures[str(concurrency)] = {
            "seconds": round(first, 2),
            "fewest": round(least, 2),
            "processor": round(processor, 2),
        }
    print(json.dumps({"benchmark": "side_by_side", "seconds_per_call": SECONDS, **figures}))


def _seconds(runs: list[AgentRun], settings: Settings) -> tuple[float, int]:
    chat = SlowModel(replies=_answer)
    with open_library(settings) as library:
        started = time.perf_counter()
        results = asyncio.run(
            generate_ideas(
                runs, lambda: (library, lambda: library.embedder), lambda event: None, {"scripted": chat}
            )
        )
        seconds = time.perf_counter() - started
    assert all(result.ideas for result in results), [result.missing for result in results][:1]
    return seconds, len(chat.calls)


def _answer(call: ScriptedCall) -> dict[str, Any]:
    """Words in every field."""
    fields: dict[str, Any] = {}
    for name, field in ROLES[str(call.role)].answer.model_fields.items():
        is_text = field.annotation in (str, str | None)
        fields[name] = f"Some words on {name}." if is_text else ["Some words."]
    if "sources" in fields:
        fields["sources"] = [{"part": "method", "paper": 0, "quote": "language models"}]
    return fields


if __name__ == "__main__":
    main()
