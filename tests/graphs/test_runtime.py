"""The runtime and the Chain-of-Ideas graph in this process: folders, identities, events, chains, loops."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from io import StringIO
from itertools import count, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from ideagora.config import Settings
from ideagora.errors import (
    AllBranchesFailed,
    BudgetExhausted,
    FolderUnusable,
    IdeagoraError,
    RunBusy,
    RunError,
    TopicNotCovered,
)
from ideagora.graphs.chain_of_ideas.chains.growth import grow
from ideagora.graphs.chain_of_ideas.state import new_chain
from ideagora.graphs.event_log import read_events
from ideagora.graphs.files import write_atomically
from ideagora.graphs.generate import LONGEST_TOPIC, check_topic, folder_for, generate, read_topics
from ideagora.graphs.run_folder import RunFolder
from ideagora.graphs.task import Task
from ideagora.models.chat_models import ScriptedCall, ScriptedChatModel
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.registry import AGENTS, find_agent
from ideagora.report.run.terminal import RunProgress
from ideagora.retrieval.library import Library
from ideagora.retrieval.texts.reader import TextReader
from ideagora.schema import Idea, Paper, ScoredPaper, Topic, serialize
from tests.support import standin

# --- a small world of papers ------------------------------------------------------------------


class World:
    """A source of papers, each of which cites some of the others; a search finds them in their order."""

    name = "world"

    def __init__(self, papers: Sequence[Paper]) -> None:
        self.papers = {paper.id: paper for paper in papers}

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        return [ScoredPaper(paper=paper, similarity=0.5) for paper in list(self.papers.values())[:k]]

    async def paper(self, paper_id: str) -> Paper | None:
        return self.papers.get(paper_id)

    async def references(self, paper_id: str) -> list[Paper]:
        return [self.papers[other] for other in self.papers[paper_id].references or ()]

    async def citations(self, paper_id: str) -> list[Paper]:
        return [paper for paper in self.papers.values() if paper_id in (paper.references or ())]

    async def disconnect(self) -> None:
        """Nothing is connected."""


def paper(number: int, *cites: int, **fields: Any) -> Paper:
    """Paper ``pN`` of the year 2000 + N."""
    return Paper(
        id=f"p{number}",
        title=f"Tools for language models, part {number}",
        abstract=f"Language models call tools. Part {number} adds a step.",
        date=str(2000 + number),
        references=tuple(f"p{other}" for other in cites),
        **{"authors": (f"Author {number}", f"Author {number + 1}"), **fields},
    )


def line(length: int, anchor: int, **milestones: int) -> World:
    """Papers that each cite the one before; the anchor is found first, then the latest ones."""
    papers = [
        paper(n, *([n - 1] if n else []), citation_count=milestones.get(f"p{n}")) for n in range(length)
    ]
    return World([papers[anchor], *(one for one in reversed(papers) if one is not papers[anchor])])


Reply = Callable[[ScriptedCall], Any]


def scripted(replies: Mapping[str, Reply]) -> ScriptedChatModel:
    """The stand-in as a model in this process; some roles answered otherwise."""

    def reply(call: ScriptedCall) -> Any:
        role = str(call.role)
        if role in replies:
            return replies[role](call)
        return standin.ANSWERS[(standin.ROLES | standin.PLAIN_ROLES)[role]](call.messages[-1][1])

    return ScriptedChatModel(replies=reply)


HOMES = count()


def task_of(agent: str = "chain-of-ideas", topic: str = "tools for language models", **options: Any) -> Task:
    home = Path(os.environ["IDEAGORA_HOME"]) / str(next(HOMES))  # with a cache of answers of its own
    settings = Settings(home=home, embedder="hash", model="scripted")
    found = find_agent(agent)
    chosen = type(found.options)(**{**found.options.model_dump(), **options})
    return Task(Topic(text=topic), found, chosen, settings)


class Ran:
    """A run that came to its end: its ideas, what was asked, what was told."""

    def __init__(self, task: Task, world: World | None = None, folder: str = "run", **replies: Reply) -> None:
        self.events: list[Mapping[str, Any]] = []
        chat = scripted(replies)
        world = world or line(12, 6)
        library = Library(world, HashEmbedder())
        outcomes = asyncio.run(
            generate(
                [(task, Path(folder))],
                lambda: (library, HashEmbedder),
                self.events.append,
                chats={"scripted": chat},
            )
        )
        self.ideas: Sequence[Idea] = outcomes[0].ideas
        self.calls = chat.calls
        self.titles = {paper.id: paper.title for paper in world.papers.values()}
        self.roles = Counter(str(call.role) for call in chat.calls)

    @property
    def chain(self) -> list[Paper]:
        """The papers of the only idea's chain."""
        (idea,) = self.ideas
        assert idea.chain
        return [link.paper for link in idea.chain.links]

    @property
    def stopped(self) -> dict[str, str]:
        """Why that chain ended."""
        (idea,) = self.ideas
        assert idea.chain
        return idea.chain.stopped


