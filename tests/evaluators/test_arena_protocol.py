"""The arena's two protocols: who is shown to whom, what a verdict is, and what becomes of it."""

from __future__ import annotations

import json
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from ideagora.agents.arena.judges import CRITERIA, EXPERIMENT_CRITERIA
from ideagora.evaluators.arena.folder import read_leaderboard, write_leaderboard
from ideagora.evaluators.arena.options import ArenaOptions
from ideagora.models.chat_models import ScriptedCall
from tests.support.arena_world import TOPICS, Held, always, by_strength, field, idea, judge, write

STRENGTHS = {"alpha": 3, "beta": 2, "gamma": 1}


def test_the_paper_shows_every_pair_in_both_orders_on_every_topic() -> None:
    held = Held(field(STRENGTHS), protocol="paper")
    shown = Counter((one.topic, one.agents) for one in held.verdicts)
    assert shown == Counter((topic, pair) for topic in TOPICS for pair in permutations(STRENGTHS, 2))
    assert held.ranking == ["alpha", "beta", "gamma"]
    assert held.board["protocol"] == "paper"
    ratings = [row["rating"] for row in held.board["ranking"]]
    assert sum(ratings) == pytest.approx(3000, abs=0.1), "Elo moves points around a base of 1000"
    assert [held.row(name)["won"] for name in STRENGTHS] == [12, 6, 0], "every verdict counts"


def test_elo_by_hand_for_one_pair() -> None:
    held = Held(field({"alpha": 2, "beta": 1}, TOPICS[:1]), protocol="paper")
    # K = 4: 1002 after the first verdict; the second is worth 4 x (1 - its expected score)
    expected = 1 / (1 + 10 ** (-4 / 400))
    assert held.row("alpha")["rating"] == pytest.approx(1002 + 4 * (1 - expected), abs=0.005)


def test_by_default_the_orders_of_a_match_are_drawn_and_then_swapped() -> None:
    held = Held(field(STRENGTHS))
    assert held.code == 0
    for one in held.verdicts:
        twin = next(other for other in held.verdicts if other.subject == one.subject[::-1])
        assert {one.order, twin.order} == {0, 1}
    drawn = [one.agents for one in held.verdicts if one.order == 0]
    assert any(first > second for first, second in drawn)
    assert any(first < second for first, second in drawn)
    assert [held.row(name)["won"] for name in STRENGTHS] == [6, 3, 0], "a match counts once"


@pytest.mark.parametrize("said", ["first", "second"])
def test_a_judge_who_follows_the_order_makes_ties(said: str) -> None:
    held = Held(field(STRENGTHS), judge(always(said)))
    assert held.code == 0
    rows = held.board["ranking"]
    assert [(row["won"], row["tied"], row["lost"]) for row in rows] == [(0, 6, 0)] * 3
    assert {row["rating"] for row in rows} == {1000.0}
    assert f"prefers whatever is shown {said} (100% of verdicts)" in held.notes


def test_a_judge_who_sees_no_difference_says_nothing() -> None:
    held = Held(field(STRENGTHS), judge(always("tie")))
    assert held.code == 0
    assert "Every verdict is a tie" in held.notes


def test_the_criteria_of_a_match_disagree_one_by_one() -> None:
    def opinion(call: ScriptedCall) -> Any:
        names = dict.fromkeys((*CRITERIA, "overall"), by_strength(call))
        return {"reason": "So.", **names, "clarity": "first"}  # the judge's clarity follows the order

    held = Held(field(STRENGTHS), judge(opinion))
    criteria = held.board["criteria"]
    assert [row["agent"] for row in criteria["novelty"]] == list(STRENGTHS)
    assert {row["tied"] for row in criteria["clarity"]} == {6}
    assert {row["tied"] for row in criteria["novelty"]} == {0}
    paper = held.board["paper"]["criteria"]["clarity"]
    assert {row["tied"] for row in paper} == {0}, "the paper counts every verdict"


