"""Results of benchmarks with given scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ideagora.benchmarks.benchmark import Measure, Scores
from ideagora.benchmarks.results.records import BenchmarkResult
from ideagora.benchmarks.results.summary import build_result

SHARE = Measure(name="share", group="share", title="Share", unit="share correct", lowest=0, highest=1)
POINTS = Measure(name="points", group="points", title="Points", unit="points", decimals=2)
RANK = Measure(name="points", group="points", title="Rank", unit="rank", higher_is_better=False)


def built(
    scores: Scores,
    measures: Sequence[Measure],
    benchmark: str = "bench",
    title: str = "A benchmark",
    categories: Mapping[str, str] | None = None,
    **known: Any,
) -> BenchmarkResult:
    """The result of these measures; ``known`` are other fields of it, with lists as tuples."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in known.items()
    }
    return build_result(
        BenchmarkResult(benchmark=benchmark, title=title, measures=tuple(measures), **fields),
        scores,
        categories,
    )


def result_of(
    rows: Mapping[str, Mapping[str, float | None]], measure: Measure | None = None, **options: Any
) -> BenchmarkResult:
    """The result of one measure, by default one without bounds; ``rows`` are scores by agent and sample."""
    measure = measure or POINTS
    return built({measure.name: rows}, [measure], **options)
