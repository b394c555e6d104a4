"""The agent ``portfolio``: distances, lineage, children against parents, drafters that fail, the budget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ideagora.config import Settings
from ideagora.graphs.portfolio.agent import PortfolioOptions
from ideagora.graphs.portfolio.budget import calls_of_end, calls_of_round, may_begin_round, total_calls
from ideagora.graphs.portfolio.spread import choose_parents, farthest, similarities, two_dimensions
from ideagora.graphs.portfolio.steps.ranking import next_pairs, rate
from ideagora.graphs.steps.swiss_ranking import Game
from ideagora.models.budget import expected_cost
from ideagora.models.chat_models import ScriptedCall
from ideagora.models.embeddings.embedder import load_embedder
from ideagora.schema import Idea
from tests.graphs.test_runtime import Ran, task_of
from tests.support import command, field_agents, standin

TOPIC = "tool use by language models"
assert field_agents.SAMPLES, "imported for the stand-in, which answers for them too"


def small(**options: Any) -> Any:
    """Two drafters with two ideas each, one round."""
    return task_of("portfolio", **{"drafters": ("rag", "gpt-researcher"), "ideas": 4, **options})


def record(folder: str = "run") -> dict[str, Any]:
    content: dict[str, Any] = json.loads(Path(folder, "run.json").read_text(encoding="utf-8"))
    return content


# --- distances --------------------------------------------------------------------------------------


def test_far_ideas_are_chosen_by_hand() -> None:
    angles = np.radians([0, 10, 80, 90, 180])
    similarity = similarities(np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32))
    assert farthest(similarity, 0, 3) == [0, 4, 3]
    assert farthest(similarity, 0, 9) == [0, 4, 3, 1, 2]
    assert farthest(similarity[:0, :0], 0, 2) == []
    first = choose_parents(similarity, [5, 9, 1, 1, 1], [], 4)
    assert first == [("combined", (0, 4)), ("simplified", (1,)), ("inverted", (2,)), ("combined", (0, 3))]
    assert choose_parents(similarity, [5, 9, 1, 1, 1], first, 2) == [
        ("combined", (1, 4)),
        ("simplified", (2,)),
    ]
    assert [op for op, _ in choose_parents(similarity[:1, :1], [5], [], 3)] == ["simplified", "inverted"]


def test_the_map_keeps_distances_that_fit_in_a_plane() -> None:
    vectors = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32)
    plane = np.array(two_dimensions(vectors))
    distances = np.linalg.norm(plane[:, None] - plane, axis=2)[np.triu_indices(3, 1)]
    assert np.allclose(distances, np.sqrt(2), atol=1e-3)
    assert two_dimensions(vectors[:1]) == [[0.0, 0.0]]


@pytest.mark.slow
def test_ideas_lie_farther_apart_than_those_of_direct(home: Path) -> None:
    """Mean and smallest distance of eight ideas on the starter corpus, offline; and their lineage."""

    topic = "language model agents that plan tool use, search the web and judge scientific ideas"

    def ideas(agent: str) -> list[Idea]:
        done = command.run(["generate", topic, "--agent", agent, "--ideas", "8", "--json", "--out", agent])
        assert done.code == 0, done.err
        return [Idea.model_validate(idea) for idea in json.loads(done.out)["ideas"]]

    embedder = load_embedder("all-MiniLM-L6-v2", home)

    def distances(found: list[Idea]) -> Any:
        texts = [f"{idea.title}. {idea.summary}" for idea in found]
        vectors = np.asarray(embedder.encode(texts))
        return 1 - (vectors @ vectors.T)[np.triu_indices(len(found), 1)]

    ours, direct = ideas("portfolio"), ideas("direct")
    assert len(ours) == 8
    assert len(direct) >= 3  # offline it varies the words of the topic until none are left
    assert distances(ours).mean() > distances(direct).mean()
    assert distances(ours).min() > distances(direct).min()
    for idea in ours:
        assert idea.lineage
        assert (
            bool(idea.lineage.parents) == bool(idea.lineage.change) == (idea.lineage.operation != "drafted")
        )
        assert idea.rating
        assert idea.rating.low < idea.rating.rating < idea.rating.high
    overview = record("portfolio")["portfolio"]["overview"]
    assert [entry["title"] for entry in overview["questions"]] == [idea.title for idea in ours]


# --- rounds -----------------------------------------------------------------------------------------


def preferring(winner: str) -> Any:
    """A judge for whom children lose, or win, against drafts; others tie."""

    def judge(call: ScriptedCall) -> dict[str, Any]:
        answer = standin.ANSWERS["IdeaPreference"](call.messages[1][1])
        children = ["Child" in idea.title for idea in (call.inputs.first, call.inputs.second)]
        side = "tie"
        if children[0] != children[1]:
            side = "first" if children[0] == (winner == "child") else "second"
        return {name: text if name == "reason" else side for name, text in answer.items()}

    return judge


def named(schema: str) -> Any:
    def write(call: ScriptedCall) -> dict[str, Any]:
        answer = standin.ANSWERS[schema](call.messages[1][1])
        return {**answer, "title": f"Child of {schema} {standin._word(call.messages[1][1])}"}

    return write


CHILDREN = {
    "idea_combiner": named("CombinedIdea"),
    "idea_simplifier": named("SimplifiedIdea"),
    "idea_inverter": named("InvertedIdea"),
}


@pytest.mark.parametrize("winner", ["child", "parent"])
def test_a_child_that_loses_to_its_parent_does_not_survive(winner: str) -> None:
    ran = Ran(small(ideas=7), idea_judge=preferring(winner), **CHILDREN)
    made = [idea for idea in ran.ideas if idea.title.startswith("Child")]
    points = record()["portfolio"]["points"]
    children = [point for point in points if point["operation"] != "drafted"]
    assert children
    if winner == "child":
        assert {point["fate"] for point in children} == {"chosen"}
        titles = {point["title"] for point in points}
        for idea in made:
            assert idea.lineage
            assert idea.lineage.change
            assert {parent.title for parent in idea.lineage.parents} <= titles
            assert len(idea.lineage.parents) == 1 + (idea.lineage.operation == "combined")
    else:
        assert not made
        assert {point["fate"] for point in children} == {"lost"}
        assert any("lost to" in note for note in record()["notes"])


def test_an_idea_gives_way_to_a_child_that_beats_it() -> None:
    ran = Ran(small(ideas=3), idea_judge=preferring("child"), **CHILDREN)
    assert all(idea.title.startswith("Child") for idea in ran.ideas)
    points = record()["portfolio"]["points"]
    parents = {parent for point in points for parent in point["parents"]}
    assert parents == {place for place, point in enumerate(points) if point["fate"] == "surpassed"}
    assert all("won in both orders" in points[parent]["why"] for parent in parents)


def test_a_variation_is_shown_other_ideas_and_the_papers_of_its_parents() -> None:
    """The new idea must differ from all others, so their summaries are shown; parents are shown once."""
    ran = Ran(small(), **CHILDREN)
    for call in ran.calls:
        if call.role in CHILDREN:
            shown = {idea.title for idea in (*call.inputs.parents, *call.inputs.proposed)}
            assert len(shown) == len(call.inputs.parents) + len(call.inputs.proposed) == 4
            assert all(idea.summary in call.messages[1][1] for idea in call.inputs.proposed)
            assert all(parent.cites for parent in call.inputs.parents)


def test_a_drafter_that_fails_costs_only_itself() -> None:
    ran = Ran(small(), question_planner=lambda call: "I'd rather not.")
    assert {idea.lineage.agent for idea in ran.ideas if idea.lineage} >= {"rag"}
    assert "gpt-researcher" not in {idea.lineage.agent for idea in ran.ideas if idea.lineage}
    assert [failure["error"] for failure in record()["failures"] if "gpt-researcher:" in failure["error"]]


def test_without_any_draft_the_run_fails_with_the_reasons() -> None:
    from ideagora.errors import AllBranchesFailed

    with pytest.raises(AllBranchesFailed, match="No agent drafted an idea"):
        Ran(small(drafters=("rag",)), rag_ideator=lambda call: "no")


def test_a_topic_that_no_drafter_finds_papers_on_is_declined_with_the_nearest() -> None:
    from ideagora.errors import TopicNotCovered

    def off_topic(call: ScriptedCall) -> Any:
        graded = standin.ANSWERS["Judgements"](call.messages[1][1])
        return {**graded, "judgements": [{**one, "grade": 0} for one in graded["judgements"]]}

    with pytest.raises(TopicNotCovered, match="has nothing on the topic") as declined:
        Ran(small(), relevance_judge=off_topic)
    assert declined.value.nearest
    assert Ran(small(allow_thin=True), folder="thin", relevance_judge=off_topic).ideas


def test_a_budget_decides_on_rounds() -> None:
    class Client:
        class budget:
            limit: float | None = None
            spent = 0.0

        class settings:
            pass

    options = PortfolioOptions(rounds=1)
    client: Any = Client()
    assert may_begin_round(client, options, 0, 10)
    assert not may_begin_round(client, options, 1, 10)
    assert may_begin_round(client, options, 1, 7), "ideas are missing"
    assert not may_begin_round(client, options, 3, 7)
    client.settings = Settings(model="openai/priced", price_prompt=1.0, price_completion=1.0)
    calls = total_calls([calls_of_round(options), calls_of_end(options)])
    cost = expected_cost(calls, client.settings)
    assert cost
    client.budget.limit = 2 * cost
    client.budget.spent = cost
    assert may_begin_round(client, options, 1, 10), "the rest covers the round and what comes after it"
    assert not may_begin_round(client, options, 6, 10), "at most six"
    client.budget.spent = 1.01 * cost
    assert not may_begin_round(client, options, 0, 7)


# --- ranking ----------------------------------------------------------------------------------------


def test_ideas_are_compared_until_the_comparisons_are_used() -> None:
    chosen = [4, 2, 9]
    games: list[Game] = []
    for _ in range(10):
        pairs = next_pairs(chosen, games, 5, seed=0)
        if not pairs:
            break
        games += [
            Game(round=0, positions=list(pair), gain=1 if pair[0] > pair[1] else -1, reason="")
            for pair in pairs
        ]
    assert len(games) <= 5
    ratings = rate(chosen, games)
    assert list(ratings) == [9, 4, 2]
    assert abs(sum(rating.rating for rating in ratings.values())) < 0.01
    assert rate(chosen, [Game(round=0, positions=[4, 2], gain=None, reason="unreadable")]) == {}
