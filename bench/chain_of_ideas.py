"""Chain-of-Ideas with 3 branches, length 5 and one refinement, on a loopback model with 1 s per call.

For comparison, the published implementation with the same settings: 61 calls, 260,000 prompt tokens,
23 calls in sequence, 47 s. Its prompts contain full papers; the starter corpus has summaries of about
100 words, so calls are directly comparable, tokens only in part.
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
AIMS = {"calls": 34, "prompt_tokens": 70_000, "longest_chain": 13, "seconds": 16.0}
"""Upper limits, with answers of about 600 characters a field; the seconds need an otherwise idle machine."""


class Timeline:
    """Records when each call began and ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.spans: list[tuple[float, float]] = []

    def answer(self, body: Body) -> str:
        """Return the stand-in's answer, after the latency."""
        started = time.perf_counter()
        time.sleep(LATENCY)
        text = answer(body)
        with self._lock:
            self.spans.append((started, time.perf_counter()))
        return text

    @property
    def longest_chain(self) -> int:
        """The maximum number of calls in sequence, each beginning after the previous one has ended.

        It is an upper bound of dependent calls, since calls also wait for a free slot.
        """
        count, last_end = 0, float("-inf")
        for start, end in sorted(self.spans, key=lambda span: span[1]):  # greedy by the earliest end
            if start >= last_end:
                count, last_end = count + 1, end
        return count


def main() -> None:
    """Run on the loopback server, and print the figures beside the published ones."""
    timeline = Timeline()
    with tempfile.TemporaryDirectory() as folder, Loopback(timeline.answer) as server:
        home = Path(folder)
        ideagora("generate", TOPIC, "--json", home=home)  # offline: fills the store
        arguments = ("generate", TOPIC, "--model", "openai/stand-in", "--api-base", server.base)
        result = ideagora(*arguments, "--concurrency", "16", "--json", home=home)
        record = json.loads((Path(json.loads(result.stdout)["run"]) / "run.json").read_text(encoding="utf-8"))
        peak = server.peak
    usage = record["usage"]["total"]
    figures = {
        "calls": usage["calls"],
        "prompt_tokens": usage["prompt_tokens"],
        "longest_chain": timeline.longest_chain,
        "seconds": round(result.seconds, 1),
    }
    print(f"{'':16}{'ours':>10}{'at most':>10}{'published':>12}{'ratio':>8}")
    for name, value in figures.items():
        published = PUBLISHED[name]
        print(f"{name:16}{value:>10,}{AIMS[name]:>10,}{published:>12,}{value / published:>8.2f}")
    elapsed = timeline.spans[-1][1] - min(start for start, _ in timeline.spans)
    print(f"from the first call to the last answer {elapsed:.1f} s; at most {peak} concurrent calls")
    print(
        f"completion tokens {usage['completion_tokens']:,}; peak memory {result.peak_mib:.0f} MiB; "
        f"CPU seconds {result.cpu_seconds:.1f}"
    )
    print(json.dumps({"benchmark": "chain_of_ideas", **figures, "seconds_within": round(elapsed, 1)}))
