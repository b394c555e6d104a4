"""``ideagora compare``: scores by condition, against SciPy's Welch test and effects that are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import t, ttest_ind, ttest_rel

from ideagora.commands.compare import run as run_compare
from ideagora.evaluators.agreement.columns import number_of
from ideagora.evaluators.statistics.scores import mixed_model
from tests.support.command import Done, run

HUMAN, AGENT = (4.0, 5.0, 6.0, 4.0, 7.0), (6.0, 8.0, 7.0, 9.0)


def compare(*arguments: str | Path) -> Done:
    return run(["compare", *map(str, arguments)])


def read(*arguments: str | Path) -> dict[str, Any]:
    done = compare(*arguments, "--json")
    assert done.code == 0, done.err
    report: dict[str, Any] = json.loads(done.out)
    return report


def table(path: Path, header: str, rows: list[str]) -> Path:
    path.write_text("\n".join([header, *rows]), encoding="utf-8")
    return path


def test_one_review_of_each_idea_is_welchs_test_in_both_ways(tmp_path: Path) -> None:
    """Without reviewers and topics, CR2 errors are exactly Welch's."""
    rows = [f"h{n},human,{x}" for n, x in enumerate(HUMAN)] + [f"a{n},agent,{x}" for n, x in enumerate(AGENT)]
    report = read(table(tmp_path / "scores.csv", "idea,condition,novelty", rows))
    (effect,) = report["effects"]
    expected = ttest_ind(AGENT, HUMAN, equal_var=False)
    low, high = expected.confidence_interval()
    for test in ("welch", "linear"):
        assert effect[test]["difference"] == pytest.approx(7.5 - 5.2), test
        assert effect[test]["degrees"] == pytest.approx(expected.df, rel=0.1), test
    assert effect["welch"]["p"] == effect["welch"]["p_holm"] == pytest.approx(expected.pvalue)
    assert (effect["welch"]["low"], effect["welch"]["high"]) == pytest.approx((low, high))
    errors = [(effect[test]["high"] - effect[test]["difference"]) for test in ("welch", "linear")]
    assert errors[0] == pytest.approx(errors[1], rel=0.02)  # the degrees of freedom differ a little
    assert report["means"]["novelty"]["human"]["n"] == 5


def test_a_strict_reviewer_and_a_difficult_topic_do_not_count_against_a_condition(tmp_path: Path) -> None:
    """The agent is 1 point better; a strict reviewer (-3) sees mostly the agent's ideas."""
    generator = np.random.default_rng(0)
    rows = []
    for idea in range(24):
        agent, topic = idea % 2, idea // 2 % 3
        for reviewer in ("strict", "mild", "third"):
            if reviewer == ("mild" if agent and idea % 5 else "strict") and not (
                reviewer == "strict" and agent
            ):
                continue
            score = 6 + agent - 3 * (reviewer == "strict") - topic + generator.normal(0, 0.2)
            rows.append(f"i{idea},{reviewer},t{topic},{'agent' if agent else 'human'},{score},{score}")
    path = table(tmp_path / "scores.csv", "idea,reviewer,topic,condition,novelty,clarity", rows)
    report = read(path, "--reference", "human")
    effect = report["effects"][0]
    assert effect["welch"]["difference"] < 0, "the strict reviewer's fault"
    assert effect["linear"]["low"] < 1.0 < effect["linear"]["high"]
    assert effect["linear"]["difference"] == pytest.approx(1.0, abs=0.2)
    assert effect["linear"]["p_holm"] == pytest.approx(2 * effect["linear"]["p"])
    assert report["model_effects"] == ["reviewer", "topic"]
    shown = compare(path, "--reference", "human")
    assert "agent by +" in shown.out
    assert "strict" not in shown.out.split()


def test_numbers_may_be_explained() -> None:
    cells = {"6": 6.0, " 6.5 ": 6.5, "6 (good)": 6.0, "6: good": 6.0, "-1(bad)": -1.0, 3: 3.0}
    assert {cell: number_of(cell) for cell in cells} == cells
    for text in ("3-4", "3 good things", "six", "", "nan", None, True):
        assert number_of(text) is None, text


