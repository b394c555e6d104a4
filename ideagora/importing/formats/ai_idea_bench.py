"""``final_ideas.json`` of AI Idea Bench 2025, with or without its evaluations.

Ideas are listed by the index of their target paper; the target file, imported with them, has the topic of
each index. The released files swap the two labels of ``IGI``: scores are corrected under new names, and
the original record is unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ideagora.importing.fields import decode_field, optional_text
from ideagora.importing.formats.ai_scientist import of_first_version
from ideagora.importing.records import (
    FieldError,
    Format,
    IdeaAnnotation,
    ParsedIdea,
    ParsedItem,
    Row,
    catch_field_errors,
    read_each,
)

_EVALUATIONS = ("IGT2P", "MCQ", "ON", "feasibility")
_SWAPPED = {"motivation": "experiment_plan_similarity", "experiment_plan": "motivation_similarity"}


def _matches(value: Mapping[str, Any]) -> bool:
    return "index" in value and ("model_result" in value or "summary" in value)


def _read(row: Row) -> Iterator[ParsedItem]:
    target = row.value.get("index")
    if isinstance(target, bool) or not isinstance(target, int | str):
        raise FieldError("index", "expected a number")
    if "model_result" not in row.value:
        yield _topic(row, target, row.value.get("summary"))
        return
    result = decode_field(row.value, "model_result")
    if isinstance(result, dict) and {"motivation", "method"} <= result.keys():
        yield _topic(row, target, result)
        return
    if not isinstance(result, list):
        raise FieldError("model_result", "expected a list of ideas; these are other results of the benchmark")
    if not result:
        raise FieldError("model_result", f"empty: no idea was generated for target {target}")
    for number, value in enumerate(result, 1):
        place = f"idea {number}"
        if isinstance(value, dict):
            yield from catch_field_errors(lambda inner: [_idea(inner, row, target)], row.nested(place, value))
        else:
            yield row.problem(place, "null (failed run?)" if value is None else "expected an object")


def _topic(row: Row, target: int | str, summary: Any) -> ParsedItem:
    if not isinstance(summary, dict):
        return row.problem("summary", "expected an object")
    topic = optional_text(summary, "revised_topic") or optional_text(summary, "topic")
    return (
        IdeaAnnotation(row, _key(target), topic=topic) if topic else row.problem("summary.topic", "missing")
    )


def _key(target: int | str) -> str:
    return f"ai-idea-bench {target}"


def _idea(inner: Row, row: Row, target: int | str) -> ParsedIdea:
    draft = of_first_version(inner)
    scores, notes = _evaluated(inner.value, row.value)
    more = {
        "fallback_topic": f"AI Idea Bench 2025, target {target}",
        "scores": {**draft.scores, **scores},
        "notes": {**draft.notes, "index": target, "sample": str(target), **notes},
        "keys": (_key(target),),
        "original": {"index": target, "model_result": inner.value},
    }
    return ParsedIdea(**{**vars(draft), **more})


def _evaluated(idea: Mapping[str, Any], record: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return scores that evaluations added to the idea or its record, and notes on them."""
    scores = {name: found for name in _EVALUATIONS if (found := idea.get(name, record.get(name))) is not None}
    swapped = idea.get("IGI", record.get("IGI"))
    if not isinstance(swapped, dict) or not swapped.keys() & set(_SWAPPED.values()):
        return scores, {}
    right = {name: swapped[label] for name, label in _SWAPPED.items() if label in swapped}
    return {**scores, "IGI": right}, {"IGI": "labels corrected; the released evaluation swaps them"}


FORMATS = (
    Format(
        name="ai-idea-bench",
        about="AI Idea Bench 2025: final_ideas.json, evaluated or not; target_paper_data.json with it",
        looks_for="'index' and 'model_result' (or 'summary', for topics)",
        matches=_matches,
        read=read_each(_read),
    ),
)
