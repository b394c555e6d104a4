"""The command line in the hands of an unkind user: what is refused, how it says so, what it leaves alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ideagora.config import SettingOverrides, Settings
from ideagora.models.embeddings.weights import MINILM
from tests.support import command, standin
from tests.support.each import each_case
from tests.support.loopback import Fault, Loopback

TOPIC = "tool use by language models"
QUICK = ("--branches", "1", "--length", "2", "--refinements", "0")
KEY = "sk-unit0test1key2that3nobody4has"


pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def server() -> Iterator[Loopback]:
    """A server that answers as a model does."""
    with Loopback(standin.answer) as running:
        yield running


def generate(*arguments: str, env: Mapping[str, str | None] | None = None) -> command.Done:
    return command.run(["generate", *arguments, *QUICK, "--json"], env)


def refused(done: command.Done, code: int, *patterns: str, beside: str = r"Expected: .*") -> str:
    """The one line of an error: nothing on stdout, no traceback, and each pattern is in it."""
    assert (done.code, done.out) == (code, ""), done.err
    steps = r"\d+ s  .*"  # without a terminal, a line a step
    lines = [line for line in done.err.splitlines() if not re.fullmatch(f"{steps}|{beside}", line)]
    assert len(lines) == 1, done.err
    assert lines[0].startswith("error: ")
    for pattern in patterns:
        assert re.search(pattern, lines[0]), f"{pattern!r} is not in {lines[0]!r}"
    return lines[0]


def answered(done: command.Done) -> dict[str, Any]:
    """The one JSON object on stdout."""
    assert done.code == 0, done.err
    assert done.out.count("\n") == 1
    found: dict[str, Any] = json.loads(done.out)
    return found


# --- topics -----------------------------------------------------------------------------------


@each_case("topic", ["", "   \n\t ", "?!… --- #", "\u200b\u3000"])
def test_a_topic_without_a_word(topic: str) -> None:
    refused(generate(topic), 2, "The topic is empty", "e\\.g\\.")


def test_a_topic_as_long_as_a_document() -> None:
    refused(generate("word " * 10_000), 1, "10000 words", "the limit is 300 words", "leave out")


@each_case("topic", ["大型语言模型的检索增强生成", "языковые модели и поиск", "검색 증강 생성"])
def test_a_topic_that_the_offline_model_cannot_read(topic: str) -> None:
    refused(generate(topic), 1, "reads English only", topic, "Translate .*--model")


def test_a_real_model_takes_a_topic_in_any_script(server: Loopback) -> None:
    topic = "大型语言模型的检索增强生成"
    found = answered(generate(topic, "--model", "openai/standin", "--api-base", server.base))
    assert [idea["topic"] for idea in found["ideas"]] == [topic]


def test_a_topic_that_nothing_matches(server: Loopback) -> None:
    thin = generate("qzx wvkj yyzt")
    assert "Nearest papers in the library:\n  " in thin.err
    refused(thin, 1, "has nothing on the topic “qzx wvkj yyzt”", "--allow-off-topic", beside="Nearest.*|  .*")
    model = ("--model", "openai/standin", "--api-base", server.base)
    assert answered(generate("qzx wvkj yyzt", "--allow-off-topic", *model))["ideas"]


@pytest.mark.weights
@pytest.mark.slow
def test_a_topic_that_nothing_matches_in_meaning() -> None:
    home = shutil.copytree(command.filled_home(MINILM), "real", symlinks=True)
    real = {"IDEAGORA_EMBEDDER": None, "IDEAGORA_HOME": str(Path(home).absolute())}
    topic = ["generate", "crop rotation on alpine meadows", *QUICK, "--json"]
    thin = command.run_here(topic, real)
    assert len(re.findall(r"(?m)^  .+ \(\d{4}\), similarity 0\.\d\d$", thin.err)) == 5
    refused(thin, 1, "nothing on the topic", "--allow-off-topic", beside="Nearest.*|  .*")
    found = answered(command.run_here([*topic, "--allow-off-topic"], real))
    assert found["ideas"][0]["topic"] == "crop rotation on alpine meadows"


HOSTILE = (
    "[red]tools[/red] [/x] that “use” 'em & <script>alert(1)</script> \x1b[31m **in** `language`\n"
    "models | [a](http://b)"
)


def test_a_topic_is_text_and_nothing_else(server: Loopback) -> None:
    model = ("--model", "openai/standin", "--api-base", server.base)
    found = answered(generate(HOSTILE, *model))
    assert found["ideas"][0]["topic"] == " ".join(HOSTILE.split())
    shown = command.run(["generate", HOSTILE, *QUICK, *model])
    assert shown.code == 0
    assert "\x1b" not in shown.out + shown.err
    run = Path(found["run"])
    assert re.fullmatch(r"[a-z0-9-]+", run.name)
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
    for name in ("report.html", "report.md"):
        assert "\x1b" not in (run / name).read_text(encoding="utf-8")
    outside_code = re.sub(r"(`+).*?\1", "", (run / "report.md").read_text(encoding="utf-8"))
    assert "[a](http" not in outside_code


def test_a_topic_that_is_no_unicode() -> None:
    refused(generate("models \udcff tools"), 2, r"the topic is 'models \\udcff tools'")


# --- options ----------------------------------------------------------------------------------


@each_case(
    "arguments, patterns",
    [
        (["--agent", "chain-of-idea"], ["'chain-of-idea'", "Did you mean chain-of-ideas\\?", "no-trend"]),
        (["--agent", "zzz"], ["'zzz'", "Known: ai-researcher, "]),
        (["--model", "nonsense"], ["unknown model 'nonsense'", "provider/model", "offline"]),
        (["--budget", "-1"], ["--budget is -1", "greater than 0"]),
        (["--branches", "0"], ["--branches is 0", "greater than or equal to 1"]),
        (["--length", "99"], ["--length is 99", "less than or equal to 20"]),
        (["--rewrites", "-1"], ["--rewrites is -1"]),
        (["--before", "soon"], ["--before is 'soon'", "YYYY-MM-DD"]),
        (["--before", "2024-13"], ["--before is '2024-13'"]),
        (["--timeout", "0"], ["--timeout is 0", "greater than 0"]),
        (["--source", "nowhere"], ["unknown source 'nowhere'", "starter"]),
    ],
)
def test_an_option_that_cannot_be(arguments: list[str], patterns: list[str]) -> None:
    refused(command.run(["generate", TOPIC, "--json", *arguments]), 2, *patterns)


def test_an_option_that_is_no_number() -> None:
    done = command.run(["generate", TOPIC, "--branches", "many"])
    assert (done.code, done.out) == (2, "")
    assert "--branches" in done.err
    assert "Traceback" not in done.err


def test_a_model_without_its_key() -> None:
    real = {"IDEAGORA_FORBID_REAL_CALLS": None}
    refused(generate(TOPIC, "--model", "openai/gpt-4o", env=real), 1, "openai/gpt-4o", "Set OPENAI_API_KEY")


def test_a_model_with_markup_in_its_name(server: Loopback) -> None:
    found = answered(generate(TOPIC, "--model", "openai/[/red]", "--api-base", server.base))
    assert found["ideas"][0]["model"] == "openai/[/red]"


def test_neither_a_topic_nor_topics_or_both() -> None:
    Path("topics").write_text("tools", encoding="utf-8")
    refused(generate(), 2, "Give a topic, or --topics FILE")
    refused(generate(TOPIC, "--topics", "topics"), 2, "Give a topic, or --topics FILE")


def test_a_cut_off_before_everything() -> None:
    refused(generate(TOPIC, "--before", "1990"), 1, "no paper that may be used", "--before")


# --- folders ----------------------------------------------------------------------------------


def test_folders_that_cannot_be_made() -> None:
    Path("file").write_text("mine", encoding="utf-8")
    for out in ("file", "file/run"):
        refused(generate(TOPIC, "--out", out), 1, f"{out} cannot be used", "--out")
    refused(generate(TOPIC, "--home", "file/home"), 1, "file/home/runs/.* cannot be used", "--home")
    refused(generate(TOPIC, "--store", "file/store"), 1, "file/store cannot be used", "IDEAGORA_STORE")
    assert Path("file").read_text(encoding="utf-8") == "mine"


def test_a_folder_that_holds_something_else() -> None:
    Path("mine").mkdir()
    Path("mine/report.md").write_text("a report of mine", encoding="utf-8")
    refused(generate(TOPIC, "--out", "mine"), 1, "mine is not empty and is not a run folder", "another --out")
    assert [path.name for path in Path("mine").iterdir()] == ["report.md"]
    assert Path("mine/report.md").read_text(encoding="utf-8") == "a report of mine"


def test_a_folder_that_holds_another_run() -> None:
    answered(generate(TOPIC, "--out", "run"))
    before = {path.name: path.read_bytes() for path in Path("run").iterdir()}
    refused(generate("judging text", "--out", "run"), 1, "a different run", f"“{TOPIC}”", "another --out")
    refused(generate("judging text", "--out", "run", "--fresh"), 1, "a different run")
    assert {path.name: path.read_bytes() for path in Path("run").iterdir()} == before


@pytest.mark.parametrize("limit", [20_000, 100_000])
def test_a_disk_that_is_full(limit: int, home: Path) -> None:
    """Files may not grow beyond the limit, as when the disk is full: one line, and nothing is lost."""
    kept = answered(generate(TOPIC))
    arguments = ["generate", "judging text by language models", "--json"]
    refused(
        command.run(arguments, largest_file=limit), 1, "cannot be used", beside="the vectors of the store.*"
    )
    assert answered(command.run(arguments))["ideas"]
    assert answered(generate(TOPIC)) == kept


def test_a_small_disk() -> None:
    disk = Path("disk").absolute()
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system may be mounted here")
    try:
        done = command.run(["generate", TOPIC, "--json", "--out", str(disk / "run")])
        refused(done, 1, f"{disk}/run cannot be used", "Free space")
        subprocess.run(["mount", "-o", "remount,size=30m", disk], check=True)
        found = answered(command.run(["generate", TOPIC, "--json", "--out", str(disk / "run")]))
        assert json.loads((disk / "run" / "ideas.jsonl").read_text().splitlines()[0]) == found["ideas"][0]
    finally:
        subprocess.run(["umount", disk], check=True)


@each_case("buffered", [True, False])
def test_output_that_nobody_can_take(buffered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is one line; a reader that has left, as in ``… | head``, is none."""
    if buffered:
        monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    else:
        monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    call = [sys.executable, "-m", "ideagora", "version"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(call, stdout=full, stderr=subprocess.PIPE, text=True)
    line = "error: the output cannot be written: No space left on device.\n"
    assert (done.returncode, done.stderr) == (1, line)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(call, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


# --- damaged files ----------------------------------------------------------------------------


def damage(*paths: Path) -> None:
    for path in paths:
        path.write_bytes(b"neither SQLite nor JSON \xff\x00" * 400)


def test_a_damaged_store(home: Path) -> None:
    damage(home / "store" / "records.sqlite")
    refused(generate(TOPIC), 1, f"store in {home}/store cannot be read", "Rename this folder")
    shutil.rmtree(home / "store")
    assert answered(generate(TOPIC))["ideas"]


@each_case(
    "text, patterns",
    [
        (b"model = \n", ["ideagora.toml cannot be read", "line 1"]),
        (b"\xff\xfe\x00", ["ideagora.toml cannot be read", "Fix or remove"]),
        (b'modle = "offline"\n', ["unknown setting 'modle' in ideagora.toml", "Known settings: .*model"]),
        (b'budget = "much"\n', ["budget in ideagora.toml is 'much'"]),
    ],
)
def test_a_damaged_settings_file(text: bytes, patterns: list[str]) -> None:
    Path("ideagora.toml").write_bytes(text)
    refused(generate(TOPIC), 2, *patterns)


def test_damaged_answers_are_set_aside(home: Path, server: Loopback) -> None:
    model = ("--model", "openai/standin", "--api-base", server.base)
    before = answered(generate(TOPIC, *model))
    damage(home / "cache" / "answers.sqlite")
    done = generate(TOPIC, "--fresh", *model)
    assert [idea["id"] for idea in answered(done)["ideas"]] == [idea["id"] for idea in before["ideas"]]
    assert re.search(r"cache of answers was damaged .*the damaged file is kept as .*\.corrupt-", done.err)
    assert list((home / "cache").glob("answers.sqlite.corrupt-*"))


def interrupted(run: Path) -> None:
    """Make a finished run one that was stopped before its end."""
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    (run / "run.json").write_text(json.dumps({**record, "status": "running"}), encoding="utf-8")


def test_damaged_checkpoints_begin_anew_from_the_cache(server: Loopback) -> None:
    call = (TOPIC, "--out", "run", "--model", "openai/standin", "--api-base", server.base)
    before = answered(generate(*call))
    interrupted(Path("run"))
    damage(Path("run/checkpoints.sqlite"))
    asked = server.count
    done = generate(*call)
    assert answered(done) == before
    assert server.count == asked
    assert "the checkpoints in run cannot be read" in done.err


@pytest.mark.parametrize("damaged", ["damage", "remove"])
def test_ideas_that_are_gone_are_made_again(damaged: str) -> None:
    before = answered(generate(TOPIC, "--out", "run"))
    if damaged == "damage":
        damage(Path("run/ideas.jsonl"))
    else:
        Path("run/ideas.jsonl").unlink()
    assert answered(generate(TOPIC, "--out", "run")) == before


def test_a_damaged_record_of_the_run(server: Loopback) -> None:
    asked = (TOPIC, "--out", "run", "--model", "openai/standin", "--api-base", server.base)
    before = answered(generate(*asked))
    damage(Path("run/run.json"))
    again = generate(*asked)
    assert answered(again) == before
    assert "run.json" in again.err
    assert list(Path("run").glob("run.json.*"))


def test_unicode_line_ends_in_what_a_model_says(server: Loopback) -> None:
    """They end a line for ``str.splitlines``, and JSON leaves them as they are."""
    server.handler = lambda body: standin.answer(body).replace("part 0", "\u2028 \u0085 \u2029 part 0")
    call = (TOPIC, "--out", "run", "--model", "openai/standin", "--api-base", server.base)
    before = answered(generate(*call))
    assert "\u2028" in before["ideas"][0]["method"]
    assert answered(generate(*call)) == before


# --- topics from a file -----------------------------------------------------------------------


@each_case(
    "content, patterns",
    [
        (b"\x89PNG\xff\x00", ["cannot be read", "not UTF-8 text"]),
        (b"", ["has no topic"]),
        (b"\n  \n", ["has no topic"]),
        (b'tools\n{"topic": "x"\n', ["line 2: it is not valid JSON"]),
        (b'\n{"topics": "x"}', ["line 2: has no field “topic”"]),
        (b'{"topic": "tools", "before": "x"}', ["line 1: --before is 'x'"]),
        (b'{"topic": "tools", "banned": "x"}', ["line 1: excluded is 'x'"]),
        (b"tools\n...\n", ["line 2: The topic is empty"]),
    ],
)
def test_a_file_of_topics_that_cannot_be(content: bytes, patterns: list[str]) -> None:
    Path("topics").write_bytes(content)
    refused(generate("--topics", "topics"), 2, "topics", *patterns)


def test_a_file_of_topics_that_is_not_there() -> None:
    refused(generate("--topics", "topics"), 2, "--topics topics cannot be read: No such file")
    refused(generate("--topics", "."), 2, "--topics . cannot be read: Is a directory")


def test_two_topics_of_which_one_is_thin() -> None:
    Path("topics").write_text(f'qzx wvkj yyzt\n{{"topic": "{TOPIC}", "before": "2024"}}\n', encoding="utf-8")
    done = generate("--topics", "topics", "--out", "runs")
    found = json.loads(done.out)
    assert done.code == 1
    assert [idea["topic"] for idea in found["ideas"]] == [TOPIC]
    assert found["run"] == "runs"
    thin, fine = found["runs"]
    assert "nothing on the topic" in thin["error"]
    assert "error" not in fine
    assert Path(fine["run"], "report.html").exists()
    assert re.search(r"“qzx wvkj yyzt” error: The library has nothing on the topic", done.err)
    dates = [link["paper"]["date"] for link in found["ideas"][0]["chain"]["links"]]
    assert max(dates) < "2024"


def test_a_ban_holds_for_topics_with_bans_of_their_own() -> None:
    anchor = answered(generate(TOPIC))["ideas"][0]["chain"]["anchor"]
    line = {"topic": TOPIC, "banned": ["Some other paper"]}
    Path("topics").write_text(json.dumps(line), encoding="utf-8")
    done = generate("--topics", "topics", "--exclude", anchor, "--out", "runs")
    assert anchor not in json.dumps(answered(done)["ideas"])


# --- keys -------------------------------------------------------------------------------------


def test_no_key_in_any_file_or_line(server: Loopback, home: Path) -> None:
    call = (TOPIC, "--out", "run", "--model", "openai/standin", "--api-base", server.base)
    keyed = {"OPENAI_API_KEY": KEY}
    good = generate(*call, env=keyed)
    assert answered(good)["ideas"]
    assert any(KEY in str(request.headers) for request in server.requests), "the key was not sent"
    server.handler = lambda body: Fault(401, f"Incorrect API key provided: {KEY}")
    bad = generate(TOPIC, "--out", "bad", *call[3:], "--seed", "5", "--home", "new", env=keyed)
    assert bad.code == 1
    assert "OPENAI_API_KEY" in bad.err
    assert KEY not in good.out + good.err + bad.out + bad.err
    written = [path for top in (Path("run"), Path("bad"), Path("new"), home) for path in top.rglob("*")]
    assert [path for path in written if path.is_file() and KEY.encode() in path.read_bytes()] == []


# --- help and the small commands --------------------------------------------------------------


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\nfrom ideagora.cli.main import main\n"
        "sys.argv = ['ideagora', '--help']\n"
        "try:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0
    assert "generate" in done.stdout
    heavy = (
        "pydantic numpy torch chromadb litellm langgraph langchain_core sentence_transformers jinja2 httpx"
    )
    assert set(heavy.split()) & set(done.stderr.split()) == set()


@each_case("name", [[], ["generate"], ["agents"], ["doctor"], ["version"]])
def test_help_teaches_by_example(name: list[str]) -> None:
    done = command.run([*name, "--help"])
    assert done.code == 0
    told = re.search(r"(First steps|Examples?):\s+ideagora (\w+)", done.out)
    assert told
    assert not name or told[2] == name[0]


@pytest.mark.parametrize(
    ("arguments", "new"),
    [
        (["arena", "direct", "--certainty", "0.9"], "--confidence"),
        (["arena", "direct", "--verdicts=8"], "--max-comparisons"),
        (["arena", "direct", "--ban", "a paper"], "--exclude"),
        (["generate", "x", "--ban", "a paper", "--ban=another"], "--exclude"),
        (["generate", "x", "--allow-thin"], "--allow-off-topic"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_old_option_names_still_work(arguments: list[str], new: str, as_json: bool) -> None:
    done = command.run([*arguments, "--topics", "missing.txt", *(["--json"] if as_json else [])])
    old = next(argument for argument in arguments if argument.startswith("--")).partition("=")[0]
    hint, *errors = done.err.splitlines()
    assert hint == f"hint: {old} is now {new}; the old name will be removed in the next version."
    assert "hint" not in "".join(errors)
    assert "No such option" not in done.err
    assert done.out == ""


def test_old_option_names_are_hidden() -> None:
    for name in ("arena", "generate"):
        shown = command.run([name, "--help"]).out
        assert not [old for old in ("--ban", "--allow-thin", "--certainty", "--verdicts") if old in shown]
    assert "No such option" in command.run(["generate", "x", "--certainty", "0.9"]).err


def test_a_value_after_the_double_dash_is_no_option() -> None:
    done = command.run(["arena", "--topics", "missing.txt", "--", "--ban"])
    assert "hint" not in done.err


def test_commands_share_their_help_panels() -> None:
    panels = {
        name: re.findall(r"╭─ ([\w ]+?) ─", command.run([name, "--help"]).out)
        for name in ("generate", "arena")
    }
    shared = ["Agents", "Models", "Cost and limits", "Literature", "Reproducibility", "Output"]
    assert panels["generate"] == ["Arguments", "Options", "Agents", "Steer the ideas", *shared[1:]]
    assert panels["arena"] == ["Arguments", "Options", "Contestants", "Judging", "Figures", *shared[1:]]


def test_agents_as_json() -> None:
    rows = json.loads(command.run(["agents", "--json"]).out)
    assert [row["name"] for row in rows] == sorted(row["name"] for row in rows)
    assert {"direct", "rag", "real-paper"} < {row["name"] for row in rows}
    chains = [row for row in rows if row["name"].startswith("chain-of-ideas")]
    assert [row["name"].removeprefix("chain-of-ideas") for row in chains] == [
        "",
        "/no-chain",
        "/no-entities",
        "/no-trend",
    ]
    for row in chains:
        assert "2410.13185" in row["source"]
        assert isinstance(row["calls"], int)
        assert "explore_branch" in row["steps"]
    calls = {row["name"]: row["calls"] for row in rows}
    assert calls["chain-of-ideas/no-chain"] < calls["chain-of-ideas/no-trend"] < calls["chain-of-ideas"]


def test_the_steps_of_an_agent_are_its_graphs() -> None:
    from ideagora.registry import AGENTS, find_agent

    for name in AGENTS:
        agent = find_agent(name)
        assert set(agent.steps) <= set(agent.build().nodes)


@each_case(
    "arguments, env, what",
    [
        (["--home", "file/home"], {}, "home"),
        ([], {"IDEAGORA_MODEL": "nonsense"}, "model"),
        ([], {"IDEAGORA_MODEL": "openai/gpt-4o", "IDEAGORA_FORBID_REAL_CALLS": ""}, "model"),
        ([], {"IDEAGORA_BUDGET": "much"}, "settings"),
        ([], {"IDEAGORA_EMBEDDER": "./nowhere"}, "embedder"),
    ],
)
def test_doctor_finds_what_is_missing(arguments: list[str], env: dict[str, str], what: str) -> None:
    Path("file").touch()
    done = command.run(["doctor", "--json", *arguments], env)
    told = json.loads(done.out)
    assert (done.code, told["ok"]) == (1, False)
    assert what in [finding["what"] for finding in told["findings"] if finding["state"] == "missing"]
    assert "miss  " in command.run(["doctor", *arguments], env).out


def test_doctor_is_content(home: Path) -> None:
    done = command.run(["doctor", "--json"])
    told = json.loads(done.out)
    assert (done.code, told["ok"]) == (0, True)
    (store,) = [finding["message"] for finding in told["findings"] if finding["what"] == "store"]
    assert re.match(r"\d+ papers in ", store)
    assert "Ready: ideagora generate" in command.run(["doctor"]).out


def test_version_is_the_packages() -> None:
    import ideagora

    assert command.run(["version"]).out == f"{ideagora.__version__}\n"


def test_options_override_settings_that_exist() -> None:
    assert set(SettingOverrides.__annotations__) <= set(Settings.model_fields)
