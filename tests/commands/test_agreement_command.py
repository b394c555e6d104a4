"""``ideagora agreement``: raters of every kind, figures that can be worked out by hand, and bad input."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from ideagora.commands.agreement import PairFields, conclusion
from ideagora.evaluators.agreement.agreement import FigureFields
from ideagora.evaluators.judging.verdict_files import verdict_lines
from ideagora.schema import Verdict
from tests.support.command import Done, run

AGENTS, TOPICS = ("ant", "bee", "cat"), ("t0", "t1", "t2", "t3")


def agreement(*arguments: str | Path) -> Done:
    return run(["agreement", *map(str, arguments)])


def read(*arguments: str | Path) -> dict[str, Any]:
    done = agreement(*arguments, "--json")
    assert done.code == 0, done.err
    output: dict[str, Any] = json.loads(done.out)
    return output


def verdict(judge: str, topic: str, one: str, other: str, value: float | None) -> Verdict:
    return Verdict(
        id=f"{judge}{topic}{one}{other}", evaluator="arena", protocol="default", topic=topic,
        subject=(f"{one}-{topic}", f"{other}-{topic}"), agents=(one, other), judge=judge,
        criteria=None if value is None else {"novelty": value},
        status="unscored" if value is None else "scored",
        reason="refused" if value is None else None,
    )  # fmt: skip


def written(path: Path, verdicts: list[Verdict]) -> Path:
    path.write_text(verdict_lines(verdicts), encoding="utf-8")
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """In both orders the one earlier in the alphabet wins; one match is judged by its place alone."""
    lines = []
    for topic in TOPICS:
        for one, other in combinations(AGENTS, 2):
            by_place = (topic, one) == ("t3", "bee")
            lines += [
                verdict("m", topic, one, other, 1.0),
                verdict("m", topic, other, one, 1.0 if by_place else 0.0),
            ]
    return written(tmp_path / "model.jsonl", lines)


@pytest.fixture
def human(tmp_path: Path) -> Path:
    """One order only; says the same but on the first topic, and nothing on one match."""
    lines = [
        verdict("human:ada", topic, other, one, 1.0 if topic == "t0" else 0.0)
        for topic in TOPICS
        for one, other in combinations(AGENTS, 2)
        if (topic, one, other) != ("t1", "ant", "cat")
    ]
    return written(tmp_path / "ada.jsonl", [*lines, verdict("human:ada", "t1", "ant", "cat", None)])


def test_verdicts_are_compared_match_by_match(model: Path, human: Path) -> None:
    output = read(model, human)
    figures = output["pairs"][0]["criteria"]["novelty"]
    assert figures["percent"]["n"] == 11
    assert figures["percent"]["value"] == pytest.approx(7 / 11, abs=1e-4)  # 3 of t0, and the tie of t3
    assert figures["percent"]["low"] < 7 / 11 < figures["percent"]["high"]
    assert figures["ratings, kendall"]["value"] == 1.0
    assert figures["ratings, kendall"]["n"] == 3
    assert [rater["kind"] for rater in output["raters"]] == ["verdicts", "verdicts"]
    assert output["raters"][1]["left_out"] == {"unscored": 1}
    assert output["all"] is None


def test_several_criteria_have_an_overall_winner_too(tmp_path: Path) -> None:
    said = {"novelty": 1.0, "clarity": 1.0, "feasibility": 0.0}
    paths = []
    for name, values in (("a", said), ("b", {**said, "clarity": 0.0})):
        verdicts = [
            verdict(name, t, "ant", "bee", 1.0).model_copy(update={"criteria": values}) for t in TOPICS
        ]
        paths.append(written(tmp_path / f"{name}.jsonl", verdicts))
    figures = read(*paths)["pairs"][0]["criteria"]
    assert next(iter(figures)) == "overall"
    assert {name: one["percent"]["value"] for name, one in figures.items()} == {
        "overall": 0.0, "novelty": 1.0, "clarity": 0.0, "feasibility": 1.0,
    }  # fmt: skip
    assert figures["novelty"]["cohen_kappa"]["value"] is None
    assert "undefined" in figures["novelty"]["cohen_kappa"]["reason"]


def test_scores_are_compared_by_correlations_and_all_raters_together(tmp_path: Path) -> None:
    tables = {"a": [1, 2, 3, 4, 6], "b": [2, 4, 6, 8, 12], "c": [6, 4, 3, 2, 1]}
    paths = []
    for name, values in tables.items():
        rows = "".join(f"i{n},t{n % 3},{value}\n" for n, value in enumerate(values))
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_text(f"idea,topic,originality\n{rows}i9,t0,\n", encoding="utf-8")
    output = read(*paths)
    assert [pair["raters"] for pair in output["pairs"]] == [
        [str(one), str(other)] for one, other in combinations(paths, 2)
    ]
    same, opposite = (output["pairs"][place]["criteria"]["originality"] for place in (0, 1))
    assert same["pearson"]["value"] == 1.0
    assert same["icc(3,1)"]["value"] < 1.0
    assert opposite["spearman"]["value"] == -1.0
    assert set(output["all"]["originality"]) == {
        "krippendorff_alpha", "icc(1,1)", "icc(1,k)", "icc(2,1)", "icc(2,k)", "icc(3,1)", "icc(3,k)",
    }  # fmt: skip
    assert output["raters"][0]["left_out"] == {"originality": 1}


def test_leaderboards_are_compared_by_their_ratings(tmp_path: Path) -> None:
    for name, ratings in (("a", (1100, 1000, 900, 950)), ("b", (1200, 1010, 700, None))):
        rows = [{"agent": f"x{n}", "rating": rating} for n, rating in enumerate(ratings)]
        leaderboard = {"ranking": rows, "criteria": {"novelty": rows}}
        (tmp_path / f"{name}.json").write_text(json.dumps(leaderboard), encoding="utf-8")
    figures = read(tmp_path / "a.json", tmp_path / "b.json")["pairs"][0]["criteria"]
    assert figures["overall"]["spearman"]["value"] == 1.0
    assert figures["novelty"]["kendall"]["n"] == 3


def test_the_table_shows_figures_intervals_and_what_was_left_out(model: Path, human: Path) -> None:
    done = agreement(model, human, "--criteria", "novelty")
    assert done.code == 0
    assert "percent" in done.out
    assert "0.636" in done.out
    assert "left out 1 × unscored" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{model}"], "Give two raters or more"),
        (["{model}", "none.csv"], "none.csv cannot be read"),
        (["{model}", "{scores}"], "only raters of the same kind can be compared"),
        (["{scores}", "{other}"], "no item in common"),
        (["{scores}", "{nameless}"], "no column that names the item"),
        (["{scores}", "{twice}"], "has two reviews of 'i1' by 'ada'"),
        (["{model}", "{model}", "--criteria", "beauty"], "--criteria names 'beauty'"),
        (["{scores}", "{broken}"], "is not a readable leaderboard"),
    ],
)
def test_bad_input_is_one_clear_line(model: Path, tmp_path: Path, arguments: list[str], said: str) -> None:
    files = {"scores": "idea,x\ni1,1\n", "other": "idea,x\ni2,1\n", "nameless": "x,y\n1,2\n",
             "twice": "idea,reviewer,x\ni1,ada,1\ni1,ada,2\n"}  # fmt: skip
    paths = {name: tmp_path / f"{name}.csv" for name in files}
    for name, text in files.items():
        paths[name].write_text(text, encoding="utf-8")
    paths |= {"model": model, "broken": tmp_path / "broken.json"}
    paths["broken"].write_text("[1, 2]", encoding="utf-8")
    done = agreement(*[argument.format_map(paths) for argument in arguments])
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_it_begins_with_one_sentence_of_conclusion(
    model: Path, human: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # short names: long paths wrap
    model, human = Path(model.name), Path(human.name)
    done = agreement(model, human)
    assert done.code == 0, done.err
    first = " ".join(done.out.split("\n\n")[0].split())
    assert re.match(r"model.jsonl and ada.jsonl agree on 64% of 11 items, kappa \S+; that may be", first)
    more = written(tmp_path / "bob.jsonl", [verdict("bob", topic, "ant", "bee", 1.0) for topic in TOPICS])
    first = " ".join(agreement(model, human, more).out.split("\n\n")[0].split())
    assert re.match(
        r"\d of 3 pairs of raters agree by more than chance( \(\d unknown\))?: from .*, who agree on .* to ",
        first,
    )


def test_scores_are_concluded_by_their_correlation(tmp_path: Path) -> None:
    figure: FigureFields = {"value": 0.5, "low": -0.1, "high": 0.9, "n": 12, "reason": None}
    pair: PairFields = {"raters": ["a", "b"], "criteria": {"overall": {"spearman": figure}}}
    assert conclusion([pair]) == "a and b correlate by 0.50 (12 items); that may be chance."
    unknown: PairFields = {
        "raters": ["a", "c"],
        "criteria": {"overall": {"spearman": {**figure, "value": None, "reason": "x."}}},
    }
    assert "cannot be compared (x)" in conclusion([unknown])
    assert conclusion([pair, unknown]).startswith("0 of 2 pairs")


def rated(judge: str, idea: str, kind: str = "quality", sample: str = "", **criteria: float) -> Verdict:
    """A judge's scores of an idea in a benchmark; unscored without criteria."""
    topic = sample or f"k{idea[-1]}"
    return Verdict(
        id=f"{judge}{idea}{kind}{topic}", evaluator="liveideabench", protocol="default", topic="bridges",
        sample=topic, subject=(idea,), agents=("one",), judge=judge, kind=kind, criteria=criteria or None,
        status="scored" if criteria else "unscored", reason=None if criteria else "no reply",
    )  # fmt: skip


def test_the_judges_of_a_benchmark_are_compared_with_each_other_and_their_mean_with_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """a rates 1 2 3 4, b 3 2 5 4; people say 2 2 4 4, which is the mean of the two."""
    run = tmp_path / "bench"
    run.mkdir()
    scores = {"a": (1, 2, 3, 4), "b": (3, 2, 5, 4)}
    verdicts = [
        rated(judge, f"i{n}", originality=value, clarity=5 - value)
        for judge, values in scores.items()
        for n, value in enumerate(values)
    ]
    verdicts += [rated(judge, "i0", "i2i_plan", score=3) for judge in scores]  # a criterion that says nothing
    verdicts += [rated("b", "i4"), rated("c", "i9", originality=3, clarity=3)]
    written(run / "verdicts.jsonl", verdicts)
    people = tmp_path / "people.csv"
    people.write_text("id,topic,originality\ni0,bridges,2\ni1,,2\ni2,,4\ni3,bridges,4\n", encoding="utf-8")

    judges = read(run)
    assert [pair["raters"] for pair in judges["pairs"]] == [["a", "b"]]
    assert judges["unrelated"] == [["a", "c"], ["b", "c"]]
    figures = judges["pairs"][0]["criteria"]
    assert set(figures) == {"originality", "clarity", "i2i_plan"}
    assert figures["originality"]["spearman"]["value"] == pytest.approx(0.6)  # 1 - 6 * (1 + 1 + 2 * 1) / 60
    assert judges["raters"][1]["left_out"] == {"quality unscored": 1}
    assert judges["all"]["originality"]["icc(1,1)"]["n"] == 4
    assert judges["conclusion"].startswith("On originality, a and b correlate by 0.60 (4 items)")

    both = read(run, people, "--criteria", "originality")
    first = both["pairs"][0]
    assert first["raters"] == ["mean of 3 judges", str(people)]
    assert first["criteria"]["originality"]["icc(3,1)"]["value"] == pytest.approx(1.0)
    assert len(both["pairs"]) == 1 + 2 + 1, "the mean, the judges with common items, the judges"
    assert ["c", str(people)] in both["unrelated"]

    monkeypatch.chdir(tmp_path)
    shown = agreement("bench", "people.csv").out
    assert "mean of 3 judges – people.csv" in " ".join(shown.split())
    assert "3 pairs of raters have no item in common" in shown
    alone = written(tmp_path / "alone.jsonl", [rated("a", "i0", originality=1)])
    refused = agreement(alone)
    assert (refused.code, "has one judge, a" in refused.err) == (2, True)


