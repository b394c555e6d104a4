"""Runs of LiveIdeaBench on published result files, and runs that are killed."""

from __future__ import annotations

import csv
import json
import re
import signal
import sqlite3
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any
from zlib import crc32

import pytest

from tests.support import command, standin
from tests.support.bench_world import Benched
from tests.support.loopback import Body, Loopback

LEADERBOARD = Path(__file__).parents[2].parent / "shared" / "data" / "liveideabench" / "leaderboard.csv"
CRITICS = ("critic/x", "critic/y")
RATED: dict[tuple[str, str, int], list[tuple[int, int, int]]] = {
    ("stars", "lab/one", 1): [(4, 2, 8), (6, 4, 8)],
    ("stars", "lab/one", 2): [(9, 3, 8)],  # the other critic failed
    ("fossils", "lab/one", 1): [(5, 5, 5), (5, 7, 5)],
    ("fossils", "den/two", 1): [(8, 8, 8), (8, 8, 8)],
}
"""Keyword, model and idea -> originality, feasibility and clarity by each critic."""
DIMENSIONS = ("originality", "feasibility", "clarity")
FLUENCY = {"stars": 7.0, "fossils": 10.0}
Row = dict[str, Any]


def rows() -> list[Row]:
    """A row per idea and critic, as a result file has them."""
    table: list[Row] = []
    for (keyword, model, number), ratings in RATED.items():
        for critic, rating in zip(CRITICS, [*ratings, None], strict=False):
            scores = None if rating is None else dict(zip(DIMENSIONS, rating, strict=True))
            table.append({
                "id": len(table) + 1, "timestamp": "2025-01-01", "keywords": keyword, "idea_model": model,
                "critic_model": critic, "idea": f"Idea {number} of {model} on {keyword}.",
                "parsed_scores": scores, "error": "timeout" if scores is None else None,
                "first_was_rejected": 0,
            })  # fmt: skip
    return table


def as_sqlite(path: Path) -> None:
    """The results as a database."""
    content = [
        {**row, "parsed_scores": row["parsed_scores"] and json.dumps(row["parsed_scores"])} for row in rows()
    ]
    names = list(content[0])
    base = sqlite3.connect(path)
    base.execute(f"CREATE TABLE results ({', '.join(names)})")
    places = ", ".join("?" * len(names))
    base.executemany(f"INSERT INTO results VALUES ({places})", [list(row.values()) for row in content])
    base.commit()
    base.close()


def as_csv(path: Path, content: list[Row]) -> None:
    """Rows as a table; a dict becomes a Python literal."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(content[0]))
        table.writeheader()
        table.writerows(content)


def with_columns() -> list[Row]:
    """The later form: a column for each dimension, fluency included, and the file's own mean."""
    widened = []
    for row in rows():
        scores = row.pop("parsed_scores") or {}
        fluency = FLUENCY[row["keywords"]] if scores and row["idea_model"] == "lab/one" else None
        columns = {name: scores.get(name) for name in DIMENSIONS}
        widened.append({**row, **columns, "fluency": fluency, "avg": 9.9})
    return widened


def published(file: str, *options: str) -> Benched:
    """The benchmark on the figures of a file."""
    return Benched(
        [f"ideas:{file}"], benchmark="liveideabench", data=Path(file), limit=None, only=(), out=f"of-{file}",
        judges_named=(), benchmark_options=("figures=published", *options),
    )  # fmt: skip


def test_published_result_files_are_scored_again() -> None:
    """One on stars: originality (mean(4, 6) + 9) / 2 = 7; on fossils 5."""
    as_sqlite(Path("results.db"))
    as_csv(Path("results.csv"), rows())
    as_csv(Path("later.csv"), with_columns())
    for file in ("results.db", "results.csv", "later.csv"):
        run = published(file)
        assert run.code == 0, file
        figures = {name: run.figure("lab/one", name) for name in DIMENSIONS}
        assert {name: one["mean"] for name, one in figures.items()} == {
            "originality": 6.0, "feasibility": 4.5, "clarity": 6.5,
        }, file  # fmt: skip
        assert (figures["clarity"]["n"], run.figure("den/two", "clarity")["n"]) == (2, 1)
        assert not run.results[0]["smoke_test"]
        assert run.results[0]["judges"] == []
        assert "no judge was asked" in run.notes
        assert run.chat.calls == []
        if file != "later.csv":
            assert run.figure("lab/one", "fluency")["mean"] is None
            assert "the file has no fluency" in {one.reason for one in run.verdicts}
            continue
        # flexibility: means of the four are (7 + 3 + 8 + 7) / 4 and (5 + 6 + 5 + 10) / 4
        assert run.figure("lab/one", "fluency")["mean"] == 8.5
        assert run.figure("lab/one", "flexibility")["mean"] == pytest.approx(6.25 + 0.3 * 0.25)
        average = (6.0 + 4.5 + 6.5 + 8.5 + 6.325) / 5
        assert run.figure("lab/one", "average")["mean"] == pytest.approx(average)


def test_what_a_file_does_not_have_is_unscored(capsys: pytest.CaptureFixture[str]) -> None:
    content = rows()[:3]
    content[0]["parsed_scores"] = {"Originality": "**7**", "feasibility": None}
    content[1]["parsed_scores"] = {"originality": 12, "feasibility": 5, "clarity": 5}
    content[2]["idea"] = "word " * 201
    as_csv(Path("bad.csv"), content)
    run = published("bad.csv", "correct=judges")
    assert run.code == 0
    reasons = Counter(one.reason for one in run.verdicts if one.kind == "quality")
    assert reasons == {
        None: 1, "originality is '12' in the file, not 1 to 10": 1, "excluded: more than 200 words": 1,
    }  # fmt: skip
    assert run.figure("lab/one", "originality")["mean"] == 7.0
    assert run.figure("lab/one", "clarity")["mean"] is None
    capsys.readouterr()
    for spec, judges, said in (
        ("model:scripted", (), "model:scripted has no published figures"),
        ("ideas:bad.csv", ("scripted",), "either --judge or -T figures=published"),
    ):
        refused = Benched(
            [spec], benchmark="liveideabench", data=Path("bad.csv"), limit=None, only=(), out="refused",
            judges_named=judges, benchmark_options=("figures=published",),
        )  # fmt: skip
        assert refused.code == 2
        assert said in capsys.readouterr().err


@pytest.mark.skipif(not LEADERBOARD.exists(), reason="needs the published leaderboard")
def test_the_published_leaderboard_has_the_mean_of_its_dimensions() -> None:
    """The first version has four: clarity came later."""
    with LEADERBOARD.open(encoding="utf-8") as file:
        board = list(csv.DictReader(file))
    assert len(board) >= 20
    for row in board:
        four = [float(row[name]) for name in ("Fluency", "Feasibility", "Originality", "Flexibility")]
        assert fmean(four) == pytest.approx(float(row["Average"]), abs=1e-6), row["Model"]


def reply(body: Body) -> str:
    """Ideas that differ by their model, ratings and letters."""
    wanted = standin.wanted_schema(body)
    if wanted == "Critique":
        return json.dumps({"analysis": "a", "originality": 6, "feasibility": 5, "clarity": 7})
    if wanted == "Fluency":
        return json.dumps({"reason": "r", "letter": "B"})
    return f"An idea by {body['model']}: {crc32(body['messages'][-1]['content'].encode())}"


def timeless(run: Path) -> list[str]:
    """Verdicts and figures without what a clock changes."""
    (result,) = json.loads((run / "results.json").read_text(encoding="utf-8"))
    verdicts = (run / "verdicts.jsonl").read_text(encoding="utf-8")
    return [re.sub(r'"seconds": ?[\d.]+', '"seconds":0', verdicts), json.dumps(result["figures"])]


def test_a_kill_changes_nothing_and_asks_nothing_twice(home: Path) -> None:
    model = standin.Model(reply)
    with Loopback(model) as server:
        models = [f"openai/{name}" for name in ("solar", "lunar")]
        judges = [part for name in ("ash", "birch", "cedar") for part in ("--judge", f"openai/{name}")]
        arguments = [
            "bench", "liveideabench", *(f"model:{name}" for name in models), *judges, "--limit", "2",
            "--api-base", server.base, "--retries", "0", "--concurrency", "4", "--no-page", "--json",
        ]  # fmt: skip
        whole = command.run([*arguments, "--out", "whole"], {"IDEAGORA_HOME": str(home / "other")})
        assert whole.code == 0, whole.err
        asked = Counter(model.bodies)
        # two models on two keywords: two ideas each, which are the same text for three judges, and a pair
        assert asked.total() == 4 * 2 + 4 * 3 + 4
        model.asked.clear()
        model.seconds = lambda body: 0.02
        moments = (5, 15)
        for enough in moments:
            running = command.start([*arguments, "--out", "killed"])
            model.wait_for(enough, unless=running.has_ended)
            running.send(signal.SIGKILL)
            assert running.wait().code == -signal.SIGKILL
            model.wait_until_quiet()
        ended = command.run([*arguments, "--out", "killed"])
    assert ended.code == 0, ended.err
    assert timeless(Path("killed")) == timeless(Path("whole"))
    again = Counter(model.bodies)
    assert again.keys() == asked.keys()
    # what was out when a kill came may be asked again, and nothing else
    assert again.total() - asked.total() <= len(moments) * 4
