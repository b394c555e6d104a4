"""How many ideas an agent is asked for, and what it gives."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from ideagora.agents.plain_ideators import RAG_IDEATOR, RagInputs, proposed_ideas
from ideagora.config import Settings
from ideagora.graphs.agent import with_ideas
from ideagora.graphs.generate import Outcome, generate
from ideagora.graphs.task import Task
from ideagora.models.chat_models import ScriptedCall
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.models.offline import ExtractiveModel
from ideagora.registry import find_agent
from ideagora.retrieval.library import Library
from ideagora.schema import Topic
from tests.graphs.test_runtime import Ran, line, scripted, task_of
from tests.support import standin
from tests.support.baseline_samples import PAPERS, TOPIC
from tests.support.each import each_case


def run_agent(name: str, number: int | None, home: Path, model: str = "scripted") -> Outcome:
    agent = find_agent(name)
    agent = agent if number is None else with_ideas(agent, number)
    settings = Settings(home=home, embedder="hash", model=model)
    task = Task(Topic(text="tools for language models"), agent, agent.options, settings)
    library = Library(line(12, 6), HashEmbedder())
    (outcome,) = asyncio.run(
        generate(
            [(task, home / task.identity)], lambda: (library, HashEmbedder), lambda event: None,
            chats={"scripted": scripted({})} if model == "scripted" else None,
        )
    )  # fmt: skip
    return outcome


@each_case("name", ["direct", "rag"])
def test_ideas_are_written_one_after_the_other_each_with_its_experiment(name: str) -> None:
    ran = Ran(task_of(name, ideas=3), folder=name)
    searching = {"query_planner": 1, "relevance_judge": 1} if name == "rag" else {}
    assert ran.roles == {**searching, f"{name}_ideator": 3, "experiment_designer": 3}
    assert len({idea.id for idea in ran.ideas}) == 3
    assert [idea.usage.calls for idea in ran.ideas] == [2, 2, 2]
    asked = [call for call in ran.calls if call.role == f"{name}_ideator"]
    shown = [[one.title for one in call.inputs.proposed] for call in asked]
    titles = [idea.title for idea in ran.ideas]
    assert shown == [[], titles[:1], titles[:2]]
    steps = {idea.experiment.steps for idea in ran.ideas if idea.experiment}
    assert len(steps) == 3


def test_a_model_that_repeats_itself_gives_fewer_ideas() -> None:
    def same(call: ScriptedCall) -> Any:
        return {**standin.ANSWERS["DirectIdea"](call.messages[-1][1]), "title": "The only idea"}

    ran = Ran(task_of("direct", ideas=3), direct_ideator=same)
    assert [idea.title for idea in ran.ideas] == ["The only idea"]
    assert ran.ideas[0].experiment
    record = json.loads(Path("run/run.json").read_text(encoding="utf-8"))
    assert record["status"] == "done"
    assert "idea 2 could not be written" in record["failures"][0]["error"]
    assert "already proposed" in record["failures"][0]["error"]


def test_further_leads_use_other_mechanisms() -> None:
    engine = ExtractiveModel(HashEmbedder())
    drafts: list[dict[str, Any]] = []
    for _ in range(2):
        inputs = RagInputs(topic=TOPIC, papers=PAPERS, proposed=proposed_ideas(drafts))
        drafts.append(RAG_IDEATOR.offline(engine, inputs).model_dump())
    assert drafts[0]["title"] != drafts[1]["title"]


def test_the_next_best_chains_get_experiments_too() -> None:
    ran = Ran(task_of(branches=3, length=2, experiments=2))
    first, second, third = ran.ideas
    assert first.experiment
    assert second.experiment
    assert first.experiment.steps != second.experiment.steps
    assert first.experiment.rounds == second.experiment.rounds == 1
    assert third.experiment is None
    assert ran.roles["experiment_designer"] == ran.roles["experiment_refiner"] == 2
    options: Any = with_ideas(find_agent("chain-of-ideas"), 5).options
    assert (options.branches, options.experiments) == (5, 5)


AGENTS = """
def told(topic, n_ideas):
    return [{"title": f"{n_ideas} {number}", "method": "x"} for number in range(n_ideas or 1)]
def defaults(n_ideas=4):
    return [{"title": f"{n_ideas} {number}", "method": "x"} for number in range(n_ideas)]
def ignores(topic):
    return [{"title": "one", "method": "x"}]
"""
COMMAND = """import json, sys
n = json.loads(sys.stdin.readline())["n_ideas"]
for number in range(n or 1):
    print(json.dumps({"title": f"{n} {number}", "method": "x"}))
"""


def test_external_agents_are_told_the_number(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(AGENTS, encoding="utf-8")
    (tmp_path / "own_command.py").write_text(COMMAND, encoding="utf-8")
    command = f"command:{sys.executable} {tmp_path}/own_command.py"
    asked = [("told", None), ("told", 2), ("defaults", None), ("ignores", 2)]
    given = {
        (name, number): [
            idea.title for idea in run_agent(f"{tmp_path}/own.py:{name}", number, tmp_path).ideas
        ]
        for name, number in asked
    }
    assert given == {
        ("told", None): ["None 0"],
        ("told", 2): ["2 0", "2 1"],
        ("defaults", None): ["4 0", "4 1", "4 2", "4 3"],
        ("ignores", 2): ["one"],
    }
    assert [idea.title for idea in run_agent(command, 2, tmp_path).ideas] == ["2 0", "2 1"]


def test_who_has_no_choice_is_left_as_it_is() -> None:
    agent = find_agent("real-paper:arxiv:2201.11903")
    assert with_ideas(agent, 2) is agent


def test_the_number_is_part_of_the_identity_only_if_it_is_set() -> None:
    agent = find_agent("rag")
    settings = Settings()
    identity = Task(Topic(text="tools"), agent, agent.options, settings).identity
    assert Task(Topic(text="tools"), agent, with_ideas(agent, 1).options, settings).identity == identity
    assert Task(Topic(text="tools"), agent, with_ideas(agent, 2).options, settings).identity != identity
