"""Result and case files of the Chain-of-Ideas agent.

A case's ``title`` is that of the paper whose topic was given, not the idea's: it is the topic. The idea
is one text with headings; ``experiment`` is often empty, and all may be null after a run that failed.
``ideas``, ``related_experiments`` and ``idea_chain`` tell of other ideas and of papers: they stay in
the original.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ideagora.importing.drafts import Draft, Format, Row, each
from ideagora.importing.fields import experiment_of, needed_text, text_or_none
from ideagora.importing.sections import parts_of


def _matches(value: Mapping[str, Any]) -> bool:
    return "idea" in value and "idea_chain" in value


def _read(row: Row) -> Iterator[Draft]:
    parts = parts_of(needed_text(row.value, "idea"))
    yield Draft(
        row=row,
        topic=text_or_none(row.value, "title"),
        title=parts.title,
        motivation=parts.motivation,
        novelty=parts.novelty,
        method=parts.method,
        experiment=experiment_of(row.value.get("experiment")),
    )


FORMATS = (
    Format(
        name="coi-agent",
        about="Chain-of-Ideas agent: result.json, cases",
        looks_for="'idea' and 'idea_chain'",
        matches=_matches,
        read=each(_read),
    ),
)
