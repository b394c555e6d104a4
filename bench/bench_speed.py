"""Judging time of a benchmark at 1 s a call and 64 calls at once (target: 1.25 × calls / 64 s).

50 targets and 4 contestants with one idea each, from files: 800 calls to a loopback provider that waits 1 s
before every answer. Measured from the first request to the last answer; the whole command is also stated.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.process import ideagora
from ideagora.benchmarks.ai_idea_bench.benchmark import __file__ as package
from ideagora.schema import Idea, stable_id
from tests.support.loopback import Body, Loopback

TARGETS, CONTESTANTS, CONCURRENCY = 50, 4, 64
SECONDS = 1.0
"""Before every answer."""
TARGET = 1.25
WORDS = "a step that somebody could take with what is there today "


def main() -> None:
    """Print seconds, the ratio to the shortest possible time, and one JSON line."""
    moments: list[float] = []

    def reply(body: Body) -> str:
        moments.append(time.perf_counter())
        return json.dumps({"reason": "They share the task.", "score": 3})

    with tempfile.TemporaryDirectory() as name, Loopback(reply, latency=SECONDS) as server:
        folder = Path(name)
        topics = _write_targets(folder)
        agents = [_write_ideas(folder, f"contestant{number}", topics) for number in range(CONTESTANTS)]
        command = ["bench", "ai-idea-bench", *agents, "--data", "targets.json", "--only", "i2t,i2i"]
        command += ["--model", "openai/test", "--api-base", server.base, "--concurrency", str(CONCURRENCY)]
        done = ideagora(
            *command, "--json", "--quiet", "--out", "run", home=folder, IDEAGORA_EMBEDDER="hash",
            OPENAI_API_KEY="none",
        )  # fmt: skip
        (result,) = json.loads(done.stdout)["results"]
        peak = server.peak
    calls = len(moments)
    assert calls == sum(kind["scored"] for kind in result["coverage"]), "a call was repeated or failed"
    judging = SECONDS + moments[-1] - moments[0]
    ratio = judging / (calls / CONCURRENCY * SECONDS)
    print(f"{calls} calls of {SECONDS:g} s, at most {peak} at once: judging took {judging:.1f} s")
    print(f"{ratio:.2f} × calls / {CONCURRENCY} (target {TARGET})")
    print(f"the whole command: {done.seconds:.1f} s, {done.cpu_seconds:.1f} s of them on the processor")
    figures: dict[str, Any] = {"calls": calls, "judging_seconds": round(judging, 2), "ratio": round(ratio, 3)}
    print(json.dumps({"benchmark": "bench_speed", **figures, "seconds": round(done.seconds, 1),
                      "cpu_seconds": round(done.cpu_seconds, 1)}))  # fmt: skip


def _write_targets(folder: Path) -> list[str]:
    """Write a data set made of the shipped targets, each several times; returns the topics."""
    shipped = json.loads(Path(package).with_name("targets.json").read_text(encoding="utf-8"))
    rows = [{**shipped[number % len(shipped)], "index": number} for number in range(TARGETS)]
    rows = [
        {**row, "summary": {**row["summary"], "topic": f"{row['summary']['topic']} {number}"}}
        for number, row in enumerate(rows)
    ]
    (folder / "targets.json").write_text(json.dumps(rows), encoding="utf-8")
    return [row["summary"]["topic"] for row in rows]


def _write_ideas(folder: Path, agent: str, topics: list[str]) -> str:
    """Write a file with one agent's ideas and return its spec."""
    ideas = [
        Idea(
            id=stable_id(agent, topic),
            topic=topic,
            agent=agent,
            title=f"Idea of {agent}",
            motivation=f"{agent} wants {topic}. {WORDS * 10}",
            novelty=WORDS * 5,
            method=f"{agent} does {topic}. {WORDS * 25}",
        )
        for topic in topics
    ]
    (folder / f"{agent}.jsonl").write_text("".join(f"{idea.model_dump_json()}\n" for idea in ideas))
    return f"ideas:{agent}.jsonl"


if __name__ == "__main__":
    main()
