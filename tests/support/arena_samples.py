"""Leaderboards as the arena writes them, for tests of what is shown."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from ideagora.schema import Idea

CRITERIA = ("novelty", "significance", "clarity", "feasibility", "effectiveness")


def row(agent: str, rating: float | None, rank: int | None, spread: float = 40.0) -> dict[str, Any]:
    """One agent's row; without a rating nothing is said of its rank or interval either."""
    known = rating is not None
    return {
        "agent": agent, "rating": rating,
        "low": rating - spread if rating is not None else None,
        "high": rating + spread if rating is not None else None,
        "rank": rank, "rank_low": rank if known else None, "rank_high": rank + 1 if rank and known else None,
        "matches": 12, "won": 6, "tied": 2, "lost": 4, "unscored": 1,
    }  # fmt: skip


def leaderboard(agents: tuple[str, ...] = ("chain-of-ideas", "rag", "direct")) -> dict[str, Any]:
    """A complete leaderboard."""
    rows = [row(agent, 1080.0 - 70 * place, place + 1) for place, agent in enumerate(agents)]
    figure = {"value": 0.25, "low": 0.1, "high": 0.4, "n": 48, "reason": None}
    unknown = {"value": None, "low": None, "high": None, "n": 0, "reason": "there is one judge only"}
    places = range(len(agents))
    return {
        "evaluator": "arena", "protocol": "default", "kind": "idea", "schedule": "round-robin",
        "status": "complete", "n_topics": 2, "topics": ["one topic", "another"], "judges": ["offline"],
        "contestants": [{"agent": a, "ideas": 2, "source": "built in", "missing": []} for a in agents],
        "ranking": rows,
        "criteria": dict.fromkeys(CRITERIA, rows),
        "experiments": None,
        "win_rates": {
            "agents": list(agents),
            "matrix": [[None if i == j else 0.5 + 0.1 * (j - i) for j in places] for i in places],
        },
        "separation": [
            {"above": above, "below": below, "probability": 0.91, "more_topics": 5, "more_verdicts": 40}
            for above, below in pairwise(agents)
        ],
        "audit": {"flip_rate": figure, "first_slot_rate": figure, "cohen_kappa": unknown},
        "bias_aware": rows, "paper": None, "ablation": None,
        "coverage": {
            "asked": 12, "scored": 11, "unscored": 1,
            "reasons": {"the judge refused": 1}, "flags": {"speaks to the judge": 2},
        },
        "notes": ["Two topics are few: intervals are wide."], "usage": {}, "settings": {},
    }  # fmt: skip


def arena_folder(folder: Path, held: dict[str, Any], ideas: list[Idea] | None = None) -> Path:
    """A run's folder with this leaderboard."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "leaderboard.json").write_text(json.dumps(held), encoding="utf-8")
    (folder / "run.json").write_text(json.dumps({"offline": True}), encoding="utf-8")
    lines = [idea.model_dump_json() + "\n" for idea in ideas or []]
    (folder / "ideas.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder
