"""Find a benchmark by name. Modules are imported on demand."""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import Any

from ideagora.benchmarks.benchmark import Benchmark
from ideagora.errors import UsageError

BENCHMARKS: dict[str, str] = {
    "ai-idea-bench": "ideagora.benchmarks.ai_idea_bench.benchmark:AIIdeaBench",
    "ideabench": "ideagora.benchmarks.ideabench.benchmark:IdeaBench",
}
"""Name -> its class, as module:class."""


def find_benchmark(name: str) -> Benchmark[Any]:
    """Load a benchmark.

    Raises:
        UsageError: there is none of this name.
    """
    if name not in BENCHMARKS:
        near = difflib.get_close_matches(name, BENCHMARKS, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        known = ", ".join(sorted(BENCHMARKS))
        raise UsageError(f"There is no benchmark {name!r}.{hint} Use one of: {known}.")
    module, _, attribute = BENCHMARKS[name].partition(":")
    benchmark: Benchmark[Any] = getattr(import_module(module), attribute)()
    return benchmark