def test_both_protocols_from_the_same_verdicts() -> None:
    both = Held(field(STRENGTHS), protocol="both")
    alone = Held(field(STRENGTHS), protocol="paper", out="paper")
    told = {row["agent"]: row["rating"] for row in both.board["paper"]["ranking"]}
    assert told == {row["agent"]: row["rating"] for row in alone.board["ranking"]}
    assert len(alone.chat.calls) == 0, "the same pairs in the same orders: all from the cache"


def test_only_the_criteria_that_are_asked_for_count_and_the_question_stays() -> None:
    def opinion(call: ScriptedCall) -> Any:
        said = by_strength(call)
        other = {"first": "second", "second": "first", "tie": "tie"}[said]
        return {"reason": "So.", **dict.fromkeys((*CRITERIA, "overall"), other), "novelty": said}

    chat = judge(opinion)
    everything = Held(field(STRENGTHS), chat)
    asked = len(chat.calls)
    novelty = Held(field(STRENGTHS), chat, out="novelty", criteria=("novelty",))
    assert everything.ranking == ["gamma", "beta", "alpha"]
    assert novelty.ranking == ["alpha", "beta", "gamma"]
    assert len(chat.calls) == asked
    assert {tuple(one.criteria or {}) for one in novelty.verdicts} == {("novelty",)}


def test_experiment_designs_are_judged_apart() -> None:
    def opinion(call: ScriptedCall) -> str:
        if call.role == "idea_judge":
            return by_strength(call)
        return {"first": "second", "second": "first", "tie": "tie"}[by_strength(call)]

    held = Held(field(STRENGTHS), judge(opinion), experiments=True)
    assert held.ranking == ["alpha", "beta", "gamma"]
    part = held.board["experiments"]
    assert [row["agent"] for row in part["ranking"]] == ["gamma", "beta", "alpha"]
    assert tuple(part["criteria"]) == EXPERIMENT_CRITERIA
    assert Counter(one.kind for one in held.verdicts) == {"idea": 18, "experiment": 18}


def test_an_idea_without_an_experiment_is_not_judged_by_it() -> None:
    contestants = field({"alpha": 2, "beta": 1})
    contestants.append(write("gamma", [idea("gamma", topic, 3, experiment=None) for topic in TOPICS]))
    held = Held(contestants, experiments=True)
    assert held.ranking == ["gamma", "alpha", "beta"]
    assert [row["agent"] for row in held.board["experiments"]["ranking"]] == ["alpha", "beta"]


def test_the_ablation_score_is_2_1_0_over_the_matches_against_the_full_agent() -> None:
    def opinion(call: ScriptedCall) -> str:
        tie = "search" in call.inputs.topic
        return "tie" if tie else by_strength(call)

    held = Held(field(STRENGTHS), judge(opinion), ablation_of="beta")
    told = held.board["ablation"]
    rows = {row["agent"]: row for row in told["rows"]}
    assert told["of"] == "beta"
    # three topics: two that decide, and one tie
    assert rows["alpha"]["criteria"]["novelty"] == 5.0
    assert rows["gamma"]["average"] == 1.0
    assert rows["gamma"]["full"] == rows["gamma"]["matches"] == 3


# --- one style ----------------------------------------------------------------------------------


def louder(call: ScriptedCall) -> Any:
    """The same idea in another style."""
    fields = call.inputs.model_dump()
    return (
        {**fields, "motivation": f"It is a plain fact: {fields['motivation']}"}
        if "motivation" in fields
        else fields
    )


def test_judges_see_one_style_and_the_originals_are_kept() -> None:
    chat = judge(style=louder)
    held = Held(field(STRENGTHS), chat, style=True, settings={"model": "scripted"})
    assert held.ranking == ["alpha", "beta", "gamma"]
    roles = Counter(str(call.role) for call in chat.calls)
    assert roles == {"restyle": 9, "idea_judge": 18}, "plans are not told anew where nobody judges them"
    shown = [call.inputs.first.motivation for call in chat.calls if call.role == "idea_judge"]
    assert all(text.startswith("It is a plain fact: ") for text in shown)
    for line in Path("arena/ideas.jsonl").read_text(encoding="utf-8").splitlines():
        kept = json.loads(line)
        assert kept["motivation"].startswith("Nobody has done")
        assert kept["extra"]["shown"]["motivation"] == f"It is a plain fact: {kept['motivation']}"
        assert kept["extra"]["shown"]["method"].count("Measure") == 1
    again = Held(field(STRENGTHS), chat, style=True, settings={"model": "scripted"}, out="again")
    assert len(chat.calls) == 27
    assert again.board == held.board


