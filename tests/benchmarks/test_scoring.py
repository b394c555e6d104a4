"""From the log to scores."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ideagora.benchmarks.aggregation import criterion, mean_of_all, score_ideas
from ideagora.benchmarks.benchmark import Benchmark, Plan, Question, Samples, Scores
from ideagora.benchmarks.results.scoring import score_log
from ideagora.evaluators.judging.verdict_log import VerdictLog
from ideagora.schema import Topic, Verdict


class Fit(Benchmark[str]):
    """The mean of one criterion."""

    def load(self, data: Path | None) -> Samples[str]:
        return Samples({})

    def topic(self, sample: str) -> Topic:
        return Topic(text=sample)

    def questions(self, sample: str, ideas: Any, plan: Plan, prepared: Any) -> Iterable[Question]:
        return ()

    def scores(self, verdicts: Iterable[Verdict], plan: Plan) -> Scores:
        return {"fit": score_ideas(verdicts, "fit", criterion("fit"), mean_of_all)}


def verdict(sample: str, number: int, value: float | None, **fields: Any) -> Verdict:
    values: dict[str, Any] = {
        "id": f"{sample} {number} {fields}",
        "evaluator": "bridges",
        "protocol": "default",
        "topic": "bridges",
        "subject": (f"idea {number}",),
        "criteria": None if value is None else {"fit": value},
        "status": "unscored" if value is None else "scored",
        "judge": "j",
        "kind": "fit",
        "sample": sample,
        "agents": ("a",),
    }
    return Verdict(**{**values, **fields})


def test_a_log_in_the_order_of_the_answers_has_the_same_scores(tmp_path: Path) -> None:
    """A stopped run leaves its verdicts in the order in which they came."""
    verdicts = [
        verdict("1", 1, 1.0),
        verdict("2", 1, 5.0),
        verdict("1", 2, 3.0),
        verdict("2", 2, None),
        verdict("1", 1, 4.0, epoch=2),
        verdict("1", 1, 9.0, protocol="paper"),
        verdict("1", 2, 4.0, epoch=2),
    ]
    with VerdictLog(tmp_path) as log:
        for one in verdicts:
            log.add(one)
    benchmark = Fit()
    assert score_log(benchmark, log, Plan(judges=("j",))) == {"fit": {"a": {"1": 3.0, "2": None}}}
    assert score_log(benchmark, log, Plan(judges=("j",)), {("fit", "1"): 1}) == {"fit": {"a": {"2": None}}}
    assert score_log(benchmark, log, Plan(judges=("j",)), {("other", "1"): 1})["fit"]["a"]["1"] == 3.0
    paper = Plan(judges=("j",), protocol="paper")
    assert score_log(benchmark, log, paper) == {"fit": {"a": {"1": 9.0}}}
