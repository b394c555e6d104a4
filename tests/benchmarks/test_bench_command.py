"""``ideagora bench`` in this process, with judges that are told what to say."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from ideagora.benchmarks.ai_idea_bench import benchmark as ai_idea_bench
from ideagora.benchmarks.registry import BENCHMARKS
from ideagora.commands import bench
from ideagora.errors import ModelUnavailable, RequestRejected
from ideagora.models.chat_models import ScriptedCall
from tests.support import standin
from tests.support.bench_world import BENCHMARK, SAMPLES, Benched, by_strength, field, idea, judge, write
from tests.support.each import each_case


def refused(*agents: str, capsys: pytest.CaptureFixture[str], **options: Any) -> str:
    """The one line of a command that is bad usage."""
    assert Benched(agents, **options).code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert not Path("bench").exists()
    return " ".join(err.split())


def generating(call: ScriptedCall) -> Any:
    """What a model replies that has ideas and rates them with 3."""
    if call.role == "topic_match_judge":
        return 3
    name = {**standin.ROLES, **standin.PLAIN_ROLES}[str(call.role)]
    return standin.ANSWERS[name](call.messages[-1][1])


def test_means_ranks_and_comparisons_come_from_the_log_of_verdicts() -> None:
    done = Benched(field({"weak": 2, "strong": 4}, samples=range(8), ideas=2), limit="8", only=["i2t", "i2i"])
    assert done.code == 0
    assert len(done.chat.calls) == len(done.verdicts) == 2 * 8 * 2 * 4
    assert [done.figure(name)["mean"] for name in ("weak", "strong")] == [2, 4]
    assert [done.figure(name)["rank"] for name in ("strong", "weak")] == [1, 2]
    assert done.figure("strong")["best"]
    assert {(one["n"], one["difference"]) for one in done.results[0]["comparisons"]} == {(8, 2)}
    assert {one.sample for one in done.verdicts} == {sample.id for sample in SAMPLES[:8]}
    assert {one["group"] for one in done.results[0]["measures"]} == {"i2t", "i2i"}
    alone = Benched(field({"weak": 2, "strong": 4}), ideas=1, out="one")
    names = [one["name"] for one in alone.results[0]["measures"]]
    assert names == ["i2t_motivation", "i2t_plan"], "the measures of one idea would repeat them"


def test_a_finished_run_asks_nothing_and_prints_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    contestants = field({"alpha": 2, "beta": 4})
    first = Benched(contestants)
    printed, before = capsys.readouterr().out, (first.results, first.verdicts)
    again = Benched(contestants)
    assert again.code == 0
    assert not again.chat.calls
    assert capsys.readouterr().out == printed
    assert (again.results, again.verdicts) == before


def test_lost_files_are_restored_from_the_cache() -> None:
    contestants = field({"alpha": 2, "beta": 4})
    first = Benched(contestants)
    whole = {name: (first.folder / name).read_text() for name in ("verdicts.jsonl", "results.json")}
    lines = whole["verdicts.jsonl"].splitlines(keepends=True)
    ideas = (first.folder / "ideas.jsonl").read_text()
    damage = {
        "a deleted verdict": ("verdicts.jsonl", "".join(lines[1:])),
        "a cut verdict": ("verdicts.jsonl", "".join(lines)[:-20]),
        "no verdicts": ("verdicts.jsonl", None),
        "no results": ("results.json", None),
        "unreadable results": ("results.json", "[{"),
        "a changed idea": ("ideas.jsonl", ideas.replace("Nobody", "Somebody")),
        "no ideas": ("ideas.jsonl", None),
    }
    for what, (name, text) in damage.items():
        (first.folder / name).unlink() if text is None else (first.folder / name).write_text(text)
        again = Benched(contestants)
        assert (again.code, len(again.chat.calls)) == (0, 0), what
        restored = {name: (first.folder / name).read_text() for name in whole}
        assert restored["verdicts.jsonl"] == whole["verdicts.jsonl"], what
        assert json.loads(restored["results.json"]) == json.loads(whole["results.json"]), what


def test_ideas_of_some_samples_are_compared_on_those_that_both_have() -> None:
    whole = write("whole", [idea("whole", sample, strength=sample + 1) for sample in range(4)])
    some = write("some", [idea("some", sample, strength=5) for sample in (0, 3)])
    done = Benched([whole, some], limit="4")
    row = next(one for one in done.results[0]["agents"] if one["agent"] == "some")
    assert (row["samples"], row["missing"]) == (2, {"no idea has this sample's id or topic": 2})
    figure = done.figure("some")
    assert (figure["n"], figure["without_idea"], figure["mean"]) == (2, 2, 5)
    assert done.figure("whole")["mean"] == 2.5
    (compared,) = (one for one in done.results[0]["comparisons"] if one["measure"] == "i2t_plan")
    assert (compared["n"], abs(compared["difference"])) == (2, 2.5)


def test_an_idea_may_name_its_sample_and_one_of_elsewhere_is_left_out() -> None:
    named = [idea("named", topic="some other words", extra={"sample": SAMPLES[1].id})]
    named += [idea("named", number=1, topic="a topic of nobody")]
    done = Benched([write("named", named)])
    assert {one.sample for one in done.verdicts} == {SAMPLES[1].id}
    assert done.figure("named")["n"] == 1
    row = {"topic": "some other words", "title": "A plan", "method": "Do it. strength 4"}
    rows = (json.dumps({**row, "sample": sample}) + "\n" for sample in (0, "1"))
    Path("plain.jsonl").write_text("".join(rows), encoding="utf-8")
    plain = Benched(["Zoë=ideas:plain.jsonl"], out="plain")
    assert {one.sample for one in plain.verdicts} == {"0", "1"}, "one text is an idea on both"


def test_an_idea_counts_on_every_sample_with_its_topic() -> None:
    source = Path(ai_idea_bench.__file__).with_name("targets.json")
    rows = json.loads(source.read_text(encoding="utf-8"))[:2]
    rows[1]["summary"]["topic"] = rows[0]["summary"]["topic"]
    Path("own.json").write_text(json.dumps(rows), encoding="utf-8")
    done = Benched(field({"alpha": 2}, samples=[0]), data=Path("own.json"))
    assert (done.figure("alpha")["n"], done.figure("alpha")["without_idea"]) == (2, 0)


def test_contestants_with_the_same_ideas_have_verdicts_of_their_own() -> None:
    (spec,) = field({"same": 4})
    done = Benched([f"one={spec}", f"two={spec}", *field({"third": 2})])
    assert [done.figure(name)["mean"] for name in ("one", "third", "two")] == [4, 2, 4]
    assert len(done.chat.calls) == 2 * 2 * 2, "the same ideas are asked about once"


def test_an_agent_that_fails_on_a_target_loses_only_that_one(home: Path) -> None:
    def reply(call: ScriptedCall) -> Any:
        failing = call.role == "direct_ideator" and SAMPLES[1].topic in call.messages[-1][1]
        return RequestRejected("no ideas on this") if failing else generating(call)

    done = Benched(["direct", *field({"alpha": 2})], judge(reply), settings={"model": "scripted"})
    assert done.code == 0
    row = next(one for one in done.results[0]["agents"] if one["agent"] == "direct")
    assert row["samples"] == 1
    ((why, number),) = row["missing"].items()
    assert "no ideas on this" in why
    assert number == 1
    assert (done.figure("direct")["n"], done.figure("direct")["without_idea"]) == (1, 1)
    assert {one["n"] for one in done.results[0]["comparisons"]} == {1}


def test_epochs_have_their_own_seeds_and_count_as_a_mean(home: Path) -> None:
    seen: list[str | None] = []

    def reply(call: ScriptedCall) -> Any:
        if call.role == "topic_match_judge":
            return 1 if "second attempt" in call.inputs.idea else 4
        seen.append(call.role)
        said = json.dumps(generating(call))
        return said.replace("part 0", "second attempt") if seen.count(call.role) == 2 else said

    done = Benched(["direct"], judge(reply), settings={"model": "scripted"}, epochs=2, limit="1", ideas=1)
    assert done.code == 0
    assert sorted(one.epoch for one in done.verdicts if one.kind == "i2t_motivation") == [1, 2]
    records = [json.loads(path.read_text()) for path in (done.folder / "runs").glob("*/*/run.json")]
    assert sorted(one["seed"] for one in records) == [0, 1]
    figure = done.figure("direct", "i2t_motivation")
    assert (figure["mean"], figure["n"]) == (2.5, 1), "epochs are no samples of their own"


def test_both_protocols_are_two_tables_from_one_log(capsys: pytest.CaptureFixture[str]) -> None:
    done = Benched(field({"alpha": 0.5, "beta": 4}), protocols=("default", "paper"))
    assert done.code == 0
    assert [one["protocol"] for one in done.results] == ["default", "paper"]
    assert {one.protocol for one in done.verdicts} == {"default", "paper"}
    out = capsys.readouterr().out
    assert "default protocol" in out
    assert "(protocol of the paper)" in " ".join(out.split())
    # 0.5 is on the paper's scale only
    assert done.figure("alpha")["mean"] is None
    assert done.figure("alpha", result=1)["mean"] == 0.5
    alone = Benched(field({"alpha": 0.5, "beta": 4}), protocols=("paper",), out="alone")
    assert alone.results[0]["figures"] == done.results[1]["figures"]


def test_several_judges_are_averaged() -> None:
    judges = {"kind": judge(lambda call: 5), "strict": judge(lambda call: 2), "mute": judge(lambda call: "?")}
    done = Benched(field({"alpha": 3}), judges=judges)
    assert done.figure("alpha")["mean"] == 3.5
    assert {judge: len(chat.calls) for judge, chat in judges.items()} == {"kind": 4, "strict": 4, "mute": 12}
    assert done.results[0]["judges"] == list(judges)
    assert {one.judge for one in done.verdicts if one.status == "unscored"} == {"mute"}


def test_an_answer_that_is_no_single_value_is_unscored_with_its_reason() -> None:
    replies: dict[str, tuple[str, Any]] = {
        "a range": ("unreadable answer", {"reason": "r", "score": "3-4"}),
        "a word": ("unreadable answer", {"reason": "r", "score": "three"}),
        "two numbers": ("unreadable answer", {"reason": "r", "score": "3 or 4"}),
        "off the scale": ("unreadable answer", {"reason": "r", "score": 9}),
        "null": ("unreadable answer", {"reason": "r", "score": None}),
        "prose": ("unreadable answer", "It is a fine idea."),
        "nothing": ("unreadable answer", ""),
        "a refusal": ("refused by the judge", "I'm sorry, but I can't help with that."),
        "rejected": ("rejected by the provider", RequestRejected("the prompt is too long")),
    }
    ideas = [
        idea("alpha", sample, method=f"Do: {name}.", motivation=f"Why: {name}?")
        for sample, name in enumerate(replies)
    ]

    def reply(call: ScriptedCall) -> Any:
        return replies[call.inputs.idea.partition(": ")[2].strip("?.")][1]

    done = Benched([write("alpha", ideas)], judge(reply), limit=str(len(replies)))
    assert done.code == 0
    assert {(one.status, one.criteria) for one in done.verdicts} == {("unscored", None)}
    names = dict(zip([sample.id for sample in SAMPLES], replies, strict=False))
    assert {names[str(one.sample)]: str(one.reason).partition(":")[0] for one in done.verdicts} == {
        name: reason for name, (reason, _) in replies.items()
    }
    for kind in done.results[0]["coverage"]:
        assert (kind["scored"], kind["unscored"]) == (0, 9)
        assert sum(kind["reasons"].values()) == 9
    assert (done.figure("alpha")["mean"], done.figure("alpha")["unscored"]) == (None, 9)
    assert done.results[0]["status"] == "nothing_scored"


def test_two_letters_are_no_choice(home: Path) -> None:
    def reply(call: ScriptedCall) -> Any:
        if call.role == "inspiration_reader":
            answer = {"motivation": f"Why {call.inputs.title}.", "summary": f"How {call.inputs.title}."}
            return {**answer, "designs": []}
        return {"reason": "r", "closest": "A" if call.inputs.part == "motivation" else "A or B"}

    done = Benched(field({"alpha": 3}), judge(reply), only=["imcq"])
    assert done.code == 0
    assert done.figure("alpha", "imcq_motivation")["n"] == 2
    assert done.figure("alpha", "imcq_plan")["mean"] is None
    unscored = {one["kind"]: one["unscored"] for one in done.results[0]["coverage"]}
    assert unscored == {"imcq_motivation": 0, "imcq_plan": 2}


def test_a_judge_that_is_down_leaves_its_questions_to_the_same_command() -> None:
    contestants = field({"alpha": 2, "beta": 4}, samples=range(3))
    answered: list[ScriptedCall] = []

    def failing(call: ScriptedCall) -> Any:
        if len(answered) >= 3:
            return ModelUnavailable("out for lunch")
        answered.append(call)
        return by_strength(call)

    stopped = Benched(contestants, judge(failing), limit="3", settings={"concurrency": 1})
    assert stopped.code == 4
    assert stopped.record["status"] == "incomplete"
    assert "out for lunch" in " ".join(stopped.record["outages"])
    assert len(stopped.verdicts) == 3
    assert stopped.results[0]["status"] == "incomplete"
    whole = Benched(contestants, limit="3")
    assert whole.code == 0
    assert len(whole.chat.calls) == 12 - 3
    assert whole.results[0]["status"] == "complete"
    assert whole.results[0]["notes"] == Benched(contestants, limit="3", out="fresh").results[0]["notes"]


def test_scoring_later_gives_the_same_results_and_generates_nothing(home: Path) -> None:
    chat = judge(generating)
    options: dict[str, Any] = {"settings": {"model": "scripted"}, "ideas": 1}
    contestants = ["direct", *field({"alpha": 2})]
    at_once = Benched(contestants, chat, **options)
    made = Benched(contestants, chat, out="later", scored=False, **options)
    assert made.code == 0
    assert not (made.folder / "verdicts.jsonl").exists()
    assert made.record["status"] == "generated"
    again = Benched(contestants, judge(generating), out="later", scored=False, **options)
    assert (again.code, len(again.chat.calls)) == (0, 0)
    del chat.calls[:]
    later = Benched(chat=chat, out="later", rescored=True, settings={"model": "scripted"})
    assert later.code == 0
    assert not chat.calls, "the same questions were answered in the first run"
    assert later.verdicts == at_once.verdicts
    assert {**later.results[0], "usage": None} == {**at_once.results[0], "usage": None}


def test_scoring_with_another_judge_keeps_the_earlier_results_beside() -> None:
    first = Benched(field({"alpha": 2, "beta": 4}))
    earlier = {name: (first.folder / name).read_text() for name in ("verdicts.jsonl", "results.json")}
    (first.folder / "report.html").write_text("a page of the first results")
    other = Benched(judges={"other": judge(lambda call: 1)}, rescored=True)
    assert other.code == 0
    assert not (first.folder / "report.html").exists(), "it would show the figures of the other judge"
    assert {one["mean"] for one in other.results[0]["figures"]} == {1}
    for name, text in earlier.items():
        stem, _, suffix = name.partition(".")
        (earlier_file,) = first.folder.glob(f"{stem}.*.{suffix}")
        assert earlier_file.read_text() == text
    again = Benched(judges={"other": judge()}, rescored=True)
    assert (again.code, len(again.chat.calls)) == (0, 0), "scored with this judge already"
    narrower = Benched(judges={"other": judge()}, rescored=True, only=["i2i"])
    assert {one.kind for one in narrower.verdicts} == {"i2i_motivation", "i2i_plan"}
    assert len(list(first.folder.glob("verdicts.*.jsonl"))) == 2
    same = Benched(field({"alpha": 2, "beta": 4}))
    assert (same.code, len(same.chat.calls)) == (0, 0), "the first command finds its answers in the cache"
    assert (first.folder / "verdicts.jsonl").read_text() == earlier["verdicts.jsonl"]


def test_scoring_an_unchanged_plan_judges_nothing_and_renames_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = Benched(field({"alpha": 2, "beta": 4}), only=["i2t"])
    before = {file.name: file.read_bytes() for file in first.folder.glob("*.json*")}
    capsys.readouterr()
    again = Benched(rescored=True, only=["i2t"], quiet=False)
    assert (again.code, again.chat.calls) == (0, [])
    assert "Nothing left to judge" in capsys.readouterr().err
    assert {file.name: file.read_bytes() for file in first.folder.glob("*.json*")} == before
    other = Benched(rescored=True, only=["i2i"], quiet=False)
    assert {one.kind for one in other.verdicts} == {"i2i_motivation", "i2i_plan"}
    assert "Nothing to judge anew" not in capsys.readouterr().err


def test_a_pipe_is_no_data_set(capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    said = refused(*field({"alpha": 2}), capsys=capsys, data=Path("pipe"))
    assert "--data pipe is neither a file nor a folder" in said


def test_earlier_verdicts_survive_a_kill_while_they_are_put_beside() -> None:
    first = Benched(field({"alpha": 2}))
    text = (first.folder / "verdicts.jsonl").read_text()
    earlier_file = (first.folder / "verdicts.jsonl").rename(
        first.folder / f"verdicts.{first.record['id']}.jsonl"
    )
    (first.folder / "verdicts.jsonl").touch()  # the log is opened before the record is written
    assert Benched(judges={"other": judge()}, rescored=True).code == 0
    assert earlier_file.read_text() == text
    assert len(list(first.folder.glob("results*.json"))) == 2


def test_scoring_keeps_the_seed_and_the_notes_of_the_run_and_the_ideas_even_if_fresh() -> None:
    Path("bad.jsonl").write_text(idea("alpha").model_dump_json() + "\n{}\n", encoding="utf-8")
    made = Benched(["ideas:bad.jsonl"], settings={"seed": 5}, scored=False)
    ideas = made.ideas
    done = [Benched(rescored=True, fresh=fresh) for fresh in (False, True, True)]
    assert [one.code for one in done] == [0, 0, 0]
    assert done[-1].record["seed"] == 5
    assert done[-1].notes.count("not imported: ") == 1
    assert done[-1].ideas == ideas


def test_ideas_that_an_outage_left_incomplete_are_not_scored(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def away(call: ScriptedCall) -> Any:
        return ModelUnavailable("out for lunch")

    options: dict[str, Any] = {"settings": {"model": "scripted"}, "limit": "1", "ideas": 1}
    made = Benched(["direct"], judge(away), scored=False, **options)
    assert (made.code, made.record["status"]) == (4, "incomplete")
    assert Benched(rescored=True).code == 2
    assert "are incomplete" in (err := " ".join(capsys.readouterr().err.split()))
    assert "out for lunch" in err
    assert Benched(["direct"], judge(generating), scored=False, **options).code == 0
    assert Benched(chat=judge(generating), rescored=True).code == 0


@each_case("name", ["missing", "empty", "arena", "file"])
def test_only_the_folder_of_a_benchmark_can_be_scored(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "file":
        Path(name).write_text("text")
    elif name != "missing":
        Path(name).mkdir()
        if name == "arena":
            Path(name, "run.json").write_text(json.dumps({"id": "x", "options": {}, "agent": "arena"}))
    before = sorted(Path.cwd().rglob("*"))
    assert Benched(out=name, rescored=True).code == 2
    err = " ".join(capsys.readouterr().err.split())
    assert f"{name} is not the folder of a benchmark run" in err
    assert sorted(Path.cwd().rglob("*")) == before


def test_bad_usage_is_one_clear_line_before_anything_starts(capsys: pytest.CaptureFixture[str]) -> None:
    (alpha,) = field({"alpha": 2})
    size = len(SAMPLES)
    cases: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
        (f"Name the agents or ideas to be judged, e.g. ideagora bench {BENCHMARK} direct rag", (), {}),
        ("--only is 'imqc': ai-idea-bench has ", (alpha,), {"only": ["imqc"]}),
        (f"--limit is '0': choose samples between 1 and {size}", (alpha,), {"limit": "0"}),
        (f"--limit is '20-10': choose samples between 1 and {size}", (alpha,), {"limit": "20-10"}),
        ("--limit is 'x': write a number such as 10, or a range such as 10-20", (alpha,), {"limit": "x"}),
        ("--limit is '-3': write a number", (alpha,), {"limit": "-3"}),
        ("--limit is '900-': write a number", (alpha,), {"limit": "900-"}),
        ("--sample-id nobody is not in the data set", (alpha,), {"sample_ids": ("nobody",)}),
        ("--judge is given twice: a, a", (alpha,), {"judges_named": ("a", "a")}),
        ("Two contestants are called 'alpha'", (alpha, alpha), {}),
        (
            "There is no benchmark 'ai-idea-bnech'. Did you mean 'ai-idea-bench'?",
            (alpha,),
            {"benchmark": "ai-idea-bnech"},
        ),
    ]
    for wanted, agents, options in cases:
        said = refused(*agents, capsys=capsys, **options)
        assert wanted in said, said


def test_a_judge_without_a_key_is_refused_before_ideas_are_generated(home: Path) -> None:
    options: dict[str, Any] = {"settings": {"model": "scripted"}, "judges_named": ["openai/gpt-4o"]}
    done = Benched(["direct"], judge(generating), **options)
    assert (done.code, done.chat.calls) == (1, [])


def test_samples_are_chosen_by_number_range_id_and_seed() -> None:
    everywhere = field({"alpha": 2}, samples=range(len(SAMPLES)))
    ids = [sample.id for sample in SAMPLES]

    def chosen(**options: Any) -> list[str]:
        done = Benched(everywhere, out=re.sub(r"\W+", "-", str(options)), scored=False, **options)
        assert done.code == 0
        return list(done.record["samples"])

    assert chosen(limit="2") == ids[:2]
    assert chosen(limit="3-5") == ids[2:5]
    assert chosen(limit=f"{len(ids)}-999") == ids[-1:]
    assert chosen(limit=None, sample_ids=(ids[4], ids[1])) == [ids[1], ids[4]]
    shuffled = chosen(limit="10", shuffle=3)
    assert shuffled != sorted(shuffled, key=ids.index)
    assert chosen(limit="5", shuffle=3) == shuffled[:5]
    assert chosen(limit="5", shuffle=4) != shuffled[:5]


def test_bad_rows_of_a_data_set_are_noted_with_row_and_field() -> None:
    source = Path(ai_idea_bench.__file__).with_name("targets.json")
    rows = json.loads(source.read_text(encoding="utf-8"))[:4]
    rows[1]["summary"]["motivation"] = None
    rows[2]["find_cite"]["top_references"] = []
    Path("own.json").write_text(json.dumps(rows), encoding="utf-8")
    done = Benched(field({"alpha": 2}, samples=(0, 3)), data=Path("own.json"), limit=None)
    assert done.code == 0
    assert done.record["samples"] == [SAMPLES[0].id, SAMPLES[3].id]
    assert re.search(r"not a sample: .*own\.json.*2.*motivation", done.notes)
    assert re.search(r"not a sample: .*own\.json.*3.*find_cite\.top_references", done.notes)
    Path("none.json").write_text("[]", encoding="utf-8")
    assert Benched(field({"alpha": 2}), data=Path("none.json"), out="none").code == 1


def test_json_is_one_value_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    done = Benched(field({"alpha": 2}), as_json=True)
    printed = json.loads(capsys.readouterr().out)
    assert printed == {"run": str(done.folder.absolute()), "results": done.results}
    Benched(field({"alpha": 2}), as_json=True, scored=False, out="ideas")
    assert json.loads(capsys.readouterr().out)["results"] == []
    assert bench.list_all(as_json=True) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in listed] == list(BENCHMARKS)
    assert all(one["samples"] >= 3 and one["measures"] for one in listed)
    assert bench.list_all(as_json=False) == 0
    text = capsys.readouterr().out
    assert all(one["name"] in text and one["source"][:30] in text for one in listed)