# --- the rules of a chain ---------------------------------------------------------------------


@pytest.mark.parametrize("length", range(1, 8))
def test_a_chain_grows_on_both_sides_to_its_length(length: int) -> None:
    ran = Ran(task_of(branches=1, length=length, refinements=0))
    numbers = [int(paper.id[1:]) for paper in ran.chain]
    assert len(numbers) == length
    assert numbers == list(range(numbers[0], numbers[0] + length))
    assert 6 in numbers
    forward, backward = numbers[-1] - 6, 6 - numbers[0]
    assert forward - backward in (0, 1), "one paper a step on each side, forward first"
    positions = [link.position for link in ran.ideas[0].chain.links] if ran.ideas[0].chain else []
    assert positions == list(range(-backward, forward + 1))
    assert (ran.roles["reader"], ran.roles["abstract_reader"]) == (0, 1 if length <= 6 else 2)
    assert ran.roles["trend_analyst"] == (length > 1)


def test_a_chain_ends_where_nothing_is_left() -> None:
    ran = Ran(task_of(branches=1, length=7), line(3, 1))
    assert [paper.id for paper in ran.chain] == ["p0", "p1", "p2"]
    assert "no other paper that cites Tools for language models, part 2" in ran.stopped["forward"]
    assert "no other reference of Tools for language models, part 0" in ran.stopped["backward"]


def test_a_milestone_ends_the_way_back() -> None:
    ran = Ran(task_of(branches=1, length=7), line(12, 6, p5=1001))
    assert [paper.id for paper in ran.chain] == ["p5", "p6", "p7", "p8", "p9", "p10", "p11"]
    assert "part 5 is a milestone (over 1000 citations)" in ran.stopped["backward"]
    almost = Ran(task_of(branches=1, length=7), line(12, 6, p5=1000), folder="almost")
    assert next(paper.id for paper in almost.chain) == "p3"


def test_irrelevance_ends_both_ways() -> None:
    def only_anchors(call: ScriptedCall) -> Any:
        graded = standin.ANSWERS["Judgements"](call.messages[-1][1])
        grade = 3 if call.inputs.papers else 1
        return {**graded, "judgements": [{**one, "grade": grade} for one in graded["judgements"]]}

    ran = Ran(task_of(branches=1, length=5), relevance_judge=only_anchors)
    assert [paper.id for paper in ran.chain] == ["p6"]
    assert "none of the closest papers citing" in ran.stopped["forward"]
    assert "no reference of" in ran.stopped["backward"]


def test_a_paper_is_judged_once_in_a_run() -> None:
    ran = Ran(task_of(branches=1, length=7))
    judged = [
        paper.title
        for call in ran.calls
        if call.role == "relevance_judge"
        for paper in call.inputs.candidates
    ]
    assert len(judged) == len(set(judged))
    assert {"p9", "p8"} <= {paper.id for paper in ran.chain}, "one that the search found, one that it did not"


def test_what_the_run_has_rejected_extends_no_chain() -> None:
    def rejects_one(call: ScriptedCall) -> Any:
        graded = standin.ANSWERS["Judgements"](call.messages[-1][1])
        grades = [1 if paper.title.endswith("part 7") else 3 for paper in call.inputs.candidates]
        judged = zip(graded["judgements"], grades, strict=True)
        return {**graded, "judgements": [{**one, "grade": grade} for one, grade in judged]}

    ran = Ran(task_of(branches=1, length=5), World([paper(6), paper(7, 6)]), relevance_judge=rejects_one)
    assert [paper.id for paper in ran.chain] == ["p6"]
    assert "none of the closest papers citing" in ran.stopped["forward"]
    assert ran.roles["relevance_judge"] == 1


def test_one_paper_on_both_sides_enters_once() -> None:
    """Two papers of the same months may cite each other."""
    mutual = World([paper(1, 2), paper(2, 1), paper(0)])
    ran = Ran(task_of(branches=1, length=5), mutual)
    assert sorted(paper.id for paper in ran.chain) == ["p1", "p2"]


def test_forward_is_the_citing_paper_nearest_to_topic_and_anchor() -> None:
    far = paper(7, 6).model_copy(update={"title": "Knitting", "abstract": "Wool and needles."})
    near = paper(8, 6)
    ran = Ran(task_of(branches=1, length=2), World([paper(6), far, near]))
    assert [paper.id for paper in ran.chain] == ["p6", "p8"]