def test_people_may_review_an_idea_any_number_of_times(tmp_path: Path) -> None:
    """Krippendorff's reliability data (4 observers, 12 units, 7 gaps): nominal 0.743, interval 0.849."""
    observers = {"a": "123321412   ", "b": "1233224125 3", "c": " 3332342251 ", "d": "12332441251 "}
    rows = [
        f"u{n},{name},{value}"
        for name, said in observers.items()
        for n, value in enumerate(said)
        if value != " "
    ]
    named = tmp_path / "reviews.csv"
    named.write_text("\n".join(["idea,reviewer,score", *rows]), encoding="utf-8")
    report = read(named)
    assert report["all"]["score"]["krippendorff_alpha"]["value"] == pytest.approx(0.849, abs=5e-4)
    assert len(report["pairs"]) == 6
    unnamed = tmp_path / "unnamed.csv"
    text = re.sub(r",(reviewer|[abcd]),", ",", named.read_text(encoding="utf-8"))
    unnamed.write_text(text, encoding="utf-8")
    anonymous = read(unnamed)
    alpha = anonymous["all"]["score"]["krippendorff_alpha"]
    assert alpha == report["all"]["score"]["krippendorff_alpha"]
    assert anonymous["pairs"] == []


def test_the_agreement_of_people_stands_beside_that_of_judges(tmp_path: Path) -> None:
    # two people, three ideas: the pairs in both directions are (1,2) (2,2) (4,3) and (2,1) (2,2) (3,4),
    # sums 14 and 14, squares 38, products 2 (2 + 4 + 12) = 36: r = (36 - 14²/6) / (38 - 14²/6) = 0.625
    people = tmp_path / "people.csv"
    rows = ("i0,a,1", "i0,b,2", "i1,a,2", "i1,b,2", "i2,a,4", "i2,b,3")
    people.write_text("\n".join(["idea,reviewer,x", *rows]), encoding="utf-8")
    judge = tmp_path / "judge.csv"
    judge.write_text("idea,x\ni0,1\ni1,2\ni2,3\n", encoding="utf-8")
    report = read(people, judge)
    figures = report["people"]["x"]
    among = figures["people with people, pearson"]
    assert (among["value"], among["n"]) == (pytest.approx((36 - 196 / 6) / (38 - 196 / 6), abs=1e-3), 3)
    # with people's mean 14/6 and the judge's 2: products 4, squares 4 and 38 - 14²/6
    single = figures[f"{judge} with people, pearson"]["value"]
    assert single == pytest.approx(4 / (4 * (38 - 196 / 6)) ** 0.5, abs=1e-3)
    assert "Two people correlate by" in report["conclusion"]
    said = {"human:a": (1.0, 1.0, 0.5), "human:b": (1.0, 0.0, 1.0)}
    votes = [
        verdict(name, topic, "ant", "bee", value)
        for name, values in said.items()
        for topic, value in zip(TOPICS, values, strict=False)
    ]
    figures = read(written(tmp_path / "votes.jsonl", votes))["people"]["novelty"]
    assert figures["people with people, percent"]["value"] == pytest.approx(1 / 3, abs=1e-4)
    assert figures["people with people, percent without ties"]["value"] == 0.5


def test_the_judges_of_an_arena_are_compared_if_it_is_given_alone(tmp_path: Path, model: Path) -> None:
    verdicts = [verdict("n", topic, "ant", "bee", 1.0) for topic in TOPICS]
    both = tmp_path / "both.jsonl"
    both.write_text(model.read_text(encoding="utf-8") + verdict_lines(verdicts), encoding="utf-8")
    (pair,) = read(both)["pairs"]
    assert pair["raters"] == ["m", "n"]
    assert pair["criteria"]["novelty"]["percent"]["value"] == 1.0
