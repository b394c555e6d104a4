"""Sources from outside: found by name, checked for what they do, and used beside the others."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from ideagora.config import Settings
from ideagora.errors import SettingsError, SourceUnavailable
from ideagora.retrieval.clients import plugin as plugged_module
from ideagora.retrieval.clients.conformance import REQUIREMENTS, Requirement, check_requirement, check_source
from ideagora.retrieval.clients.plugin import PluginSource, load_plugin
from ideagora.retrieval.factory import open_library
from ideagora.schema import Paper
from tests.support.command import run
from tests.support.each import each_case

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "own_source.py"
SPEC = f"{EXAMPLE}:Notes"
PAPERS: list[dict[str, object]] = [
    {"id": f"mine:{n}", "title": f"A paper on ideas {n}", "abstract": "Ideas.", "date": "2020"}
    for n in range(3)
]


def outcomes(results: Any) -> dict[str, str]:
    return {one.requirement: one.outcome for one in results}


# --- the example --------------------------------------------------------------------------------


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 40


@each_case("one", REQUIREMENTS)
async def test_the_example_does_what_is_demanded(one: Requirement) -> None:
    await check_requirement(one, load_plugin(SPEC), "bridges")


def test_the_check_and_a_run_on_the_command_line(tmp_path: Path) -> None:
    env = {"IDEAGORA_EMBEDDER": "hash", "IDEAGORA_HOME": str(tmp_path)}
    done = run(["library", "check", SPEC, "--query", "bridges"], env)
    assert done.code == 0, done.err
    assert "pass  search finds papers" in done.out
    assert "none  papers are recommended" in done.out
    assert "notes can be used as --source." in done.out
    made = run(
        [
            "generate", "bridges that widen", "--source", f"starter,{SPEC}", "--allow-off-topic", "--json",
            "--branches", "1", "--quiet",
        ],
        env,
    )  # fmt: skip
    assert made.code == 0, made.err
    idea = json.loads(made.out)["ideas"][0]
    assert "notes" in {link["paper"]["source"] for link in idea["chain"]["links"]}


# --- what is wrong with it ----------------------------------------------------------------------


class Sloppy:
    """Everything that can be done wrongly."""

    def __init__(self) -> None:
        self.times = 0

    def search(self, query: str, k: int) -> list[dict[str, object]]:
        self.times += 1
        records: list[dict[str, object]] = [*PAPERS, {"id": "7", "title": "Ideas without an owner"}]
        return records[:: (-1) ** self.times]

    def paper(self, paper_id: str) -> dict[str, object]:
        return PAPERS[0]

    def references(self, paper_id: str) -> list[object]:
        raise KeyError(paper_id)

    def citations_per_year(self, paper_id: str) -> object:
        return "many"


async def test_each_fault_is_reported_with_how_to_fix_it() -> None:
    results = await check_source(Sloppy(), "ideas")
    messages = {one.requirement: one.message for one in results if one.outcome == "failed"}
    assert set(messages) == {
        "search returns at most k",
        "the same search returns the same papers",
        "records have an id of their own and a title",
        "paper accepts the ids that search returns",
        "an unknown id returns nothing",
        "batch returns the same as paper",
        "references and citations are offered",
        "citations are counted by year",
    }
    assert "returned 4 papers. Return at most k" in messages["search returns at most k"]
    assert "mine:7" in messages["records have an id of their own and a title"]
    assert "KeyError: 'mine:" in messages["references and citations are offered"]
    with pytest.raises(AssertionError, match="sort ties by id"):
        await check_requirement(REQUIREMENTS[3], Sloppy(), "ideas")


@each_case(
    "answer, why",
    [
        ("text", "not a list of papers"),
        ({"title": "one"}, "not a list of papers"),
        ([7], "not a paper"),
        ([{"titel": "A title"}], "unknown field 'titel'"),
        ([{"title": "A", "authors": 7}], "invalid paper"),
        (
            ValueError("boom sk-abcdefghijklmnop1234"),
            r"did not respond: search raised ValueError: boom \[key removed\]",
        ),
    ],
)
async def test_an_answer_that_cannot_be_used_is_no_answer(answer: object, why: str) -> None:
    class Odd:
        async def search(self, query: str, k: int) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

    with pytest.raises(SourceUnavailable, match=why):
        await PluginSource("odd", Odd()).search("ideas", 3)


async def test_records_come_in_either_form_and_ids_are_made() -> None:
    class Mixed:
        name = "mixed, or so"

        def search(self, query: str, k: int) -> Any:
            yield Paper(id="mine:1", title="Whole")
            yield {"title": "By arXiv", "arxiv_id": "2201.11903v2", "id": "mine:2", "date": "2022-02-31"}
            yield {"title": "By title only"}

    whole, arxiv, bare = await PluginSource("m:Mixed", Mixed()).search("ideas", 9)
    assert (whole.id, whole.source) == ("mine:1", "mixed  or so")
    assert (arxiv.id, arxiv.other_ids, arxiv.date) == ("arxiv:2201.11903", ("mine:2",), "2022-02")
    assert bare.id.startswith("title:")
    lacking = PluginSource("m:Mixed", Mixed())
    assert await lacking.paper("mine:1") is None
    assert await lacking.recommended("mine:1", 3) is None
    assert not lacking.has_citations


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nowhere.py:Source", "file not found: nowhere.py"),
        ("no_such_module:Source", "cannot import no_such_module"),
        (f"{EXAMPLE}:Nobody", "has no 'Nobody'"),
        (f"{EXAMPLE}:PAPERS", r"has no search\(query, k\)"),
        ("json:loads", "the source cannot be created"),
        ("broken.py:Source", "NameError"),
    ],
)
def test_a_source_that_cannot_be_loaded_is_named(name: str, why: str, tmp_path: Path) -> None:
    Path("broken.py").write_text("Source = undefined\n")
    with pytest.raises(SettingsError, match=why) as raised:
        open_library(Settings(home=tmp_path, embedder="hash", source=f"starter,{name}"))
    assert "ideagora library check" in str(raised.value)


def test_an_installed_source_goes_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution as pip leaves it: its entry points are found where Python looks for packages."""
    info = tmp_path / "site" / "notes_source-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: notes-source\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ideagora.sources]\nfield-notes = field_notes:Notes\n")
    (tmp_path / "site" / "field_notes.py").write_text(EXAMPLE.read_text())
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    plugged_module.installed_sources.cache_clear()
    try:
        assert metadata.entry_points(group="ideagora.sources").names == {"field-notes"}
        with open_library(Settings(home=tmp_path, embedder="hash", source="field-notes")):
            pass
        with pytest.raises(SettingsError, match="field-notes"):
            open_library(Settings(home=tmp_path, embedder="hash", source="field-nodes"))
    finally:
        plugged_module.installed_sources.cache_clear()


