"""Outputs of SciPIP: one record per background, with its ideas at three stages.

The last stage counts. An expansion that timed out is the word ``None``; the filtered idea at the same
index is used instead, and the idea's notes name the stage. The released form has a list ``ideas`` of objects
with ``generated_idea``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ideagora.importing.fields import JsonObject, decode_field, required_text
from ideagora.importing.records import FieldError, Format, ParsedIdea, ParsedItem, Row, read_each
from ideagora.importing.sections import split_sections

_RELEASED = "ideas"
_STAGES = (_RELEASED, "expanded_final_ideas", "filtered_ideas", "initial_ideas")


def _matches(value: Mapping[str, Any]) -> bool:
    return "background" in value and any(stage in value for stage in _STAGES)


def _read(row: Row) -> Iterator[ParsedItem]:
    topic = required_text(row.value, "background")
    stages = {stage: ideas for stage in _STAGES if (ideas := _ideas(row.value, stage))}
    if not stages:
        raise FieldError(_STAGES[0], "no ideas at any stage (failed run?)")
    best = next(iter(stages))
    for number in range(len(stages[best])):
        place = f"{best}[{number}]"
        stage = next((name for name in _comparable(stages, best) if _is_idea(stages[name][number])), None)
        if stage is None:
            yield row.problem(place, "no idea (its expansion failed)")
            continue
        parts = split_sections(stages[stage][number])
        yield ParsedIdea(
            row=row.nested(f"idea {number + 1}", row.value),
            topic=topic,
            title=parts.title,
            motivation=parts.motivation,
            novelty=parts.novelty,
            method=parts.method,
            notes={"stage": stage},
            original={**row.value, "imported": f"{stage}[{number}]"},
        )


def _ideas(value: JsonObject, stage: str) -> list[Any]:
    cell = value.get(stage)
    if isinstance(cell, str) and not cell.lstrip().startswith("["):
        return [cell] if cell.strip() else []
    listed = decode_field(value, stage)
    if not isinstance(listed, list):
        return []
    return [idea.get("generated_idea") if isinstance(idea, dict) else idea for idea in listed]


def _comparable(stages: Mapping[str, list[Any]], best: str) -> list[str]:
    """Return the stages with the same ideas at the same indices: the best one, and others of its length."""
    aligned = [name for name in stages if name != "initial_ideas" and len(stages[name]) == len(stages[best])]
    return aligned or [best]


def _is_idea(text: Any) -> bool:
    return isinstance(text, str) and text.strip() not in ("", "None")


FORMATS = (
    Format(
        name="scipip",
        about="SciPIP: generated ideas",
        looks_for="'background' and 'ideas', 'expanded_final_ideas', 'filtered_ideas' or 'initial_ideas'",
        matches=_matches,
        read=read_each(_read),
    ),
)