def test_chains_of_the_starter_corpus_run_forward_in_time(tmp_path: Path) -> None:
    from ideagora.retrieval.corpus.starter import starter_corpus

    class Starter(World):
        async def search(self, query: str, k: int) -> list[ScoredPaper]:
            words = set(query.split())
            ranked = sorted(
                self.papers.values(), key=lambda p: (-len(words & set(p.title.lower().split())), p.id)
            )
            return [ScoredPaper(paper=one, similarity=0.5) for one in ranked[:k]]

        async def references(self, paper_id: str) -> list[Paper]:
            cited = self.papers[paper_id].references or ()
            return [self.papers[other] for other in cited if other in self.papers]

    ran = Ran(task_of(branches=5, length=6), Starter(starter_corpus().papers))
    chains = [[link.paper for link in idea.chain.links] for idea in ran.ideas if idea.chain]
    assert len(chains) == 5
    assert max(len(chain) for chain in chains) > 3
    for chain in chains:
        assert len({paper.id for paper in chain}) == len(chain) <= 6
        dates = [str(paper.date) for paper in chain]
        assert all(early[: len(late)] <= late[: len(early)] for early, late in pairwise(dates)), dates
    assert len({idea.chain.anchor for idea in ran.ideas if idea.chain}) == 5


def test_anchors_differ_and_are_kept_apart() -> None:
    """The second anchor is the first hit that neither cites the first one nor is cited by it."""
    ran = Ran(task_of(branches=2, length=1))
    anchors = [idea.chain.anchor for idea in sorted(ran.ideas, key=lambda i: i.branch or 0) if idea.chain]
    assert anchors == ["p6", "p11"]
    few = Ran(task_of(branches=3, length=1), line(2, 1), folder="few")
    assert sorted(idea.chain.anchor for idea in few.ideas if idea.chain) == ["p0", "p1"]


# --- switches and loops -----------------------------------------------------------------------


ALWAYS_ASKED = set(standin.ROLES) - {"reader", "query_reworder"}
"""Roles that every run on abstracts asks."""


def test_no_paper_stands_in_two_branches() -> None:
    """All anchors lead to the same papers; the branches share them out."""
    later = [paper(n, *([n - 1] if n > 3 else [0, 1, 2])) for n in range(3, 9)]
    papers = [paper(0), paper(1), paper(2), *later]
    ran = Ran(task_of(branches=3, length=4), World(papers))
    chains = [[link.paper.id for link in idea.chain.links] for idea in ran.ideas if idea.chain]
    every = [paper_id for chain in chains for paper_id in chain]
    assert len(chains) == 3
    assert len(every) == len(set(every)), chains
    together = Ran(task_of(branches=3, length=4, apart=False), World(papers), folder="together")
    shared = [link.paper.id for idea in together.ideas if idea.chain for link in idea.chain.links]
    assert len(shared) > len(set(shared)), "as in the paper"


def test_a_paper_goes_to_the_chain_that_has_no_other() -> None:
    def chain(branch: int, *proposed: int) -> dict[str, Any]:
        own = paper(branch)
        proposals = [{"paper": paper(n).model_dump(mode="json"), "reason": "r"} for n in proposed]
        return {
            **new_chain({"branch": branch, "query": "q", "paper": serialize(own), "reason": "r"}),
            "proposed": {"forward": proposals},
        }

    state = cast(Any, {"chains": {"1": chain(1, 8, 9), "2": chain(2, 8)}})
    context = SimpleNamespace(
        options=find_agent("chain-of-ideas").options,
        say=lambda text: None,
        library=SimpleNamespace(prefetch=lambda **papers: None),
    )
    updates = asyncio.run(grow(state, cast(Any, SimpleNamespace(context=context))))["chains"]
    assert [updates[n]["links"][0]["paper"]["id"] for n in ("1", "2")] == ["p9", "p8"]


def test_a_judgement_that_is_missing_is_asked_for_alone_and_else_noted() -> None:
    def silent_on_the_last(call: ScriptedCall) -> Any:
        graded = standin.ANSWERS["Judgements"](call.messages[-1][1])
        candidates = call.inputs.candidates
        silent = [n for n, one in enumerate(candidates) if one.title.endswith("part 2")]
        asked.append(len(candidates))
        kept = [one for one in graded["judgements"] if one["paper"] not in silent]
        return {**graded, "judgements": kept}

    asked: list[int] = []
    ran = Ran(task_of(branches=1, length=1), line(4, 1), relevance_judge=silent_on_the_last)
    assert asked[0] > 1
    assert asked[1:] == [1, 1, 1], "the paper alone, and twice more since that answer was empty"
    assert [paper.id for paper in ran.chain] == ["p1"]
    notes = json.loads(Path("run/run.json").read_text(encoding="utf-8"))["notes"]
    (note,) = (note for note in notes if "gave no judgement, even when asked again" in note)
    assert "part 2" in note


