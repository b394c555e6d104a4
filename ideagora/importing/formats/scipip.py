"""Outputs of SciPIP: one record a background, with its ideas at three stages.

The most worked-out stage counts. An expansion that did not come back in time is written as the word
``None``: then the filtered idea in the same place is taken, and the idea says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ideagora.importing.fields import JsonObject, decode_field, required_text
from ideagora.importing.records import FieldError, Format, ParsedIdea, ParsedItem, Row, read_each
from ideagora.importing.sections import split_sections

_STAGES = ("expanded_final_ideas", "filtered_ideas", "initial_ideas")


def _matches(value: Mapping[str, Any]) -> bool:
    return "background" in value and any(stage in value for stage in _STAGES)


def _read(row: Row) -> Iterator[ParsedItem]:
    topic = required_text(row.value, "background")
    stages = {stage: ideas for stage in _STAGES if (ideas := _ideas(row.value, stage))}
    if not stages:
        raise FieldError(_STAGES[0], "there are no ideas at any stage (a run that failed?)")
    best = next(iter(stages))
    for number in range(len(stages[best])):
        place = f"{best}[{number}]"
        stage = next((one for one in _comparable(stages, best) if _is_idea(stages[one][number])), None)
        if stage is None:
            yield row.problem(place, "there is no idea in it (its expansion failed)")
            continue
        parts = split_sections(stages[stage][number])
        yield ParsedIdea(
            row=row.inside(f"idea {number + 1}", row.value),
            topic=topic,
            title=parts.title,
            motivation=parts.motivation,
            novelty=parts.novelty,
            method=parts.method,
            notes={"stage": stage},
            original={**row.value, "imported": f"{stage}[{number}]"},
        )


def _ideas(value: JsonObject, stage: str) -> list[Any]:
    found = value.get(stage)
    if isinstance(found, str) and not found.lstrip().startswith("["):
        return [found] if found.strip() else []
    listed = decode_field(value, stage)
    return listed if isinstance(listed, list) else []


def _comparable(stages: Mapping[str, list[Any]], best: str) -> list[str]:
    """The stages whose places mean the same idea: the best one, and the filtered one of its length."""
    aligned = [one for one in stages if one != "initial_ideas" and len(stages[one]) == len(stages[best])]
    return aligned or [best]


def _is_idea(text: Any) -> bool:
    return isinstance(text, str) and text.strip() not in ("", "None")


FORMATS = (
    Format(
        name="scipip",
        about="SciPIP: generated ideas",
        looks_for="'background' and 'expanded_final_ideas', 'filtered_ideas' or 'initial_ideas'",
        matches=_matches,
        read=read_each(_read),
    ),
)
