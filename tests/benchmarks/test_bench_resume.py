"""A benchmark in processes of its own: killed, out of budget, without its provider, and its help."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ideagora.benchmarks.registry import BENCHMARKS
from tests.support import command, standin
from tests.support.bench_world import BENCHMARK, field
from tests.support.literature_server import LiteratureServer, Work
from tests.support.loopback import Fault, Loopback

RUN = Path("bench")
PRICES = ("--price-prompt", "100", "--price-completion", "100", "--completion-limit", "800")
CONCURRENCY = 4


def arguments(server: Loopback, *agents: str, out: Path = RUN) -> list[str]:
    options = ["--model", "openai/standin", "--api-base", server.base, "--retries", "0", "--no-page"]
    samples = ["--limit", "3", "--ideas", "1", "--only", "i2t,i2i", "--concurrency", str(CONCURRENCY)]
    return ["bench", BENCHMARK, *agents, "--json", "--out", str(out), *options, *samples]


def judged(
    arguments: list[str], home: Path | None = None, env: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Run the command to its end, which has to be a good one; its result."""
    ended = command.run(arguments, {**(env or {}), **({"IDEAGORA_HOME": str(home)} if home else {})})
    assert ended.code == 0, ended.err
    (found,) = json.loads(ended.out)["results"]
    return dict(found)


def timeless(run: Path) -> list[str]:
    """Verdicts and results without what a clock changes."""
    texts = [(run / name).read_text(encoding="utf-8") for name in ("verdicts.jsonl", "results.json")]
    return [re.sub(r'"seconds": ?[\d.]+', '"seconds":0', text) for text in texts]


def test_kill_at_any_moment_changes_nothing_and_asks_nothing_twice(
    model: standin.Model, server: Loopback, home: Path, tmp_path: Path
) -> None:
    contestants = ["direct", *field({"alpha": 3}, samples=range(3))]
    shutil.copytree(home, tmp_path / "home")
    judged(arguments(server, *contestants, out=Path("whole")), home=tmp_path / "home")
    calls = len(set(model.bodies))
    ideas = sum(asked.wanted != "MatchScore" for asked in model.asked)
    assert len(model.bodies) == calls == ideas + 24
    model.asked.clear()
    model.seconds = lambda body: 0.02
    moments = [2, *(ideas + judgements for judgements in (1, 6, 11, 16, 21))]
    for enough in moments:
        running = command.start(arguments(server, *contestants))
        model.wait_for(enough, unless=running.has_ended)
        running.send(signal.SIGKILL)
        assert running.wait().code == -signal.SIGKILL
        model.wait_until_quiet()
    judged(arguments(server, *contestants))
    assert timeless(RUN) == timeless(Path("whole"))
    assert len(set(model.bodies)) == calls
    # what was out when a kill came may be asked again, and nothing else
    assert len(model.bodies) - calls <= len(moments) * CONCURRENCY


def test_kill_changes_no_competition_and_no_feasibility_and_asks_nothing_twice(
    model: standin.Model, server: Loopback, home: Path, tmp_path: Path
) -> None:
    works = [Work("w1", "language models", date="2020", per_year=((2024, 35), (2025, 35)))]
    contestants = field({"alpha": 3, "beta": 4})
    options = ["--limit", "2", "--only", "ic,fa", "--source", "openalex"]
    with LiteratureServer(works) as literature:
        env = {"IDEAGORA_OPENALEX_URL": literature.url("openalex"), "IDEAGORA_EMBEDDER": "hash"}
        shutil.copytree(home, tmp_path / "home")
        whole = [*arguments(server, *contestants, out=Path("whole")), *options]
        result = judged(whole, home=tmp_path / "home", env=env)
        assert {one["kind"]: one["scored"] for one in result["coverage"]} == {"fa": 4, "ic": 4}
        calls = len(model.bodies)
        assert calls == len(set(model.bodies)) == 8
        model.asked.clear()
        model.seconds = lambda body: 0.02
        call = [*arguments(server, *contestants), *options]
        for enough in (1, 4, 7):
            running = command.start(call, env)
            model.wait_for(enough, unless=running.has_ended)
            running.send(signal.SIGKILL)
            running.wait()
            model.wait_until_quiet()
        judged(call, env=env)
    assert timeless(RUN) == timeless(Path("whole"))
    assert len(set(model.bodies)) == calls
    assert len(model.bodies) - calls <= 3 * CONCURRENCY


