"""``ideagora bench ideabench`` on published files: targets, references and generated hypotheses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ideagora.commands import bench
from tests.benchmarks.test_ideabench_samples import TARGET, cited, folder_with, write_rows

HYPOTHESES = [
    "A mass that hangs on springs in the deck could take up the motion that wind causes in a bridge.",
    "Cables that tighten by themselves when the wind rises could keep a bridge from swaying at all.",
]


def generated(folder: Path) -> Path:
    """A table of generated hypotheses, as the benchmark's authors publish them."""
    failed = "Error generating hypothesis for paper ID aa11: rate limit"
    rows = [
        {**TARGET, "hypotheses": repr([*HYPOTHESES, failed])},
        {
            **TARGET,
            "paperId": "cc33",
            "title": "Elsewhere",
            "hypotheses": repr(["Bees find their way home."]),
        },
    ]
    return write_rows(folder / "generated.csv", rows)


def test_published_hypotheses_are_judged_on_their_target(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    folder_with(data, [TARGET], [cited(number) for number in range(3)])
    request: dict[str, Any] = {
        "benchmark": "ideabench",
        "benchmark_options": ("indicator=surprise=how unexpected the idea is",),
        "agents": (f"ideas:{generated(tmp_path)}",),
        "data": data,
        "only": ("insight", "overlap"),
        "settings": {"home": tmp_path / "home", "model": "offline", "embedder": "hash"},
        "as_json": True,
        "quiet": True,
        "page": False,
    }
    assert bench.run(bench.Request(**request)) == 0
    output = json.loads(capsys.readouterr().out)
    folder, (result,) = Path(output["run"]), output["results"]
    (agent,) = result["agents"]
    assert (agent["samples"], agent["ideas"]) == (1, 2)
    verdicts = [json.loads(line) for line in (folder / "verdicts.jsonl").read_text("utf-8").splitlines()]
    assert [one["kind"] for one in verdicts] == ["insight_surprise", "overlap", "overlap"]
    assert {one["status"] for one in verdicts} == {"scored"}

    again = {**request, "agents": (), "benchmark": "", "benchmark_options": (), "out": folder, "data": None}
    assert bench.score(bench.Request(**{**again, "only": ("insight",)})) == 0
    (rescored,) = json.loads(capsys.readouterr().out)["results"]
    assert "insight_surprise" in json.dumps(rescored)
