"""AI Idea Bench 2025: choosing the multiple-choice option from elsewhere in the set for 3,495 targets.

The texts are synthetic; the time to embed them is not counted. Target: at most 10 s for both parts.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bench.texts import Clustered
from ideagora.benchmarks.ai_idea_bench.parts import PARTS
from ideagora.benchmarks.ai_idea_bench.samples import Inspiration, Sample
from ideagora.benchmarks.ai_idea_bench.with_target_paper.distractors import choose_elsewhere

TARGETS = 3_495


def main() -> None:
    """Print the seconds and the peak of memory."""
    samples = [_sample(number) for number in range(TARGETS)]
    ready = Ready()
    for sample in samples:
        ready.encode([sample.motivation, sample.method])
    start = time.perf_counter()
    for part in PARTS:
        found = choose_elsewhere(samples, part, ready)
        assert {len(of_samples) for of_samples in found.values()} == {TARGETS}
    seconds = round(time.perf_counter() - start, 2)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{seconds} s for {TARGETS:,} targets, both parts and both protocols; peak {peak} MiB")
    print(json.dumps({"benchmark": "mcq_distractors", "targets": TARGETS, "seconds": seconds, "mib": peak}))


def _sample(number: int) -> Sample:
    return Sample(
        id=str(number),
        topic=f"topic {number}",
        motivation=f"motivation {number}",
        summary=f"method {number}",
        title=f"Target {number}",
        inspirations=tuple(Inspiration(title=f"Target {number + step}") for step in range(1, 6)),
    )


class Ready:
    """An embedder whose vectors are computed before the clock starts."""

    name = "ready"
    dimension = Clustered.dimension

    def __init__(self) -> None:
        self._inner = Clustered()
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of these texts."""
        missing = [text for text in texts if text not in self._vectors]
        if missing:
            self._vectors.update(zip(missing, self._inner.encode(missing), strict=True))
        return np.stack([self._vectors[text] for text in texts])
