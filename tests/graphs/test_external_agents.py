"""Agents from outside: the ways in, what they get, what they may return, and what bad ones cost."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

from ideagora.config import Settings
from ideagora.errors import (
    AgentFailed,
    BudgetExhausted,
    IdeagoraError,
    ModelUnavailable,
    UnreadableAnswer,
    UsageError,
)
from ideagora.graphs.agent import Agent
from ideagora.graphs.event_log import read_events
from ideagora.graphs.external import python_agent
from ideagora.graphs.external.answer_schema import build_model
from ideagora.graphs.external.command.subprocess import CommandSession, environment
from ideagora.graphs.external.in_process import stdout_guard
from ideagora.graphs.external.loading.entry_points import installed_agents
from ideagora.graphs.external.python_process import agent_process, child, child_context, describe
from ideagora.graphs.external.python_process.location import AgentLocation, make_order
from ideagora.graphs.run_folder import RunFolder
from ideagora.graphs.runtime.job import RunResources
from ideagora.graphs.task import Task, run_task
from ideagora.models.chat_models import ScriptedChatModel
from ideagora.registry import find_agent
from ideagora.report.run.write import write_report
from ideagora.retrieval.factory import open_library
from ideagora.retrieval.library import Library
from ideagora.schema import Idea, Topic
from ideagora.schema.events import Event
from tests.support import command, external_agents
from tests.support.each import each_case
from tests.support.loopback import Fault, Loopback

TOPIC = "tool use by language models"
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
OWN = "tests.support.external_agents"
WAYS = {
    "function": f"{EXAMPLES}/own_function.py:ideate",
    "graph": f"{EXAMPLES}/own_graph.py:Agent",
    "command": f"command:{sys.executable} {EXAMPLES}/own_command.py",
    "ideas": f"ideas:{EXAMPLES}/own_ideas.jsonl",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    home = tmp_path_factory.mktemp("library") / "home"
    shutil.copytree(command.filled_home(), home)
    with open_library(Settings(home=home, embedder="hash")) as opened:
        yield opened


Ran = tuple[list[Idea], Mapping[str, Any], list[Event]]
Run = Callable[..., Any]


def described_here(location: AgentLocation) -> Any:
    """A description without a process of its own, for the agents of ``OWN``."""
    if location.spec.startswith(f"{OWN}:"):
        return child.description_of(make_order(location))
    return describe.describe_agent(location)


@pytest.fixture
def run(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run an agent; gives ideas, ``run.json`` and events."""
    monkeypatch.setattr(python_agent, "describe_agent", described_here)

    async def run(
        thing: str | Agent,
        topic: Topic | None = None,
        folder: str = "run",
        chats: Any = None,
        **settings: Any,
    ) -> Ran:
        chosen = Settings(embedder="hash", **{"home": tmp_path / "home", "agent_timeout": 30, **settings})
        agent = thing if isinstance(thing, Agent) else find_agent(thing if ":" in thing else f"{OWN}:{thing}")
        task = Task(topic or Topic(text=TOPIC), agent, agent.options, chosen)
        with RunFolder(tmp_path / folder, task.identity) as held:
            resources = RunResources(lambda: library.embedder, lambda event: None, chats)
            ideas, _ = await run_task(task, held, library, resources)
            return ideas, held.read() or {}, [*held.events()]

    return run


# --- the ways in ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WAYS)
async def test_every_way_gives_ideas_that_make_a_report(kind: str, run: Run, tmp_path: Path) -> None:
    ideas, record, events = await run(WAYS[kind])
    agent = find_agent(WAYS[kind])
    assert record["status"] == "done"
    assert record["failures"] == []
    assert {idea.agent for idea in ideas} == {agent.name}
    assert str(EXAMPLES) not in agent.name, "a name tells no folder"
    assert all(idea.references for idea in ideas[:1])
    assert not any("unknown_references" in idea.extra for idea in ideas)
    assert {event["step"] for event in events if event["event"] == "step"} == set(agent.steps)
    write_report(tmp_path / "run")
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert ideas[0].title in page
    assert ("offline model" in page) == (kind != "ideas"), "who asked no model has nothing from it"


@each_case("name", ["own_function.py", "own_graph.py", "own_command.py"])
def test_an_example_has_at_most_thirty_lines_and_is_what_agents_new_writes(name: str) -> None:
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 30
    kind = name.removeprefix("own_").removesuffix(".py")
    written = ROOT / "ideagora" / "commands" / "starting_points" / f"{kind}.txt"
    assert written.read_text(encoding="utf-8") == text


