"""Benchmarks by name, and benchmarks from outside: ``module:object`` or ``path.py:object``.

``--help`` lists the names, so everything else is imported on demand.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ideagora.benchmarks.benchmark import Benchmark

BENCHMARKS: dict[str, str] = {
    "ai-idea-bench": "ideagora.benchmarks.ai_idea_bench.benchmark:AIIdeaBench",
    "aidanbench": "ideagora.benchmarks.aidanbench.benchmark:AidanBench",
    "ideabench": "ideagora.benchmarks.ideabench.benchmark:IdeaBench",
    "liveideabench": "ideagora.benchmarks.liveideabench.benchmark:LiveIdeaBench",
}
"""Name -> its class, as module:class."""
_COMMANDS = {"jury": "ideagora.benchmarks.jury.benchmark:Jury"}
"""Evaluations with a command of their own, whose folders ``ideagora bench score`` judges again."""


def find_benchmark(name: str, options: Sequence[str] = ()) -> Benchmark[Any]:
    """The benchmark of this name, or the one that ``module:object`` or ``path.py:object`` names.

    Args:
        name: its name.
        options: its own options as ``NAME=VALUE``, for its method ``configured``.

    Raises:
        UsageError: there is no such benchmark or option, or what is named is not a benchmark.
    """
    benchmark = _find(name)
    return benchmark.configured(options) if options else benchmark


def _find(name: str) -> Benchmark[Any]:
    from ideagora.errors import UsageError

    if ":" in name:
        return _load_external(name)
    known = {**BENCHMARKS, **_COMMANDS}
    if name not in known:
        near = difflib.get_close_matches(name, BENCHMARKS, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UsageError(
            f"There is no benchmark {name!r}.{hint} Use one of: {', '.join(sorted(BENCHMARKS))}; or your "
            "own as module:object or path.py:object."
        )
    module, _, attribute = known[name].partition(":")
    benchmark: Benchmark[Any] = getattr(import_module(module), attribute)()
    return benchmark


def _load_external(name: str) -> Benchmark[Any]:
    from ideagora.benchmarks.benchmark import Benchmark
    from ideagora.errors import UsageError
    from ideagora.graphs.external.loading.loader import load_object

    loaded = load_object(name).object
    try:
        benchmark = loaded() if isinstance(loaded, type) else loaded
    except TypeError as error:  # an abstract method is missing, or it takes arguments
        raise UsageError(f"{name} cannot be created: {error}. See docs/benchmarks.md.") from None
    if not isinstance(benchmark, Benchmark):
        raise UsageError(
            f"{name} is not a benchmark: derive it from ideagora.benchmarks.benchmark.Benchmark. See "
            "docs/benchmarks.md."
        )
    own = str(getattr(benchmark, "name", ""))
    if re.fullmatch(r"\w[\w.-]*", own) is None:  # its folder is named after it
        raise UsageError(f"{name} has the name {own!r}: use letters, digits, - and _.")
    return benchmark
