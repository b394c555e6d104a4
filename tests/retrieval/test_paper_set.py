"""The literature of a benchmark's sample: its own papers, alone or with the sources."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ideagora.config import Settings
from ideagora.errors import LibraryError
from ideagora.graphs.generate import generate
from ideagora.graphs.task import Task
from ideagora.models.chat_models import ScriptedCall
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.registry import find_agent
from ideagora.retrieval.corpus.sample_papers import SamplePapers, SuppliedText
from ideagora.retrieval.library import Library
from ideagora.retrieval.lookup import find_papers
from ideagora.retrieval.store.fulltext import FullText, Section
from ideagora.schema import Paper, Topic
from tests.graphs.test_runtime import World, paper, scripted
from tests.support import standin

TOPIC = Topic(text="tools", before="2022-02", excluded=("The target of the benchmark",))
GIVEN = (
    Paper(id="one", title="A tool", abstract="Tools for all.", date="2020", references=("two", "elsewhere")),
    Paper(id="two", title="An undated tool", abstract="More tools."),
    Paper(id="late", title="A late tool", abstract="Tools of tomorrow.", date="2022-03"),
    Paper(id="year", title="A tool of the year", abstract="Tools.", date="2022"),
    Paper(id="target", title="The target of the benchmark", abstract="Tools.", date="2019"),
    Paper(
        id="world:3", title="Tools for language models, part 3", abstract="As the data has it.", date="2003"
    ),
)
SHOWN = {"one", "two", "year", "world:3"}


def library() -> Library:
    return Library(
        World([paper(number, *([number - 1] if number else [])) for number in range(5)]), HashEmbedder()
    )


async def test_a_samples_papers_alone_are_all_there_is() -> None:
    sample = library().for_sample(SamplePapers(GIVEN), with_sources=False).for_topic(TOPIC)
    found = {one.paper.id for one in await sample.search("tools", 50)}
    assert found == SHOWN, "undated and of a year that begins before the cut-off, but not late or the target"
    assert sample.size() == len(SHOWN)
    assert {one.paper_id for one in sample.held_back} == {"late", "target"}
    assert await sample.paper("p1") is None
    one, two = await sample.paper("one"), await sample.paper("two")
    assert one is not None
    assert two is not None
    assert [other.id for other in await sample.references(one)] == ["two"]
    assert [other.id for other in await sample.citations(two)] == ["one"]
    assert await sample.text(two) == ("More tools.", "abstract")
    assert await sample.recommended(one) is None


async def test_full_texts_of_a_sample_obey_cutoff_and_exclusions() -> None:
    def text(words: str, as_of: str | None) -> SuppliedText:
        sections = (
            Section(kind="method", heading="Method", text=words),
            Section(kind="related", heading="Related", text="See The Target of the Benchmark."),
        )
        return SuppliedText(words, lambda: FullText(sections=sections, as_of=as_of))

    texts = {
        "one": text("We file the tool.", "2020-05"),
        "two": text("Undated words.", None),
        "year": text("Later words.", "2022-02-03"),
        "target": text("The answer.", "2019"),
    }
    sample = library().for_sample(SamplePapers(GIVEN, texts), with_sources=False).for_topic(TOPIC)
    shown = {}
    for one in SHOWN:
        paper = await sample.paper(one)
        assert paper is not None
        shown[one] = await sample.text(paper)
    words, kind = shown.pop("one")
    assert kind == "full text"
    assert "We file the tool." in words
    assert "arget" not in words
    assert {kind for _, kind in shown.values()} == {"abstract"}, "undated, or of the cut-off's month"
    with pytest.raises(LibraryError, match="withheld"):
        await sample.text(GIVEN[4])
    assert SamplePapers(GIVEN, texts).identity != SamplePapers(GIVEN).identity


async def test_a_samples_papers_come_before_the_same_papers_of_the_sources() -> None:
    sample = library().for_sample(SamplePapers(GIVEN), with_sources=True).for_topic(TOPIC)
    found = {one.paper.id for one in await sample.search("tools", 50)}
    assert found == {*SHOWN, "p0", "p1", "p2", "p4"}
    third, fourth = await sample.paper("p3"), await sample.paper("p4")
    assert third is not None
    assert fourth is not None
    assert (third.id, third.abstract) == ("world:3", "As the data has it.")
    assert [other.id for other in await sample.references(fourth)] == ["world:3"]
    assert sample.size() is None


async def test_a_target_that_the_sample_does_not_contain_needs_no_note() -> None:
    topic = Topic(text="tools", excluded=("No such paper anywhere",))
    alone, usual = (
        library().for_sample(SamplePapers(GIVEN), with_sources=False).for_topic(topic),
        library().for_topic(topic),
    )
    for one in (alone, usual):
        await one.search("tools", 1)
    assert alone.notes == []
    assert len(usual.notes) == 1


async def test_papers_are_found_by_id_or_title_and_the_others_named() -> None:
    found, missing = await find_papers(
        ["p2", "tools for LANGUAGE models: part 4", "p2", "Nothing"], library()
    )
    assert [one.id for one in found] == ["p2", "p4"]
    assert missing == ["Nothing"]


COMMAND = """import json, sys
task = json.loads(sys.stdin.readline())
print(json.dumps({"ask": {"search": task["topic"], "k": 50}}), flush=True)
for paper in json.loads(sys.stdin.readline())["answer"]:
    print(json.dumps({"title": paper["id"], "method": "x", "references": [paper["id"]]}), flush=True)
