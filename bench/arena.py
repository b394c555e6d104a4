"""Time and disk space of an arena of 2,070 verdicts (10 contestants, 23 topics, both orders).

The judge is an in-process model that answers at once, so the time is that of the graph, checkpoints, cache,
verdict files and figures.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from ideagora.agents.arena.judges import CRITERIA
from ideagora.commands.arena import Request, run
from ideagora.models.chat_models import ScriptedCall, ScriptedChatModel
from ideagora.schema import Idea, stable_id

CONTESTANTS, TOPICS = 10, 23
FILES = ("checkpoints.sqlite", "verdicts.jsonl", "events.jsonl", "leaderboard.json")


def main() -> None:
    """Print seconds and bytes of the first arena, and seconds when it is repeated."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["IDEAGORA_HOME"] = str(Path(folder) / "home")
        contestants = tuple(_write_ideas(number) for number in range(CONTESTANTS))
        first, again = _seconds(contestants), _seconds(contestants)
        board = json.loads(Path("arena/leaderboard.json").read_text(encoding="utf-8"))
        sizes = {name: Path("arena", name).stat().st_size for name in FILES}
    asked = board["coverage"]["scored"]
    print(f"{asked} verdicts in {first:.1f} s ({1000 * first / asked:.1f} ms each), again {again:.2f} s")
    for name, size in sizes.items():
        print(f"  {name:20} {size:>10,} bytes, {size / asked:6.0f} per verdict")
    figures: dict[str, Any] = {"seconds": round(first, 2), "again_seconds": round(again, 2), **sizes}
    print(json.dumps({"benchmark": "arena", "verdicts": asked, **figures}))


def _seconds(contestants: tuple[str, ...]) -> float:
    request = Request(
        contestants=contestants, judges=("scripted",),
        options={"style": False}, out=Path("arena"), quiet=True,
        settings={"embedder": "hash", "concurrency": 32}, page=False, as_json=True,
    )  # fmt: skip
    started = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        code = run(request, {"scripted": ScriptedChatModel(replies=_verdict)})
    assert code == 0, f"the arena ended with {code}"
    return time.perf_counter() - started


def _verdict(call: ScriptedCall) -> dict[str, Any]:
    """The higher number in the title wins."""
    first, second = (int(idea.title.split()[-1]) for idea in (call.inputs.first, call.inputs.second))
    better = "first" if first > second else "second"
    return {"reason": "By the number in the title.", **dict.fromkeys((*CRITERIA, "overall"), better)}


def _write_ideas(number: int) -> str:
    """Write a file with one contestant's ideas and return the contestant's spec."""
    words = "a step that somebody could take with what is there today " * 30
    ideas = [
        Idea(
            id=stable_id(str(number), str(topic)),
            topic=f"topic number {topic}",
            agent=f"contestant {number}",
            title=f"Idea on {topic} by {number}",
            motivation=words[:400],
            novelty=words[:300],
            method=words,
        )
        for topic in range(TOPICS)
    ]
    text = "".join(f"{idea.model_dump_json()}\n" for idea in ideas)
    Path(f"{number}.jsonl").write_text(text, encoding="utf-8")
    return f"ideas:{number}.jsonl"