def test_a_full_text_is_read_once_and_its_reader_chooses_the_reference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def full_text(reader: TextReader, paper: Paper, tokens: int = 0) -> tuple[str, str]:
        return f"The full text of {paper.title}. " * 80, "full text"

    monkeypatch.setattr(TextReader, "text", full_text)
    ran = Ran(task_of(branches=2, length=3), line(20, 6))
    read = [call.inputs.title for call in ran.calls if call.role == "reader"]
    links = [link for idea in ran.ideas if idea.chain for link in idea.chain.links]
    assert sorted(read) == sorted(link.paper.title for link in links), "each paper once"
    assert any(call.inputs.references for call in ran.calls if call.role == "reader")
    assert {link.reason for link in links if link.position < 0} == {"Extends it."}
    assert all(link.reading and link.reading.why_it_works for link in links)
    assert ran.roles["abstract_reader"] == 0


def test_an_unread_paper_costs_its_reading_and_not_the_branch() -> None:
    """The reader says nothing of one paper, and nothing readable when it is asked for that paper alone."""

    def silent_on_one(call: ScriptedCall) -> Any:
        titles = [one.title for one in call.inputs.papers]
        if len(titles) == 1:
            return "no comment"
        told = standin.ANSWERS["AbstractReadings"](call.messages[1][1])
        kept = [one for one in told["readings"] if not titles[one["paper"]].endswith("part 7")]
        return {"readings": kept}

    ran = Ran(task_of(branches=1, length=3), abstract_reader=silent_on_one)
    (idea,) = ran.ideas
    links = idea.chain.links if idea.chain else ()
    assert [link.paper.id for link in links if link.reading is None] == ["p7"]
    assert len(links) == 3
    notes = json.loads(Path("run/run.json").read_text(encoding="utf-8"))["notes"]
    assert any("part 7” could not be read" in note for note in notes), notes


def test_the_whole_agent_asks_what_it_says_it_expects() -> None:
    task = task_of(branches=2, length=5, refinements=1)
    ran = Ran(task)
    expected = task.agent.expected_calls(task.options)
    assert expected is not None
    assert sum(ran.roles.values()) <= sum(expected.values())
    assert ran.roles["idea_judge"] == 2
    assert set(ran.roles) == ALWAYS_ASKED


@pytest.mark.parametrize(
    ("variant", "gone"),
    [("no-trend", {"forecaster"}), ("no-chain", {"trend_analyst"}), ("no-entities", set())],
)
def test_an_ablation_switches_its_part_off(variant: str, gone: set[str]) -> None:
    ran = Ran(task_of(f"chain-of-ideas/{variant}", branches=1, length=3))
    assert ALWAYS_ASKED - set(ran.roles) == gone | {"idea_judge", "duplicate_judge"}
    idea = ran.ideas[0]
    assert idea.agent == f"chain-of-ideas/{variant}"
    assert idea.chain
    assert (idea.chain.direction is None) == (variant == "no-trend")
    shown = [call.inputs.entities for call in ran.calls if "entities" in type(call.inputs).model_fields]
    assert shown
    assert any(shown) == (variant != "no-entities")
    if variant == "no-chain":
        assert not idea.chain.transitions
        assert {link.reason for link in idea.chain.links if link.position} == {
            "retrieved by the query, in no chain"
        }


def too_close(call: ScriptedCall) -> Any:
    """A novelty judge who has seen it all."""
    found = standin.ANSWERS["NoveltyVerdict"](call.messages[-1][1])
    same = {"purpose": "same", "mechanism": "same"}
    comparisons = [
        {**one, **same, "overlap": call.inputs.papers[one["paper"]].title} for one in found["comparisons"]
    ]
    return {**found, "comparisons": comparisons, "verdict": "published"}


@pytest.mark.parametrize("rewrites", [0, 1, 2])
def test_rewrites_are_bounded(rewrites: int) -> None:
    ran = Ran(task_of(branches=1, length=1, rewrites=rewrites, refinements=0), novelty_judge=too_close)
    assert (ran.roles["ideator"], ran.roles["novelty_judge"]) == (rewrites + 1, rewrites + 1)
    check = ran.ideas[0].novelty_check
    assert check
    assert (check.status, check.rounds) == ("too_close", rewrites)
    told = [len(call.inputs.too_close) for call in ran.calls if call.role == "ideator"]
    assert told[0] == 0
    assert all(told[1:]), "a rewrite is told what was too close"


def test_a_rewrite_that_helps_ends_the_loop() -> None:
    def first_only(call: ScriptedCall) -> Any:
        first = "first" not in seen
        seen.add("first")
        return too_close(call) if first else standin.ANSWERS["NoveltyVerdict"](call.messages[-1][1])

    seen: set[str] = set()
    ran = Ran(task_of(branches=1, length=1), novelty_judge=first_only)
    check = ran.ideas[0].novelty_check
    assert check
    assert (check.status, check.rounds, ran.roles["ideator"]) == ("novel", 1, 2)