# --- manners of foreign code ------------------------------------------------------------------


@pytest.mark.parametrize("made", ["sys.exit(3)", "def Notes(): sys.exit(3)"])
def test_a_source_that_wants_to_end_the_command_is_named(made: str, tmp_path: Path) -> None:
    (tmp_path / "quits.py").write_text(f"import sys\n{made}\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"SystemExit: 3"):
        load_plugin(f"{tmp_path / 'quits.py'}:Notes")


async def test_a_search_that_wants_to_end_the_command_is_no_answer() -> None:
    class Quits:
        def search(self, query: str, k: int) -> list[Paper]:
            raise SystemExit(3)

    with pytest.raises(SourceUnavailable, match="SystemExit"):
        await PluginSource("x:Quits", Quits()).search("ideas", 1)


def test_what_a_source_prints_is_not_on_stdout(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(
        "import os\n"
        "class Noisy:\n"
        "    def search(self, query, k):\n"
        "        print('noise')\n"
        "        os.write(1, b'noise')\n"
        f"        return {PAPERS!r}[:k]\n",
        encoding="utf-8",
    )
    spec = f"{tmp_path / 'noisy.py'}:Noisy"
    env = {"IDEAGORA_HOME": str(tmp_path / "home"), "IDEAGORA_EMBEDDER": "hash"}
    for arguments in (["library", "check", spec], ["generate", "ideas", "--agent", "rag", "--source", spec]):
        done = run([*arguments, "--json"], env)
        assert json.loads(done.out), done.err
        assert "noise" in done.err


async def test_a_source_that_ends_the_process_is_down(tmp_path: Path) -> None:
    place = Path.cwd()
    body = "class S:\n    def search(self, query, k):\n        os.chdir('/')\n        os._exit(0)\n"
    (tmp_path / "quits.py").write_text(f"import os\n{body}")
    (tmp_path / "never.py").write_text("import os\n\nos._exit(0)\n")
    with pytest.raises(SourceUnavailable, match=r"os\._exit"):
        await load_plugin(f"{tmp_path}/quits.py:S").search("bridges", 3)
    assert Path.cwd() == place
    with pytest.raises(SettingsError, match=r"os\._exit"):
        load_plugin(f"{tmp_path}/never.py:S")


async def test_no_key_comes_in_with_the_papers_of_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-0123456789abcdefghijklmn"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    fields: dict[str, Any] = {"id": "mine:1", "title": f"On {key}", "abstract": key, "authors": [key]}

    class Echo:
        def search(self, query: str, k: int) -> list[Any]:
            return [fields, Paper(source="echo", **fields)]

    for paper in await PluginSource("echo", Echo()).search("bridges", 3):
        assert key not in paper.model_dump_json()
        assert paper.title == "On [key removed]"
