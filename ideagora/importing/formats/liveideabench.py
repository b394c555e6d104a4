"""LiveIdeaBench's results, as SQLite or CSV: one row per critic of an idea.

Rows that differ only in the critic are merged into one idea with the scores of all critics. A failed critic
leaves no score.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ideagora.importing.fields import JsonObject, optional_text, required_text
from ideagora.importing.python_literals import json_or_literal
from ideagora.importing.records import FieldError, Format, ParsedIdea, ParsedItem, Row
from ideagora.retrieval.untrusted_json import UnreadableJSON

_CRITERIA = ("originality", "feasibility", "clarity", "fluency", "flexibility", "avg")


@dataclass
class _Idea:
    """An idea whose critics are being collected."""

    row: Row
    keyword: str
    model: str
    text: str
    scores: dict[str, Any] = field(default_factory=dict)
    rows: list[JsonObject] = field(default_factory=list)


def _matches(value: Mapping[str, Any]) -> bool:
    return {"keywords", "idea_model", "idea"} <= value.keys()


def _read(rows: Iterable[Row]) -> Iterator[ParsedItem]:
    ideas: dict[tuple[str, str, str], _Idea] = {}
    for row in rows:
        try:
            fields = [required_text(row.value, name) for name in ("keywords", "idea_model", "idea")]
        except FieldError as error:
            yield row.problem(error.field, error.why)
            continue
        keyword, model, text = fields
        idea = ideas.setdefault((keyword, model, text), _Idea(row, keyword, model, text))
        idea.rows.append(row.value)
        try:
            _add_scores(idea, row.value)
        except UnreadableJSON as error:
            yield row.problem("parsed_scores", f"{error}; idea imported without these scores")
    yield from (_draft(idea) for idea in ideas.values())


def _add_scores(idea: _Idea, value: JsonObject) -> None:
    """Add the scores of a row's critic, from one cell or from columns."""
    cell = value.get("parsed_scores", value.get("scores"))
    scores = json_or_literal(cell) if isinstance(cell, str) else cell
    if not isinstance(scores, dict):
        scores = {name: _number(value[name]) for name in _CRITERIA if value.get(name) is not None}
    if scores:
        critic = str(value.get("critic_model") or "critic")
        name = critic if critic not in idea.scores or idea.scores[critic] == scores else f"{critic} again"
        idea.scores[name] = scores


def _number(cell: Any) -> Any:
    try:
        return json_or_literal(cell) if isinstance(cell, str) else cell
    except UnreadableJSON:
        return cell


def _draft(idea: _Idea) -> ParsedIdea:
    value = idea.row.value
    rejected = str(value.get("first_was_rejected") or "0").lower() in ("1", "1.0", "true")
    return ParsedIdea(
        row=idea.row,
        topic=idea.keyword,
        method=idea.text,
        agent=idea.model,
        model=idea.model,
        created=optional_text(value, "timestamp") if isinstance(value.get("timestamp"), str) else None,
        scores=idea.scores,
        notes={"first_was_rejected": True} if rejected else {},
        original=idea.rows[0] if len(idea.rows) == 1 else {"rows": idea.rows},
    )


FORMATS = (
    Format(
        name="liveideabench",
        about="LiveIdeaBench: its SQLite file or its CSV",
        looks_for="'keywords', 'idea_model' and 'idea'",
        matches=_matches,
        read=_read,
        has_many_agents=True,
    ),
)