def test_an_idea_that_is_too_close_comes_last() -> None:
    winner = Ran(task_of(branches=2, length=1, rewrites=0), folder="before").ideas[0].title

    def of_the_winner(call: ScriptedCall) -> Any:
        known = call.inputs.title == winner
        return too_close(call) if known else standin.ANSWERS["NoveltyVerdict"](call.messages[-1][1])

    ran = Ran(task_of(branches=2, length=1, rewrites=0), novelty_judge=of_the_winner)
    assert ran.ideas[-1].title == winner
    assert ran.ideas[-1].novelty_check
    assert ran.ideas[-1].novelty_check.status == "too_close"


@pytest.mark.parametrize("refinements", [0, 1, 2])
def test_refinements_are_counted(refinements: int) -> None:
    ran = Ran(task_of(branches=1, length=1, refinements=refinements))
    assert ran.roles["experiment_designer"] == 1
    assert ran.roles["experiment_reviewer"] == ran.roles["experiment_refiner"] == refinements
    plan = ran.ideas[0].experiment
    assert plan
    assert (plan.rounds, len(plan.suggestions)) == (refinements, refinements)


def test_a_reviewer_who_asks_for_nothing_ends_the_refinement() -> None:
    content: dict[str, Any] = {"defects": [], "suggestions": [], "queries": []}
    ran = Ran(task_of(branches=1, length=1, refinements=2), experiment_reviewer=lambda call: content)
    assert (ran.roles["experiment_reviewer"], ran.roles["experiment_refiner"]) == (1, 0)


def test_verdicts_that_cannot_be_read_are_no_ties() -> None:
    ran = Ran(task_of(branches=2, length=1), idea_judge=lambda call: "I like both of them.")
    assert [idea.wins for idea in ran.ideas] == ["0 won, 0 tied, 0 lost of 0, 1 without a verdict"] * 2


def test_a_topic_without_a_paper_is_thin() -> None:
    def off_topic(call: ScriptedCall) -> Any:
        graded = standin.ANSWERS["Judgements"](call.messages[-1][1])
        return {**graded, "judgements": [{**one, "grade": 0} for one in graded["judgements"]]}

    with pytest.raises(TopicNotCovered) as caught:
        Ran(task_of(branches=2), relevance_judge=off_topic)
    assert 3 <= len(caught.value.nearest) <= 5
    ran = Ran(task_of(branches=2, allow_thin=True, length=1), relevance_judge=off_topic, folder="thin")
    assert len(ran.ideas) == 2
    with pytest.raises(TopicNotCovered, match="no paper that may be used"):
        Ran(task_of(), World([]), folder="none")


def test_branches_that_all_fail_say_why_each() -> None:
    with pytest.raises(AllBranchesFailed) as caught:
        Ran(task_of(branches=2), abstract_reader=lambda call: "no comment")
    assert re.search(
        r"branch 1 \(.+\): abstract_reader: .*; branch 2 \(.+\): abstract_reader: ", str(caught.value)
    )
    record = json.loads(Path("run/run.json").read_text(encoding="utf-8"))
    assert (record["status"], record["error"]) == ("failed", str(caught.value))


# --- stops between two steps ------------------------------------------------------------------


def test_a_kill_after_any_write_to_the_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder as each write leaves it, taken up by a new run: the same ideas, and nobody is asked."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    task = task_of(branches=2, length=2)
    snapshots: list[Path] = []

    def snapshot() -> None:
        place = Path(f"killed{len(snapshots)}")
        place.mkdir()
        snapshots.append(place)
        for name in (".owner", "run.json", "events.jsonl"):
            shutil.copy(Path("run", name), place / name)
        with (
            closing(sqlite3.connect("run/checkpoints.sqlite")) as here,
            closing(sqlite3.connect(place / "checkpoints.sqlite")) as there,
        ):
            here.backup(there)

    def followed(write: Callable[..., Any]) -> Callable[..., Any]:
        async def both(*arguments: Any, **named: Any) -> Any:
            written = await write(*arguments, **named)
            snapshot()
            return written

        return both

    with monkeypatch.context() as patch:
        for name in ("aput", "aput_writes"):
            patch.setattr(AsyncSqliteSaver, name, followed(getattr(AsyncSqliteSaver, name)))
        whole = Ran(task)
    assert len(snapshots) > 30
    for place in snapshots[::3]:  # every one takes three times as long and told the same
        again = Ran(task, folder=str(place))
        assert again.calls == [], place
        assert Path(place, "ideas.jsonl").read_bytes() == Path("run/ideas.jsonl").read_bytes(), place
    assert whole.calls


# --- events and progress ----------------------------------------------------------------------

IN_A_BRANCH = {
    "extend_chain",
    "study_chain",
    "predict_direction",
    "draft_idea",
    "judge_novelty",
    "drop_draft",
}


