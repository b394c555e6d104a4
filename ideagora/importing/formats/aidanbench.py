"""AidanBench's results: answers by model, temperature and question.

The last answer to a question is the one that ended the loop. Where its scores say so (incoherent, or
too near an earlier answer) it is left out. The temperature is the file's label, which is not always
what was sampled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ideagora.importing.fields import numeric_fields, required_text
from ideagora.importing.records import Format, ParsedIdea, ParsedItem, Row, catch_field_errors, read_each

_LEAST_COHERENCE = 15
"""Of 100: the benchmark's own limit, at or below which an answer ends the loop."""
_LEAST_DISTANCE = 0.15
"""Dissimilarity below which an answer repeats an earlier one: likewise its own limit."""
_SCORES = ("coherence_score", "embedding_dissimilarity_score", "llm_dissimilarity_score")


def _matches(value: Mapping[str, Any]) -> bool:
    models = value.get("models")
    return isinstance(models, dict) and all(isinstance(one, dict) for one in models.values())


def _read(row: Row) -> Iterator[ParsedItem]:
    for model, by_temperature in row.value["models"].items():
        for temperature, by_question in by_temperature.items():
            if not isinstance(by_question, dict):
                yield row.problem(f"models.{model}.{temperature}", "an object with questions is needed")
                continue
            for question, answers in by_question.items():
                inner = row.inside(f"{model}, {temperature}, {question[:60]!r}", {})
                yield from _question(inner, (model, temperature, question), answers)


def _question(row: Row, path: tuple[str, str, str], answers: Any) -> Iterator[ParsedItem]:
    if not isinstance(answers, list) or not answers:
        yield row.problem(None, "there are no answers in it")
        return
    for number, answer in enumerate(answers, 1):
        place = f"answer {number}"
        if not isinstance(answer, dict):
            yield row.problem(place, "it is no object")
        elif number == len(answers) and (why := _ended(answer)):
            yield row.problem(place, f"the answer that ended the loop ({why}): left out")
        else:
            yield from catch_field_errors(lambda one: [_draft(one, path)], row.inside(place, answer))


def _ended(answer: Mapping[str, Any]) -> str | None:
    told = numeric_fields(answer, *_SCORES)
    for name, score in told.items():
        if score <= _LEAST_COHERENCE if name == "coherence_score" else score < _LEAST_DISTANCE:
            return f"{name} {score:.3g}"
    return None


def _draft(row: Row, path: tuple[str, str, str]) -> ParsedIdea:
    model, temperature, question = path
    return ParsedIdea(
        row=row,
        topic=question,
        method=required_text(row.value, "answer"),
        maker=model,
        model=model,
        scores=numeric_fields(row.value, *_SCORES),
        notes={"temperature_label": temperature},
    )


FORMATS = (
    Format(
        name="aidanbench",
        about="AidanBench: results.json",
        looks_for="'models' with temperatures, questions and answers",
        matches=_matches,
        read=read_each(_read),
        compares=True,
    ),
)
