"""AidanBench's results: answers by model, temperature and question.

The last answer to a question ended the loop. It is skipped if its scores say why (incoherent, or too
similar to an earlier answer). The temperature is the file's label, which is not always the one used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ideagora.importing.fields import numeric_fields, required_text
from ideagora.importing.records import Format, ParsedIdea, ParsedItem, Row, catch_field_errors, read_each

_LEAST_COHERENCE = 15
"""Out of 100: the benchmark's limit, at or below which an answer ends the loop."""
_LEAST_DISTANCE = 0.15
"""The benchmark's limit on dissimilarity, below which an answer repeats an earlier one."""
_SCORES = ("coherence_score", "embedding_dissimilarity_score", "llm_dissimilarity_score")


def _matches(value: Mapping[str, Any]) -> bool:
    models = value.get("models")
    return isinstance(models, dict) and all(isinstance(answers, dict) for answers in models.values())


def _read(row: Row) -> Iterator[ParsedItem]:
    for model, by_temperature in row.value["models"].items():
        for temperature, by_question in by_temperature.items():
            if not isinstance(by_question, dict):
                yield row.problem(f"models.{model}.{temperature}", "expected an object with questions")
                continue
            for question, answers in by_question.items():
                inner = row.nested(f"{model}, {temperature}, {question[:60]!r}", {})
                yield from _question(inner, (model, temperature, question), answers)


def _question(row: Row, path: tuple[str, str, str], answers: Any) -> Iterator[ParsedItem]:
    if not isinstance(answers, list) or not answers:
        yield row.problem(None, "no answers")
        return
    for number, answer in enumerate(answers, 1):
        place = f"answer {number}"
        if not isinstance(answer, dict):
            yield row.problem(place, "expected an object")
        elif number == len(answers) and (why := _ended(answer)):
            yield row.problem(place, f"skipped: this answer ended the loop ({why})")
        else:
            yield from catch_field_errors(lambda inner: [_draft(inner, path)], row.nested(place, answer))


def _ended(answer: Mapping[str, Any]) -> str | None:
    for name, score in numeric_fields(answer, *_SCORES).items():
        if score <= _LEAST_COHERENCE if name == "coherence_score" else score < _LEAST_DISTANCE:
            return f"{name} {score:.3g}"
    return None


def _draft(row: Row, path: tuple[str, str, str]) -> ParsedIdea:
    model, temperature, question = path
    return ParsedIdea(
        row=row,
        topic=question,
        method=required_text(row.value, "answer"),
        agent=model,
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
        has_many_agents=True,
    ),
)
