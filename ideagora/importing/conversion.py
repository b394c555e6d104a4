"""From drafts to ideas: who made them, for which topic, and what each must have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ideagora.importing.records import Format, IdeaAnnotation, ParsedIdea, Problem
from ideagora.importing.sections import title_from_text
from ideagora.schema import Idea, Usage, stable_id


def convert_idea(
    draft: ParsedIdea,
    form: Format,
    agent: str | None,
    topic: str | None,
    sides: Iterable[IdeaAnnotation],
    *,
    several: bool,
) -> Idea | Problem:
    """The idea of a draft, or why there is none.

    Args:
        draft: what the source says.
        form: how it was read.
        agent: the name asked for; ``None``: the source's own, else the form's (the file's, if it is plain).
        topic: for ideas whose source tells none.
        sides: what other files say of it.
        several: whether it stands beside ideas of other makers, so that these must be told apart.
    """
    told = list(sides)
    elsewhere = next((side.topic for side in told if side.topic), None)
    wanted = draft.topic or elsewhere or draft.label or topic
    if not wanted:
        return draft.row.problem("topic", "it has no topic; name one with --topic")
    if not draft.method or not re.search(r"\w", draft.method):
        return draft.row.problem("method", "there is no text that says what would be done")
    scores = {name: score for side in told for name, score in side.scores.items()} | dict(draft.scores)
    maker = _agent_name(draft, form, agent, several)
    try:
        return _build_idea(draft, form.name, maker, wanted, scores)
    except ValidationError as error:
        first = error.errors()[0]
        return draft.row.problem(".".join(map(str, first["loc"])) or None, first["msg"].lower())


def source_agent(draft: ParsedIdea) -> str | None:
    """Who made it, as the source says."""
    return draft.whole.agent if draft.whole else draft.maker


def _agent_name(draft: ParsedIdea, form: Format, agent: str | None, several: bool) -> str:
    """The name to compete under: the one asked for, with the source's own behind it where it needs one."""
    maker = source_agent(draft)
    if agent is None:
        return maker or (Path(draft.row.file).stem if form.is_last else form.name)
    if maker is None:
        return agent
    if maker == agent or maker.startswith(f"{agent}/"):
        return maker
    return f"{agent}/{maker}" if several or form.compares else agent


def _build_idea(draft: ParsedIdea, kind: str, maker: str, topic: str, scores: dict[str, Any]) -> Idea:
    method = draft.method
    assert method is not None
    notes = dict(draft.notes)
    if draft.title is None:
        notes["title_from"] = "the first words of the text"
    place = {"kind": kind, "file": draft.row.file, "row": draft.row.place}
    original = draft.row.value if draft.original is None else draft.original
    extra = {"imported": {**place, **notes}, "scores": scores, "original": original}
    if draft.whole is not None:
        return _rename_agent(draft.whole, maker, topic, {**extra, "original": None})
    title = draft.title or title_from_text(method)
    parts = (title, draft.motivation or "", draft.novelty or "", method)
    steps = draft.experiment.steps if draft.experiment else ()
    return Idea(
        id=stable_id("imported", maker, topic, *parts, *steps),
        topic=topic,
        agent=maker,
        title=title,
        motivation=draft.motivation,
        novelty=draft.novelty,
        method=method,
        summary=draft.summary,
        experiment=draft.experiment,
        references=draft.references,
        model=draft.model or "unknown",
        usage=Usage(cost_usd=None),
        created=draft.created,
        extra={name: value for name, value in extra.items() if value},
    )


def _rename_agent(idea: Idea, maker: str, topic: str, extra: dict[str, Any]) -> Idea:
    """One of our own records: whole as it is, but for the name that it is to compete under."""
    if maker == idea.agent and topic == idea.topic:
        return idea
    told = {**extra["imported"], "agent": idea.agent, "id": idea.id}
    changed = {"agent": maker, "topic": topic, "id": stable_id("imported", maker, idea.id)}
    return idea.model_copy(update={**changed, "extra": {**idea.extra, "imported": told}})
