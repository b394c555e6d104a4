"""Idea files of The AI Scientist, first and second version.

The first version has one text per idea, ``Experiment``, on what is built and how it is tested. It becomes
the method and, split into steps, the experiment plan. Seed ideas, written by people, appear in the output
without ``novel``; they are not imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ideagora.importing.fields import (
    join_fields,
    json_as_text,
    numeric_fields,
    optional_text,
    parse_experiment,
    required_text,
)
from ideagora.importing.records import Format, ParsedIdea, ParsedItem, Row, catch_field_errors, read_each

RATINGS = ("Interestingness", "Feasibility", "Novelty", "novel")


def of_first_version(row: Row) -> ParsedIdea:
    """Return an idea with ``Title`` and ``Experiment`` (and ``Motivation``, for AI Idea Bench 2025)."""
    plan = json_as_text(row.value.get("Experiment"))
    return ParsedIdea(
        row=row,
        title=required_text(row.value, "Title"),
        motivation=optional_text(row.value, "Motivation"),
        method=plan or required_text(row.value, "Experiment"),
        experiment=parse_experiment(row.value.get("Experiment")),
        scores=numeric_fields(row.value, *RATINGS),
        notes={"method_from": "Experiment"},
    )


def _is_first(value: Mapping[str, Any]) -> bool:
    return {"Name", "Title", "Experiment"} <= value.keys() and "Short Hypothesis" not in value


def _read_first(rows: Iterable[Row]) -> Iterator[ParsedItem]:
    all_rows = list(rows)
    is_run = any("novel" in row.value for row in all_rows)
    for row in all_rows:
        if is_run and "novel" not in row.value and "Title" in row.value:
            yield row.problem("novel", "skipped: a seed idea given to the run")
        else:
            yield from catch_field_errors(lambda row: [of_first_version(row)], row)


def _is_second(value: Mapping[str, Any]) -> bool:
    return {"Title", "Short Hypothesis"} <= value.keys()


def _read_second(row: Row) -> Iterator[ParsedIdea]:
    yield ParsedIdea(
        row=row,
        title=required_text(row.value, "Title"),
        novelty=json_as_text(row.value.get("Related Work")),
        method=join_fields(row.value, "Short Hypothesis", "Abstract"),
        summary=optional_text(row.value, "Short Hypothesis"),
        experiment=parse_experiment(
            row.value.get("Experiments"), risks=row.value.get("Risk Factors and Limitations")
        ),
        scores=numeric_fields(row.value, *RATINGS),
        notes={"method_from": "Short Hypothesis, Abstract", "novelty_from": "Related Work"},
    )


FORMATS = (
    Format(
        name="ai-scientist",
        about="The AI Scientist: ideas.json of a template",
        looks_for="'Name', 'Title' and 'Experiment'",
        matches=_is_first,
        read=_read_first,
    ),
    Format(
        name="ai-scientist-v2",
        about="The AI Scientist v2: ideas from its ideation step",
        looks_for="'Title' and 'Short Hypothesis'",
        matches=_is_second,
        read=read_each(_read_second),
    ),
)