def test_the_mixed_model_is_the_paired_test_in_a_balanced_design(tmp_path: Path) -> None:
    """Every reviewer scores both ideas on every topic: difference and error are those of pairs of ideas."""
    pytest.importorskip("statsmodels")
    random = np.random.default_rng(7)
    scores = 5 + random.normal(size=(12, 1, 1)) + random.normal(size=(12, 2, 1)) + random.normal(size=4)
    scores = np.round(scores + random.normal(size=scores.shape), 2)
    rows = [
        f"t{topic}-{side},{('human', 'agent')[side]},t{topic},r{reviewer},{scores[topic, side, reviewer]}"
        for topic, side, reviewer in np.ndindex(scores.shape)
    ]
    report = read(table(tmp_path / "scores.csv", "idea,condition,topic,reviewer,novelty", rows))
    mixed, means = report["effects"][0]["mixed"], scores.mean(axis=2)
    paired = ttest_rel(means[:, 1], means[:, 0])
    assert mixed["difference"] == pytest.approx((means[:, 1] - means[:, 0]).mean())
    half = mixed["high"] - mixed["difference"]
    error = half / t.ppf(0.975, mixed["degrees"])
    assert mixed["difference"] / error == pytest.approx(paired.statistic, rel=1e-3)
    assert report["conclusion_by"] == "mixed"


def test_without_statsmodels_the_linear_model_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mixed_model, "is_installed", lambda: False)
    rows = [f"h{n},human,{x}" for n, x in enumerate(HUMAN)] + [f"a{n},agent,{x}" for n, x in enumerate(AGENT)]
    path = table(tmp_path / "scores.csv", "idea,condition,novelty", rows)
    for as_json in (True, False):
        assert run_compare(path, "condition", None, (), as_json) == 0
    written, shown = capsys.readouterr().out.split("\n", 1)
    report = json.loads(written)
    assert report["conclusion_by"] == "linear"
    assert report["effects"][0]["mixed"]["p_holm"] is None
    assert "pip install 'ideagora[stats]'" in " ".join(shown.split())


def test_columns_of_ai_researcher_are_read(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {
        "idea_id": ["a", "b", "c", "d"], "condition": ["Human", "Human", "AI", "AI"],
        "novelty_score": [5, "4 (slightly)", 6, None], "confidence": [3, 3, 3, 3],
    }  # fmt: skip
    path = tmp_path / "reviews.json"
    by_row = {name: dict(enumerate(values)) for name, values in columns.items()}
    for content in (columns, by_row):
        path.write_text(json.dumps(content), encoding="utf-8")
        means = read(path)["means"]
        assert list(means) == ["novelty_score"]
        assert means["novelty_score"]["Human"]["value"] == 4.5
        assert means["novelty_score"]["AI"]["n"] == 1
    assert "two ideas of each condition" in " ".join(compare(path, "--criteria", "novelty").out.split())


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("idea,x\ni,1\n", [], "has no column 'condition' for --by"),
        ("condition,x\nc,1\n", [], "has no column that names the idea"),
        ("idea,condition,x\ni,c,1\n", [], "has one condition, 'c'"),
        ("idea,condition,x\ni,c,1\nj,,2\n", [], "review 2: the column 'condition' is empty"),
        ("idea,condition,x\ni,c,y\nj,d,z\n", [], "has no column of numbers"),
        ("idea,condition,x\ni,c,1\nj,d,2\n", ["--reference", "e"], "--reference is 'e'"),
        ("idea,condition,x\ni,c,1\nj,d,2\n", ["--criteria", "y"], "--criteria names 'y'"),
    ],
)
def test_bad_input_is_one_clear_line(tmp_path: Path, text: str, arguments: list[str], said: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text, encoding="utf-8")
    done = compare(path, *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert said in done.err
