"""From the log to scores."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ideagora.benchmarks.aggregation import criterion, mean_of_all, score_ideas
from ideagora.benchmarks.benchmark import Plan
from ideagora.benchmarks.results.scoring import score_log
from ideagora.evaluators.judging.verdict_log import VerdictLog
from ideagora.schema import Verdict


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
    benchmark: Any = SimpleNamespace(
        scores=lambda found, plan: {"fit": score_ideas(found, "fit", criterion("fit"), mean_of_all)}
    )
    assert score_log(benchmark, log, Plan(judges=("j",))) == {"fit": {"a": {"1": 3.0, "2": None}}}
    paper = Plan(judges=("j",), protocol="paper")
    assert score_log(benchmark, log, paper) == {"fit": {"a": {"1": 9.0}}}
