"""LiveIdeaBench: keywords, the panel, awkward replies, scores, and a run of models and judges."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ideagora.benchmarks.benchmark import Plan, Unscored
from ideagora.benchmarks.jury import panel
from ideagora.benchmarks.jury.critic import CriticInputs
from ideagora.benchmarks.liveideabench.benchmark import FIVE, MEASURES, LiveIdeaBench
from ideagora.benchmarks.liveideabench.questions import TOO_LONG, chosen_pairs
from ideagora.benchmarks.liveideabench.roles import CRITERIA, CRITIC, Fluency
from ideagora.benchmarks.liveideabench.samples import read_samples, shipped_samples
from ideagora.errors import IdeasFileError, UsageError
from ideagora.graphs.plain_model.replies import refuses, split_reply
from ideagora.models.chat_models import ScriptedCall, ScriptedChatModel
from ideagora.models.parsing.structured_output import UnreadableReply, parse_answer
from ideagora.report.bench.plots import pareto_front
from ideagora.schema import Idea, Verdict
from tests.support.bench_world import Benched
from tests.support.benchmark_results import built
from tests.support.each import Cases, each_case

PUBLISHED = """
claude-3.7-sonnet:thinking 7.48 5.70 7.81 8.06 7.04 7.22
deepseek-r1 6.63 6.52 8.10 7.84 6.83 7.18
claude-3.7-sonnet 7.80 5.46 7.61 7.81 6.92 7.12
gemini-2.0-flash-exp 7.30 6.02 7.84 7.37 6.83 7.07
qwq-32b 6.45 6.35 7.98 7.77 6.75 7.06
gemini-2.0-flash-thinking-exp 7.38 6.05 7.69 7.35 6.83 7.06
gemini-2.0-pro-exp-02-05 6.84 5.88 7.90 7.76 6.75 7.03
qwq-32b-preview 7.49 6.10 7.46 6.87 6.71 6.93
claude-3.5-sonnet 6.90 5.42 7.85 7.83 6.62 6.92
deepseek-r1-distill-qwen-32b 7.06 6.08 7.43 7.13 6.62 6.86
mistral-small 7.36 5.97 7.36 6.98 6.62 6.86
gemini-pro-1.5 6.68 5.92 7.75 7.33 6.58 6.85
gpt-4.5-preview 6.49 6.03 7.75 7.45 6.54 6.85
mistral-large-2411 6.68 6.06 7.69 7.01 6.50 6.79
deepseek-chat 6.15 6.04 7.74 7.31 6.38 6.72
phi-4 6.58 5.80 7.57 7.24 6.42 6.72
deepseek-r1-distill-llama-70b 6.66 6.07 7.43 6.98 6.41 6.71
gpt-4o-2024-11-20 6.12 5.58 7.74 7.64 6.38 6.69
o1-mini 5.89 6.20 7.77 7.09 6.33 6.66
gemma-2-27b-it 7.18 5.50 7.36 6.86 6.38 6.65
qwen2.5-dracarys2-72b 6.22 6.09 7.69 6.80 6.33 6.63
llama-3.1-405b-instruct 6.57 5.56 7.48 7.18 6.33 6.62
qwen-2.5-72b-instruct 6.17 5.99 7.72 6.91 6.29 6.62
llama-3.1-70b-instruct 6.71 5.49 7.34 7.16 6.38 6.62
o1 6.23 5.88 7.42 7.23 6.29 6.61
gemini-2.0-flash-lite-001 6.73 5.61 7.47 6.92 6.25 6.60
qwen-max 5.64 5.83 7.67 7.51 6.29 6.59
nova-pro-v1 6.45 6.19 7.41 6.59 6.25 6.58
qwen-2.5-coder-32b-instruct 6.58 5.76 7.31 6.90 6.25 6.56
gpt-4-turbo 6.14 5.62 7.68 7.08 6.25 6.56
step-2-16k-202411 5.70 5.77 7.75 7.28 6.21 6.54
o3-mini 5.57 5.91 7.43 7.45 6.21 6.51
qwen-2.5-7b-instruct 6.66 6.02 7.17 6.34 6.17 6.47
grok-2-1212 5.76 5.82 7.62 6.95 6.17 6.47
o3-mini-high 5.27 5.86 7.39 7.52 6.17 6.44
mistral-small-24b-instruct-2501 7.07 5.66 6.61 6.61 6.12 6.41
claude-3.5-haiku-20241022 5.61 5.05 7.40 7.72 6.08 6.37
claude-3-opus 5.74 5.66 7.72 6.66 6.04 6.36
gpt-4o-mini 5.28 5.86 7.45 6.67 6.00 6.25
llama-3.3-70b-instruct 5.68 5.69 6.88 6.32 5.75 6.06
nova-lite-v1 4.51 6.06 7.38 6.60 5.71 6.05
"""
"""Supplementary Table 3 of arXiv 2412.17596: the columns below, and the average."""
COLUMNS = ("fluency", "feasibility", "clarity", "originality", "flexibility")
PANEL = ("lab-a/alpha", "lab-b/beta", "lab-c/gamma", "lab-d/delta")
WORDS = "An idea about it that nobody had before. " * 3


def verdict(
    kind: str, judge: str, subject: tuple[str, ...], sample: str = "stars", **criteria: float
) -> Verdict:
    """A verdict on ideas of the agent "one"."""
    return Verdict(
        id=f"{kind} {judge} {subject} {sample}", evaluator="liveideabench", protocol="default", topic=sample,
        subject=subject, criteria=criteria or None, status="scored" if criteria else "unscored",
        judge=judge, kind=kind, sample=sample, agents=("one",) * len(subject),
    )  # fmt: skip


def rated(judge: str, idea: str, *ratings: float, sample: str = "stars") -> Verdict:
    """Originality, feasibility and clarity; unscored without ratings."""
    names = ("originality", "feasibility", "clarity")
    return verdict("quality", judge, (idea,), sample, **dict(zip(names, ratings, strict=False)))


def test_the_published_averages_are_the_mean_of_the_five_dimensions() -> None:
    rows = [line.split() for line in PUBLISHED.strip().splitlines()]
    assert len(rows) == 41
    for model, *cells in rows:
        *five, average = map(float, cells)
        scores = {name: {model: {"all": value}} for name, value in zip(COLUMNS, five, strict=True)}
        result = built(scores, MEASURES, benchmark="liveideabench", title="")
        assert result.figure(model, "average").mean == pytest.approx(average, abs=0.01), model


def test_scores_follow_the_papers_formulas() -> None:
    """Idea i: judges 4 and 6, idea j: judge 9 (another is unscored): (5 + 9) / 2."""
    log = [
        rated("x", "i", 4, 2, 8), rated("y", "i", 6, 4, 8), rated("x", "j", 9, 3, 8), rated("y", "j"),
        verdict("fluency", "x", ("i", "j"), fluency=7), verdict("fluency", "x", ("i", "k"), fluency=10),
        rated("x", "m", 5, 5, 5, sample="alone"),
    ]  # fmt: skip
    plan = Plan(judges=("x", "y"))
    scores = LiveIdeaBench().scores(log, plan)
    expected = {"originality": 7.0, "feasibility": 3.0, "clarity": 8.0, "fluency": 8.5, "flexibility": 6.625}
    assert {name: scores[name]["one"]["stars"] for name in expected} == expected
    assert scores["flexibility"]["one"]["alone"] is None, "without a pair there is no fluency"

    # y rates idea i 2 higher than x: effects -1 and +1, so i gets 5 from both, j 10
    corrected = LiveIdeaBench(is_corrected=True).fitted(log, plan).scores(log, plan)
    assert corrected["originality_corrected"]["one"]["stars"] == pytest.approx((5 + 10) / 2)


def test_flexibility_and_average_are_summarised_over_keywords() -> None:
    over = [4.0, 5.0, 6.0, 7.0]
    scores = {name: {"one": {str(n): value for n, value in enumerate(over)}} for name in FIVE}
    result = built(scores, MEASURES, benchmark="liveideabench", title="")
    flexible = result.figure("one", "flexibility")
    assert flexible.mean == pytest.approx(4.9)  # place 0.3 * 3 = 0.9 between 4 and 5
    assert result.figure("one", "average").mean == pytest.approx((4 * 5.5 + 4.9) / 5)
    assert flexible.low is not None
    assert flexible.high is not None
    assert flexible.low < 4.9 < flexible.high


def test_the_pareto_front_has_the_models_that_none_beats() -> None:
    points = [("a", 8.0, 5.0), ("b", 6.0, 7.0), ("c", 6.0, 6.0), ("d", 7.0, 5.0), ("e", 6.0, 7.0)]
    assert [name for name, *_ in pareto_front(points)] == ["b", "e", "a"]


def test_the_shipped_keywords_cover_22_sciences() -> None:
    samples = shipped_samples()
    counts = Counter(one.category for one in samples.samples.values())
    assert len(counts) == 22
    assert len(samples.samples) >= 220
    assert min(counts.values()) >= 10
    assert not samples.problems
    assert len({one.category for one in list(samples.samples.values())[:22]}) == 22, "the sciences take turns"


def test_published_lists_and_result_files_are_read_and_bad_rows_reported(tmp_path: Path) -> None:
    listed = tmp_path / "keywords.csv"
    listed.write_text(",Keyword\n0,meteorology\n1,periodic table\n2,\n3,meteorology\n", encoding="utf-8")
    read = read_samples(listed)
    assert list(read.samples) == ["meteorology", "periodic table"]
    assert [(one.row, one.field) for one in read.problems] == [("row 4", "Keyword"), ("row 5", "keyword")]

    results = tmp_path / "results.db"
    with sqlite3.connect(results) as base:
        base.execute("CREATE TABLE results (id INTEGER, keywords TEXT, idea_model TEXT, idea TEXT)")
        rows = [(1, "tornadoes", "m", "i"), (2, "tornadoes", "m", "i"), (3, "comets", "m", "j")]
        base.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", rows)
    base.close()
    assert list(read_samples(results).samples) == ["tornadoes", "comets"]

    listed.write_text("word\nstars\n", encoding="utf-8")
    with pytest.raises(IdeasFileError, match="no keyword"):
        read_samples(listed)


def test_a_panel_has_one_model_per_base_and_a_fifth_per_organisation() -> None:
    ranked = [
        "openai/o3-mini-high", "openai/o3-mini", "openai/gpt-4o", "openai/gpt-4-turbo",
        "openrouter/anthropic/claude-3.7-sonnet:thinking", "anthropic/claude-3.7-sonnet-20250219",
        "anthropic/claude-3-opus-latest", *(f"lab-{n}/model-{n}" for n in range(9)),
    ]  # fmt: skip
    chosen = panel.choose_panel(ranked)
    assert len(chosen) == 10
    assert chosen[:4] == (
        "openai/o3-mini-high", "openai/gpt-4o", "openrouter/anthropic/claude-3.7-sonnet:thinking",
        "anthropic/claude-3-opus-latest",
    )  # fmt: skip
    shipped = panel.choose_panel(panel.read_ranking(None))
    assert len(shipped) == 10
    assert max(Counter(map(panel.organisation, shipped)).values()) == 2


def test_judges_are_neither_the_author_nor_of_its_family() -> None:
    models = (
        "openai/gpt-4o",
        "openai/o1",
        "anthropic/claude-3-opus",
        "meta/llama-3.1-70b",
        "deepseek/r1",
        "x/y",
    )
    distilled = {"anthropic/claude-3-opus", "openai/gpt-4o", "openai/o1", "x/y"}
    cases: Mapping[str, set[str]] = {
        "openrouter/openai/gpt-4o-2024-11-20": set(models[2:]),
        "deepseek-r1-distill-llama-70b": distilled,
        "unknown": set(models),
        "openai/own-server": set(models),
    }
    for author, allowed in cases.items():
        draws = [panel.draw_judges(models, author, 0, "k", str(n)) for n in range(60)]
        assert {judge for one in draws for judge in one.judges} == allowed, author
        assert all(len(set(one.judges)) == 3 for one in draws)
        assert draws[0] == panel.draw_judges(models, author, 0, "k", "0")
    partial = panel.draw_judges(models[:2], "openai/gpt-4o", 0, "k")
    assert partial == (("openai/o1",), True), "of the family, if there is nobody else, but not the author"


def test_replies_have_the_reading_that_the_judge_means() -> None:
    numbers = '"originality": 7, "feasibility": 6, "clarity": 8}'
    ratings = {
        "bold names": '{"**analysis**": "ok", "**Originality**": 7, "**Feasibility**": 6, "**Clarity**": 8}',
        "capitals": '{"Analysis": "ok", "ORIGINALITY": 7, "Feasibility": 6, "Clarity": 8}',
        "two blocks": 'Draft: {"originality": 1}\n```json\n{"analysis": "ok", ' + numbers + "\n```",
        "texts": '{"analysis": "ok", "originality": "7/10", "feasibility": "6", "clarity": "**8**"}',
    }
    letters = {
        "Answer: B": "B", "**B**": "B", "b)": "B", "Option C.": "C", "A or B": None, "E": None, "": None,
        "D. Academically one idea": "D", "The answer is (A)": "A", "D. A change of enzyme is no idea": "D",
        "C: same aim. A detail differs": "C", "B. A is also possible": None, "B, or A if strict": None,
    }  # fmt: skip
    done = Cases()
    for name, text in ratings.items():
        with done.case(name):
            found = parse_answer(text, CRITIC.answer)
            assert found.model_dump(exclude={"analysis"}) == {
                "originality": 7,
                "feasibility": 6,
                "clarity": 8,
            }
    assert CRITIC.check is not None
    for clarity in (  # out of range, or no number
        "11", "0", "-3", '"7 to 9"', '"nan"', "null", '"at most 7"', '"7+"', '"7 or eight"', '"7/5"', '"70%"',
        "[7, 8]", "true", '"not 7"', '"VII"', '"7, 8"',
    ):  # fmt: skip
        text = f'{{"analysis": "ok", "originality": 7, "feasibility": 6, "clarity": {clarity}}}'
        with done.case(clarity):
            try:
                read = parse_answer(text, CRITIC.answer)
            except UnreadableReply:
                continue
            inputs = CriticInputs(topic=None, idea="i", criteria=CRITERIA)
            assert CRITIC.check(inputs, read) is not None
    for text, letter in letters.items():
        with done.case(text):
            reply = json.dumps({"reason": "r", "letter": text})
            if letter is None:
                with pytest.raises(UnreadableReply):
                    parse_answer(reply, Fluency)
            else:
                assert parse_answer(reply, Fluency).letter == letter
    prose = {
        "B": "B", "<think>A?</think>Both study soil.\n\nAnswer: B": "B", "A fine pair.\n**C**": "C",
        "Both study soil.\nA or B": None, "A new method, so A.": None, "I cannot help.\nB": None,
        "B\nor C": None,
    }  # fmt: skip
    for text, letter in prose.items():
        with done.case(text):
            if letter is None:
                with pytest.raises(UnreadableReply):
                    parse_answer(text, Fluency)
            else:
                assert parse_answer(text, Fluency).letter == letter
    done.check()


@each_case(
    "text, is_refusal",
    [
        ("I'm sorry, but I can't help with that.", True),
        ("As an AI language model, I cannot propose this.", True),
        ("Thank you. Unfortunately, I am unable to do so.", True),
        ("I apologize, this is not something to discuss.", True),
        ("As an AI-driven sensor drifts, its errors grow. We propose to model them.", False),
        ("Sensors fail in fog. Where I cannot see, radar can. " + WORDS * 8, False),
        ("Proteins that cannot fold: use them as fuel.", False),
    ],
)
def test_refusals_are_told_from_ideas(text: str, is_refusal: bool) -> None:
    assert refuses(text) == is_refusal


def test_reasoning_is_kept_apart_from_the_idea() -> None:
    assert split_reply("First I think.\n\n**Final Idea:** Grow ice.") == ("Grow ice.", "First I think.")
    assert split_reply("Grow ice.", "hm") == ("Grow ice.", "hm")
    assert split_reply("Grow ice.\nFinal idea:") == ("Grow ice.\nFinal idea:", "")


def author(call: ScriptedCall) -> Any:
    """A model that refuses "stars" once and "viruses" always, and writes too much about "comets"."""
    keyword = call.inputs.keyword
    if keyword == "viruses" or (keyword == "stars" and not call.inputs.is_academic):
        return "I'm sorry, but I can't help with that."
    return "<think>\nlet me see\n</think>\n" + (WORDS * 10 if keyword == "comets" else f"{WORDS} {keyword}")


def critic(call: ScriptedCall) -> Any:
    """A judge that rates everything alike."""
    if call.role == "liveideabench_fluency":
        return {"reason": "r", "letter": "Answer: B"}
    return {
        "analysis": "a",
        "originality": 8,
        "feasibility": 6,
        "clarity": 7,
    }


def test_models_compete_and_are_judged_by_a_drawn_panel(tmp_path: Path) -> None:
    keywords = tmp_path / "keywords.csv"
    keywords.write_text("Keyword\nstars\nviruses\ncomets\nfossils\n", encoding="utf-8")
    chats = {name: ScriptedChatModel(replies=critic) for name in PANEL}
    chats["lab-a/alpha-mini"] = ScriptedChatModel(replies=author)
    done = Benched(
        ["model:lab-a/alpha-mini"], judges=chats, judges_named=PANEL, benchmark="liveideabench",
        data=keywords, limit=None, only=(),
    )  # fmt: skip
    assert done.code == 0
    assert not (Path(os.environ["IDEAGORA_HOME"]) / "store").exists(), "nobody needed the library"
    quality = [one for one in done.verdicts if one.kind == "quality"]
    assert {one.judge for one in quality} == set(PANEL[1:]), "alpha is of the author's family"
    assert Counter(one.status for one in quality) == {"scored": 12, "unscored": 6}
    assert {one.reason for one in quality if one.status == "unscored"} == {TOO_LONG}
    ideas = [one for one in done.ideas if one.extra["sample"] == "fossils"]
    assert len({one.id for one in ideas}) == 2
    assert ideas[0].extra["reasoning"].startswith("<think>")
    name = "model:lab-a/alpha-mini"
    assert done.figure(name, "average")["mean"] == pytest.approx((8 + 6 + 7 + 7 + 7) / 5)
    for note in (
        f"{name} refused 4 of 8 requests (50.0%), and 2 of them also",
        f"more than 200 words: {name} 2",
        "The panel: lab-a/alpha, lab-b/beta",
    ):
        assert note in done.notes


def test_pairs_are_all_a_sample_or_the_papers_first() -> None:
    ideas = [Idea(id=str(n), topic="t", agent="a", title="t", method="m") for n in range(9)]
    default, paper = Plan(judges=("x",)), Plan(judges=("x",), protocol="paper")
    sizes = {2: 1, 6: 15, 9: 15}
    assert {n: len(chosen_pairs(ideas[:n], default, "k")) for n in sizes} == sizes
    assert chosen_pairs(ideas, default, "k") == chosen_pairs(ideas, default, "k")
    assert chosen_pairs(ideas, paper, "k") == [(ideas[0], ideas[1])]
    (alone,) = (
        question
        for question in LiveIdeaBench().questions(
            next(iter(shipped_samples().samples.values())), {"a": ideas[:1]}, default, None
        )
        if question.measure == "fluency"
    )
    services: Any = None
    with pytest.raises(Unscored, match="no pair"):
        asyncio.run(alone.answer(services))  # type: ignore[arg-type]


def test_options_choose_the_panel(tmp_path: Path) -> None:
    ranking = tmp_path / "ranking.txt"
    ranking.write_text("# best first\na/one\nb/two # fast\nc/three\n", encoding="utf-8")
    benchmark = LiveIdeaBench().configured([f"panel={ranking}", "correct=judges"])
    assert benchmark.judges((), "offline") == ("a/one", "b/two", "c/three")
    assert LiveIdeaBench().judges((), "offline") == ("offline",)
    assert "originality_corrected" in {measure.name for measure in benchmark.measures}
    for given in (["panel="], ["correct=all"], ["size=3"]):
        with pytest.raises(UsageError):
            LiveIdeaBench().configured(given)
    with pytest.raises(UsageError, match="not both"):
        benchmark.judges(("d/four",), "offline")


def test_it_runs_on_the_offline_model() -> None:
    done = Benched(
        ["model:offline"], judges_named=("offline",), benchmark="liveideabench", limit="2", only=()
    )
    assert done.code == 0
    assert done.results[0]["smoke_test"]
    assert done.figure("model:offline", "average")["mean"] is not None
