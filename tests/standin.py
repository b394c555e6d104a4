"""A stand-in for a language model behind the loopback server: valid answers for every role, made of nothing.

It reads the wanted schema's name and the numbers in the prompt, and answers in the schema's form with
texts that depend on the prompt only, so that a run against it gives the same result each time.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

_NUMBERED = re.compile(r"^\[(\d+)\] ", re.MULTILINE)


def answer(body: dict[str, Any]) -> str:
    """The reply to a chat request (OpenAI form)."""
    prompt = str(body["messages"][-1]["content"])
    wanted = body["response_format"]["json_schema"]["name"]
    return json.dumps(ANSWERS[wanted](prompt))


def _count(prompt: str, after: str = "", before: str = "Answer with one JSON object") -> int:
    part = prompt.partition(after)[2] if after else prompt
    return len({int(n) for n in _NUMBERED.findall(part.partition(before)[0])})


def _word(prompt: str) -> str:
    """A word that stands for this prompt."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:6]


def _text(prompt: str, what: str, sentences: int) -> str:
    word = _word(prompt)
    return " ".join(
        f"The {what} {word} part {n} says what a model might say about it." for n in range(sentences)
    )


def _queries(prompt: str) -> dict[str, Any]:
    count = int(re.findall(r"Write (\d+) different", prompt)[0])
    return {
        "queries": ["language model agents", "tool use planning", "reasoning verification", "judging text"][
            :count
        ]
    }


def _judgements(prompt: str) -> dict[str, Any]:
    count = _count(prompt, "Papers, numbered from 0:")
    return {"judgements": [{"paper": n, "reason": "Same task.", "relevant": True} for n in range(count)]}


def _reading(prompt: str) -> dict[str, Any]:
    known = _count(prompt, "References of this paper, numbered")
    follow = [{"paper": 0, "relation": "builds on", "reason": "Extends it."}] if known else []
    return {
        "problem": _text(prompt, "problem", 2),
        "method": _text(prompt, "method", 4),
        "finding": _text(prompt, "finding", 2),
        "limitation": _text(prompt, "limitation", 1),
        "experiment": _text(prompt, "experiment", 3),
        "entities": [
            {"name": f"Thing{n} {_word(prompt)}", "description": _text(prompt, "entity", 1), "kind": kind}
            for n, kind in enumerate(["model", "dataset", "metric"])
        ],
        "references": follow,
    }


def _trend(prompt: str) -> dict[str, Any]:
    pairs = _count(prompt, "Papers from early to late, numbered") - 1
    return {
        "changes": [
            {"earlier": n, "entered": ["a search"], "left": ["a guess"], "text": _text(prompt, "change", 3)}
            for n in range(pairs)
        ]
    }


def _forecast(prompt: str) -> dict[str, Any]:
    last = _count(prompt, "The chain, from early to late", "Work in the order") - 1
    return {
        "limitations": [{"paper": 0, "limitation": _text(prompt, "open limitation", 1), "answered_by": None}],
        "pairings": [{"limitation_from": 0, "mechanism_from": last, "why": _text(prompt, "pairing", 1)}],
        "limitation": _text(prompt, "limitation", 1),
        "limitation_from": 0,
        "mechanism": _text(prompt, "mechanism", 1),
        "mechanism_from": last,
        "direction": _text(prompt, "direction", 5),
    }


def _idea(prompt: str) -> dict[str, Any]:
    return {
        "motivation": _text(prompt, "motivation", 6),
        "novelty": _text(prompt, "novelty", 4),
        "method": "\n".join(f"{n}. {_text(prompt, 'step', 2)}" for n in range(1, 6)),
        "title": f"An Idea {_word(prompt)}",
        "summary": _text(prompt, "summary", 2),
        "purpose": _text(prompt, "purpose", 1),
        "mechanism": _text(prompt, "mechanism", 1),
        "evaluation": _text(prompt, "evaluation", 1),
        "sources": [{"part": "method", "paper": 0, "quote": "nothing that anybody wrote"}],
    }


def _comparisons(prompt: str) -> dict[str, Any]:
    count = min(3, _count(prompt, "Papers that were retrieved"))
    levels = {"purpose": "related", "mechanism": "different", "evaluation": "related"}
    return {
        "comparisons": [
            {"paper": n, **levels, "overlap": None, "difference": "Another method.", "too_close": False}
            for n in range(count)
        ]
    }


def _duel(prompt: str) -> dict[str, Any]:
    names = ("novelty", "significance", "clarity", "feasibility", "effectiveness")
    return {"reason": _text(prompt, "verdict", 3), **dict.fromkeys(names, "first")}


def _plan(prompt: str) -> dict[str, Any]:
    return {
        "steps": [_text(prompt, f"step {n}", 2) for n in range(6)],
        "datasets": ["A data set"],
        "baselines": ["A baseline"],
        "metrics": ["accuracy"],
        "ablations": ["without search"],
        "risks": ["it may not work"],
        "refuted_if": "no difference is found",
    }


def _refined(prompt: str) -> dict[str, Any]:
    return {**_plan(prompt), "declined": []}


def _review(prompt: str) -> dict[str, Any]:
    return {"suggestions": [_text(prompt, "suggestion", 1)], "queries": ["evaluation of agents"]}


ANSWERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "Queries": _queries,
    "Judgements": _judgements,
    "PaperReading": _reading,
    "Trend": _trend,
    "Forecast": _forecast,
    "IdeaDraft": _idea,
    "Comparisons": _comparisons,
    "Duel": _duel,
    "Plan": _plan,
    "RefinedPlan": _refined,
    "Review": _review,
}