def test_a_spent_budget_is_3_with_results_so_far_and_more_goes_on(
    model: standin.Model, server: Loopback, home: Path
) -> None:
    contestants = field({"alpha": 3, "beta": 4}, samples=range(3), ideas=2)
    call = [*arguments(server, *contestants), "--ideas", "2", *PRICES]
    stopped = command.run([*call, "--concurrency", "1", "--budget", "1.2"])
    assert (stopped.code, stopped.out) == (3, "")
    assert "budget of $1.20 is spent" in stopped.err
    assert re.search(r"The results so far: .*bench/results\.json", stopped.err)
    (result,) = json.loads((RUN / "results.json").read_text(encoding="utf-8"))
    assert result["status"] == "budget"
    verdicts = len((RUN / "verdicts.jsonl").read_text(encoding="utf-8").splitlines())
    assert 0 < verdicts == sum(kind["scored"] for kind in result["coverage"]) < 48
    assert sum(kind["unasked"] for kind in result["coverage"]) == 48 - verdicts
    complete = {kind["kind"]: 3 - len(kind["incomplete"]) for kind in result["coverage"]}
    assert {(one["measure"], one["n"]) for one in result["figures"]} == {
        (f"{kind}{suffix}", n) for kind, n in complete.items() for suffix in ("", "_single")
    }
    assert judged([*call, "--budget", "100"])["status"] == "complete"
    assert len(model.bodies) == len(set(model.bodies)) == 48


def test_the_budget_is_one_for_ideas_and_judges(server: Loopback, home: Path) -> None:
    call = [*arguments(server, "direct"), *PRICES, "--concurrency", "1"]
    stopped = command.run([*call, "--budget", "0.4"])
    assert (stopped.code, stopped.out) == (3, ""), stopped.err
    assert not (RUN / "verdicts.jsonl").exists()
    result = judged([*call, "--budget", "100"])
    assert (result["status"], result["agents"][0]["samples"]) == ("complete", 3)


def test_a_provider_that_is_away_while_ideas_are_generated_is_4_and_it_goes_on(
    model: standin.Model, server: Loopback, home: Path
) -> None:
    model.reply = lambda body: Fault(503, "out for lunch") if len(model.asked) >= 3 else standin.answer(body)
    call = arguments(server, "direct")
    stopped = command.run([*call, "--concurrency", "1"])
    assert stopped.code == 4
    assert "out for lunch" in stopped.err
    assert json.loads((RUN / "run.json").read_text(encoding="utf-8"))["status"] == "incomplete"
    good = {asked.body for asked in model.asked[:3]}
    model.reply, number = standin.answer, len(model.asked)
    result = judged(call)
    assert (result["status"], result["agents"][0]["missing"]) == ("complete", {})
    assert not any("out for lunch" in note for note in result["notes"])
    assert not good & {asked.body for asked in model.asked[number:]}


def test_it_says_what_it_will_cost_before_it_starts_and_not_again(server: Loopback, home: Path) -> None:
    call = [*arguments(server, *field({"alpha": 3}, samples=range(3))), *PRICES]
    told = command.run(call).err
    assert re.search(r"Expected: at most about 12 calls \(12 to openai/standin\), about \$\d", told), told
    assert "Expected" not in command.run(call).err


def test_offline_a_page_is_written_and_nothing_is_ranked(home: Path) -> None:
    ended = command.run(
        ["bench", "ideabench", "direct", "--limit", "1", "--only", "overlap", "--out", "bench"]
    )
    assert ended.code == 0, ended.err
    assert "Smoke test" in " ".join(ended.out.split())
    assert (RUN / "report.html").exists()
    (result,) = json.loads((RUN / "results.json").read_text(encoding="utf-8"))
    assert result["smoke_test"]
    assert {one["rank"] for one in result["figures"]} == {None}


def test_every_help_teaches_and_the_list_of_benchmarks_is_light() -> None:
    for arguments in ([], [BENCHMARK], ["ideabench"], ["score"], ["fetch"], ["build"]):
        ended = command.run(["bench", *arguments, "--help"])
        assert ended.code == 0, (arguments, ended.err)
        assert "ideagora bench" in ended.out
        if arguments:
            assert "Example" in ended.out, arguments
    assert set(BENCHMARKS) <= set(re.findall(r"[\w-]+", command.run(["bench", "--help"]).out))
    code = (
        "import sys; sys.argv = ['ideagora', 'bench', '--help']\n"
        "from ideagora.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'langgraph', 'litellm', 'chromadb', 'torch', 'jinja2', 'matplotlib', "
        "'httpx', 'pandas'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    light = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert light.returncode == 0, light.stderr