async def test_an_agent_object_and_its_maker_come_in_by_the_same_door(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "made.py"
    file.write_text(
        "from ideagora.graphs.agent import Agent\nfrom ideagora.registry import find_agent\n"
        f"def make() -> Agent:\n    return find_agent('{OWN}:good')\nAGENT = make()\n",
        encoding="utf-8",
    )
    for name in ("make", "AGENT"):
        agent = find_agent(f"{file}:{name}")
        assert (agent.name, type(agent)) == (f"made.py:{name}", Agent)
        ideas, _, _ = await run(f"{file}:{name}", folder=name)
        assert [idea.title for idea in ideas] == ["A title"]


def test_an_installed_package_brings_an_agent_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "theirs-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 2.0\n", encoding="utf-8")
    points = ["theirs = theirs:ideate", "broken = theirs:nowhere", "chain-of-ideas = theirs:ideate"]
    (info / "entry_points.txt").write_text("[ideagora.agents]\n" + "\n".join(points) + "\n", encoding="utf-8")
    code = 'def ideate(topic):\n    "Theirs."\n    return [{"title": "Theirs", "method": "m"}]\n'
    (tmp_path / "theirs.py").write_text(code, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]]))
    listed = subprocess.run(
        [sys.executable, "-m", "ideagora", "agents", "--json"], capture_output=True, text=True, check=True
    )
    rows = {row["name"]: row for row in json.loads(listed.stdout)}
    assert (rows["theirs"]["source"], rows["theirs"]["steps"]) == ("theirs 2.0: theirs:ideate", ["ideate"])
    assert rows["theirs"]["calls"] is None
    assert "cannot be loaded" in rows["broken"]["error"]
    assert rows["chain-of-ideas"]["calls"] == 45
    assert "built-in" in rows["chain-of-ideas (hidden)"]["error"]
    assert not installed_agents(), "this process sees only what is installed for it"


