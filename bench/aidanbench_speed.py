"""AidanBench on a loopback model with 1 s per call: three questions, one of which gets 56 answers.

The released code takes 135 s and 124 calls for them: each answer waits for the judgement on the one before.
A chain of 57 calls is left: 56 answers, and the judgement on the last one. CPU seconds depend less than
seconds on how busy the machine is. Novelty is timed on its own: one answer against 10,000 earlier ones
(target: 20 ms).
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from bench.process import ideagora
from ideagora.benchmarks.aidanbench.novelty import AnswerVectors
from tests.support.loopback import Body, Loopback

LATENCY = 1.0
TURNS = {"the long one?": 56, "a short one?": 3, "another short one?": 3}
"""Answers that each question gets, the one that ends the loop included."""
RELEASED = {"seconds": 135.0, "calls": 124}
EARLIER = 10_000
DIMENSION = 384
DONE = "this is the last answer"


def reply(body: Body) -> str:
    """An answer of words that no other has, or a judgement: incoherent for the last answer."""
    prompt = str(body["messages"][-1]["content"])
    if "response_format" in body:
        return json.dumps({"reason": "It says so.", "score": 5 if DONE in prompt else 80})
    question = max((name for name in TURNS if name in prompt), key=len)
    earlier = prompt.count("An answer number")
    ends = f" {DONE}" if earlier + 1 >= TURNS[question] else ""
    words = hashlib.sha256(f"{question} {earlier}".encode()).hexdigest()
    return f"An answer number {words[:8]} {words[8:20]} {words[20:40]}{ends}"


def main() -> None:
    """Print the seconds of the command with and without speculation, and of novelty."""
    with tempfile.TemporaryDirectory() as folder, Loopback(reply, latency=LATENCY) as server:
        home = Path(folder)
        ideagora("generate", "tool use", "--json", home=home)  # offline: fills the store
        (home / "questions.txt").write_text("\n".join(TURNS) + "\n", encoding="utf-8")
        figures: dict[str, dict[str, float]] = {}
        for name, option in (("speculative", "on"), ("serial", "off")):
            arguments = ["model:openai/stand-in", "--judge", "openai/stand-in", "--api-base", server.base]
            before = server.count
            run = ideagora(
                "bench", "aidanbench", *arguments, "--data", "questions.txt", "-T", f"speculation={option}",
                "-T", "novelty=-1", "--seed", str(len(figures)), "--no-page", "--json", home=home,
                OPENAI_API_KEY="none",
            )  # fmt: skip
            result = json.loads(run.stdout)["results"][0]
            answers = next(one["mean"] for one in result["figures"] if one["measure"] == "answers")
            assert answers == sum(TURNS.values()) / len(TURNS) - 1, answers
            figures[name] = {
                "seconds": round(run.seconds, 1),
                "cpu_seconds": round(run.cpu_seconds, 1),
                "calls": server.count - before,
            }
    figures["novelty of one answer"] = {"milliseconds": round(1000 * _novelty_seconds(), 2)}
    for name, one in figures.items():
        print(f"{name:24}{one}")
    print(json.dumps({"benchmark": "aidanbench_speed", **figures, "released": RELEASED}))


def _novelty_seconds() -> float:
    generator = np.random.default_rng(1)
    vectors = AnswerVectors()
    for row in generator.normal(size=(EARLIER, DIMENSION)).astype(np.float32):
        vectors.add(row)
    new = generator.normal(size=DIMENSION).astype(np.float32)
    started = time.perf_counter()
    vectors.add(new)
    return time.perf_counter() - started
