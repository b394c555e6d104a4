"""What makes ``sci-agents``: a graph of concepts, a path through it, and an idea that names both ends."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

from ideagora.agents.text.quotes import is_quoted
from ideagora.errors import AllBranchesFailed
from ideagora.graphs.sci_agents.concept_graph import (
    PaperTriple,
    build_concept_graph,
    describe_graph,
    merge_names,
    path_papers,
    sample_paths,
)
from ideagora.models.chat_models import ScriptedCall
from tests.graphs.test_runtime import Ran, task_of
from tests.support.field_agents.sci_agents import CONCEPTS
from tests.support.standin import ANSWERS


def triple(subject: str, related: str, paper: str = "p") -> PaperTriple:
    return PaperTriple(subject=subject, relation="acts on", object=related, quote="so", paper=paper)


def test_the_idea_names_both_ends_of_its_path() -> None:
    ran = Ran(task_of("sci-agents", ideas=2))
    for idea in ran.ideas:
        path = idea.extra["path"]
        assert len(path) >= 3
        assert all(
            is_quoted(end, f"{idea.title} {idea.summary} {idea.method}") for end in (path[0], path[-1])
        )
        assert set(idea.references) <= {paper.id for paper in idea.neighbours}
    assert len({frozenset((idea.extra["path"][0], idea.extra["path"][-1])) for idea in ran.ideas}) == 2


def test_an_idea_that_drops_an_end_is_asked_for_again() -> None:
    def forgetful(call: ScriptedCall) -> Any:
        answer = ANSWERS["PathIdea"](call.messages[1][1])
        return {**answer, "summary": "Nothing of the path."} if len(call.messages) == 2 else answer

    ran = Ran(task_of("sci-agents"), path_writer=forgetful)
    assert ran.roles["path_writer"] == 2
    last = [call for call in ran.calls if call.role == "path_writer"][-1].messages[-1][1]
    assert "the idea must name both ends of the path; it lacks “" in last


def test_a_path_runs_through_papers_that_share_no_relation() -> None:
    triples = [triple("a", "b", "p1"), triple("b", "c", "p2"), triple("c", "d", "p3"), triple("x", "y", "p4")]
    graph = build_concept_graph(triples, {name: name for name in "abcdxy"})
    relevance = dict.fromkeys("abcdxy", 0.5) | {"a": 0.9}
    (path,) = sample_paths(graph, relevance, 1, 0)
    assert path[0] == "a"
    assert all(graph.has_edge(*pair) for pair in pairwise(path))
    assert len(path_papers(graph, path)) >= 2
    assert describe_graph(graph, [path]) == (
        "The graph has 6 concepts and 4 relations in 2 components; the paths are among 4 of the concepts."
    )
    assert sample_paths(graph, relevance, 1, 0) == [path]
    other = networkx.Graph([("a", "b", {"triple": 0, "paper": "p"}), ("c", "d", {"triple": 1, "paper": "p"})])
    assert sample_paths(other, dict.fromkeys("abcd", 0.5), 3, 0) == []


def test_like_names_are_one_concept() -> None:
    vectors = np.array([[1.0, 0.0], [0.9, np.sqrt(1 - 0.81)], [0.0, 1.0]])
    merged = merge_names(["verifier", "Verifiers", "memory"], vectors)
    assert merged == {"verifier": "verifier", "verifiers": "verifier", "memory": "memory"}
    graph = build_concept_graph([triple("verifier", "Verifiers"), triple("Verifiers", "memory")], merged)
    assert [set(edge) for edge in graph.edges] == [{"verifier", "memory"}]


@pytest.mark.parametrize("apart", [True, False])
def test_a_graph_without_a_path_is_declined_and_a_broken_one_is_described(apart: bool) -> None:
    seen: list[str] = []

    def triples(call: ScriptedCall) -> Any:
        seen.append(call.inputs.title)
        names = CONCEPTS[3 * len(seen) - 3 : 3 * len(seen) - int(apart)]
        return {"triples": [triple(*pair) for pair in pairwise(names)]}

    if apart:
        with pytest.raises(AllBranchesFailed, match=r"No path: 5 papers were read\. The graph has 10"):
            Ran(task_of("sci-agents", papers=5), triple_extractor=triples)
        return
    ran = Ran(task_of("sci-agents", papers=5), triple_extractor=triples)
    assert len(ran.ideas[0].extra["path"]) == 3
    notes = " ".join(json.loads(Path("run/run.json").read_text())["notes"])
    assert "15 concepts and 10 relations in 5 components; the paths are among 3 of the concepts" in notes


def test_a_paper_without_readable_triples_and_a_failed_path_are_named() -> None:
    def triples(call: ScriptedCall) -> Any:
        return (
            "no" if call.inputs.title.endswith("part 6") else ANSWERS["ConceptTriples"](call.messages[-1][1])
        )

    def critic(call: ScriptedCall) -> Any:
        paths.append(call.inputs.path[0])
        return "no" if call.inputs.path[0] == paths[0] else ANSWERS["Critique"](call.messages[-1][1])

    paths: list[str] = []
    ran = Ran(task_of("sci-agents", ideas=2), triple_extractor=triples, proposal_critic=critic)
    record = json.loads(Path("run/run.json").read_text())
    assert len(ran.ideas) == 1
    assert any("part 6” is not in the graph" in note for note in record["notes"])
    assert "the path " in record["failures"][0]["error"]
