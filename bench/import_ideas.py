"""Time ``ideagora ideas import`` of 10,000 ideas in each file format. The aim is at most 10 s each."""

from __future__ import annotations

import csv
import json
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.process import ideagora

IDEAS = 10_000
WORDS = " ".join(f"word{number % 97}" for number in range(150))
"""Text of typical length."""


def main() -> None:
    """Print seconds and memory for each format, including reading, validation and writing."""
    slowest = 0.0
    for name, write in FORMS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ideas"
            write(path)
            home = Path(folder) / "home"
            home.mkdir()
            ran = ideagora("ideas", "import", str(path), "--as", "guest", "--topic", "t", "--json", home=home)
            result = json.loads(ran.stdout)
            size = f"{result['imported']:>6} ideas, {path.stat().st_size / 1e6:5.1f} MB"
            print(f"{name:16} {size}: {ran.seconds:5.1f} s, {ran.peak_mib:4.0f} MiB")
            assert result["imported"] == IDEAS, result["problems"][:3]
            slowest = max(slowest, ran.seconds)
    print(f"slowest: {slowest:.1f} s (aim 10 s)")
    print(json.dumps({"benchmark": "import_ideas", "slowest_seconds": round(slowest, 2)}))


def _plain(path: Path) -> None:
    lines = ({"topic": f"t{n % 50}", "title": f"Idea {n}", "method": f"{n} {WORDS}"} for n in range(IDEAS))
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def _coi(path: Path) -> None:
    text = "**Title: Idea {n}**\n\n**Motivation:**\n{w}\n\n**Novelty:**\n{w}\n\n**Method:**\n1. {w}\n2. {w}"
    records = [
        {"title": f"t{n % 50}", "idea": text.format(n=n, w=WORDS), "idea_chain": WORDS, "experiment": ""}
        for n in range(IDEAS)
    ]
    path.write_text(json.dumps(records), encoding="utf-8")


def _scientist(path: Path) -> None:
    scores = {"Interestingness": 5, "Feasibility": 5, "Novelty": 5, "novel": True}
    records = [{"Name": str(n), "Title": f"T {n}", "Experiment": WORDS, **scores} for n in range(IDEAS)]
    path.write_text(json.dumps(records), encoding="utf-8")


def _critics() -> list[dict[str, Any]]:
    """Return rows with three critics per idea."""
    return [
        {
            "id": 3 * n + critic,
            "keywords": f"t{n % 50}",
            "idea_model": f"lab/{n % 20}",
            "critic_model": f"lab/critic{critic}",
            "idea": f"{n} {WORDS}",
            "raw_critique": WORDS,
            "parsed_scores": '{"originality": 5, "feasibility": 6}',
        }
        for n in range(IDEAS)
        for critic in range(3)
    ]


def _database(path: Path) -> None:
    rows = _critics()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE results ({', '.join(rows[0])})")
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO results VALUES ({marks})", [tuple(row.values()) for row in rows])
        connection.commit()


def _table(path: Path) -> None:
    rows = [
        {"paperId": str(n), "title": f"Paper {n}", "hypotheses": [f"{n} {k} {WORDS}" for k in range(4)]}
        for n in range(IDEAS // 4)
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


FORMS: dict[str, Callable[[Path], None]] = {
    "plain": _plain,
    "coi-agent": _coi,
    "ai-scientist": _scientist,
    "liveideabench": _database,
    "ideabench": _table,
}


if __name__ == "__main__":
    main()
