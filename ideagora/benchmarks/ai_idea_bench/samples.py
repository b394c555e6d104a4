"""Samples of AI Idea Bench 2025 (section 3.1): target papers with topic, motivation, plan and inspirations.

Reads ``target_paper_data.json`` as published, and the data set of the same form that ships with ideagora:
targets of the starter corpus, with their real inspirations, described in our own words.
"""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ideagora.errors import IdeasFileError
from ideagora.importing.fields import optional_text, required_text
from ideagora.importing.file_rows import open_rows
from ideagora.importing.records import FieldError, Problem, Row
from ideagora.schema import Record

PUBLISHED_FILE = "target_paper_data.json"
_ARXIV_MONTH = re.compile(r"(?:arxiv:)?(\d\d)(0[1-9]|1[0-2])\.\d{4,5}(?:v\d+)?", re.I)


class Inspiration(Record):
    """A paper that inspired a target."""

    title: str | None = None
    paper_id: str | None = None
    """Id in the library, if the data set states one."""
    pdf: str | None = None
    """Path of its PDF, relative to the data folder."""
    rank: int | None = None
    cited_number: int | None = None
    """How often the target cites it in its text."""


class Design(Record):
    """One part of a target's method."""

    name: str
    description: str
    problems_solved: str | None = None


class Sample(Record):
    """A target paper: what the agents are given, and what their ideas are matched with."""

    id: str
    """The data set's index."""
    topic: str
    """The revised topic if there is one, else the original one."""
    motivation: str
    summary: str | None = None
    """Summary of the method."""
    designs: tuple[Design, ...] = ()
    datasets: str | None = None
    metrics: str | None = None
    keywords: tuple[str, ...] = ()
    inspirations: tuple[Inspiration, ...]
    title: str | None = None
    """The target's title; ``target_paper`` in the published file."""
    paper_id: str | None = None
    historical: Mapping[str, int] = {}
    """Citations of the papers on the topic from before the target, by PDF path (files ``*_w_hd_cd``)."""
    contemporary: Mapping[str, int] = {}

    @property
    def method(self) -> str:
        """The target's method as one text: summary and designs."""
        parts = [self.summary, *(f"{one.name}: {one.description}" for one in self.designs)]
        return "\n".join(part for part in parts if part)

    @property
    def plan(self) -> str:
        """The target's plan as one text: method, data sets and metrics."""
        parts = [self.method]
        parts += [f"Data sets: {self.datasets}" if self.datasets else ""]
        parts += [f"Metrics: {self.metrics}" if self.metrics else ""]
        return "\n".join(part for part in parts if part)


@dataclass(frozen=True)
class Samples:
    """Samples of a file, and the rows that are none, with reasons."""

    samples: tuple[Sample, ...]
    problems: tuple[Problem, ...]


def shipped_samples() -> Samples:
    """The data set that ships with ideagora."""
    folder = importlib.resources.files("ideagora.benchmarks.ai_idea_bench")
    with importlib.resources.as_file(folder / "targets.json") as file:
        return read_samples(file)


def read_samples(path: Path) -> Samples:
    """Read ``target_paper_data.json``, or a folder that holds it.

    Raises:
        IdeasFileError: the file is missing, unreadable, or has no usable target.
    """
    file = path / PUBLISHED_FILE if path.is_dir() else path
    samples: dict[str, Sample] = {}
    problems: list[Problem] = []
    for row in open_rows(file, file.name).rows():
        found = row if isinstance(row, Problem) else _sample_or_problem(row)
        if isinstance(found, Sample) and found.id not in samples:
            samples[found.id] = found
        elif isinstance(found, Sample):
            assert isinstance(row, Row)
            problems.append(row.problem("index", f"{found.id} occurs again; the first one is used"))
        else:
            problems.append(found)
    if not samples:
        why = f" First problem: {problems[0]}." if problems else ""
        raise IdeasFileError(
            f"{file} has no usable target.{why} Expected: {PUBLISHED_FILE} of AI Idea Bench 2025."
        )
    return Samples(tuple(samples.values()), tuple(problems))


