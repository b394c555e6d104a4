"""Files of AI-Researcher (Stanford): seed ideas, proposals, rankings, top ideas, human reviews.

Rankings and reviews contain no ideas; imported with the ideas, they become their scores. Human scores of
zero in ``top_ideas.json`` are placeholders and are ignored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ideagora.importing.fields import (
    decode_field,
    join_fields,
    json_as_text,
    numeric_fields,
    optional_text,
    parse_experiment,
)
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

_CRITERIA = ("novelty", "feasibility", "effectiveness", "excitement", "overall")
_HUMAN = tuple(f"human_{name}_score" for name in _CRITERIA)


def _key(name: str) -> str:
    """Return a name in the form of file names, which rankings use as keys."""
    return re.sub(r"\W+", "_", re.sub(r"\.(?:json|txt)$", "", name.strip().lower())).strip("_")


# --- one idea, seed or full plan ---------------------------------------------------------------


def _idea(row: Row, name: str | None, topic: str | None, scores: Mapping[str, Any]) -> ParsedIdea:
    """Return a seed idea or a full plan, whose field names are nearly the same."""
    value = row.value
    plan = value.get("Step-by-Step Experiment Plan", value.get("Experiment Plan"))
    further = [(part, value.get(part)) for part in ("Test Case Examples", "Fallback Plan")]
    return ParsedIdea(
        row=row,
        topic=topic,
        title=optional_text(value, "Title") or name,
        motivation=join_fields(value, "Problem", "Problem Statement", "Existing Methods", "Motivation"),
        method=json_as_text(value.get("Proposed Method")) or json_as_text(value.get("Proposed Study")),
        experiment=parse_experiment(plan, *further),
        scores=scores,
        keys=tuple({_key(key) for key in (name, Path(row.file).name) if key}),
    )


# --- seed ideas -------------------------------------------------------------------------------


def _is_seeds(value: Mapping[str, Any]) -> bool:
    return "topic_description" in value and "ideas" in value


def _read_seeds(row: Row) -> Iterator[ParsedItem]:
    """Yield the ideas in ``ideas``: a list of objects with one name each, or (de-duplicated) one object."""
    topic = optional_text(row.value, "topic_description")
    ideas = decode_field(row.value, "ideas")
    if not isinstance(ideas, list | dict):
        raise FieldError("ideas", "expected a list of ideas or an object with their names")
    if not ideas:
        raise FieldError("ideas", "empty")
    for number, group in enumerate(ideas if isinstance(ideas, list) else [ideas], 1):
        place = f"idea {number}" if isinstance(ideas, list) else None
        yield from _named(row, place, topic, group)


def _named(row: Row, place: str | None, topic: str | None, group: Any) -> Iterator[ParsedItem]:
    if not isinstance(group, dict):
        yield row.problem(place, "expected an object with the idea's name")
        return
    for name, value in group.items():
        if isinstance(value, dict):
            inner = row.nested(place or f"idea {name!r}", value)
            yield from catch_field_errors(lambda inner, name=name: [_idea(inner, name, topic, {})], inner)
        else:
            yield row.problem(place or f"ideas.{name}", "expected an object")


# --- proposals --------------------------------------------------------------------------------


def _read_proposal(row: Row) -> Iterator[ParsedItem]:
    plan = decode_field(row.value, "full_experiment_plan")
    if not isinstance(plan, dict):
        raise FieldError("full_experiment_plan", "no plan (failed run?)")
    name = optional_text(row.value, "idea_name")
    draft = _idea(Row(row.file, row.place, plan), name, optional_text(row.value, "topic_description"), {})
    yield ParsedIdea(**{**vars(draft), "original": row.value})


# --- rankings, top ideas, reviews -------------------------------------------------------------


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_ranking(value: Mapping[str, Any]) -> bool:
    return bool(value) and all(_is_number(score) for score in value.values())


def _read_ranking(row: Row) -> Iterator[IdeaAnnotation]:
    for name, score in row.value.items():
        yield IdeaAnnotation(row, _key(name), {"ai_ranking_score": score})


def _is_top(value: Mapping[str, Any]) -> bool:
    return any(
        isinstance(entry, dict) and {"idea", "ai_ranking_score"} <= entry.keys() for entry in value.values()
    )


def _read_top(row: Row) -> Iterator[ParsedItem]:
    for name, value in row.value.items():
        idea = value.get("idea") if isinstance(value, dict) else None
        if not isinstance(idea, dict):
            yield row.problem(name, "no idea")
            continue
        human = {key: score for key, score in numeric_fields(value, *_HUMAN).items() if score}
        scores = numeric_fields(value, "ai_ranking_score") | human
        title = re.sub(r"\.(?:json|txt)$", "", name)
        draft = _idea(row.nested(f"idea {name!r}", idea), title, None, scores)
        yield ParsedIdea(**{**vars(draft), "original": {name: value}})


def _is_reviews(value: Mapping[str, Any]) -> bool:
    columns = (value.get(f"{name}_score") for name in _CRITERIA)
    is_table = any(isinstance(column, dict | list) for column in columns)
    return is_table and ("idea_id" in value or "condition" in value)


def _read_reviews(row: Row) -> Iterator[ParsedItem]:
    """Convert columns to rows: each review becomes scores of its idea."""
    columns = {name: _column(values) for name, values in row.value.items()}
    if "idea_id" not in columns:
        raise FieldError("idea_id", "missing, so reviews cannot be assigned to ideas")
    seen: Counter[str] = Counter()
    for place, idea in columns["idea_id"].items():
        review = {name: values[place] for name, values in columns.items() if values.get(place) is not None}
        key = _key(str(idea))
        seen[key] += 1
        yield IdeaAnnotation(row.nested(f"review {place}", review), key, {f"review {seen[key]}": review})


def _column(values: Any) -> dict[str, Any]:
    if isinstance(values, list):
        return {str(number): value for number, value in enumerate(values)}
    return values if isinstance(values, dict) else {}


FORMATS = (
    Format(
        name="ai-researcher-ideas",
        about="AI-Researcher: seed ideas, before and after de-duplication",
        looks_for="'topic_description' and 'ideas'",
        matches=_is_seeds,
        read=read_each(_read_seeds),
    ),
    Format(
        name="ai-researcher-proposal",
        about="AI-Researcher: project proposals, one per file",
        looks_for="'full_experiment_plan'",
        matches=lambda value: "full_experiment_plan" in value,
        read=read_each(_read_proposal),
    ),
    Format(
        name="ai-researcher-top",
        about="AI-Researcher: top_ideas.json",
        looks_for="names with 'idea' and 'ai_ranking_score'",
        matches=_is_top,
        read=read_each(_read_top),
    ),
    Format(
        name="ai-researcher-ranking",
        about="AI-Researcher: ranking scores (import with the ideas)",
        looks_for="names with numbers",
        matches=_is_ranking,
        read=read_each(_read_ranking),
    ),
    Format(
        name="ai-researcher-reviews",
        about="AI-Researcher: human reviews (import with the ideas)",
        looks_for="columns 'idea_id' and 'novelty_score'",
        matches=_is_reviews,
        read=read_each(_read_reviews),
    ),
)
