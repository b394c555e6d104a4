"""The questions: those that ship with ideagora, your own, or those of a published file of results."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ideagora.benchmarks.benchmark import Samples
from ideagora.errors import IdeasFileError
from ideagora.importing.records import Problem
from ideagora.retrieval.untrusted_json import UnreadableJSON, parse_json
from ideagora.schema import stable_id

SHIPPED = "questions.jsonl"
LARGEST = 2_000_000_000
"""Bytes of a file; a published one has all answers of all models."""
EXPECTED = (
    "Expected: lines of text, JSON lines with question (and id), or a published results.json of AidanBench."
)


@dataclass(frozen=True, slots=True)
class Sample:
    """An open-ended question."""

    id: str
    question: str


def shipped_questions() -> Samples[Sample]:
    """The questions that ship with ideagora; they are our own."""
    file = importlib.resources.files("ideagora.benchmarks.aidanbench") / SHIPPED
    with importlib.resources.as_file(file) as path:
        return read_questions(path)


def read_questions(path: Path) -> Samples[Sample]:
    """The questions of a file; those of a published file are the ones that any model has answers to.

    Raises:
        IdeasFileError: the file cannot be read, or has no question.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise IdeasFileError(f"{path} has over {LARGEST / 1e9:.0f} GB. Split it by model.")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise IdeasFileError(f"{path} cannot be read: {reason}. {EXPECTED}") from None
    problems: list[Problem] = []
    samples: dict[str, Sample] = {}
    known: set[str] = set()
    for place, found in _rows(path, text):
        if isinstance(found, Problem):
            problems.append(found)
        elif found.question in known or found.id in samples:
            problems.append(Problem(path.name, place, None, "occurs again; the first one is used"))
        else:
            known.add(found.question)
            samples[found.id] = found
    if not samples:
        why = f" First problem: {problems[0]}." if problems else ""
        raise IdeasFileError(f"{path} has no question.{why} {EXPECTED}")
    return Samples(samples, tuple(problems))


def _rows(path: Path, text: str) -> Iterator[tuple[str, Sample | Problem]]:
    published = _published(text) if path.suffix == ".json" else None
    if published is not None:
        for question in published:
            yield question[:60], Sample(stable_id(question), question)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            place = f"line {number}"
            try:
                yield place, _sample(line.strip())
            except (UnreadableJSON, ValueError) as error:
                yield place, Problem(path.name, place, "question", str(error))


def _sample(line: str) -> Sample:
    row: Mapping[str, Any] = parse_json(line) if line.startswith("{") else {"question": line}
    question = row.get("question")
    if not isinstance(question, str) or not question.strip():
        raise ValueError("missing or empty")
    question = " ".join(question.split())
    return Sample(str(row.get("id") or stable_id(question)), question)


def _published(text: str) -> list[str] | None:
    """The questions of a published file in their order; ``None`` if it is none."""
    try:
        content = parse_json(text)
    except UnreadableJSON:
        return None
    models = content.get("models") if isinstance(content, dict) else None
    if not isinstance(models, dict):
        return None
    by_temperature = [one for model in models.values() if isinstance(model, dict) for one in model.values()]
    return list(dict.fromkeys(name for one in by_temperature if isinstance(one, dict) for name in one))
