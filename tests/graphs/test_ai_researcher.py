"""What makes ``ai-researcher``: search by actions, many seeds, no duplicates, Swiss rounds, filters."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ideagora.errors import TopicNotCovered
from ideagora.graphs.steps.duplicates import find_duplicates
from ideagora.graphs.steps.swiss_ranking import Game, next_round, rank, record_of
from ideagora.models.chat_models import ScriptedCall
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.schema import Topic, serialize
from tests.graphs.test_runtime import Ran, World, line, task_of
from tests.support.field_agents import ai_researcher
from tests.support.standin import ANSWERS


def numbered(title: str, papers: list[int]) -> dict[str, Any]:
    return {
        "title": title,
        "problem": f"{title} fails.",
        "mechanism": f"{title} helps.",
        "test": "Compare.",
        "papers": papers,
    }


def test_a_duplicate_seed_is_dropped_and_half_of_the_calls_see_literature() -> None:
    def seeds(call: ScriptedCall) -> Any:
        shown = len(call.inputs.papers)
        own = f"Calling tools with {'literature' if shown else 'memory'} {len(call.inputs.earlier)}"
        papers = [0] if shown else []
        again = "Repairing calls!" if shown else "Repairing calls"
        return {"seeds": [numbered(again, []), numbered(own, papers)][: call.inputs.count]}

    ran = Ran(task_of("ai-researcher", seeds=6), seed_ideator=seeds)
    asked = [call.inputs for call in ran.calls if call.role == "seed_ideator"]
    assert sorted(bool(inputs.papers) for inputs in asked) == [False, True]
    expanded = [call.inputs.seed.title for call in ran.calls if call.role == "proposal_writer"]
    assert Counter(expanded) == {
        "Repairing calls!": 1,
        "Calling tools with literature 0": 1,
        "Calling tools with memory 0": 1,
    }


async def test_the_first_of_two_similar_texts_stays() -> None:
    texts = ["tools for models", "search in trees", "tools for models", "tools for models !"]
    duplicates = await find_duplicates(HashEmbedder(), texts, 0.95)
    assert [(one.position, one.of) for one in duplicates][:1] == [(2, 0)]
    assert all(one.of == 0 for one in duplicates)


def test_later_seeds_see_the_titles_of_the_earlier_ones() -> None:
    ran = Ran(task_of("ai-researcher", seeds=12))
    asked = [call.inputs.earlier for call in ran.calls if call.role == "seed_ideator"]
    assert [len(earlier) for earlier in asked] == [0, 0, 6, 6]


def test_the_proposals_are_ranked_in_swiss_rounds() -> None:
    ran = Ran(task_of("ai-researcher", ideas=2, proposals=4, rounds=2))
    pairs = [
        tuple(sorted((call.inputs.first.title, call.inputs.second.title)))
        for call in ran.calls
        if call.role == "idea_judge"
    ]
    assert len(pairs) == len(set(pairs)) == 4, "two rounds of four, nobody meets twice"
    assert all(
        max(Counter(title for pair in part for title in pair).values()) == 1
        for part in (pairs[:2], pairs[2:])
    )
    assert ran.ideas[0].title == max(title for pair in pairs for title in pair), (
        "the stand-in prefers later titles"
    )
    assert ran.ideas[0].wins == "2 won, 0 tied, 0 lost of 2 in Swiss rounds"


def test_an_unscored_comparison_and_a_bye_change_nothing() -> None:
    drafts: list[Any] = [{"title": str(number)} for number in range(5)]
    topic = serialize(Topic(text="a topic"))
    first = next_round(topic, drafts, [], 3, 0)
    games = [
        Game(round=1, positions=task["positions"], gain=gain, reason="")
        for task, gain in zip(first, (1, None), strict=True)
    ]
    winner = first[0]["positions"][0]
    assert rank(5, games)[0] == winner
    assert record_of(first[1]["positions"][0], games).endswith(
        "0 lost of 0 in Swiss rounds, 1 without a verdict"
    )
    again = next_round(topic, drafts, games, 3, 0)
    assert not {frozenset(task["positions"]) for task in first} & {
        frozenset(task["positions"]) for task in again
    }
    assert next_round(topic, drafts, games, 1, 0) == []


@pytest.mark.parametrize("all_rejected", [False, True])
def test_the_filters_reject_an_infeasible_proposal(all_rejected: bool) -> None:
    rejected: list[str] = []

    def feasibility(call: ScriptedCall) -> Any:
        if not rejected or all_rejected:
            rejected.append(call.inputs.idea.title)
            return {"obstacles": ["It trains a large model."], "verdict": "infeasible"}
        return {"obstacles": [], "verdict": "feasible"}

    ran = Ran(task_of("ai-researcher", proposals=3), feasibility_judge=feasibility)
    (idea,) = ran.ideas
    assert ran.roles["feasibility_judge"] == (3 if all_rejected else 2)
    assert (idea.title == rejected[0]) is all_rejected
    assert idea.extra["feasibility"]["verdict"] == ("infeasible" if all_rejected else "feasible")
    notes = [note for note in json.loads(Path("run/run.json").read_text())["notes"] if "filters" in note]
    assert len(notes) == len(rejected)
    assert "infeasible: It trains a large model" in notes[0]


def test_papers_on_other_subjects_are_not_shown() -> None:
    def low(call: ScriptedCall) -> Any:
        answer = ANSWERS["PaperScores"](call.messages[-1][1])
        return {"scores": [{**one, "score": 3 if one["paper"] else 9} for one in answer["scores"]]}

    ran = Ran(task_of("ai-researcher"), paper_scorer=low)
    assert all(
        {paper.title for paper in call.inputs.papers}
        <= {f"Tools for language models, part {n}" for n in range(12)}
        and len(call.inputs.papers) <= 2
        for call in ran.calls
        if call.role == "seed_ideator"
    )
    with pytest.raises(TopicNotCovered, match="nothing on the topic"):
        Ran(
            task_of("ai-researcher"),
            folder="other",
            paper_scorer=lambda call: {
                "scores": [
                    {"paper": n, "reason": "Other.", "score": 1} for n in range(len(call.inputs.papers))
                ]
            },
        )
    with pytest.raises(TopicNotCovered, match="has no paper that may be used"):
        Ran(task_of("ai-researcher"), World([]), folder="empty")


def test_an_action_follows_the_references_of_a_paper() -> None:
    def references(call: ScriptedCall) -> Any:
        return {"reason": "Its roots.", "action": "references", "query": None, "paper": 0}

    ran = Ran(
        task_of("ai-researcher", actions=2, papers_per_action=2), line(12, 6), literature_action=references
    )
    shown = {paper.title for call in ran.calls if call.role == "paper_scorer" for paper in call.inputs.papers}
    assert "Tools for language models, part 5" in shown, "p6 is found first, and cites p5"


def test_seeds_are_checked() -> None:
    from ideagora.agents.role import ROLES

    role, (inputs, answer) = ROLES["seed_ideator"], ai_researcher.SAMPLES["seed_ideator"]
    assert role.check is not None

    def said(seeds: list[dict[str, Any]], **update: Any) -> str | None:
        assert role.check is not None
        return role.check(inputs.model_copy(update=update), role.answer.model_validate({"seeds": seeds}))

    seeds = answer["seeds"]
    assert said(seeds) is None
    assert "expected 2 seeds, got 3" in (said([*seeds, numbered("More", [])]) or "")
    assert "has the title of another one" in (said([seeds[0], seeds[0]]) or "")
    assert "has the title of another one" in (said([numbered("voting, with fewer chains!", [])]) or "")
    assert "papers is 7" in (said([numbered("More", [7])]) or "")
    assert "papers must be empty" in (said([numbered("More", [0])], papers=()) or "")