def _sample_or_problem(row: Row) -> Sample | Problem:
    try:
        return _sample(row.value)
    except FieldError as error:
        return row.problem(error.field, error.why)


def _sample(value: Mapping[str, Any]) -> Sample:
    index = value.get("index")
    if isinstance(index, bool) or not isinstance(index, int | str):
        raise FieldError("index", "must be a number or text")
    summary = _object(value, "summary" if "summary" in value else "model_result")
    method = _object(summary, "method") if summary.get("method") is not None else {}
    inspirations = tuple(_inspirations(value))
    if not inspirations:
        raise FieldError("find_cite.top_references", "no inspiration papers")
    return Sample(
        id=str(index),
        topic=optional_text(summary, "revised_topic") or required_text(summary, "topic"),
        motivation=required_text(summary, "motivation"),
        summary=optional_text(method, "targeted_designs_summary"),
        designs=tuple(_designs(method)),
        datasets=_listed(method, "datasets"),
        metrics=_listed(method, "metrics"),
        keywords=tuple(required_text(one, "keyword") for one in _objects(summary, "split_topic")),
        inspirations=inspirations,
        title=optional_text(value, "title") or optional_text(value, "target_paper"),
        paper_id=optional_text(value, "paper_id"),
        historical=_citations(summary, "paper_hd_local_path"),
        contemporary=_citations(summary, "paper_cd_local_path"),
    )


def _inspirations(value: Mapping[str, Any]) -> Iterator[Inspiration]:
    cited = _object(value, "find_cite")
    for one in _objects(cited, "top_references"):
        title, pdf = optional_text(one, "title"), optional_text(one, "paper_local_path")
        paper_id = optional_text(one, "paper_id")
        if title or pdf or paper_id:
            yield Inspiration(
                title=title,
                paper_id=paper_id,
                pdf=pdf,
                rank=_whole_number(one, "rank"),
                cited_number=_whole_number(one, "cited_number"),
            )


def _designs(method: Mapping[str, Any]) -> Iterator[Design]:
    for one in _objects(method, "targeted_designs_details"):
        yield Design(
            name=required_text(one, "design_name"),
            description=required_text(one, "description"),
            problems_solved=_listed(one, "problems_solved"),
        )


def _object(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    if not isinstance(found, Mapping):
        raise FieldError(name, "missing" if found is None else "must be an object")
    return found


def _objects(value: Mapping[str, Any], name: str) -> Iterable[Mapping[str, Any]]:
    found = value.get(name)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise FieldError(name, "must be a list of objects")
    return found


def _listed(value: Mapping[str, Any], name: str) -> str | None:
    """A text, or a list of texts joined by commas; the published files have both."""
    found = value.get(name)
    if isinstance(found, list) and all(isinstance(one, str) for one in found):
        return ", ".join(found) or None
    return optional_text(value, name)


def _whole_number(value: Mapping[str, Any], name: str) -> int | None:
    found = value.get(name)
    if found is not None and (isinstance(found, bool) or not isinstance(found, int)):
        raise FieldError(name, "must be a whole number")
    return found


def _citations(summary: Mapping[str, Any], name: str) -> Mapping[str, int]:
    found = summary.get(name) or {}
    if not isinstance(found, Mapping) or not all(
        type(count) is int and count >= 0 for count in found.values()
    ):
        raise FieldError(name, "must map PDF paths to citation counts")
    return dict(found)


def cutoff(sample: Sample) -> str | None:
    """The month of the target, so that its agents know what its authors could know; ``None``: unknown.

    It is the next month if an inspiration is from the target's own, since agents must see inspirations.
    Months are those of the arXiv ids, i.e. of the first version.
    """
    month = _month(sample.paper_id)
    if month is None:
        return None
    inspirations = {_month(one.paper_id) for one in sample.inspirations}
    year, number = month
    if month in inspirations:
        year, number = (year, number + 1) if number < 12 else (year + 1, 1)
    return f"{year}-{number:02d}"


def _month(paper_id: str | None) -> tuple[int, int] | None:
    found = _ARXIV_MONTH.fullmatch(paper_id or "")
    return (2000 + int(found[1]), int(found[2])) if found else None
