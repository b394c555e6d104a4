"""The examples of docs/benchmarks.md run, and what breaks in an own benchmark is said in one line."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from ideagora.benchmarks.registry import find_benchmark
from ideagora.commands.bench import Request, results_of, run
from ideagora.errors import UsageError

ROOT = Path(__file__).parents[2]
OWN = f"{ROOT}/examples/own_benchmark/benchmark.py:Falsifiability"

pytestmark = pytest.mark.usefixtures("home")


def test_an_own_benchmark_has_scores_for_every_agent() -> None:
    (result,) = results_of(
        Request(OWN, agents=("direct", "rag"), quiet=True, page=False, settings={"embedder": "hash"})
    )
    figures = {one.agent: one for one in result.figures}
    assert set(figures) == {"direct", "rag"}
    assert all(one.n == 3 and 1 <= (one.mean or 0) <= 5 for one in figures.values())


def test_three_agents_are_compared_in_the_two_tables_of_the_paper(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEAGORA_EMBEDDER", "hash")
    path = ROOT / "examples" / "compare_on_ai_idea_bench.py"
    spec = importlib.util.spec_from_file_location("compare", path)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.main("2")
    first, second = capsys.readouterr().out.split("**Table 2")
    for table, measures in ((first, ("I2T", "I2I", "IMCQ")), (second, ("IC", "NA", "FA", "FPS"))):
        assert all(name in table for name in (*measures, "direct", "rag", "chain-of-ideas"))


def test_what_is_not_a_benchmark_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "from ideagora.benchmarks.benchmark import Benchmark\n"
        "class Unfinished(Benchmark):\n    name = 'x'\n"
        "thing = 3\n"
        "class Elsewhere(Benchmark):\n    name = '../x'\n    load = topic = questions = scores = None\n"
    )
    for name, part in (
        ("Unfinished", "abstract method"),
        ("thing", "is not a benchmark"),
        ("gone", "gone"),
        ("Elsewhere", "has the name '../x'"),
    ):
        with pytest.raises(UsageError, match=part) as error:
            find_benchmark(f"{file}:{name}")
        assert "\n" not in str(error.value)


def test_an_error_in_a_method_of_an_own_benchmark_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example = Path(OWN.partition(":")[0])
    head = f"import sys; sys.path.insert(0, {str(example.parent)!r})\nfrom benchmark import *\n"
    broken = "def broken(*arguments): raise KeyError('x')\n"
    for method, part in {
        "questions": "failed on the sample",
        "scores": "failed (KeyError",
        "prepare": "failed (KeyError",
        "topic": "failed (KeyError",
        "answer": "failed on a question of falsifiable on",
    }.items():
        file = tmp_path / f"own_{method}.py"
        body = (
            f"    {method} = broken\n"
            if method != "answer"
            else (
                "    def questions(self, *arguments):\n"
                "        from dataclasses import replace\n"
                "        return [replace(one, answer=broken) for one in super().questions(*arguments)]\n"
            )
        )
        file.write_text(f"{head}{broken}class Own(Falsifiability):\n{body}")
        request = Request(f"{file}:Own", agents=("direct",), limit="1", quiet=True, page=False,
                          out=tmp_path / method, settings={"embedder": "hash"})  # fmt: skip
        assert run(request) == 2, method
        err = capsys.readouterr().err
        assert part in " ".join(err.split()), (method, err)
        assert "Traceback" not in err, method


def test_an_own_benchmark_that_cannot_load_its_data_set_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.jsonl").write_text('{"id": 1}\n')
    (tmp_path / "none.jsonl").touch()
    cases = {"bad": "failed on --data", "gone": "failed on --data", "none": "has no sample"}
    for name, part in cases.items():
        assert run(Request(OWN, agents=("direct",), data=tmp_path / f"{name}.jsonl")) == 2, name
        assert part in " ".join(capsys.readouterr().err.split()), name
