"""What an arena is given and cannot use: it says so, loses nothing, and makes up nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ideagora.errors import RequestRejected
from ideagora.evaluators.arena.entries.lineup import topic_key
from ideagora.evaluators.arena.entries.selection import LONGEST_IDEA
from ideagora.evaluators.judging.verdict_log import VerdictLog
from ideagora.models.chat_models import ScriptedCall
from ideagora.schema import Usage, Verdict
from tests.support.arena_world import TOPICS, Held, always, by_strength, field, idea, judge, write
from tests.support.each import each_case

Capsys = pytest.CaptureFixture[str]


def error_of(held: Held, capsys: Capsys, code: int) -> str:
    """The one line of an error."""
    said = capsys.readouterr().err
    assert held.code == code, said
    lines = [line for line in said.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, said
    assert "Traceback" not in said
    return lines[0]


# --- contestants ------------------------------------------------------------------------------


def test_one_contestant_only(capsys: Capsys) -> None:
    held = Held(field({"alpha": 1}))
    assert "at least two contestants, and only 'alpha' is given" in error_of(held, capsys, 2)
    assert "none is given" in error_of(Held([]), capsys, 2)
    assert not Path("arena").exists()


def test_two_contestants_of_one_name(capsys: Capsys) -> None:
    (thing,) = field({"alpha": 1})
    assert "Two contestants are called 'alpha'" in error_of(Held([thing, thing]), capsys, 2)
    named = Held([thing, f"again={thing}"])
    assert named.code == 1, "the same ideas under two names: nothing to decide"


def test_an_agent_that_nobody_knows(capsys: Capsys) -> None:
    said = error_of(Held([*field({"alpha": 1}), "chain-of-idea"], topic=[TOPICS[0]]), capsys, 2)
    assert "Did you mean chain-of-ideas?" in said


def test_an_agent_that_lacks_what_it_is_about(capsys: Capsys) -> None:
    said = error_of(Held([*field({"alpha": 1}), "real-paper"], topic=[TOPICS[0]]), capsys, 2)
    assert "real-paper:" in said


def test_a_file_that_is_not_there(capsys: Capsys) -> None:
    assert "nowhere.jsonl" in error_of(Held([*field({"alpha": 1}), "ideas:nowhere.jsonl"]), capsys, 1)


def test_labels_and_several_makers_in_one_file() -> None:
    both = [idea(name, topic, strength) for name, strength in (("one", 2), ("two", 1)) for topic in TOPICS]
    held = Held(["mine=" + write("both", both), *field({"alpha": 3})])
    assert held.ranking == ["alpha", "mine/one", "mine/two"]
    ideas = [json.loads(line) for line in Path("arena/ideas.jsonl").read_text().splitlines()]
    assert {(one["agent"], one["extra"].get("made_by")) for one in ideas} == {
        ("alpha", None), ("mine/one", "one"), ("mine/two", "two"),
    }  # fmt: skip


def test_an_arena_of_what_an_arena_kept() -> None:
    first = Held(field({"alpha": 1, "beta": 2}))
    again = Held([str(first.folder)], out="again")
    assert again.ranking == first.ranking


# --- topics -----------------------------------------------------------------------------------


def test_topics_are_matched_by_their_text_and_nothing_else() -> None:
    assert topic_key("  Tool USE\nby language models. ") == topic_key("tool use by language models")
    assert topic_key("tool use") != topic_key("use of tools")
    contestants = [
        write("alpha", [idea("alpha", "Tool use", 1)]),
        write("beta", [idea("beta", " tool  USE.", 2)]),
    ]
    held = Held(contestants)
    assert held.ranking == ["beta", "alpha"]
    assert held.board["n_topics"] == 1


def test_ideas_on_different_topics_are_not_compared(capsys: Capsys) -> None:
    contestants = [
        write("alpha", [idea("alpha", TOPICS[0], 1)]),
        write("beta", [idea("beta", TOPICS[1], 1)]),
    ]
    held = Held(contestants)
    said = error_of(held, capsys, 1)
    assert "No two contestants have an idea on the same topic" in said
    assert held.board["status"] == "nothing_scored"
    assert "without a common topic: alpha and beta" in held.notes
    assert len(held.chat.calls) == 0


def test_two_camps_are_disconnected_and_the_missing_pairs_are_named(capsys: Capsys) -> None:
    contestants = [
        write(name, [idea(name, topic, strength)])
        for name, topic, strength in (
            ("alpha", TOPICS[0], 1), ("beta", TOPICS[0], 2), ("gamma", TOPICS[1], 1), ("delta", TOPICS[1], 2),
        )
    ]  # fmt: skip
    held = Held(contestants)
    said = error_of(held, capsys, 1)
    assert "Not all contestants can be put on one scale" in said
    board = held.board
    assert board["status"] == "disconnected"
    assert board["coverage"]["scored"] == 4
    (pair,) = board["missing_pairs"]
    assert len({*pair} & {"alpha", "beta"}) == 1
    assert {row["rating"] for row in board["ranking"]} == {None}
    assert {row["matches"] for row in board["ranking"]} == {1}


def test_topics_that_were_not_asked_for_are_left_out_and_said() -> None:
    held = Held(field({"alpha": 1, "beta": 2}), topic=[TOPICS[0]])
    assert held.board["topics"] == [TOPICS[0]]
    assert "alpha: ideas on 2 other topics were left out" in held.notes
    assert "only one topic" in held.notes


def test_a_missing_idea_costs_nobody_else_anything() -> None:
    contestants = field({"alpha": 1, "beta": 2})
    contestants.append(write("gamma", [idea("gamma", topic, 3) for topic in TOPICS[:2]]))
    held = Held(contestants)
    assert held.ranking == ["gamma", "beta", "alpha"]
    (gone,) = [one for one in held.board["contestants"] if one["missing"]]
    assert gone["agent"] == "gamma"
    assert gone["missing"] == [{"topic": TOPICS[2], "reason": "no idea on this topic"}]
    assert "counts neither for nor against it" in held.notes


def test_the_first_of_several_ideas_competes() -> None:
    several = [idea("alpha", topic, 9 - number, number) for topic in TOPICS for number in range(3)]
    held = Held([write("alpha", several), *field({"beta": 8})])
    assert held.ranking == ["alpha", "beta"]
    assert "alpha: 6 further ideas did not compete" in held.notes


# --- ideas ------------------------------------------------------------------------------------


def test_the_same_idea_twice_is_no_tie(capsys: Capsys) -> None:
    same = [idea("alpha", topic, 1) for topic in TOPICS]
    copies = [one.model_copy(update={"agent": "beta"}) for one in same]
    held = Held([write("alpha", same), write("beta", copies)])
    assert "No verdict is scored" in error_of(held, capsys, 1)
    assert {one.reason for one in held.verdicts} == {"the two are the same text"}
    assert len(held.chat.calls) == 0
    third = Held([write("alpha", same), write("beta", copies), *field({"gamma": 2})], out="third")
    assert third.code == 0
    assert third.ranking[0] == "gamma"
    assert third.row("alpha")["unscored"] == 6
    assert third.row("gamma")["unscored"] == 0
    assert len({one.id for one in third.verdicts}) == len(third.verdicts)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"method": "word " * 50_000}, f"50,0.* words; the maximum is {LONGEST_IDEA:,}"),
        ({"method": "x" * 400_000}, f"10,0.* words; the maximum is {LONGEST_IDEA:,}"),
    ],
)
def test_an_idea_that_no_judge_could_read_is_refused(fields: dict[str, Any], told: str) -> None:
    import re

    ideas = [idea("beta", topic, 2) for topic in TOPICS]
    ideas[0] = ideas[0].model_copy(update=fields)
    held = Held([*field({"alpha": 1}), write("beta", ideas)])
    assert held.code == 0
    (gone,) = [one for one in held.board["contestants"] if one["missing"]]
    assert re.search(told, gone["missing"][0]["reason"])
    assert max(len(call.messages[-1][1]) for call in held.chat.calls) < 10_000


def test_an_empty_idea_is_refused_with_its_line() -> None:
    ideas = [idea("beta", topic, 2) for topic in TOPICS]
    ideas[1] = ideas[1].model_copy(update={"motivation": " ", "novelty": "", "method": "\n"})
    held = Held([*field({"alpha": 1}), write("beta", ideas)])
    assert held.code == 0
    assert {one["agent"]: one["ideas"] for one in held.board["contestants"]} == {"alpha": 3, "beta": 2}
    assert "not imported: beta.jsonl, line 2" in held.notes


def test_an_idea_without_a_topic_is_told_where_to_have_one() -> None:
    bare = {"title": "Any of strength 5", "method": "Do it."}
    lines = "".join(json.dumps(one) + "\n" for one in (bare, bare | {"topic": TOPICS[0]}))
    Path("plain.jsonl").write_text(lines, encoding="utf-8")
    held = Held([*field({"alpha": 1, "beta": 2}), "ideas:plain.jsonl"], topic=TOPICS[:2])
    assert held.code == 0
    assert "line 1, topic: 2 topics are requested, so the idea needs a topic" in held.notes


def test_a_file_without_any_topic_is_not_sent_back_to_an_option_that_was_given(capsys: Capsys) -> None:
    Path("plain.jsonl").write_text('{"title": "Of strength 5", "method": "Do it."}\n', encoding="utf-8")
    assert Held([*field({"alpha": 1}), "ideas:plain.jsonl"], topic=TOPICS[:2]).code == 2
    assert "the ideas of plain.jsonl have no topic, and 2 topics are requested" in capsys.readouterr().err
    assert Held([*field({"alpha": 1}), "ideas:plain.jsonl"], topic=TOPICS[:1]).code == 0


def test_a_contestant_without_any_fit_idea_has_no_rating() -> None:
    huge = [idea("beta", topic, 2, method="word " * 9_000) for topic in TOPICS]
    held = Held([*field({"alpha": 1, "gamma": 3}), write("beta", huge)])
    assert held.code == 0
    assert held.ranking == ["gamma", "alpha"]
    assert "beta has no entry and no rating (the idea has 9,0" in held.notes


# --- judges -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("I am sorry, I cannot judge that.", "refused by the judge"),
        ("}{ <think>", "unreadable answer"),
        ('{"reason": "Both are fine."}', "unreadable answer"),
        ('{"reason": "So.", "novelty": "both", "significance": "first", "clarity": "first", '
         '"feasibility": "first", "effectiveness": "first"}', "unreadable answer"),
    ],
)  # fmt: skip
def test_a_judge_who_says_nothing_readable_decides_nothing(said: str, reason: str, capsys: Capsys) -> None:
    held = Held(field({"alpha": 1, "beta": 2}, TOPICS[:1]), judge(always(said)))
    assert f"No verdict is scored, so there is no ranking: {reason}: 2." in error_of(held, capsys, 1)
    assert held.board["status"] == "nothing_scored"
    assert held.board["coverage"]["reasons"] == {reason: 2}
    assert len(held.chat.calls) == 6, "asked again twice, and no more"
    for one in held.verdicts:
        assert (one.status, one.criteria, one.rationale) == ("unscored", None, None)
    raw = "".join(path.read_text() for path in Path("arena/raw").iterdir())
    assert said in raw


def test_what_cannot_be_read_is_left_out_and_counted() -> None:
    def opinion(call: ScriptedCall) -> Any:
        return "Hm." if "search" in call.inputs.topic else by_strength(call)

    held = Held(field({"alpha": 1, "beta": 2}), judge(opinion))
    assert held.code == 0
    row = held.row("beta")
    assert (row["won"], row["tied"], row["lost"], row["unscored"]) == (2, 0, 0, 2)
    assert "2 of 6 verdicts are unscored and do not count (unreadable answer: 2)" in held.notes


def test_one_order_of_a_match_without_values_leaves_the_other() -> None:
    def opinion(call: ScriptedCall) -> Any:
        return "Hm." if "strength 1" in call.inputs.first.title else by_strength(call)

    held = Held(field({"alpha": 1, "beta": 2}), judge(opinion))
    row = held.row("beta")
    assert (row["matches"], row["won"], row["unscored"]) == (3, 3, 3)


def test_a_request_that_the_provider_rejects_is_one_verdict_less() -> None:
    def opinion(call: ScriptedCall) -> Any:
        return RequestRejected("the content filter") if "search" in call.inputs.topic else by_strength(call)

    held = Held(field({"alpha": 1, "beta": 2}), judge(opinion))
    assert held.code == 0
    assert held.board["coverage"]["reasons"] == {"rejected by the provider": 2}


def test_fresh_asks_again_what_could_not_be_read_and_nothing_else() -> None:
    moods = {"bad": True}

    def opinion(call: ScriptedCall) -> Any:
        return "Hm." if moods["bad"] and "search" in call.inputs.topic else by_strength(call)

    chat, contestants = judge(opinion), field({"alpha": 1, "beta": 2})
    assert Held(contestants, chat).board["coverage"]["unscored"] == 2
    moods["bad"], asked = False, len(chat.calls)
    held = Held(contestants, chat, fresh=True)
    assert held.board["coverage"]["unscored"] == 0
    assert len(chat.calls) - asked == 2


# --- options ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"criteria": ("novelty", "beauty")}, "not beauty"),
        ({"criteria": ()}, "not none"),
        ({"confidence": 0.9}, "--schedule adaptive"),
        ({"schedule": "adaptive", "confidence": 0.2}, "--confidence is 0.2"),
        ({"protocol": "paper", "schedule": "swiss"}, "paper's protocol is a round robin"),
        ({"max_comparisons": 0}, "--max-comparisons is 0"),
        ({"bootstrap": 5}, "--bootstrap is 5"),
        ({"ablation_of": "delta"}, "no contestant has this name; there are alpha, beta"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], told: str, capsys: Capsys) -> None:
    said = error_of(Held(field({"alpha": 1, "beta": 2}), **options), capsys, 2)
    assert told in said


def test_a_folder_that_holds_another_arena(capsys: Capsys) -> None:
    Held(field({"alpha": 1, "beta": 2}))
    capsys.readouterr()
    said = error_of(Held(field({"alpha": 1, "gamma": 2})), capsys, 1)
    assert "arena contains a different arena: beta competed in it and is missing here" in said
    assert "Choose another --out folder" in said
    said = error_of(Held(field({"alpha": 1, "beta": 2, "gamma": 3}), schedule="swiss"), capsys, 1)
    assert "its judges, options or settings differ" in said
    said = error_of(Held(field({"alpha": 1, "beta": 3, "gamma": 3})), capsys, 1)
    assert "of the same names differ" in said
    said = error_of(Held(field({"alpha": 1, "beta": 2}), topic=[TOPICS[0]]), capsys, 1)
    assert f"its topic “{TOPICS[1]}” is missing here" in said


# --- files ------------------------------------------------------------------------------------


def test_a_line_that_a_kill_cut_short_is_judged_again() -> None:
    chat, contestants = judge(), field({"alpha": 1, "beta": 2})
    held = Held(contestants, chat)
    whole = (held.folder / "verdicts.jsonl").read_bytes()
    (held.folder / "verdicts.jsonl").write_bytes(whole[:-40])
    record = json.loads((held.folder / "run.json").read_text())
    (held.folder / "run.json").write_text(json.dumps({**record, "status": "running"}))
    asked = len(chat.calls)
    Held(contestants, chat)
    assert (held.folder / "verdicts.jsonl").read_bytes() == whole
    assert len(chat.calls) == asked


def test_the_last_line_of_a_verdict_holds(tmp_path: Path) -> None:
    held = Held(field({"alpha": 1, "beta": 2}, TOPICS[:1]))
    first, second = held.verdicts
    heard: list[Verdict] = []

    def on_verdict(verdict: Verdict) -> None:
        """A verdict is on disk before anybody is told: a kill right after loses nothing."""
        assert (tmp_path / "verdicts.jsonl").read_text().endswith(verdict.model_dump_json() + "\n")
        heard.append(verdict)

    with VerdictLog(tmp_path, on_verdict) as log:
        log.add(first)
        log.add(second)
    killed_before_the_checkpoint = (tmp_path / "verdicts.jsonl").read_bytes()
    with VerdictLog(tmp_path) as log:  # the step runs again, with answers from the cache
        for one in (second, first):
            log.add(one.model_copy(update={"usage": Usage(calls=7)}))
        assert (tmp_path / "verdicts.jsonl").read_bytes() == killed_before_the_checkpoint
        log.add(first.model_copy(update={"rationale": "Now I know."}))
        assert len((tmp_path / "verdicts.jsonl").read_text().splitlines()) == 2
    with VerdictLog(tmp_path) as log:
        assert [one.rationale for one in log] == ["Now I know.", second.rationale]
        log.finalize([second.id, first.id])
    assert [json.loads(line)["id"] for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()] == [
        second.id,
        first.id,
    ]
    assert len(heard) == 2


def test_a_topic_that_is_named_twice_is_one() -> None:
    Path("topics.txt").write_text(f"{TOPICS[1]}\n{TOPICS[0].upper()}  \n{TOPICS[1]}.\n", encoding="utf-8")
    held = Held(field({"alpha": 1, "beta": 2}), topic=[TOPICS[0]], topics=Path("topics.txt"))
    assert held.board["topics"] == [TOPICS[0], TOPICS[1]]
    assert not any(one["missing"] or one["left_out"] for one in held.board["contestants"])


def test_a_seed_below_zero(capsys: Capsys) -> None:
    held = Held(field({"alpha": 1, "beta": 2}), settings={"seed": -5})
    assert "--seed is -5" in error_of(held, capsys, 2)


def test_contestants_of_one_rating_share_a_rank() -> None:
    held = Held(field({"alpha": 1, "beta": 2, "gamma": 2}))
    assert [(row["agent"], row["rank"]) for row in held.board["ranking"]] == [
        ("beta", 1),
        ("gamma", 1),
        ("alpha", 3),
    ]


def test_one_verdict_does_not_make_a_judge_one_sided() -> None:
    held = Held(
        field({"alpha": 1, "beta": 2}), judge(always("first")), topic=[TOPICS[0]], schedule="balanced"
    )
    assert held.board["coverage"]["scored"] == 1
    assert "whatever is shown" not in held.notes


def test_experiments_that_nobody_has() -> None:
    ideas = [write(name, [idea(name, TOPICS[0], experiment=None)]) for name in ("alpha", "beta")]
    held = Held(ideas, judge(always("first")), experiments=True)
    assert held.code == 0
    assert "No verdict on experiment designs is scored" in held.notes


@each_case("name, left", [("verdicts.jsonl", 0), ("verdicts.jsonl", 3), ("ideas.jsonl", 1)])
def test_a_finished_arena_that_has_lost_something_gets_it_back_from_the_cache(name: str, left: int) -> None:
    contestants = field({"alpha": 1, "beta": 2})
    whole = Held(contestants)
    board, path = whole.board, whole.folder / name
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:left]), encoding="utf-8")
    again = Held(contestants)
    assert again.board == board
    assert path.read_text(encoding="utf-8") == "".join(lines)
    assert not again.chat.calls
