"""The plain baselines: what they ask, what they give, and that they stop and go on like the full agent."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ideagora.agents.plain_ideators import RagInputs
from ideagora.agents.role import ROLES
from ideagora.agents.text.quotes import is_quoted
from ideagora.errors import TopicNotCovered
from ideagora.models.chat_models import ScriptedCall
from ideagora.models.offline import ExtractiveModel
from ideagora.registry import find_agent
from tests.graphs.test_runtime import Ran, World, line, task_of
from tests.support import command, standin
from tests.support.each import each_case
from tests.support.loopback import Body, Fault, Loopback
from tests.support.role_samples import SAMPLES, real_embedder, with_weights

TOPIC = "tool use by language models"


def test_direct_asks_twice_and_reads_nothing() -> None:
    class Shut(World):
        async def search(self, query: str, k: int) -> list[Any]:
            raise AssertionError("direct reads no literature")

    ran = Ran(task_of("direct"), Shut([]))
    assert ran.roles == Counter(direct_ideator=1, experiment_designer=1)
    (idea,) = ran.ideas
    assert (idea.references, idea.sources, idea.chain, idea.neighbours) == ((), (), None, ())
    assert idea.experiment
    assert idea.usage.calls == 2
    assert idea.created


@pytest.mark.parametrize("papers", [1, 4])
def test_rag_shows_the_papers_that_a_search_finds(papers: int) -> None:
    ran = Ran(task_of("rag", papers=papers))
    assert ran.roles == Counter(query_planner=1, relevance_judge=1, rag_ideator=1, experiment_designer=1)
    (idea,) = ran.ideas
    asked = next(call for call in ran.calls if call.role == "rag_ideator")
    assert len(asked.inputs.papers) == len(idea.neighbours) == papers
    assert [p.title for p in asked.inputs.papers] == [p.title for p in idea.neighbours]
    designed = next(call for call in ran.calls if call.role == "experiment_designer")
    assert designed.inputs.related == asked.inputs.papers
    assert idea.experiment
    assert set(idea.facets) == {"purpose", "mechanism", "evaluation"}


def test_rag_stands_only_on_words_that_are_in_the_papers() -> None:
    def quoting(call: ScriptedCall) -> Any:
        told = standin.ANSWERS["RagIdea"](call.messages[-1][1])
        sources = [
            {"part": "method", "paper": 0, "quote": "Language models call tools."},
            {"part": "novelty", "paper": 1, "quote": "nobody wrote this"},
        ]
        return {**told, "sources": sources}

    ran = Ran(task_of("rag", papers=2), line(3, 1), rag_ideator=quoting)
    (idea,) = ran.ideas
    assert idea.references == (idea.neighbours[0].id,)
    assert [source.verbatim for source in idea.sources] == [True, False]
    assert idea.sources[1].quote == "(not verbatim) nobody wrote this"


def test_rag_asks_again_for_a_number_that_it_did_not_show() -> None:
    def unknown(call: ScriptedCall) -> Any:
        told = standin.ANSWERS["RagIdea"](call.messages[1][1])
        first = len(call.messages) == 2
        return {**told, "sources": [{"part": "method", "paper": 9 if first else 0, "quote": "x"}]}

    ran = Ran(task_of("rag", papers=2), rag_ideator=unknown)
    assert ran.roles["rag_ideator"] == 2
    said = [call for call in ran.calls if call.role == "rag_ideator"][1].messages[-1][1]
    assert "sources.paper is 9, but papers are numbered from 0" in said


def test_rag_without_any_paper_says_so() -> None:
    with pytest.raises(TopicNotCovered, match="has no paper that may be used"):
        Ran(task_of("rag"), World([]))


@pytest.mark.parametrize(("name", "calls"), [("direct", 2), ("rag", 4)])
def test_the_expected_calls_are_those_that_are_made(name: str, calls: int) -> None:
    task = task_of(name)
    assert sum((task.agent.expected_calls(task.options) or {}).values()) == calls
    assert sum(Ran(task).roles.values()) == calls


@each_case("name", ["direct", "rag", "real-paper"])
def test_the_steps_are_told_in_the_order_of_the_graph(name: str) -> None:
    agent = find_agent(name)
    assert list(agent.steps) == list(agent.build().nodes)


# --- offline ------------------------------------------------------------------------------------


@with_weights
def test_a_title_alone_lends_the_offline_rag_no_mechanism() -> None:
    inputs = SAMPLES["rag_ideator"].inputs
    assert isinstance(inputs, RagInputs)
    bare = inputs.papers[0].model_copy(update={"title": f"A Survey of {inputs.topic}", "abstract": None})
    more = inputs.model_copy(update={"papers": (*inputs.papers, bare)})
    told = ROLES["rag_ideator"].offline(ExtractiveModel(real_embedder()), more).model_dump()
    assert "A Survey of" not in told["method"]


@with_weights
def test_the_offline_rag_idea_rests_on_words_of_two_papers() -> None:
    inputs = SAMPLES["rag_ideator"].inputs
    told = ROLES["rag_ideator"].offline(ExtractiveModel(real_embedder()), inputs).model_dump()
    assert {source["paper"] for source in told["sources"]} == {0, 1}
    for source in told["sources"]:
        assert is_quoted(source["quote"], inputs.papers[source["paper"]].abstract)  # type: ignore[attr-defined]
    whole = " ".join(str(value) for name, value in told.items() if name != "sources")
    assert "chain" not in whole, "these papers stand in no chain"


@with_weights
def test_the_offline_direct_idea_is_made_of_the_topic_and_says_so() -> None:
    engine = ExtractiveModel(real_embedder())
    told = ROLES["direct_ideator"].offline(engine, SAMPLES["direct_ideator"].inputs).model_dump()
    assert "No papers were retrieved" in told["motivation"]
    assert told["novelty"].startswith("None is claimed")
    assert "search" in told["method"]
    assert not any(character.isdigit() for character in told["motivation"] + told["novelty"])


# --- the command --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["direct", "rag"])
def test_a_stop_and_a_replay_change_nothing(name: str, home: Path) -> None:
    down = [True]

    def reply(body: Body) -> Any:
        wanted = body["response_format"]["json_schema"]["name"]
        return Fault(400, "not today") if wanted == "Plan" and down[0] else standin.answer(body)

    model = standin.Model(reply)
    with Loopback(model) as server:
        base = ["generate", TOPIC, "--agent", name, "--json", "--model", "openai/standin"]
        asked = [*base, "--api-base", server.base, "--retries", "0", "--out"]
        stopped = command.run([*asked, "run"])
        assert (stopped.code, stopped.out) == (1, "")
        assert "not today" in stopped.err
        down[0] = False
        done = command.run([*asked, "run"])
        assert done.code == 0, done.err
        assert [one.wanted for one in model.asked].count("Plan") == 2
        idea_of = {"direct": "DirectIdea", "rag": "RagIdea"}[name]
        assert [one.wanted for one in model.asked].count(idea_of) == 1, "the idea was asked for once"
        asked_for = len(model.asked)
        again = command.run([*asked, "again", "--replay"])
        assert again.code == 0, again.err
    assert len(model.asked) == asked_for
    assert Path("run/ideas.jsonl").read_bytes() == Path("again/ideas.jsonl").read_bytes()
    (idea,) = json.loads(done.out)["ideas"]
    assert idea["agent"] == name
    assert idea["title"] in Path("run/report.md").read_text(encoding="utf-8")
    assert idea["usage"]["calls"] == asked_for - 1


@each_case(
    "arguments, said",
    [
        (
            ["--agent", "direct", "--branches", "2"],
            "the agent direct has no option --branches. It has --ideas.",
        ),
        (
            ["--agent", "rag", "--length", "2"],
            "the agent rag has no option --length. It has --papers, --allow-off-topic, --ideas.",
        ),
        (["--agent", "rag", "--papers", "0"], "--papers is 0: input should be greater than or equal to 1."),
        (["--agent", "rag", "--papers", "51"], "--papers is 51: input should be less than or equal to 50."),
        (["--papers", "5"], "the agent chain-of-ideas has no option --papers"),
        (
            ["--agent", "direct", "--ideas", "21"],
            "--ideas is 21, which direct does not support",
        ),
        (["--agent", "real-paper:arxiv:2210.03629", "--ideas", "2"], "has no option --ideas"),
        (["--agent", "rag", "--set", "questions=2"], "the agent rag has no option --set questions"),
        (["--agent", "gpt-researcher", "--set", "questions=99"], "--set questions=99: input should be less"),
        (["--agent", "gpt-researcher", "--set", "questions"], "--set is 'questions'. Write NAME=VALUE"),
    ],
)
def test_options_of_other_agents_are_refused(arguments: list[str], said: str) -> None:
    done = command.run(["generate", TOPIC, *arguments])
    assert (done.code, done.out) == (2, "")
    assert said in " ".join(done.err.split())


def test_rag_offline_keeps_the_cut_off(home: Path) -> None:
    done = command.run(["generate", TOPIC, "--agent", "rag", "--before", "2022", "--json", "--papers", "3"])
    assert done.code == 0, done.err
    (idea,) = json.loads(done.out)["ideas"]
    assert 1 <= len(idea["neighbours"]) <= 3
    assert all(one["date"] < "2022" for one in idea["neighbours"])
    assert set(idea["references"]) <= {one["id"] for one in idea["neighbours"]}
    report = Path(json.loads(done.out)["run"], "report.md").read_text()
    assert all(one["title"] in report.partition("**Papers shown**")[2] for one in idea["neighbours"])


@each_case("name", ["chain-of-ideas", "direct", "rag", "real-paper"])
def test_the_pictures_of_the_docs_are_the_graphs(name: str) -> None:
    docs = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
    drawn = find_agent(name).build().compile().get_graph().draw_mermaid().strip()
    assert f"## {name}\n" in docs
    assert f"```mermaid\n{drawn}\n```" in docs
