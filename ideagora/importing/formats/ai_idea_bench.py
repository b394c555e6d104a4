"""``final_ideas.json`` of AI Idea Bench 2025 and what its evaluations add.

Ideas stand under the index of their target paper. The target file, imported together with them, tells
the topic of each index. The two labels of ``IGI`` are swapped in the released files: the scores here
are put right under names of our own, and the original stays as it was.
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
        raise FieldError("index", "a number is needed")
    if "model_result" not in row.value:
        yield _topic(row, target, row.value.get("summary"))
        return
    result = decode_field(row.value, "model_result")
    if isinstance(result, dict) and {"motivation", "method"} <= result.keys():
        yield _topic(row, target, result)
        return
    if not isinstance(result, list):
        raise FieldError(
            "model_result", "a list of ideas is needed: these are other results of the benchmark"
        )
    if not result:
        raise FieldError("model_result", f"the list is empty: no idea was made for target {target}")
    for number, value in enumerate(result, 1):
        place = f"idea {number}"
        if isinstance(value, dict):
            yield from catch_field_errors(lambda inner: [_idea(inner, row, target)], row.inside(place, value))
        else:
            yield row.problem(
                place, "it is null (a run that failed?)" if value is None else "it is no object"
            )


def _topic(row: Row, target: int | str, summary: Any) -> ParsedItem:
    if not isinstance(summary, dict):
        return row.problem("summary", "an object is needed")
    topic = optional_text(summary, "revised_topic") or optional_text(summary, "topic")
    return (
        IdeaAnnotation(row, _key(target), topic=topic)
        if topic
        else row.problem("summary.topic", "it is missing")
    )


def _key(target: int | str) -> str:
    return f"ai-idea-bench {target}"


def _idea(inner: Row, row: Row, target: int | str) -> ParsedIdea:
    draft = of_first_version(inner)
    scores, notes = _evaluated(inner.value, row.value)
    more = {
        "label": f"AI Idea Bench 2025, target {target}",
        "scores": {**draft.scores, **scores},
        "notes": {**draft.notes, "index": target, **notes},
        "keys": (_key(target),),
        "original": {"index": target, "model_result": inner.value},
    }
    return ParsedIdea(**{**vars(draft), **more})


def _evaluated(idea: Mapping[str, Any], record: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Scores that evaluations left in the idea or beside it, and what to know about them."""
    scores = {name: found for name in _EVALUATIONS if (found := idea.get(name, record.get(name))) is not None}
    swapped = idea.get("IGI", record.get("IGI"))
    if not isinstance(swapped, dict) or not swapped.keys() & set(_SWAPPED.values()):
        return scores, {}
    right = {name: swapped[label] for name, label in _SWAPPED.items() if label in swapped}
    return {**scores, "IGI": right}, {"IGI": "labels put right; the released evaluation swaps them"}


FORMATS = (
    Format(
        name="ai-idea-bench",
        about="AI Idea Bench 2025: final_ideas.json, evaluated or not; target_paper_data.json with it",
        looks_for="'index' and 'model_result' (or 'summary', for topics)",
        matches=_matches,
        read=read_each(_read),
    ),
)
