"""Small files of ideas in the formats of other systems, with invented texts."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ideagora.importing import Imported, read_ideas

COI_IDEA = """**Title: Planks that Tell when They Tire**

**Origins and Motivation:**
Bridges fail without a word (Paper 0).

**Innovative Contributions:**
1. **Sound:** a plank hums when it bends.

**Method:**
Hang a bell under each plank. Listen at night.

**Conclusion:**
Nobody falls in.
"""
COI: dict[str, Any] = {
    "title": "Safe bridges for carts",
    "idea": COI_IDEA,
    "experiment": "Step1: Hang ten bells.\nStep2: Drive a cart over each.\nStep3: Count the rings.",
    "related_experiments": ["Step1: weigh a cart"],
    "entities": "1. bell: rings",
    "idea_chain": "0.Paper:On Planks idea:planks bend\n\n1.Paper:On Bells idea:bells ring",
    "trend": "from planks to bells",
    "future": "bells under planks",
    "human": "think of crickets",
    "ideas": [COI_IDEA],
    "year": [2021, 2023],
    "year_of_the_bell": "kept",
}
SCIENTIST: dict[str, Any] = {
    "Name": "warm_glue",
    "Title": "Warm Glue: Does Heat Help Wood?",
    "Experiment": "Warm the glue in three pots. Compare how long each joint holds.",
    "Interestingness": 7,
    "Feasibility": 9,
    "Novelty": 4,
    "novel": True,
}
SCIENTIST_V2: dict[str, Any] = {
    "Name": "moss_clock",
    "Title": "A Clock of Moss",
    "Short Hypothesis": "Moss grows at a rate that tells the hour.",
    "Related Work": "Sundials need the sun; moss does not.",
    "Abstract": "We grow moss in jars and read the time from its edge.",
    "Experiments": ["Fill forty jars.", "Read them each hour."],
    "Risk Factors and Limitations": "The moss may sleep.",
}
SEED = {
    "Problem": "Knots slip.",
    "Existing Methods": "Double knots.",
    "Motivation": "A wet rope holds better.",
    "Proposed Method": "Wet the rope before the knot is tied.",
    "Experiment Plan": "Tie a hundred knots.",
}
PROPOSAL: dict[str, Any] = {
    "topic_description": "ropes that hold",
    "idea_name": "Wet Knots",
    "raw_idea": SEED,
    "full_experiment_plan": {
        "Title": "Wet Knots: Water as a Helper",
        "Problem Statement": "Knots slip under load.",
        "Motivation": "A wet rope holds better.",
        "Proposed Method": "Wet the rope before the knot is tied.",
        "Step-by-Step Experiment Plan": {"Step 1: Ropes": "Get a hundred.", "Step 2: Load": "Hang a stone."},
        "Test Case Examples": {"Case": {"Input": "a dry rope", "Output": "slips"}},
        "Fallback Plan": "Try oil.",
    },
}
BENCH_IDEA: dict[str, Any] = {
    "Name": "slow_ink",
    "Title": "Slow Ink",
    "Motivation": "Letters fade before they are read.",
    "Experiment": "1. Mix ink with honey.\n2. Write on ten leaves.\n3. Read them after a year.",
    "Interestingness": 8,
    "Feasibility": 6,
    "Novelty": 7,
    "novel": False,
    "IGI": {"motivation_similarity": "about plans", "experiment_plan_similarity": "about motives"},
}
SCIPIP: dict[str, Any] = {
    "background": "Sheep get lost in fog.",
    "expanded_background": "In thick fog sheep get lost.",
    "entities_bg": ["sheep"],
    "brainstorm": "bells, dogs",
    "related_paper": ["On Fog"],
    "initial_ideas": ["a bell", "a dog", "a rope"],
    "filtered_ideas": [
        "**Idea 1: Fog Bells**\nEach sheep wears a bell.",
        "**Idea 2: Fog Dogs**\nA dog barks.",
    ],
    "expanded_final_ideas": ["**Idea 1: Fog Bells**\nEach sheep wears a bell of its own tone.", "None"],
}
RESEARCH: dict[str, Any] = {
    "paper": {"title": "Kites in the Rain", "abstract": "They get wet."},
    "references": [{"title": "Rain"}],
    "entities": ["kite"],
    "problem": "How can a kite stay dry?",
    "problem_rationale": "Wet kites fall.",
    "problem_feedbacks": {"clarity": "good"},
    "method": "Wax the paper.",
    "method_rationale": "Wax keeps water off.",
    "experiment": "Fly two kites.\n\nWeigh them after an hour.",
    "experiment_rationale": "Weight tells water.",
    "history": {"problems": []},
}
PLAIN: dict[str, Any] = {
    "topic": "lanterns",
    "title": "Lanterns of Glow-worms",
    "motivation": "Oil is dear.",
    "novelty": "Nobody has asked the worms.",
    "method": "Ask a hundred worms to sit in a jar.",
    "experiment": ["Count the worms.", "Read a page by them."],
    "references": ["arxiv:2401.00001"],
    "colour": "green",
}
CRITICS: list[dict[str, Any]] = [
    {
        "id": 1,
        "timestamp": "2025-01-02T03:04:05",
        "keywords": "tides",
        "idea_model": "lab/one",
        "critic_model": "lab/a",
        "idea": "Measure the moon by its pull on a bowl of soup.",
        "raw_critique": "…",
        "parsed_scores": '{"originality": 7, "feasibility": 3, "clarity": 8}',
        "error": None,
        "first_was_rejected": 0,
    }
]
CRITICS += [{**CRITICS[0], "id": 2, "critic_model": "lab/b", "parsed_scores": None, "error": "no answer"}]
CRITICS += [{**CRITICS[0], "id": 3, "critic_model": "lab/c", "parsed_scores": '{"originality": 5}'}]
CRITICS += [{**CRITICS[0], "id": 4, "idea_model": "lab/two", "first_was_rejected": 1}]
CRITICS += [{**CRITICS[0], "id": 5, "idea_model": "lab/three", "idea": ""}]


def aidan(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return an AidanBench file with the answers of one model to one question."""
    return {"models": {"lab/one": {"0.7": {"How does one cross a river?": list(answers)}}}}


def answer(number: int, text: str, coherence: float = 80.0, dissimilarity: float = 0.4) -> dict[str, Any]:
    """Return an AidanBench answer."""
    scores = {"embedding_dissimilarity_score": dissimilarity, "coherence_score": coherence}
    return {"answer_num": number, "answer": text, **scores, "processing_time": 1.5}


def write_json(path: Path, value: Any) -> Path:
    """Write a value as JSON; text and bytes unchanged."""
    if isinstance(value, bytes):
        path.write_bytes(value)
    else:
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def write_jsonl(path: Path, values: Sequence[Any]) -> Path:
    """Write JSON Lines."""
    return write_json(path, "".join(f"{json.dumps(value)}\n" for value in values))


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]], *, bom: str = "", end: str = "\r\n") -> Path:
    """Write a table as pandas does: lists and dicts as Python literals, nothing for ``None``."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(bom)
        writer = csv.DictWriter(file, list(rows[0]), lineterminator=end)
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_sqlite(path: Path, rows: Sequence[Mapping[str, Any]], table: str = "results") -> Path:
    """Write LiveIdeaBench's SQLite table."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE {table} ({', '.join(rows[0])})")
        marks = ", ".join("?" for _ in rows[0])
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", [tuple(row.values()) for row in rows])
        connection.commit()
    return path


def read(path: Path, topic: str | None = None, agent: str | None = "guest") -> Imported:
    """Import the ideas of a file under the name ``guest``."""
    return read_ideas(path, agent=agent, topic=topic)


def problem_places(imported: Imported) -> list[tuple[str | None, str | None]]:
    """Return (row, field) of every problem."""
    return [(problem.row, problem.field) for problem in imported.problems]