def test_events_tell_the_steps_with_their_branch() -> None:
    ran = Ran(task_of(branches=2, length=3), novelty_judge=too_close)
    steps = [event for event in ran.events if event["event"] == "step"]
    assert {step["step"] for step in steps} >= IN_A_BRANCH | {"plan_queries", "judge_pair", "choose"}
    for step in steps:
        within = step["step"] in IN_A_BRANCH or step["step"] == "explore_branch"
        assert (step["branch"] in (1, 2)) if within else step["branch"] is None, step
    for name in IN_A_BRANCH:
        assert {step["branch"] for step in steps if step["step"] == name} == {1, 2}, name
    ends = Counter((step["step"], step["branch"]) for step in steps if step["status"] == "done")
    assert ends == Counter((step["step"], step["branch"]) for step in steps if step["status"] == "started")
    kept = list(read_events(Path("run/events.jsonl")))
    assert kept == [{"time": logged["time"], **event} for logged, event in zip(kept, ran.events, strict=True)]


def test_calls_are_counted_for_their_branch() -> None:
    ran = Ran(task_of(branches=2, length=3))
    labels = {(call["role"], call["label"]) for call in ran.events if call["event"] == "call"}
    assert ("query_planner", "shared") in labels
    assert {label for role, label in labels if role == "ideator"} == {"branch 1", "branch 2"}
    assert {label for role, label in labels if role == "idea_judge"} == {"choice"}
    best, other = ran.ideas
    assert best.usage.calls > other.usage.calls > 0
    record = json.loads(Path("run/run.json").read_text(encoding="utf-8"))
    assert record["usage"]["total"]["calls"] == len(ran.calls)


def test_progress_shows_markup_as_text() -> None:
    told = StringIO()
    console = Console(file=told, width=120, force_terminal=True, color_system=None)
    progress = RunProgress(console, quiet=True)
    hostile = "[red]idea[/red] [/x] \x1b[31m\x07 [link=http://b]c[/link]"
    progress.on_event({"event": "step", "step": "[bold]step", "branch": 1, "status": "started"})
    progress.on_event({"event": "note", "label": "branch 1", "text": hostile})
    progress.on_event({"event": "note", "label": None, "text": "[/]"})
    console.print(progress)
    shown = told.getvalue()
    assert "[red]idea[/red] [/x]" in shown
    assert "[link=http://b]c[/link]" in shown
    assert "[bold]step" in shown
    assert "\x1b[31m" not in shown
    assert "\x07" not in shown


def test_progress_counts_calls_and_cost() -> None:
    told = StringIO()
    console = Console(file=told, width=120)
    progress = RunProgress(console, quiet=True)

    def call(**changes: Any) -> Any:
        usage = {"prompt_tokens": 1000, "completion_tokens": 234, "cost_usd": 0.25}
        return {"event": "call", "cached": False, "usage": usage, **changes}

    progress.on_event(call())
    progress.on_event(call(cached=True))
    console.print(progress)
    assert "1 call, 1 from the cache, 1,234 tokens, $0.250" in told.getvalue()
    progress.on_event(call(usage={"prompt_tokens": 0, "completion_tokens": 0, "cost_usd": None}))
    console.print(progress)
    assert "price unknown" in told.getvalue()


# --- the folder of a run ----------------------------------------------------------------------


def test_a_folder_has_one_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-unit0test1key2")
    command = ["x", "generate", "a b", "--api-base", "http://me:" + "pw@here/v1", "sk-unit0test1key2"]
    monkeypatch.setattr("sys.argv", command)
    with RunFolder(Path("run"), "one"), pytest.raises(RunBusy) as caught, RunFolder(Path("run"), "one"):
        pass
    assert f"process {os.getpid()}: ideagora generate 'a b' --api-base http://here/v1" in str(caught.value)
    assert "pw" not in str(caught.value)
    assert "sk-unit0test1key2" not in str(caught.value)
    with RunFolder(Path("run"), "one"):
        pass


def test_a_folder_of_another_run_is_left_alone() -> None:
    with RunFolder(Path("run"), "one") as folder:
        folder.write({"id": "one", "topic": {"text": "first topic"}})
    before = {path.name: path.read_bytes() for path in Path("run").iterdir()}
    with pytest.raises(RunError, match=r"a different run.*“first topic”"), RunFolder(Path("run"), "two"):
        pass
    assert {path.name: path.read_bytes() for path in Path("run").iterdir()} == before
    for topic in ("null", '"text"', "{}"):
        Path("run/run.json").write_text(f'{{"id": "one", "topic": {topic}}}', encoding="utf-8")
        with pytest.raises(RunError, match="a different run"), RunFolder(Path("run"), "two"):
            pass


def test_a_line_that_a_kill_cut_short_is_mended() -> None:
    with RunFolder(Path("run"), "one") as folder:
        folder.log({"event": "note", "label": None, "text": "whole \u2028 line"})
        folder.write({"id": "one"})
    events = Path("run/events.jsonl")
    whole = events.read_bytes()
    events.write_bytes(whole + b'{"event": "note", "text": "cut sh\xe2\x80')
    with RunFolder(Path("run"), "one") as folder:
        folder.log({"event": "note", "label": None, "text": "next"})
        notes = [event["text"] for event in folder.events() if event["event"] == "note"]
        assert notes == ["whole \u2028 line", "next"]
    assert events.read_bytes().startswith(whole)


