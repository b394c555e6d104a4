"""Result and case files of the Chain-of-Ideas agent.

``title`` is the title of the paper that gave the topic, and becomes the topic. The idea is one text with
headings. ``experiment`` is often empty, and every field may be null after a failed run. ``ideas``,
``related_experiments`` and ``idea_chain`` concern other ideas and papers and stay in the original record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ideagora.importing.fields import optional_text, parse_experiment, required_text
from ideagora.importing.records import Format, ParsedIdea, Row, read_each
from ideagora.importing.sections import split_sections


def _matches(value: Mapping[str, Any]) -> bool:
    return "idea" in value and "idea_chain" in value


def _read(row: Row) -> Iterator[ParsedIdea]:
    parts = split_sections(required_text(row.value, "idea"))
    yield ParsedIdea(
        row=row,
        topic=optional_text(row.value, "title"),
        title=parts.title,
        motivation=parts.motivation,
        novelty=parts.novelty,
        method=parts.method,
        experiment=parse_experiment(row.value.get("experiment")),
    )


FORMATS = (
    Format(
        name="coi-agent",
        about="Chain-of-Ideas agent: result.json, cases",
        looks_for="'idea' and 'idea_chain'",
        matches=_matches,
        read=read_each(_read),
    ),
)