"""
FUNCTION = """def ideate(topic, library):
    assert {one.id for one in library.search(topic.text, 50)} == set(topic.inspirations)
    return [{"title": one, "method": "x"} for one in topic.inspirations]
"""


def test_every_agent_reads_the_samples_papers(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(FUNCTION, encoding="utf-8")
    (tmp_path / "command.py").write_text(COMMAND, encoding="utf-8")
    settings = Settings(home=tmp_path / "home", embedder="hash", model="scripted")
    shown: dict[str, set[str]] = {}
    for name in ("rag", f"{tmp_path}/own.py:ideate", f"command:{sys.executable} {tmp_path}/command.py"):
        agent = find_agent(name)
        task = Task(TOPIC, agent, agent.options, settings, papers=SamplePapers(GIVEN))
        assert task.identity != Task(TOPIC, agent, agent.options, settings).identity
        assert (
            task.identity != Task(TOPIC, agent, agent.options, settings, SamplePapers(GIVEN), True).identity
        )
        folder = tmp_path / agent.name.replace("/", "-").replace(":", "-")
        (outcome,) = asyncio.run(
            generate(
                [(task, folder)], lambda: (library(), HashEmbedder), lambda event: None,
                chats={"scripted": scripted({})},
            )
        )  # fmt: skip
        shown[name] = (
            {one.id for one in outcome.ideas[0].neighbours}
            if name == "rag"
            else {idea.title for idea in outcome.ideas}
        )
        record: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        assert record["papers"] == [one.id for one in GIVEN]
        assert {one["id"] for one in record["held_back"]} == {"late", "target"}
    assert list(shown.values()) == [SHOWN] * 3


def test_given_papers_are_on_the_topic_whatever_the_judge_says(tmp_path: Path) -> None:
    def nothing(call: ScriptedCall) -> Any:
        told = standin.ANSWERS["Judgements"](call.messages[-1][1])
        return {**told, "judgements": [{**one, "grade": 0} for one in told["judgements"]]}

    agent = find_agent("chain-of-ideas")
    settings = Settings(home=tmp_path / "home", embedder="hash", model="scripted")
    task = Task(TOPIC, agent, agent.options, settings, papers=SamplePapers(GIVEN))
    (outcome,) = asyncio.run(
        generate(
            [(task, tmp_path / "run")], lambda: (library(), HashEmbedder), lambda event: None,
            chats={"scripted": scripted({"relevance_judge": nothing})},
        )
    )  # fmt: skip
    read = {link.paper.id for idea in outcome.ideas if idea.chain for link in idea.chain.links}
    assert read
    assert read <= SHOWN