def test_events_are_read_as_they_were_written() -> None:
    texts = ["whole \u2028 line", "\ud83d", "\ud83d" + "\ude00", "7 \u2212 1"]
    with RunFolder(Path("run"), "one") as folder:
        folder.write({"id": "one"})
        for text in texts:
            folder.log({"event": "note", "label": None, "text": text})
    path = Path("run/events.jsonl")
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))  # a write cut short
    with RunFolder(Path("run"), "one") as folder:
        folder.log({"event": "note", "label": None, "text": "next"})
        notes = [event["text"] for event in folder.events() if event["event"] == "note"]
    assert [note.encode("utf-16", "surrogatepass") for note in notes] == [
        text.encode("utf-16", "surrogatepass") for text in [*texts, "next"]
    ]


def test_lost_events_are_noticed_if_there_are_checkpoints() -> None:
    with RunFolder(Path("run"), "one") as folder:
        folder.write({"id": "one"})
        folder.log({"event": "begin"})
        folder.log({"event": "note", "label": None, "text": "7 papers"})
    path, checkpoints = Path("run/events.jsonl"), Path("run/checkpoints.sqlite")
    whole = path.read_bytes()
    damages = {
        "another digit": whole.replace(b"7 papers", b"9 papers"), "cut short": whole[:-3], "emptied": b"",
        "joined lines": whole.replace(b"\n", b" ", 1),
    }  # fmt: skip
    for name, content in damages.items():
        for has_checkpoints in (True, False):
            path.write_bytes(content)
            checkpoints.touch() if has_checkpoints else checkpoints.unlink()
            with RunFolder(Path("run"), "one") as folder:
                assert folder.has_lost_events is has_checkpoints, name
    checkpoints.touch()
    for content in (whole, re.sub(rb', "crc32": \d+', b"", whole)):  # as written now, and by earlier versions
        path.write_bytes(content)
        with RunFolder(Path("run"), "one") as folder:
            assert not folder.has_lost_events


def test_a_write_that_fails_leaves_what_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    with RunFolder(Path("run"), "one") as folder:
        folder.write({"id": "one", "status": "running"})
        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(FolderUnusable, match=r"run cannot be used: No space left.*--out"):
            folder.write({"id": "one", "status": "done"})
        assert folder.read() == {"id": "one", "status": "running"}
    with pytest.raises(OSError, match="No space"):
        write_atomically(Path("run/run.json"), "{}")
    assert json.loads(Path("run/run.json").read_text(encoding="utf-8"))["status"] == "running"


def test_forgetting_begins_with_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed anywhere in it, the folder is either as it was or without a record: never done and empty."""
    names = ("run.json", "ideas.jsonl", "report.md", "checkpoints.sqlite", "checkpoints.sqlite-wal")
    with RunFolder(Path("run"), "one") as folder:
        for name in names:
            Path("run", name).write_text('{"id": "one", "status": "done"}', encoding="utf-8")
        folder.log({"event": "begin"})
        gone: list[str] = []
        unlink = Path.unlink

        def noted(self: Path, missing_ok: bool = False) -> None:
            gone.append(self.name)
            unlink(self, missing_ok)

        monkeypatch.setattr(Path, "unlink", noted)
        folder.clear()
        assert gone[0] == "run.json"
        assert {path.name for path in Path("run").iterdir()} == {".lock", ".owner", "events.jsonl"}
        assert list(folder.events()) == []
    with RunFolder(Path("run"), "two"):
        pass


# --- names and topics -------------------------------------------------------------------------


def test_the_same_command_has_the_same_identity() -> None:
    assert task_of().identity == task_of().identity
    same = {
        "budget": 3.0,
        "timeout": 5.0,
        "concurrency": 2,
        "retries": 1,
        "replay": True,
        "price_prompt": 1.0,
    }
    task = task_of()
    for name, value in same.items():
        settings = task.settings.model_copy(update={name: value})
        assert Task(task.topic, task.agent, task.options, settings).identity == task.identity, name


def test_whatever_can_change_a_result_changes_the_identity() -> None:
    task = task_of()
    topics: list[dict[str, Any]] = [
        {"text": "other"},
        {"before": "2020"},
        {"excluded": ("x",)},
        {"inspirations": ("p1",)},
    ]
    settings: list[dict[str, Any]] = [
        {"model": "a"}, {"reader_model": "a"}, {"judge_model": "a"}, {"temperature": 0.5},
        {"embedder": "other"}, {"source": "other"}, {"seed": 1}, {"api_base": "http://127.0.0.1:1"},
    ]  # fmt: skip
    options: list[dict[str, Any]] = [
        {"branches": 2},
        {"length": 4},
        {"refinements": 0},
        {"rewrites": 1},
        {"allow_thin": True},
    ]
    others = [Task(task.topic.model_copy(update=u), task.agent, task.options, task.settings) for u in topics]
    others += [
        Task(task.topic, task.agent, task.options, task.settings.model_copy(update=u)) for u in settings
    ]
    others += [task_of(**u) for u in options]
    others += [task_of(name) for name in AGENTS if name != "chain-of-ideas"]
    identities = [other.identity for other in [task, *others]]
    assert len(set(identities)) == len(identities)


def test_the_server_is_part_of_it_wherever_its_address_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = task_of()

    def identity(model: str) -> str:
        settings = plain.settings.model_copy(update={"model": model})
        return Task(plain.topic, plain.agent, plain.options, settings).identity

    login = "user:pw"
    for variable, model in (
        ("OPENAI_BASE_URL", "gpt-4o"),
        ("OPENAI_API_BASE", "openai/x"),
        ("MISTRAL_API_BASE", "mistral/x"),
    ):
        before, offline = identity(model), identity("offline")
        monkeypatch.setenv(variable, f"http://{login}@127.0.0.1:1/v1")
        assert identity(model) != before, variable
        assert identity("offline") == offline
        monkeypatch.delenv(variable)


def test_a_run_stopped_under_another_version_begins_anew_from_the_cache(caplog: Any) -> None:
    def stop(call: ScriptedCall) -> Any:
        raise BudgetExhausted("enough")

    changed: dict[str, Callable[[dict[str, Any]], Any]] = {
        "ideagora was 0.0.1": lambda held: held["versions"].update(ideagora="0.0.1"),
        "prompt reader has changed": lambda held: held["prompts"].update(reader="other"),
        "code has changed": lambda held: held.update(code="other"),
    }
    for number, (words, change) in enumerate(changed.items()):
        task, folder = task_of(branches=2, length=2), f"run{number}"
        with pytest.raises(BudgetExhausted):
            Ran(task, folder=folder, idea_judge=stop)
        path = Path(folder, "run.json")
        held = json.loads(path.read_text())
        change(held)
        path.write_text(json.dumps(held))
        again = Ran(task, folder=folder)
        assert len(again.ideas) == 2
        assert "trend_analyst" not in again.roles, "what was answered is in the cache"
        record = json.loads(path.read_text())
        assert words in record["notes"][0], record["notes"]
        assert words in caplog.text
        steps = [event.get("step") for event in again.events]
        assert "plan_queries" in steps, "it mixes two versions"


@given(st.text(max_size=200))
def test_any_text_is_a_topic_or_a_named_error(text: str) -> None:
    try:
        topic = check_topic(text, offline=True)
    except IdeagoraError as error:
        told = str(error)
        assert "\n" not in told
        return
    assert topic.text == " ".join(text.split())
    assert len(topic.text.split()) <= LONGEST_TOPIC


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=400))
def test_a_run_has_a_name_that_any_disk_takes(text: str) -> None:
    task = task_of(topic=text)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*-[0-9a-f]{8}", folder_for(task, None, False).name)
    assert len(folder_for(task, None, False).name) < 60
    assert folder_for(task, Path("out"), several=False) == Path("out")
    assert folder_for(task, Path("out"), several=True).parent == Path("out")


def test_topics_of_a_file() -> None:
    record = {"topic": "long\u2028documents", "before": "2024", "banned": ["A"], "note": "not ours"}
    text = f"\ufeff  agents  that plan \r\n\n{json.dumps(record, ensure_ascii=False)}\nagents that plan\n"
    Path("topics").write_bytes(text.encode())
    first, second = read_topics(Path("topics"), offline=True, before="2025", excluded=("B",))
    assert first == Topic(text="agents that plan", before="2025", excluded=("B",))
    assert second == Topic(text="long documents", before="2024", excluded=("B", "A"))


def test_what_each_round_of_refinement_found_is_kept() -> None:
    class Narrow(World):
        async def search(self, query: str, k: int) -> list[ScoredPaper]:
            chosen = [one for one in self.papers.values() if one.id == query.partition("look up ")[2]]
            return [
                ScoredPaper(paper=one, similarity=0.5) for one in chosen or list(self.papers.values())[:k]
            ]

    rounds = count(1)

    def review(call: ScriptedCall) -> Any:
        return {"defects": [], "suggestions": ["Say more."], "queries": [f"look up p{next(rounds)}"]}

    world = Narrow(list(line(12, 6).papers.values()))
    ran = Ran(task_of(branches=1, length=2, refinements=3), world, experiment_reviewer=review)
    assert ran.ideas[0].experiment
    assert [paper.id for paper in ran.ideas[0].experiment.found] == ["p1", "p2", "p3"]