def test_plans_are_told_in_one_style_where_they_are_judged() -> None:
    chat = judge(style=louder)
    Held(field({"alpha": 2, "beta": 1}), chat, style=True, settings={"model": "scripted"}, experiments=True)
    assert Counter(str(call.role) for call in chat.calls)["restyle_plan"] == 2, "the same plan on every topic"


def test_an_idea_that_cannot_be_told_in_the_style_does_not_compete() -> None:
    def style(call: ScriptedCall) -> Any:
        fields = call.inputs.model_dump()
        broken = "search" in fields["method"] and "ahpla" in fields["method"]
        return "I can't say." if broken else fields

    held = Held(field(STRENGTHS), judge(style=style), style=True, settings={"model": "scripted"})
    assert held.code == 0
    (gone,) = [one for one in held.board["contestants"] if one["missing"]]
    assert (gone["agent"], gone["ideas"]) == ("alpha", 2)
    (missing,) = gone["missing"]
    assert "it could not be restyled: restyle: none of 3 replies" in missing["reason"]
    assert held.board["coverage"]["asked"] == 14
    finished = Held(field(STRENGTHS), judge(), style=True, settings={"model": "scripted"})
    assert finished.board == held.board


# --- schedules and judges ---------------------------------------------------------------------


@pytest.mark.parametrize(("schedule", "verdicts"), [("swiss", 12), ("balanced", 18), ("round-robin", 36)])
def test_a_schedule_decides_who_meets(schedule: str, verdicts: int) -> None:
    held = Held(field({**STRENGTHS, "delta": 0}), schedule=schedule)
    assert held.board["coverage"]["asked"] == len(held.verdicts) == verdicts
    assert held.ranking[0] == "alpha"
    assert (held.board["paper"] is None) == (schedule != "round-robin")


def test_the_adaptive_schedule_stops_when_it_is_sure() -> None:
    topics = [f"topic number {number} of many" for number in range(12)]
    held = Held(field({"alpha": 5, "beta": 3, "gamma": 1}, topics), schedule="adaptive", confidence=0.8)
    coverage = held.board["coverage"]
    assert held.ranking == ["alpha", "beta", "gamma"]
    assert coverage["asked"] < coverage["expected"]


def test_no_more_verdicts_than_wanted() -> None:
    held = Held(field(STRENGTHS), max_comparisons=7)
    assert held.board["coverage"]["asked"] == 7


def test_several_judges_each_with_its_own_verdicts() -> None:
    judges = {
        "sees": judge(),
        "reversed": judge(lambda call: {"first": "second", "second": "first"}[by_strength(call)]),
    }
    held = Held(field(STRENGTHS), judges=judges)
    by_judge = Counter(one.judge for one in held.verdicts)
    assert by_judge == {"sees": 18, "reversed": 18}
    assert [len(chat.calls) for chat in judges.values()] == [18, 18]
    assert {row["rating"] for row in held.board["ranking"]} == {1000.0}, "they say the opposite"


def test_judges_see_neither_names_nor_ids() -> None:
    chat = judge()
    Held(field({"zebra-agent": 1, "quokka-agent": 2}), chat, experiments=True)
    said = json.dumps([call.messages for call in chat.calls])
    assert "strength 1" in said
    for hidden in ("zebra-agent", "quokka-agent", "jsonl"):
        assert hidden not in said


def test_a_new_contestant_pays_for_its_own_pairs_only() -> None:
    chat = judge()
    contestants = field({**STRENGTHS, "aardvark": 4})
    Held(contestants[:3], chat)
    asked = len(chat.calls)
    held = Held(contestants, chat, out="more")
    assert asked == 18
    assert len(chat.calls) - asked == 18, "three pairs on three topics in both orders"
    assert held.ranking == ["aardvark", "alpha", "beta", "gamma"]


def test_the_order_in_which_contestants_are_named_changes_nothing() -> None:
    contestants = field(STRENGTHS)
    one, other = Held(contestants), Held(contestants[::-1], out="other")
    assert one.board == other.board
    assert one.verdicts == other.verdicts


def test_reversing_the_judge_reverses_the_ranking() -> None:
    contestants = field(STRENGTHS)
    one = Held(contestants)
    other = Held(
        contestants,
        judges={"contrary": judge(lambda call: {"first": "second", "second": "first"}[by_strength(call)])},
        out="o",
    )
    assert one.ranking == other.ranking[::-1]
    for name in STRENGTHS:
        assert one.row(name)["rating"] - 1000 == pytest.approx(1000 - other.row(name)["rating"], abs=0.02)


def test_a_finished_arena_is_shown_again_and_rated_anew_without_asking() -> None:
    chat, contestants = judge(), field(STRENGTHS)
    first = Held(contestants, chat)
    files = {
        name: (first.folder / name).read_bytes()
        for name in ("leaderboard.json", "verdicts.jsonl", "ideas.jsonl")
    }
    asked = len(chat.calls)
    Held(contestants, chat)
    assert {name: (first.folder / name).read_bytes() for name in files} == files
    with_ablation = Held(contestants, chat, ablation_of="alpha")
    assert with_ablation.board["ablation"] is not None
    assert len(chat.calls) == asked


def test_replay_gives_the_same_bytes() -> None:
    chat, contestants = judge(), field(STRENGTHS)
    first = Held(contestants, chat)
    again = Held(contestants, judge(always("tie")), out="again", settings={"replay": True})
    for name in ("leaderboard.json", "verdicts.jsonl", "ideas.jsonl"):
        assert (again.folder / name).read_bytes() == (first.folder / name).read_bytes()


def test_what_is_shown_is_what_the_strongest_reader_of_the_verdict_needs() -> None:
    held = Held(field(STRENGTHS))
    verdict = held.verdicts[0]
    assert verdict.evaluator == "arena"
    assert verdict.rationale in ("I say first.", "I say second.")
    assert verdict.status == "scored"
    assert all(words > 10 for words in verdict.words)
    ideas = [json.loads(line) for line in Path("arena/ideas.jsonl").read_text().splitlines()]
    by_id = {one["id"]: one for one in ideas}
    assert tuple(by_id[one]["agent"] for one in verdict.subject) == verdict.agents
    value = (verdict.criteria or {})["novelty"]
    strengths = [int(by_id[one]["title"].split("strength ")[1].split()[0]) for one in verdict.subject]
    assert (value == 1.0) == (strengths[0] > strengths[1])


def test_options_keep_their_names_in_files_and_in_the_identity() -> None:
    options = ArenaOptions(judges=("one",), schedule="adaptive", confidence=0.8, max_comparisons=9)
    record = options.model_dump(mode="json")
    assert (record["certainty"], record["verdicts"]) == (0.8, 9)
    assert ArenaOptions.model_validate(record) == options
    assert options.known_by() == (
        "default [('certainty', 0.8), ('criteria', ['novelty', 'significance', 'clarity', 'feasibility', "
        "'effectiveness']), ('experiments', False), ('judges', ['one']), ('schedule', 'adaptive'), "
        "('style', True), ('top_k', None), ('verdicts', 9)]"
    )


def test_a_verdict_keeps_its_key_for_the_rationale() -> None:
    verdict = Held(field({"alpha": 1, "beta": 0}, TOPICS[:1])).verdicts[0]
    assert json.loads(verdict.model_dump_json())["told"] == verdict.rationale == "I say first."


def test_a_leaderboard_that_is_read_is_written_as_the_same_bytes() -> None:
    held = Held(field(STRENGTHS), judge(), experiments=True, bias_aware=True, ablation_of="alpha")
    written = (held.folder / "leaderboard.json").read_bytes()
    write_leaderboard(held.folder, read_leaderboard(held.folder))
    assert (held.folder / "leaderboard.json").read_bytes() == written
