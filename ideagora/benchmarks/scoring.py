"""From the log of verdicts to scores: sample by sample, so that a log of any length fits in memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from statistics import fmean
from typing import Any

from ideagora.benchmarks.benchmark import Benchmark, Plan, Scores
from ideagora.schema import Verdict

Cells = dict[str, dict[str, dict[str, float | None]]]


def score_log(benchmark: Benchmark[Any], verdicts: Iterable[Verdict], plan: Plan) -> Scores:
    """The scores of every agent on every sample under one protocol, as means over epochs.

    ``verdicts`` are in the order of the samples, as the log has them.
    """
    cells: Cells = {}
    of_protocol = (one for one in verdicts if one.protocol == plan.protocol)
    for sample, of_sample in groupby(of_protocol, key=lambda verdict: verdict.sample or ""):
        for measure, agent, score in _scores_of_sample(benchmark, sample, list(of_sample), plan):
            cells.setdefault(measure, {}).setdefault(agent, {})[sample] = score
    return cells


def _scores_of_sample(
    benchmark: Benchmark[Any], sample: str, verdicts: list[Verdict], plan: Plan
) -> Iterator[tuple[str, str, float | None]]:
    """(measure, agent, mean over the epochs that have a score)."""
    by_epoch: dict[int, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_epoch[verdict.epoch].append(verdict)
    values: dict[tuple[str, str], list[float]] = {}
    for of_epoch in by_epoch.values():
        for measure, agents in benchmark.scores(of_epoch, plan).items():
            for agent, scores in agents.items():
                scored = values.setdefault((measure, agent), [])
                if (score := scores.get(sample)) is not None:
                    scored.append(score)
    for (measure, agent), scored in values.items():
        yield measure, agent, fmean(scored) if scored else None


def asked_judges(verdicts: Iterable[Verdict]) -> Counter[str]:
    """Number of verdicts by judge."""
    return Counter(verdict.judge for verdict in verdicts)
