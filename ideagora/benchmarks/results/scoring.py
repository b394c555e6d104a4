"""From the log of verdicts to scores: sample by sample, so that a log of any length fits in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from statistics import fmean
from typing import Any

from ideagora.benchmarks.benchmark import Benchmark, Plan, Scores
from ideagora.benchmarks.results.coverage import Unasked
from ideagora.evaluators.judging.verdict_log import VerdictLog
from ideagora.schema import Verdict

Cells = dict[str, dict[str, dict[str, float | None]]]


def score_log(
    benchmark: Benchmark[Any], log: VerdictLog, plan: Plan, unasked: Unasked | None = None
) -> Scores:
    """The scores of every agent on every sample under one protocol, as means over epochs.

    A sample with unasked questions has no score from their kind: it would be that of fewer ideas or judges.
    """
    cells: Cells = {}
    benchmark = benchmark.fitted(of_protocol(log, plan), plan)
    for sample, ids in ids_by_sample(log).items():
        verdicts = list(complete_verdicts(log.read(ids), plan, unasked or {}))
        for measure, agent, score in _scores_of_sample(benchmark, sample, verdicts, plan):
            cells.setdefault(measure, {}).setdefault(agent, {})[sample] = score
    return cells


def ids_by_sample(log: VerdictLog) -> dict[str, list[str]]:
    """The ids of the verdicts on each sample; those of a stopped run are not in the order of the samples."""
    found: dict[str, list[str]] = defaultdict(list)
    for verdict in log:
        found[verdict.sample or ""].append(verdict.id)
    return dict(found)


def of_protocol(verdicts: Iterable[Verdict], plan: Plan) -> Iterator[Verdict]:
    """The verdicts of a plan's protocol."""
    return (one for one in verdicts if one.protocol == plan.protocol)


def complete_verdicts(verdicts: Iterable[Verdict], plan: Plan, unasked: Unasked) -> Iterator[Verdict]:
    """The verdicts of a plan's protocol, without those of a kind that a sample has unasked questions of."""
    return (one for one in of_protocol(verdicts, plan) if (one.kind, one.sample or "") not in unasked)


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
