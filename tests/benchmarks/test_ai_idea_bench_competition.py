"""IC of AI Idea Bench 2025: the questions, points and ranks of both protocols, and the judge's role."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

from ideagora.benchmarks.ai_idea_bench.with_other_references import competition
from ideagora.benchmarks.ai_idea_bench.with_other_references.competition_judge import (
    COMPETITION_JUDGE,
    CRITERIA,
    CompetitionInputs,
    Competitor,
)
from ideagora.benchmarks.benchmark import Judgement, Plan, ProtocolName, Question
from ideagora.evaluators.statistics.comparisons import FIRST, SECOND
from ideagora.models.chat_models import ScriptedCall
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.models.offline import ExtractiveModel
from ideagora.schema import Idea, Verdict
from tests.support.counted_papers import JUDGE, CountedPapers, idea, sample, services, verdict

Judge = Callable[[str, str], float | None]
"""(agent shown first, agent shown second) -> outcome."""


def plan(protocol: ProtocolName = "default") -> Plan:
    return Plan(judges=(JUDGE,), protocol=protocol)


def verdicts(agents: str, judge: Judge) -> list[Verdict]:
    """The log of one target, with an idea of each agent."""
    ideas = {agent: [idea(agent, "Build it.")] for agent in agents}
    verdicts_of_pairs = []
    for question in competition.questions(sample(), ideas, plan()):
        outcome = judge(*(one.agent for one in question.subject))
        verdicts_of_pairs.append(
            verdict(question, None if outcome is None else Judgement({"overall": outcome}))
        )
    return verdicts_of_pairs


def alphabetical(first: str, second: str) -> float:
    return FIRST if first < second else SECOND


def the_first(first: str, second: str) -> float:
    return FIRST


def unless(judge: Judge, *pairs: tuple[str, str]) -> Judge:
    """A judge whose answers on these pairs, in this order, cannot be read."""
    return lambda first, second: None if (first, second) in pairs else judge(first, second)


def scored(
    agents: str, judge: Judge, protocol: ProtocolName
) -> tuple[list[float | None], list[float | None]]:
    """Points and ranks of the agents, in their order."""
    scores = competition.scores(verdicts(agents, judge), plan(protocol))
    return tuple([scores[name][agent]["7"] for agent in agents] for name in ("ic_score", "ic_rank"))  # type: ignore[return-value]


def test_points_and_ranks_of_both_protocols() -> None:
    none: list[float | None] = [None, None, None]
    cases: list[tuple[str, Judge, ProtocolName, Sequence[float | None], Sequence[float | None]]] = [
        ("abc", alphabetical, "default", [3.0, 1.5, 0.0], [1.0, 2.0, 3.0]),
        # a judge that always names the first has no opinion: all tie
        ("abc", the_first, "default", [1.5, 1.5, 1.5], [2.0, 2.0, 2.0]),
        # a and b lack a match; c has both of its own, but its rank depends on theirs
        ("abc", unless(alphabetical, ("b", "a")), "default", [None, None, 0.0], none),
        # ab cd, ac bd, ad bc: 9, 7, 5 and 3 points
        ("abcd", alphabetical, "paper", [9.0, 7.0, 5.0, 3.0], [1.0, 2.0, 3.0, 4.0]),
        # ab cd, ac (leaders) bd, then a leads and b is before c: whoever starts first wins
        ("abcd", the_first, "paper", [9.0, 7.0, 5.0, 3.0], [1.0, 2.0, 3.0, 4.0]),
        # three agents: c sits out, then meets a, then b: two matches each
        ("abc", alphabetical, "paper", [6.0, 4.0, 2.0], [1.0, 2.0, 3.0]),
        # only the order that is shown counts in the rounds: b is never shown before a
        ("abc", unless(alphabetical, ("b", "a")), "paper", [6.0, 4.0, 2.0], [1.0, 2.0, 3.0]),
        ("abc", unless(alphabetical, ("a", "b")), "paper", none, none),
    ]
    for agents, judge, protocol, points, ranks in cases:
        assert scored(agents, judge, protocol) == (points, ranks), (agents, protocol, points)


def test_each_criterion_has_points_of_its_own_in_the_default_protocol() -> None:
    log = [
        one.model_copy(
            update={"criteria": dict.fromkeys(CRITERIA, FIRST + SECOND - value) | {"overall": value}}
        )
        for one in verdicts("ab", alphabetical)
        if one.criteria and (value := one.criteria["overall"]) is not None
    ]
    scores = competition.scores(log, plan())
    assert {name: scores[name]["a"]["7"] for name in scores} == {
        "ic_score": 3.0, "ic_rank": 1.0, **{f"ic_{name}": 0.0 for name in CRITERIA},
    }  # fmt: skip
    assert {f"ic_{name}" for name in CRITERIA} == {one.name for one in competition.CRITERIA_MEASURES}
    assert set(competition.scores(log, plan("paper"))) == {"ic_score", "ic_rank"}


def test_four_agents_share_24_points_whatever_the_judge_says() -> None:
    pairs = list(permutations("abcd", 2))
    for seed in range(0, 2**12, 97):
        says = {pair: FIRST if seed >> number & 1 else SECOND for number, pair in enumerate(pairs)}
        points = competition.swiss_points(says)
        assert sum(value or 0.0 for value in points.values()) == 24.0, seed


def test_a_judge_who_prefers_the_first_helps_the_leader_in_the_paper_protocol_only() -> None:
    def leaning(first: str, second: str) -> float:
        return FIRST if {first, second} == {"a", "d"} else alphabetical(first, second)

    assert scored("abcd", leaning, "paper")[0] == [9.0, 7.0, 5.0, 3.0]
    default, _ = scored("abcd", leaning, "default")
    assert default == [2.5, 2.0, 1.0, 0.5]


def test_every_pair_is_asked_in_both_orders_with_one_idea_per_agent_drawn_by_seed() -> None:
    ideas = {agent: [idea(agent, "Do it.", number=number) for number in range(4)] for agent in "abc"}
    drawn: list[dict[str, Idea]] = []
    for seed in range(6):
        asked = list(competition.questions(sample(), ideas, Plan(judges=("x", "y"), seed=seed)))
        shown = [(one.judge, *(i.agent for i in one.subject), one.order) for one in asked]
        assert len(shown) == len(set(shown)) == 2 * 3 * 2
        entered = {
            i.agent: {s.id for q in asked for s in q.subject if s.agent == i.agent} for i in asked[0].subject
        }
        assert all(len(ids) == 1 for ids in entered.values())
        drawn.append({i.agent: i for q in asked for i in q.subject})
    assert len({one["a"].id for one in drawn}) > 1
    fewer = {agent: agent_ideas for agent, agent_ideas in ideas.items() if agent != "c"}
    again = list(competition.questions(sample(), fewer, Plan(judges=("x",), seed=0)))
    assert {i.agent: i for i in again[0].subject} == {a: drawn[0][a] for a in "ab"}


async def test_the_judge_is_blind_and_equal_texts_tie_without_being_asked(tmp_path: Path) -> None:
    prompts: list[str] = []

    def reply(call: ScriptedCall) -> Any:
        prompts.append(call.messages[-1][1])
        return {"reason": "Both sway.", **dict.fromkeys(CRITERIA, "second"), "overall": "Idea 1"}

    left, right = idea("Agent-A", "Measure it."), idea("Agent-B", "Watch it.")
    copy = left.model_copy(update={"id": "copy", "agent": "Agent-C"})
    async with services(tmp_path, CountedPapers(), reply) as given:
        one, *_ = _questions({"Agent-A": [left], "Agent-B": [right]})
        judged = await one.answer(given)
        same, *_ = _questions({"Agent-A": [left], "Agent-C": [copy]})
        tied = await same.answer(given)
    assert judged.criteria == {**dict.fromkeys(CRITERIA, SECOND), "overall": FIRST}
    assert judged.rationale == "Both sway."
    assert len(prompts) == 1
    assert "Measure it." in prompts[0]
    assert "Agent-" not in prompts[0]
    assert "published before 2022-12;" in prompts[0], "novelty as of the agents' cut-off"
    assert tied.criteria["overall"] == 0.5
    assert tied.details == {"same_text": True}


async def test_novelty_is_judged_as_of_the_earlier_of_the_users_cutoff_and_the_targets(
    tmp_path: Path,
) -> None:
    prompts: list[str] = []

    def reply(call: ScriptedCall) -> Any:
        prompts.append(call.messages[-1][1])
        return {"reason": "r", **dict.fromkeys((*CRITERIA, "overall"), "first")}

    ideas = {"a": [idea("a", "Measure it.")], "b": [idea("b", "Watch it.")]}
    async with services(tmp_path, CountedPapers(), reply) as given:
        for before in ("2021-05", "2023-01"):
            await _questions(ideas, replace(plan(), before=before))[0].answer(given)
    assert "published before 2021-05;" in prompts[0]
    assert "published before 2022-12;" in prompts[1]


def _questions(ideas: dict[str, list[Idea]], chosen: Plan | None = None) -> list[Question]:
    return list(competition.questions(sample(paper_id="arxiv:2212.12345"), ideas, chosen or plan()))


def test_the_offline_judge_prefers_a_tested_plan_on_the_topic_in_both_orders() -> None:
    engine = ExtractiveModel(HashEmbedder())
    good = Competitor(
        title="Tuned dampers for the sway of bridges",
        motivation="Bridges sway in wind and nobody knows which damper fits.",
        novelty="Dampers that retune themselves.",
        method="Build a damper for the sway of bridges.",
        experiment="Compare it with a baseline by one metric.",
    )
    poor = Competitor(title="Cakes", motivation=None, novelty=None, method="Bake.", experiment=None)
    for first, second, better in ((good, poor, "first"), (poor, good, "second"), (good, good, "first")):
        inputs = CompetitionInputs(topic="sway of bridges", before=None, first=first, second=second)
        answer = COMPETITION_JUDGE.offline(engine, inputs)
        assert {answer.quality, answer.relevance, answer.overall} == {better}
        if first is second:
            assert "Without a difference the first is named: novelty" in answer.reason
