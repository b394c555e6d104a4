"""From scores to a benchmark's result, and results.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ideagora.benchmarks.benchmark import Measure, Scores
from ideagora.benchmarks.results.coverage import MOST_REASONS, OTHER_REASONS, count_verdicts
from ideagora.benchmarks.results.records import (
    AgentSummary,
    Coverage,
    read_results,
    result_from_json,
    write_results,
)
from ideagora.errors import RunError
from ideagora.report.bench.cells import all_columns
from ideagora.schema import Verdict
from tests.support.benchmark_results import RANK, SHARE, built, result_of


def test_means_are_over_scored_samples_and_the_rest_is_counted() -> None:
    scores: Scores = {"share": {"a": {"1": 1.0, "2": 0.0, "3": None}, "b": {"1": 1.0}}}
    result = built(scores, [SHARE], benchmark="x", title="X", n_samples=4)
    first, second = result.figure("a", "share"), result.figure("b", "share")
    assert (first.mean, first.n, first.unscored, first.without_idea) == (0.5, 2, 1, 1)
    assert (second.mean, second.n, second.unscored, second.without_idea) == (1.0, 1, 0, 3)
    assert second.low is None
    assert second.reason == "An interval needs at least two samples; 1 is scored."
    (pair,) = result.comparisons
    assert (pair.n, pair.difference, pair.p) == (1, 0.0, None)


def test_differences_are_paired_on_common_samples() -> None:
    first = {str(number): float(number) for number in range(8)}
    second = {str(number): number - 1.0 for number in range(1, 9)}
    (pair,) = result_of({"a": first, "b": second}).comparisons
    assert (pair.n, pair.difference, pair.test) == (7, 1.0, "sign-flip")
    assert pair.p == pytest.approx(2 / 2**7)
    assert (pair.low, pair.reason) == (
        None,
        "All differences are equal, so their variance cannot be estimated.",
    )


def test_ranks_are_ranges_and_only_a_significantly_better_agent_is_best() -> None:
    noise = [0.1 * (number % 3) for number in range(20)]
    near = [0.1 * (number * 7 % 4) for number in range(20)]
    agents = {"low": 1.0, "high": 3.0, "near": 1.0}
    rows = {
        name: {str(place): base + (near if name == "near" else noise)[place] for place in range(20)}
        for name, base in agents.items()
    }
    for measure, ranks in ((None, {"high": (1, 1), "low": (2, 3), "near": (2, 3)}),
                           (RANK, {"high": (3, 3), "low": (1, 2), "near": (1, 2)})):  # fmt: skip
        result = result_of(rows, measure)
        assert {one.agent: (one.rank_low, one.rank_high) for one in result.figures} == ranks
        assert [one.agent for one in result.figures if one.best] == (["high"] if measure is None else [])


def test_more_agents_need_stronger_evidence() -> None:
    rows: dict[str, dict[str, float | None]] = {
        "a": {str(place): float(place) for place in range(1, 7)},
        "b": {str(place): 0.0 for place in range(1, 7)},
    }
    (pair,) = result_of(rows).comparisons
    assert (pair.p, pair.p_holm, pair.significant) == (2 / 64, 2 / 64, True)
    three = result_of(rows | {"c": {str(place): place % 3 - 0.5 for place in range(1, 7)}})
    assert three.comparisons[0].p == 2 / 64
    assert three.comparisons[0].p_holm == pytest.approx(3 * 2 / 64)
    assert not any(one.significant for one in three.comparisons)


def test_detectable_differences_are_for_one_comparison_and_for_all() -> None:
    # 26 samples; differences ±1 for two of the three pairs, 0 for the third: deviations √(26/25) and 0,
    # root mean square √(2/3 × 26/25) = 0.832666.
    # t with 25 degrees of freedom: 2.05954 at 0.975, 0.85624 at 0.8, 2.56598 at 1 - 0.05/6.
    zeros: dict[str, float | None] = {str(place): 0.0 for place in range(26)}
    signs: dict[str, float | None] = {str(place): (-1.0) ** place for place in range(26)}
    (row,) = result_of({"a": zeros, "b": signs, "c": zeros}).sensitivity
    assert (row.pairs, row.n) == (3, 26)
    assert row.deviation == pytest.approx(0.832666, abs=1e-6)
    assert row.detectable == pytest.approx((2.05954 + 0.85624) * 0.832666 / 26**0.5, abs=1e-5)
    assert row.detectable_corrected == pytest.approx((2.56598 + 0.85624) * 0.832666 / 26**0.5, abs=1e-5)


def test_nothing_is_ranked_when_only_the_offline_model_judged() -> None:
    rows = {
        name: {str(place): place + base for place in range(20)} for name, base in (("a", 0.0), ("b", 9.0))
    }
    result = result_of(rows, judges=["offline"])
    assert result.smoke_test
    assert result.comparisons == ()
    assert all(one.rank is None and not one.best and one.mean is not None for one in result.figures)


def test_notes_say_what_these_samples_cannot_show() -> None:
    few = result_of(
        {"a": {str(place): place / 7 for place in range(5)}, "b": {"1": 0.5, "2": None, "3": 0.9}}
    )
    assert "two agents are compared on the samples that are scored for both" in few.notes[0]
    assert few.notes[1] == (
        "2 common samples are too few for a significant difference: the smallest possible p-value is 0.5, "
        "and 1 pair is compared."
    )
    assert result_of({"a": {"1": 1.0, "2": 2.0}}).notes == ("There is one agent, so nothing is compared.",)
    assert result_of({"a": {"1": None}, "b": {"1": None}}).status == "nothing_scored"
    answered = result_of({"a": {"1": None}}, coverage=[Coverage(kind="points", scored=1)])
    assert answered.notes[0].startswith(
        "Every question has an answer, but the method scores returns no score"
    )
    two = [SHARE, Measure(name="other", group="other", title="Other", unit="points")]
    result = built({"share": {"a": {"1": 1.0}}}, two, benchmark="x", title="X")
    assert result.notes[0] == "Not scored for any agent: Other."


def test_agents_without_a_score_have_a_row_and_the_others_follow() -> None:
    result = built(
        {"share": {"b": {"1": 1.0}, "a": {"1": 0.0}}},
        [SHARE],
        benchmark="x",
        title="X",
        agents=[AgentSummary(agent="failed", missing={"it raised ValueError": 1})],
    )
    assert [row.agent for row in result.agents] == ["failed", "a", "b"]
    assert result.figure("failed", "share").without_idea == 1


def test_an_idea_that_nothing_was_asked_about_is_not_missing() -> None:
    alone = result_of({"a": {}}, n_samples=3, agents=[AgentSummary(agent="a", samples=2)])
    assert alone.figure("a", "points").without_idea == 1
    (row,) = all_columns(alone).rows
    assert (row.samples, row.cells[0].counts) == ("2 of 3 samples", "2 not asked")


def test_a_score_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="share: a score of a is not finite"):
        built({"share": {"a": {"1": float("nan")}}}, [SHARE], benchmark="x", title="X")


def test_verdicts_are_counted_by_kind_with_reasons() -> None:
    def verdict(kind: str, reason: str | None) -> Verdict:
        return Verdict(
            id="v", evaluator="x", protocol="default", topic="t", subject=("i",), judge="j", kind=kind,
            criteria=None if reason else {"score": 1.0}, status="unscored" if reason else "scored",
            reason=reason,
        )  # fmt: skip

    asked = (("imcq", None), ("imcq", "two letters"), ("fa", "no counts"), ("imcq", "x"), ("imcq", "x"))
    counted = count_verdicts(verdict(*each) for each in asked)
    assert [(one.kind, one.scored, one.unscored, list(one.reasons.items())) for one in counted] == [
        ("fa", 0, 1, [("no counts", 1)]),
        ("imcq", 1, 3, [("x", 2), ("two letters", 1)]),
    ]
    alike = [("fa", f"HTTP {code}: line 7 {'long ' * 200}") for code in (500, 502)]
    different = [("fa", f"reason {'x' * number}") for number in range(30)]
    (counted_alike,) = count_verdicts(verdict(*each) for each in (*alike, *different))
    reasons = dict(counted_alike.reasons)
    assert sum(reasons.values()) == counted_alike.unscored == 32
    assert next(iter(reasons)).startswith("HTTP …: line")
    assert max(map(len, reasons)) <= 300
    assert (len(reasons), reasons[OTHER_REASONS]) == (MOST_REASONS + 1, 11)


def test_results_json_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = {name: {str(place): (place * 7 + len(name)) % 5 / 4 for place in range(9)} for name in ("a", "bb")}
    results = (result_of(rows), result_of(rows, protocol="paper"))
    write_results(tmp_path, results)
    assert read_results(tmp_path) == results
    future = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))[0] | {"future": 1}
    assert result_from_json(future) == results[0]
    for content in ("{", '{"a": 1}', "[1]"):
        (tmp_path / "results.json").write_text(content, encoding="utf-8")
        with pytest.raises(RunError, match=r"has no readable results\.json"):
            read_results(tmp_path)
