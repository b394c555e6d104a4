"""Convert parsed ideas to ideas: agent, topic, title and required fields."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ideagora.importing.records import Format, IdeaAnnotation, ParsedIdea, Problem
from ideagora.importing.sections import title_from_text
from ideagora.importing.self_scores import without_self_scores
from ideagora.schema import Idea, Usage, stable_id


def convert_idea(
    parsed: ParsedIdea,
    file_format: Format,
    agent: str | None,
    topic: str | None,
    annotations: Iterable[IdeaAnnotation],
    *,
    several: bool,
) -> Idea | Problem:
    """Return the idea, or a problem if it is incomplete or invalid.

    Args:
        parsed: the idea as its source states it.
        file_format: the format of its file.
        agent: the name for the agent; by default that of the source, else that of the format (for a plain
            file, of the file).
        topic: the topic of ideas whose source has none.
        annotations: scores and topics for this idea in other files.
        several: whether ideas of other agents are imported with it, so that names must differ.
    """
    annotations = list(annotations)
    annotated_topic = next((annotation.topic for annotation in annotations if annotation.topic), None)
    idea_topic = parsed.topic or annotated_topic or parsed.fallback_topic or topic
    if not idea_topic:
        return parsed.row.problem("topic", "missing; give one with --topic")
    if not parsed.method or not re.search(r"\w", parsed.method):
        return parsed.row.problem("method", "no text describes the method")
    scores = {name: score for annotation in annotations for name, score in annotation.scores.items()}
    scores |= parsed.scores
    name = _agent_name(parsed, file_format, agent, several)
    try:
        return without_self_scores(_build_idea(parsed, file_format.name, name, idea_topic, scores))
    except ValidationError as error:
        first = error.errors()[0]
        return parsed.row.problem(".".join(map(str, first["loc"])) or None, first["msg"].lower())


def source_agent(parsed: ParsedIdea) -> str | None:
    """Return the agent that the source names."""
    return parsed.complete.agent if parsed.complete else parsed.agent


def _agent_name(parsed: ParsedIdea, file_format: Format, agent: str | None, several: bool) -> str:
    """Return the given name, followed by the source's own where names must differ."""
    own = source_agent(parsed)
    if agent is None:
        return own or (Path(parsed.row.file).stem if file_format.is_fallback else file_format.name)
    if own is None:
        return agent
    if own == agent or own.startswith(f"{agent}/"):
        return own
    return f"{agent}/{own}" if several or file_format.has_many_agents else agent


def _build_idea(parsed: ParsedIdea, kind: str, agent: str, topic: str, scores: dict[str, Any]) -> Idea:
    method = parsed.method
    assert method is not None
    notes = dict(parsed.notes)
    if parsed.title is None:
        notes["title_from"] = "the first words of the text"
    place = {"kind": kind, "file": parsed.row.file, "row": parsed.row.place}
    original = parsed.row.value if parsed.original is None else parsed.original
    extra = {"imported": {**place, **notes}, "scores": scores, "original": original}
    if parsed.complete is not None:
        return _rename_agent(parsed.complete, agent, topic, {**extra, "original": None})
    title = parsed.title or title_from_text(method)
    parts = (title, parsed.motivation or "", parsed.novelty or "", method)
    steps = parsed.experiment.steps if parsed.experiment else ()
    sample = filter(None, [notes.get("sample")])  # the same text may be an idea on several
    return Idea(
        id=stable_id("imported", agent, topic, *parts, *steps, *sample),
        topic=topic,
        agent=agent,
        title=title,
        motivation=parsed.motivation,
        novelty=parsed.novelty,
        method=method,
        summary=parsed.summary,
        experiment=parsed.experiment,
        references=parsed.references,
        model=parsed.model or "unknown",
        usage=Usage(cost_usd=None),
        created=parsed.created,
        extra={name: value for name, value in extra.items() if value},
    )


def _rename_agent(idea: Idea, agent: str, topic: str, extra: dict[str, Any]) -> Idea:
    """Return an idea of ideagora, with a new id if its agent or topic changes."""
    if agent == idea.agent and topic == idea.topic:
        return idea
    imported = {**extra["imported"], "agent": idea.agent, "id": idea.id}
    changed = {"agent": agent, "topic": topic, "id": stable_id("imported", agent, idea.id)}
    return idea.model_copy(update={**changed, "extra": {**idea.extra, "imported": imported}})
