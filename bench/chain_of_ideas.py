"""Chain-of-Ideas, 3 branches, length 5, one refinement, against a loopback model at 1 s per call.

For orientation, the published implementation on the same settings: 61 calls, 260,000 prompt tokens,
a chain of 23 dependent calls, 47 s. Its prompts carry full papers; here the starter corpus gives
summaries of some 100 words, so calls and chain compare directly and tokens only in part.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
from pathlib import Path

from bench.process import ideagora
from tests.support.loopback import Body, Loopback
from tests.support.standin import answer

LATENCY = 1.0
TOPIC = "language model agents that use tools"
PUBLISHED = {"calls": 61, "prompt_tokens": 260_000, "longest_chain": 23, "seconds": 47.0}


class Timeline:
    """When each request was answered, so that the longest chain of dependent calls can be counted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.spans: list[tuple[float, float]] = []

    def answer(self, body: Body) -> str:
        """Answer as the stand-in does, after the latency."""
        started = time.perf_counter()
        time.sleep(LATENCY)
        text = answer(body)
        with self._lock:
            self.spans.append((started, time.perf_counter()))
        return text

    @property
    def longest_chain(self) -> int:
        """The most calls of which each began after the one before had ended.

        Calls that wait for a free slot count too, so it is an upper bound of what depends on what.
        """
        count, last_end = 0, float("-inf")
        for start, end in sorted(self.spans, key=lambda span: span[1]):  # greedy by the earliest end
            if start >= last_end:
                count, last_end = count + 1, end
        return count


def main() -> None:
    """Fill the store, run against the loopback server, print our figures beside the published ones."""
    timeline = Timeline()
    with tempfile.TemporaryDirectory() as folder, Loopback(timeline.answer) as server:
        home = Path(folder)
        ideagora("generate", TOPIC, "--json", home=home)  # offline: fills store and vectors
        arguments = ("generate", TOPIC, "--model", "openai/stand-in", "--api-base", server.base)
        ran = ideagora(*arguments, "--concurrency", "16", "--json", home=home)
        record = json.loads((Path(json.loads(ran.stdout)["run"]) / "run.json").read_text(encoding="utf-8"))
        peak = server.peak
    usage = record["usage"]["total"]
    figures = {
        "calls": usage["calls"],
        "prompt_tokens": usage["prompt_tokens"],
        "longest_chain": timeline.longest_chain,
        "seconds": round(ran.seconds, 1),
    }
    print(f"{'':16}{'ours':>10}{'published':>12}{'ratio':>8}")
    for name, value in figures.items():
        print(f"{name:16}{value:>10,}{PUBLISHED[name]:>12,}{value / PUBLISHED[name]:>8.2f}")
    within = timeline.spans[-1][1] - min(start for start, _ in timeline.spans)
    print(f"from the first call to the last answer {within:.1f} s; {peak} calls out at once at most")
    print(f"completion tokens {usage['completion_tokens']:,}; {ran.peak_mib:.0f} MiB at most")
    print(json.dumps({"benchmark": "chain_of_ideas", **figures, "seconds_within": round(within, 1)}))