@each_case(
    "thing, says",
    [
        ("chain-of-idea", "Did you mean chain-of-ideas?.*path.py:object.*'command:PROGRAM.*ideas:FILE"),
        ("own.py", "own.py:OBJECT, with the name of the function or class"),
        ("ideas.jsonl", "Write ideas:ideas.jsonl"),
        ("nowhere.py:x", "nowhere.py cannot be read: No such file"),
        ("no_such_module_here:x", "no module 'no_such_module_here'"),
        (f"{OWN}:hang", f"Did you mean {OWN}:hangs"),
        (f"{OWN}:five", "which is not an agent"),
        (f"{OWN}:", "does not name an object"),
        (f"{OWN}:wants_a_database", "requires 'database'"),
        (f"{OWN}:NeedsArguments", "without arguments"),
        (f"{OWN}:NoGraph", "is of type int"),
        (f"{OWN}:CompiledGraph", "that is not compiled"),
        ("command:", "does not name a program"),
        ("command:no-such-program x", "There is no executable program 'no-such-program'"),
        ("command:echo 'x", "Check the quotes"),
        ("ideas:nowhere.jsonl", "No ideas found for 'nowhere.jsonl'.*ideagora ideas import"),
        ("ideas:", "does not name a file"),
    ],
)
def test_what_cannot_be_found_is_refused_with_what_to_do(thing: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        find_agent(thing)


def test_a_program_named_by_its_file_is_told_how_to_be_run() -> None:
    Path("ask.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"is a file.*'command:PROGRAM ask\.sh'"):
        find_agent("ask.sh")


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("def ideate(:", "line 1"),
        ("async def ideate():\n    yield 1\n    return []", "line 3.*plain return"),
        ("1/0", r"ZeroDivisionError: division by zero \(broken.py, line 1\)"),
        ("import nothing_like_this", "Install what it imports"),
        ("import sys; sys.exit(4)", "SystemExit: 4"),
        ("ideate = None", "which is not an agent"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_refused_with_the_reason(
    code: str, says: str, tmp_path: Path
) -> None:
    file = tmp_path / "broken.py"
    file.write_text(code, encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        find_agent(f"{file}:ideate")


def test_changed_code_is_another_run(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    identities = []
    for title in ("one", "two", "one"):
        file.write_text(
            f"def ideate():\n    return [{{'title': '{title}', 'method': 'm'}}]\n", encoding="utf-8"
        )
        agent = find_agent(f"{file}:ideate")
        identities.append(Task(Topic(text=TOPIC), agent, agent.options, Settings()).identity)
    assert identities[0] == identities[2] != identities[1]


# --- what an agent gets -----------------------------------------------------------------------


def test_asyncio_that_another_thread_is_importing_is_no_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncio", ModuleType("asyncio"))
    assert not child_context._runs_event_loop()


async def test_a_function_reads_the_library_the_same_in_both_colours(run: Run) -> None:
    plain, _, _ = await run("looks", folder="plain")
    side_by_side, _, _ = await run("looks_async", folder="async")
    assert plain[0].references == side_by_side[0].references
    assert len(plain[0].references) > 3
    assert plain[0].method == side_by_side[0].method
    assert plain[0].extra == {"missing": None}
    assert {paper.id for paper in plain[0].neighbours} == set(plain[0].references)


async def test_no_path_shows_what_the_topic_forbids_or_names_it(run: Run) -> None:
    topic = Topic(text=TOPIC, before="2023-06-01", excluded=("Toolformer", "arxiv:2302.04761"))
    ideas, record, _ = await run("asks_for_the_banned", topic)
    extra = ideas[0].extra
    assert (extra["found"], extra["banned"]) == ([], [])
    assert extra["latest"] < "2023-06"
    assert extra["unknown_references"] == ["arxiv:2302.04761"]
    assert ideas[0].references == ()
    assert "arxiv:2302.04761" in {held["id"] for held in record["held_back"]}
    free, _, _ = await run("asks_for_the_banned", folder="free")
    assert free[0].extra["found"], "without the ban it is found by every path"


async def test_the_model_door_counts_caches_and_keeps_samples_apart(run: Run) -> None:
    def reply(call: Any) -> str:
        return (
            f"reply to {call.role}" if "JSON" not in call.messages[-1][1] else '{"title": "T", "method": "M"}'
        )

    chat = ScriptedChatModel(replies=reply, cost_usd=0.01)
    ideas, record, events = await run("asks", chats={"scripted": chat}, model="scripted", seed=7)
    name = f"{OWN}:asks"
    assert ideas[0].extra == {"texts": [f"reply to plugin:{name}"] * 3, "seed": 7}
    assert (ideas[0].title, ideas[0].method, ideas[0].model) == ("T", "M", "scripted")
    assert len(chat.calls) == 3, "the same prompt is asked once"
    assert record["usage"]["roles"][f"plugin:{name}"]["calls"] == 3
    assert ideas[0].usage.cost_usd == pytest.approx(0.03)
    assert any(message == ("system", "Be brief.") for call in chat.calls for message in call.messages)
    assert {event["label"] for event in events if event["event"] == "call"} == {"shared"}


async def test_free_text_is_asked_again_when_there_is_none(run: Run) -> None:
    replies = iter(["<think>hm</think>", "I'm sorry, I can't help with that.", "At last."])
    texts: list[str] = []

    def reply(call: Any) -> str:
        texts.append(call.messages[-1][1])
        return next(replies, '{"title": "T", "method": "M"}')

    ideas, _, _ = await run("asks", chats={"scripted": ScriptedChatModel(replies=reply)}, model="scripted")
    assert ideas[0].extra["texts"][0] == "At last."
    assert "JSON" not in texts[1]


async def test_the_offline_model_answers_from_the_prompt_alone(run: Run) -> None:
    ideas, record, _ = await run("asks")
    prompt = f"A first sentence on {TOPIC}. A second one on search. A third on judges. A fourth."
    assert all(text in prompt for text in ideas[0].extra["texts"])
    assert ideas[0].title in prompt
    assert ideas[0].method in prompt
    assert record["offline"] is True


async def test_the_offline_model_tells_what_is_asked_from_the_material(run: Run) -> None:
    for way in ("function", "graph", "command"):
        ideas, _, _ = await run(WAYS[way], folder=way)
        assert "Propose" not in ideas[0].title + ideas[0].method


async def test_a_spent_budget_stops_even_who_swallows_it(run: Run) -> None:
    priced = {"scripted": FakeListChatModel(responses=["never asked"])}
    with pytest.raises(BudgetExhausted):
        await run(
            "swallows", chats=priced, model="scripted", budget=1e-6, price_prompt=1e6, price_completion=1e6
        )


async def test_an_agent_gets_topic_and_seed_and_says_its_calls(run: Run) -> None:
    ideas, _, _ = await run("Callable_", Topic(text=TOPIC, excluded=("x",)), seed=5)
    assert ideas[0].title == f"{TOPIC} 5 ()"
    agent = find_agent(f"{OWN}:Callable_")
    assert agent.expected_calls(agent.options) == {"main": 2}
    assert agent.about == "An object that can be called."


# --- what an agent may return -----------------------------------------------------------------


async def test_dicts_objects_and_records_are_ideas_and_unknown_fields_are_kept(run: Run) -> None:
    ideas, record, _ = await run("shapes")
    assert [idea.title for idea in ideas] == ["A title", "A dataclass", "A model", "An object"]
    first, _, third, _ = ideas
    assert first.experiment is not None
    assert first.experiment.steps == ("first", "second")
    assert first.extra == {"score": 3}
    assert first.agent == f"{OWN}:shapes"
    assert first.id != "mine"
    assert (first.motivation, first.novelty) == (None, None)
    assert third.references == ("arxiv:2302.04761",)
    assert third.extra == {"unknown_references": ["arxiv:0000.00000"]}
    assert record["failures"] == []
    single, _, _ = await run("one", folder="one")
    assert len(single) == 1


async def test_an_idea_that_cannot_be_used_is_listed_beside_those_that_can(run: Run, tmp_path: Path) -> None:
    ideas, record, _ = await run("half_good")
    assert len(ideas) == 1
    assert [failed["error"] for failed in record["failures"]] == [
        "idea 2: the field title is invalid (' '): it is empty."
    ]
    write_report(tmp_path / "run")
    assert "idea 2: the field title" in (tmp_path / "run" / "report.md").read_text(encoding="utf-8")


BAD = {
    "raises": r"IndexError: list index out of range \(external_agents.py, line \d+\)",
    "exits": "SystemExit: 3",
    "interrupts": "KeyboardInterrupt",
    "raises_worse": "Unspeakable: its message raised ValueError",
    "nothing": "returned None. Return a list of ideas",
    "empty": "returned no idea",
    "text": "returned a string, “Ideas:",
    "number": "a value of type int",
    "garbage": "idea 1 is of type int.*idea 2 is of type str.*idea 3: the field title is invalid.*1 more",
    "novel": "100,006 characters; the limit is 50,000",
    "long_title": "the limit is 300 for a title",
    "endless": "more than 100 ideas",
    "waits_for_nothing": "not subscriptable.*await each call",
    "endless_async": "more than 100 ideas",
    "no_json": "cannot be written as JSON: lock is not a JSON value",
    "not_a_number": "cannot be written as JSON",
    "half_a_character": "cannot be written as JSON",
    "wrong_experiment": "the field experiment.steps.0 is invalid",
    "GraphWithLock": "not msgpack serializable",
    "GraphWithoutUpdate": "Expected dict, got",
    "GraphWithoutEnd": "did not end within",
    "GraphWithoutIdeas": "the final state has no field “ideas” .it has topic.",
    "GraphFailing": r"step failing raised ValueError: the step fails \(external_agents.py, line \d+\)",
    "GraphAsking": "the final state has no field|to ask a person",
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_agent_costs_its_own_entry_and_says_why(name: str, run: Run, tmp_path: Path) -> None:
    with pytest.raises(AgentFailed, match=BAD[name]) as raised:
        await run(name)
    assert str(raised.value).startswith(f"{OWN}:{name}")
    assert "\n" not in str(raised.value)
    record = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert record["status"] == "failed"
    assert not (tmp_path / "run" / "ideas.jsonl").exists()


HANGING = ["hangs", "sleeps", "blocks_its_loop", "awaits_for_ever", "GraphAsleep", "GraphBusy"]


@pytest.mark.parametrize("name", HANGING)
async def test_an_agent_that_hangs_is_given_up_and_the_next_one_runs(name: str, run: Run) -> None:
    before = set(threading.enumerate())
    with pytest.raises(AgentFailed, match=r"was inactive for 0\.3 s"):
        await run(name, agent_timeout=0.3)
    ideas, _, _ = await run("good", folder="next")
    assert len(ideas) == 1
    if name in {"hangs", "blocks_its_loop", "GraphBusy"}:  # what computes is stopped; what sleeps sleeps on
        for thread in set(threading.enumerate()) - before:
            if thread.name.startswith("agent "):
                thread.join(10)
                assert not thread.is_alive()


async def test_waiting_for_the_model_is_not_hanging(run: Run) -> None:
    def reply(call: Any) -> str:
        time.sleep(0.4)  # a slow model is what this is about
        return '{"title": "T", "method": "M"}'

    chats = {"scripted": ScriptedChatModel(replies=reply)}
    ideas, _, _ = await run("asks", chats=chats, model="scripted", agent_timeout=0.3)
    assert len(ideas) == 1


# --- a process of their own ----------------------------------------------------------------------

PROCESS = "tests.support.process_agents"
ENDS = {
    "ends_it_well": r"exited before it returned",
    "ends_it_badly": "exited with code 3",
    "kills_itself": "was killed by SIGKILL",
    "crashes": "was killed by SIGSEGV.*process_agents.py",
    "holds_the_interpreter": "was inactive for 1 s",
}


async def test_what_ends_or_stops_an_agents_process_costs_its_own_entry(run: Run) -> None:
    for name, says in ENDS.items():
        limit = 1.0 if name == "holds_the_interpreter" else 60.0
        with pytest.raises(AgentFailed, match=says) as raised:
            await run(f"{PROCESS}:{name}", folder=name, agent_timeout=limit)
        assert str(raised.value).startswith(f"{PROCESS}:{name} ")
    ideas, record, _ = await run("good", folder="next")
    assert (len(ideas), record["status"]) == (1, "done")


async def test_an_agent_changes_and_sees_nothing_of_the_process_that_judges(run: Run) -> None:
    held = {"secret of another contestant": "an idea"}
    here = Path.cwd()
    ideas, _, _ = await run(f"{PROCESS}:patches")
    assert (len(ideas), Path.cwd(), "IDEAGORA_SEED" in os.environ) == (1, here, False)
    ideas, _, _ = await run(f"{PROCESS}:looks_around", folder="looks")
    extra = ideas[0].extra
    assert (extra["found"], extra["judges"], len(held)) == (0, [], 1)
    assert extra["process"] != os.getpid()
    assert PROCESS not in sys.modules, "its code is not even loaded here"


async def test_an_agents_own_class_checks_an_answer_and_the_model_is_told(run: Run) -> None:
    good = {"title": "Short", "kind": "old", "day": "2024-02-03", "parts": [{"text": "p"}], "copy": "c"}
    replies = [
        json.dumps({**good, "title": "Much too long"}),
        json.dumps({**good, "parts": []}),
        json.dumps(good),
    ]

    async def asked(folder: str, given: list[str]) -> tuple[list[Idea], list[str]]:
        prompts: list[str] = []

        def reply(call: Any) -> str:
            prompts.append(str(call.messages))
            return given[len(prompts) - 1]

        chats = {"scripted": ScriptedChatModel(replies=reply)}
        own_home = {"home": Path(folder).absolute()}
        ideas, _, _ = await run(
            f"{PROCESS}:asks_for_a_draft", folder=folder, chats=chats, model="scripted", **own_home
        )
        return ideas, prompts

    ideas, prompts = await asked("good", replies)
    assert ideas[0].extra["told"] == ["Draft", "OLD", "2024-02-03", 1.0, ["none"], "c"]
    assert len(prompts) == 3
    assert "five characters are the most" in prompts[1]
    with pytest.raises(UnreadableAnswer, match=r"none of 3 replies.*five characters"):
        await asked("bad", replies[:1] * 3)


def test_a_schema_that_cannot_be_used_is_refused_and_no_other_error_comes_of_it() -> None:
    itself = {"A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}}
    refused: list[Any] = [
        {"$ref": "#/$defs/A", "$defs": itself}, {"properties": []}, {"properties": {"a": {"$ref": "#/x"}}},
        {"properties": {"a": {"anyOf": []}}}, {"$defs": 3, "properties": {"a": {"$ref": "#/x"}}}, [], "x",
        {"title": "t" * 300_000},
    ]  # fmt: skip
    for schema in refused:
        with pytest.raises(ValueError, match="schema"):
            build_model(schema)


def test_code_that_does_not_come_to_an_end_while_it_is_loaded_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(describe, "LOADING_TIMEOUT", 1.0)
    file = tmp_path / "endless.py"
    file.write_text("while True:\n    pass\n", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be loaded: it takes over 1 s"):
        find_agent(f"{file}:ideate")


def test_an_agent_that_leaves_a_process_behind_while_it_is_loaded_is_not_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "forks.py"
    code = "import os, time\nif os.fork() == 0:\n    time.sleep(1000)\ndef ideate():\n    return []\n"
    file.write_text(code, encoding="utf-8")
    assert find_agent(f"{file}:ideate").steps == ("ideate",)


async def test_errors_of_calls_keep_their_kind_on_both_sides(run: Run) -> None:
    chats = {"scripted": ScriptedChatModel(replies=lambda call: "no JSON")}
    ideas, _, _ = await run(f"{PROCESS}:catches_an_unreadable_answer", chats=chats, model="scripted")
    assert "none of 3 replies" in ideas[0].extra["caught"]

    def down(call: Any) -> str:
        raise ModelUnavailable("the provider is down")

    down_chats = {"scripted": ScriptedChatModel(replies=down)}
    _, record, _ = await run(
        f"{PROCESS}:meets_an_outage", folder="down", chats=down_chats, model="scripted", retries=0
    )
    assert (record["status"], record["error"]) == ("incomplete", "the provider is down")


async def test_calls_of_asynchronous_code_run_side_by_side(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()
    together, given_up = asyncio.Event(), asyncio.Event()

    async def answered(ask: Any, tools: Any) -> str:
        asked.add(ask["model"])
        if len(asked) == 4:
            together.set()
        await together.wait()
        try:
            await (given_up.wait() if ask["model"] == "slow" else asyncio.sleep(0))
        except asyncio.CancelledError:
            given_up.set()
            raise
        return str(ask["model"])

    monkeypatch.setattr(agent_process, "_answer_question", answered)
    ideas, _, _ = await run(f"{PROCESS}:asks_side_by_side")
    assert ideas[0].extra["texts"] == ["prompt 0", "prompt 1", "prompt 2"]
    assert given_up.is_set(), "a call that the agent gives up is given up here too"


async def test_code_that_changes_under_a_run_is_not_taken_for_the_old_one(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    code = "def ideate():\n    return [{'title': 't', 'method': 'm'}]\n"
    file.write_text(code, encoding="utf-8")
    agent = find_agent(f"{file}:ideate")
    file.write_text(code + "# changed\n", encoding="utf-8")
    with pytest.raises(AgentFailed, match="was changed while it was in use"):
        await run(agent)


async def test_an_agent_can_be_run_in_our_process_to_debug_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEAGORA_AGENT_PROCESS", "0")
    ideas, _, _ = await run(f"{PROCESS}:looks_around")
    assert ideas[0].extra["process"] == os.getpid()
    sys.modules.pop(PROCESS)


def test_code_that_ends_the_process_while_it_is_loaded_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "ends.py"
    for code, says in (
        ("import os; os._exit(0)", "exited with code 0"),
        ("import os; os.abort()", "SIGABRT"),
    ):
        file.write_text(code, encoding="utf-8")
        with pytest.raises(UsageError, match=f"cannot be loaded: its process .*{says}"):
            find_agent(f"{file}:ideate")


def test_a_killed_run_leaves_no_agent_behind(home: Path) -> None:
    Path("mine.py").write_text(
        "import ctypes, os, pathlib\ndef ideate():\n    pathlib.Path('pid').write_text(str(os.getpid()))\n"
        "    ctypes.PyDLL(None).sleep(1000)\n",
        encoding="utf-8",
    )
    running = command.start(generate("mine.py:ideate"))
    wait_until(lambda: Path("pid").exists() and Path("pid").read_text(encoding="utf-8") != "")
    running.send(signal.SIGKILL)
    running.wait()
    wait_until(lambda: not alive(int(Path("pid").read_text(encoding="utf-8"))))


# --- graphs -----------------------------------------------------------------------------------


async def test_a_nested_graph_has_its_steps_in_the_progress(run: Run) -> None:
    ideas, _, events = await run("Nested")
    assert ideas[0].title == TOPIC.upper()
    assert len(ideas[0].references) == 2
    steps = [event["step"] for event in events if event["event"] == "step" and event["status"] == "done"]
    assert steps == ["inner_step", "inner", "asks_model", "Nested"]


# --- commands ---------------------------------------------------------------------------------


def script(tmp_path: Path, code: str) -> str:
    file = tmp_path / "agent.sh"
    file.write_text(code, encoding="utf-8")
    return f"command:sh {file}"


IDEA = '{"title":"t","method":"m"}'


async def test_no_key_comes_in_with_an_idea(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-secret0123456789abcdef"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    record = {"title": f"On {key}", "method": "m", "experiment": [key], "more": {key: [key]}}
    ideas, _, _ = await run(script(tmp_path, f"echo '{json.dumps(record)}'\n"))
    assert ideas[0].title == "On [key removed]"
    assert key not in ideas[0].model_dump_json()


async def test_a_command_gets_one_line_no_keys_and_an_empty_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret0123456789abcdef")
    monkeypatch.setenv("WANTED", "yes")
    keys = 'env | grep -c -i -e openai -e secret; echo "$WANTED $UNWANTED"'
    monkeypatch.setenv("UNWANTED", "no")
    code = f"read line\necho \"$line\" >&2\n({keys}; ls -A | wc -l; pwd) >&2\necho '{IDEA}'\n"
    topic = Topic(text=TOPIC, before="2024", inspirations=("arxiv:2302.04761",), excluded=("secret title",))
    _, _, events = await run(script(tmp_path, code), topic, seed=3, agent_env="WANTED")
    notes = [event["text"] for event in events if event["event"] == "note"]
    assert json.loads(notes[0]) == {
        "topic": TOPIC,
        "before": "2024",
        "inspirations": ["arxiv:2302.04761"],
        "seed": 3,
        "n_ideas": None,
    }
    assert notes[1:4] == ["0", "yes", "0"]
    assert not Path(notes[4]).exists(), "its folder goes away"


async def test_a_command_is_answered_or_told_what_was_wrong(run: Run, tmp_path: Path) -> None:
    questions = [
        {"search": TOPIC, "k": 2}, {"paper": "arxiv:2302.04761"}, {"references": "arxiv:2302.04761"},
        {"text": "arxiv:2302.04761"}, {"model": "One sentence. Two sentences."}, {"bogus": 1}, {"search": ""},
        {"search": "x", "k": 10**9}, {"text": "arxiv:0000.00000"}, {"paper": "x", "k": 1},
    ]  # fmt: skip
    file = tmp_path / "agent.py"
    file.write_text(
        "import json, sys\nsys.stdin.readline()\nanswers = []\n"
        f"for question in {questions!r}:\n"
        "    print(json.dumps({'ask': question}), flush=True)\n"
        "    answers.append(json.loads(sys.stdin.readline()))\n"
        "print(json.dumps({'title': 't', 'method': 'm', 'answers': answers}))\n",
        encoding="utf-8",
    )
    ideas, record, _ = await run(f"command:{sys.executable} {file}")
    found, paper, references, text, model, *wrong = ideas[0].extra["answers"]
    assert len(found["answer"]) == 2
    assert paper["answer"]["id"] == "arxiv:2302.04761"
    assert isinstance(references["answer"], list)
    assert text["answer"]
    assert model["answer"]
    assert [set(answer) for answer in wrong] == [{"error"}] * 5
    assert record["usage"]["roles"]


COMMANDS = {
    "garbage": ("read l; echo '\033[31mnot json'", "no JSON object in line 1.*Print ideas as JSON lines"),
    "a list": ("echo '[1]'", "no JSON object in line 1"),
    "fails": (f"echo '{IDEA}'; echo 'the reason' >&2; exit 7", "exited with code 7: the reason"),
    "killed": ("kill -SEGV $$", "was killed by SIGSEGV and printed nothing"),
    "nothing": ("read l", "returned no idea"),
    "a flood": (f"yes '{IDEA}' | head -n 50000", "printed more than 200,000 bytes"),
    "a long line": ("head -c 2000000 /dev/zero", "a line of more than 1,000,000 bytes"),
    "a field": ('echo \'{"title": "t"}\'', "the field method is missing"),
}


@pytest.mark.parametrize("name", COMMANDS)
async def test_a_bad_command_costs_its_own_entry_and_says_why(
    name: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CommandSession, "max_output", 200_000)
    code, says = COMMANDS[name]
    with pytest.raises(AgentFailed, match=says) as raised:
        await run(script(tmp_path, code))
    assert str(raised.value).startswith("command:sh agent.sh")


@pytest.mark.parametrize(
    "code",
    ["sleep 1000", "trap '' TERM; while :; do sleep 1; done", "yes x >&2", "cat > /dev/null"],
    ids=["sleeps", "is stubborn", "talks on stderr", "reads to the end"],
)
async def test_a_command_that_hangs_is_ended_with_its_children(code: str, run: Run, tmp_path: Path) -> None:
    marked = f"echo $$ > {tmp_path}/pid; sleep 1000 & echo $! > {tmp_path}/child; {code}"
    with pytest.raises(AgentFailed, match=r"inactive for 0.5 s.*head -n 1"):
        await run(script(tmp_path, marked), agent_timeout=0.5)
    for name in ("pid", "child"):
        assert not alive(int((tmp_path / name).read_text(encoding="utf-8")))


def alive(number: int) -> bool:
    """Whether a process is there and at work."""
    try:
        state = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def test_a_child_that_holds_the_streams_is_not_waited_for(run: Run, tmp_path: Path) -> None:
    code = f"sleep 1000 & echo $! > {tmp_path}/child; echo '{IDEA}'"
    ideas, _, _ = await run(script(tmp_path, code))
    assert len(ideas) == 1
    assert not alive(int((tmp_path / "child").read_text(encoding="utf-8")))


def test_the_environment_of_a_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "x")
    assert "MY_API_KEY" not in environment("")
    assert environment("MY_API_KEY, NOT_THERE")["MY_API_KEY"] == "x"


# --- a file of ideas --------------------------------------------------------------------------


async def test_a_file_gives_the_ideas_of_the_topic_and_names_the_nearest_other(run: Run) -> None:
    ideas, record, _ = await run(WAYS["ideas"], Topic(text="Tool use  by LANGUAGE models"))
    assert len(ideas) == 2
    assert ideas[1].motivation is None
    assert record["usage"]["total"]["calls"] == 0
    assert record["offline"] is False
    with pytest.raises(
        AgentFailed, match="Topics of its ideas: 1, the closest “tool use by language models”"
    ):
        await run(WAYS["ideas"], Topic(text="protein folding"), folder="other")


# --- the command line -------------------------------------------------------------------------


def generate(thing: str, *more: str) -> list[str]:
    return ["generate", TOPIC, "--agent", thing, "--json", "--out", "run", *more]


def test_what_an_agent_prints_does_not_reach_stdout(home: Path) -> None:
    done = command.run(generate(f"{OWN}:prints"))
    assert done.code == 0, done.err
    assert json.loads(done.out)["ideas"][0]["title"] == "A title"
    notes = [event["text"] for event in read_events(Path("run/events.jsonl")) if event["event"] == "note"]
    assert notes == ["printed by the agent", "bytes of the agent", "printed by its child"]


@pytest.mark.parametrize("name", ["hangs", "GraphAsleep", "awaits_for_ever"])
def test_a_hanging_agent_does_not_keep_the_process(name: str, home: Path) -> None:
    done = command.run(generate(f"{OWN}:{name}", "--agent-timeout", "0.5"))
    assert (done.code, done.out) == (1, "")
    assert "was inactive for 0.5 s" in done.err
    assert "Traceback" not in done.err


def test_threads_that_are_left_behind_do_not_keep_the_process(home: Path) -> None:
    done = command.run(generate(f"{OWN}:leaves_a_thread"))
    assert done.code == 0, done.err
    assert json.loads(done.out)["ideas"]


def test_what_an_agent_writes_runs_nowhere(home: Path) -> None:
    done = command.run(["generate", TOPIC, "--agent", f"{OWN}:speaks_markup", "--out", "run"])
    assert done.code == 0, done.err
    assert "\x1b" not in done.out
    page = Path("run/report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img src=x" not in page


@pytest.mark.parametrize("name", ["sleeps", "GraphBusy"])
def test_an_interrupt_ends_the_run_at_once(name: str, home: Path) -> None:
    running = command.start(generate(f"{OWN}:{name}"))
    wait_until(lambda: '"started"' in events_text() or running.has_ended())
    running.send(signal.SIGINT)
    done = running.wait()
    assert done.code == 130
    assert json.loads(Path("run/run.json").read_text(encoding="utf-8"))["status"] == "interrupted"


def events_text() -> str:
    path = Path("run/events.jsonl")
    return path.read_text(encoding="utf-8") if path.exists() else ""


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + command.SECONDS
    while not condition():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.01)


def test_options_of_another_agent_are_refused(home: Path) -> None:
    done = command.run(generate(f"{OWN}:good", "--branches", "2"))
    assert done.code == 2
    told = f"the agent {OWN}:good has no option --branches. It has --ideas."
    assert done.err == f"error: {told}\n"


def test_one_bad_topic_leaves_the_others(home: Path) -> None:
    Path("topics.txt").write_text(f"{TOPIC}\nprotein folding\n", encoding="utf-8")
    done = command.run(
        ["generate", "--topics", "topics.txt", "--agent", WAYS["ideas"], "--json", "--out", "runs"]
    )
    assert done.code == 1
    told = json.loads(done.out)
    assert len(told["ideas"]) == 2
    assert ["error" in run for run in told["runs"]] == [False, True]


def test_a_killed_graph_goes_on_without_asking_again(home: Path) -> None:
    hanging = threading.Event()

    def reply(body: Any) -> str | Fault:
        third = len(server.requests) == 3 and not hanging.is_set()
        if third:
            hanging.set()
        return Fault(hang=True) if third else "A sentence of a reply."

    with Loopback(reply) as server:
        asked = ["--model", "openai/standin", "--api-base", server.base, "--concurrency", "1"]
        running = command.start(generate(WAYS["graph"], *asked))
        wait_until(lambda: hanging.is_set() or running.has_ended())
        running.send(signal.SIGKILL)
        assert running.wait().code == -signal.SIGKILL
        done = command.run(generate(WAYS["graph"], *asked))
    assert done.code == 0, done.err
    prompts = [request.prompt for request in server.requests]
    assert len(prompts) == 5, "three papers are read and one idea is written; the third call was cut short"
    assert len(set(prompts)) == 4
    assert prompts[2] == prompts[3]
    events = [event for event in read_events(Path("run/events.jsonl")) if event["event"] == "step"]
    steps = [event["step"] for event in events if event["status"] == "done"]
    assert steps.count("search") == 1, "a finished step does not run again"


# --- agents list, show, new, check ------------------------------------------------------------


def test_the_list_counts_the_calls_of_the_settings() -> None:
    rows = json.loads(command.run(["agents", "--json"]).out)
    assert rows == json.loads(command.run(["agents", "list", "--json"]).out)
    calls = {row["name"]: row["calls"] for row in rows}
    fewer = json.loads(command.run(["agents", "--json", "--branches", "1", "--length", "3"]).out)
    assert {row["name"]: row["calls"] for row in fewer}["chain-of-ideas"] < calls["chain-of-ideas"]
    told = command.run(["agents"])
    assert "45 calls" in told.out
    assert command.run(["agents", "--branches", "99"]).code == 2


def test_a_drawing_is_made_from_the_graph_itself() -> None:
    told = command.run(["agents", "show", "chain-of-ideas"]).out
    assert re.search(r"■ explore_branch\n│   ○ start\n│   │\n│   ■ predict_direction", told)
    assert "↺ review_experiment" in told
    mermaid = command.run(["agents", "show", "chain-of-ideas", "--mermaid"]).out
    assert mermaid.startswith("flowchart TD\n")
    assert mermaid.count("subgraph") == 2
    assert command.run(["agents", "show", f"{OWN}:Nested", "--svg", "graph.svg"]).code == 0
    picture = Path("graph.svg").read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert all(f">{step}<" in picture for step in ("Nested", "inner", "inner_step", "asks_model"))
    assert command.run(["agents", "show", "chain-of-ideas", "--svg", "no/folder.svg"]).code == 1


@pytest.mark.parametrize(("kind", "named"), [("function", "ideate"), ("graph", "Agent"), ("command", None)])
def test_a_new_agent_passes_the_check(kind: str, named: str | None, home: Path) -> None:
    assert command.run(["agents", "new", "mine", "--kind", kind]).code == 0
    thing = f"mine.py:{named}" if named else f"command:{sys.executable} mine.py"
    done = command.run(["agents", "check", thing, "--json"])
    told = json.loads(done.out)
    assert (done.code, told["passed"]) == (0, True), done.out
    assert len(told["checks"]) == 12


def test_agents_new_overwrites_nothing_and_refuses_odd_names() -> None:
    Path("mine.py").write_text("precious", encoding="utf-8")
    assert command.run(["agents", "new", "mine"]).code == 2
    assert Path("mine.py").read_text(encoding="utf-8") == "precious"
    assert command.run(["agents", "new", "../mine"]).code == 2
    assert command.run(["agents", "new", "other", "--kind", "nonsense"]).code == 2


CARELESS = """
import os

def ideate(topic, library, model):
    print("working")
    first = library.search(topic.text, 3)[0]
    try:
        text = model(first.abstract)
    except Exception:
        text = "no model"
    return [{"title": f"Idea {os.getpid()}", "method": text, "references": ["[1]"]}, {"title": "x"}]
"""


def test_the_check_finds_what_a_careless_agent_does_and_says_how_to_mend_it(home: Path) -> None:
    Path("careless.py").write_text(CARELESS, encoding="utf-8")
    done = command.run(["agents", "check", "careless.py:ideate", "--json"])
    checks = {check["name"]: check for check in json.loads(done.out)["checks"]}
    assert done.code == 1
    failed = {name for name, check in checks.items() if check["status"] == "failed"}
    assert failed == {
        "fields", "references", "same seed, same ideas", "cut-off date", "empty library", "stdout",
    }  # fmt: skip
    assert all(checks[name]["fix"] for name in failed)
    assert "working" not in done.out
    plain = command.run(["agents", "check", "careless.py:ideat"])
    assert plain.code == 1
    assert "Did you mean careless.py:ideate" in plain.out
    assert checks["references"]["message"] == "the library does not know [1]"
    broken = json.loads(command.run(["agents", "check", f"{OWN}:raises", "--json"]).out)
    assert {check["status"] for check in broken["checks"][2:]} == {"skipped"}


async def test_stdout_is_restored_after_overlapping_uses(capfd: pytest.CaptureFixture[str]) -> None:
    first, second = stdout_guard.stdout_guarded(), stdout_guard.stdout_guarded()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    print("away")
    second.__exit__(None, None, None)
    print("back")
    out, err = capfd.readouterr()
    assert (out, err) == ("back\n", "away\n")


def test_bad_agents_are_all_tried() -> None:
    """Each function and graph of the collection that ends badly is in one of the lists."""
    bad = {name for name in vars(external_agents) if name.startswith("Graph")}
    assert bad <= {*BAD, *HANGING}
    assert issubclass(AgentFailed, IdeagoraError)
