"""Exports of a benchmark's folder, read back with the libraries whose formats they are."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ideagora.benchmarks.benchmark import Benchmark, Measure, Plan, Question, Samples, Scores
from ideagora.benchmarks.results.records import AgentSummary, write_results
from ideagora.benchmarks.results.scoring import score_log
from ideagora.benchmarks.running.idea_log import label_idea, write_ideas
from ideagora.errors import RunError, UsageError
from ideagora.evaluators.judging.verdict_files import verdict_lines
from ideagora.evaluators.judging.verdict_log import VerdictLog
from ideagora.report.export.hf import export_hf
from ideagora.report.export.inspect import export_inspect
from ideagora.schema import Experiment, Idea, Topic, Usage, Verdict
from tests.support.benchmark_results import built

FIT = Measure(name="fit", group="fit", title="Fit | to topic", unit="1 to 5", decimals=1)
WINS = Measure(name="wins_score", group="wins", title="Wins", unit="points")
JUDGE = "openai/judge"


class Bridges(Benchmark[str]):
    """A benchmark with a score per idea and one per pair."""

    name = "bridges"

    def load(self, data: Path | None) -> Samples[str]:
        return Samples({})

    def topic(self, sample: str) -> Topic:
        return Topic(text=sample)

    def questions(self, sample: str, ideas: Any, plan: Plan, prepared: Any) -> Iterable[Question]:
        return ()

    def scores(self, verdicts: Iterable[Verdict], plan: Plan) -> Scores:
        fit: dict[str, dict[str, float | None]] = {}
        wins: dict[str, dict[str, float | None]] = {}
        for verdict in verdicts:
            values = verdict.criteria
            for agent in verdict.agents:
                row = (fit if verdict.kind == "fit" else wins).setdefault(agent, {})
                row[verdict.sample or ""] = None if values is None else values.get(agent, values.get("score"))
        return {"fit": fit, "wins_score": wins}


def idea(name: str, agent: str) -> Idea:
    return Idea(
        id=name,
        topic="Bridges",
        agent=agent,
        title=f"Idea {name}",
        method="Widen \u202e/home/me/them.",
        motivation="They are narrow.",
        experiment=Experiment(steps=("Build", "Measure")),
        references=("arxiv:1",),
        model="openai/m",
    )


def verdict(name: str, kind: str, sample: str, ideas: dict[str, str], **fields: Any) -> Verdict:
    given = {"criteria": {"score": 4.0}, "status": "scored", "rationale": "It fits\u202e well.", **fields}
    return Verdict(
        id=name,
        evaluator="bridges",
        protocol="default",
        topic=f"Bridges {sample}",
        subject=tuple(ideas),
        agents=tuple(ideas.values()),
        kind=kind,
        sample=sample,
        judge=JUDGE,
        usage=Usage(calls=1, prompt_tokens=10, completion_tokens=5, cost_usd=None),
        **given,
    )


UNREADABLE: dict[str, Any] = {"criteria": None, "status": "unscored", "reason": "unreadable answer: 7 or 8"}
VERDICTS = [
    verdict("v1", "fit", "2", {"i1": "first"}),
    verdict("v2", "fit", "10", {"i2": "first"}, **UNREADABLE),
    verdict("v3", "fit", "2", {"i3": "second/b"}, details={"options": ["a", "b"]}),
    verdict("v4", "wins", "2", {"i1": "first", "i3": "second/b"}, criteria={"first": 3.0, "second/b": 1.0}),
    verdict("v5", "fit", "2", {"i4": "first"}, criteria={"score": 2.0}, epoch=2),
]
IDEAS = [
    label_idea(idea("i1", "first"), "first", "ai-idea-bench", "2", 1),
    label_idea(idea("i3", "second/b"), "second/b", "ai-idea-bench", "2", 1),
    label_idea(idea("i4", "first"), "first", "ai-idea-bench", "2", 2),
    label_idea(idea("i2", "first"), "first", "ai-idea-bench", "10", 1),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    path.mkdir()
    record = {
        "id": "abc",
        "started": "2026-01-02T03:04:05+00:00",
        "finished": "2026-01-02T03:05:05+00:00",
        "seed": 7,
        "samples": ["2", "5", "10"],
        "versions": {"ideagora": "0.1.0"},
        "status": "complete",
    }
    (path / "run.json").write_text(json.dumps(record))
    write_ideas(path, IDEAS)
    (path / "verdicts.jsonl").write_text(verdict_lines(VERDICTS))
    result = built(
        score_log(Bridges(), VerdictLog(path), Plan(judges=(JUDGE,))),
        [FIT, WINS],
        benchmark="bridges",
        title="Bridges",
        source="On Bridges",
        judges=[JUDGE],
        agents=[AgentSummary(agent="first"), AgentSummary(agent="second/b")],
        notes=["A note with <b>marks</b>."],
    )
    write_results(path, [result])
    return path


def test_each_agent_has_an_inspect_log_with_a_sample_per_target_and_a_score_per_measure(
    folder: Path, tmp_path: Path
) -> None:
    pytest.importorskip("inspect_ai")
    from inspect_ai.log import read_eval_log, read_eval_log_sample

    out = export_inspect(folder, tmp_path / "out", Bridges())
    file = out / "bridges-first.eval"
    assert sorted(path.name for path in out.iterdir()) == [file.name, "bridges-second-b.eval"]
    log = read_eval_log(file)
    assert (log.status, log.eval.task, log.eval.model) == ("success", "bridges", "first")
    assert log.samples is not None
    samples = {(sample.id, sample.epoch): sample for sample in log.samples}
    assert log.eval.dataset.sample_ids == ["2", "10"]
    first, unscored = (samples[one, 1] for one in log.eval.dataset.sample_ids)
    other = read_eval_log_sample(out / "bridges-second-b.eval", "2")
    assert len(samples) == 3
    assert (samples["2", 2].scores or {})["fit"].value == 2.0
    assert first.input == "Bridges"
    assert "# Idea i1" in first.output.completion
    assert "1. Build" in first.output.completion
    assert first.scores is not None
    assert unscored.scores is not None
    assert other.scores is not None
    assert {name: score.value for name, score in first.scores.items()} == {"fit": 4.0, "wins_score": 3.0}
    assert other.scores["wins_score"].value == 1.0
    assert first.scores["fit"].explanation == f"{JUDGE}: It fits well."
    assert [one["id"] for one in (first.scores["wins_score"].metadata or {})["verdicts"]] == ["v4"]
    missing = unscored.scores["fit"]
    assert math.isnan(float(str(missing.value)))
    assert (missing.reason, missing.explanation) == ("invalid_response_format", UNREADABLE["reason"])
    assert list(unscored.scores) == ["fit"]
    assert log.results is not None
    fit = log.results.scores[0]
    assert (fit.name, fit.scored_samples, fit.unscored_samples) == ("fit", 2, 1)
    assert fit.metrics["mean"].value == 3.0
    assert log.stats.model_usage[JUDGE].input_tokens == 40
    assert log.stats.model_usage[JUDGE].total_cost is None


def test_inspect_logs_are_the_same_each_time_and_replaced(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")

    def content() -> dict[str, dict[str, bytes]]:
        found = {}
        for file in sorted(export_inspect(folder, tmp_path / "out", Bridges()).iterdir()):
            with zipfile.ZipFile(file) as log:
                found[file.name] = {name: log.read(name) for name in log.namelist()}
        return found

    before = content()
    (tmp_path / "out" / "bridges-gone.eval").write_text("an agent of an earlier run")
    assert content() == before


def test_a_data_set_for_the_hub_has_parquet_files_and_a_card(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    out = export_hf(folder, tmp_path / "out", Bridges())
    rows = {path.stem: pq.read_table(path).to_pylist() for path in (out / "data").iterdir()}
    scores = [
        (row["measure"], row["agent"], row["sample"], row["epoch"], row["score"]) for row in rows["scores"]
    ]
    assert scores == [
        ("fit", "first", "2", 1, 4.0),
        ("wins_score", "first", "2", 1, 3.0),
        ("fit", "second/b", "2", 1, 4.0),
        ("wins_score", "second/b", "2", 1, 1.0),
        ("fit", "first", "2", 2, 2.0),
        ("fit", "first", "10", 1, None),
    ]
    assert [row["id"] for row in rows["verdicts"]] == ["v1", "v3", "v4", "v5", "v2"]
    assert rows["verdicts"][0]["criteria"] == [{"name": "score", "value": 4.0}]
    assert rows["verdicts"][4]["reason"] == UNREADABLE["reason"]
    assert rows["verdicts"][4]["criteria"] is None
    assert json.loads(rows["verdicts"][1]["details"]) == {"options": ["a", "b"]}
    assert rows["verdicts"][2]["ideas"] == ["i1", "i3"]
    assert rows["verdicts"][2]["cost_usd"] is None
    assert [(row["id"], row["sample"], row["epoch"]) for row in rows["ideas"]] == [
        ("i1", "2", 1), ("i3", "2", 1), ("i4", "2", 2), ("i2", "10", 1),
    ]  # fmt: skip
    assert json.loads(rows["ideas"][0]["experiment"])["steps"] == ["Build", "Measure"]
    card = (out / "README.md").read_text(encoding="utf-8")
    assert card.startswith('---\npretty_name: "Bridges"\n')
    assert "- config_name: verdicts\n  data_files: data/verdicts.parquet\n" in card
    assert r"| Agent | Fit \| to topic | Wins |" in card
    assert "<b>" not in card
    files = {path: path.read_bytes() for path in out.rglob("*.*")}
    assert len(files) == 4
    export_hf(folder, out, Bridges())
    assert {path: path.read_bytes() for path in out.rglob("*.*")} == files


def test_what_cannot_be_exported_is_one_line(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(UsageError, match="There is no benchmark 'bridges'"):
        export_hf(folder, tmp_path / "out")
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be used"):
        export_hf(folder, tmp_path / "file", Bridges())
    (folder / "results.json").unlink()
    with pytest.raises(RunError, match=r"no readable results\.json"):
        export_hf(folder, tmp_path / "out", Bridges())


def test_an_export_without_its_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for export, extra in ((export_inspect, "inspect"), (export_hf, "hf")):
        with pytest.raises(UsageError, match=rf'pip install "ideagora\[{extra}\]"'):
            export(tmp_path, tmp_path)
