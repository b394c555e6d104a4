"""Roles that make an idea from others: combine two, simplify one, or turn one upside down.

Each answers with a whole idea in the fields of the other ideators, so that judges cannot recognise a child by
its format.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import Field

from ideagora.agents.idea_inputs import DirectionView, draft_lead
from ideagora.agents.ideator import SearchableIdea, check_sources
from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief
from ideagora.models.call import Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

PROMPTS = Path(__file__).parent / "prompts"
_CLAUSE = re.compile(r"[;:,.] ")


class ParentIdea(Inputs):
    """An idea to make another one from."""

    title: str
    motivation: str | None
    novelty: str | None
    method: str
    purpose: str
    mechanism: str
    evaluation: str
    purpose_from: int | None
    mechanism_from: int | None
    """Numbers of the papers that purpose and mechanism are based on; ``None`` if no source says so."""


class VariationInputs(Inputs):
    """One parent, or two; papers that they build on and close ones; titles of all ideas so far."""

    topic: str
    parents: tuple[ParentIdea, ...]
    papers: tuple[PaperBrief, ...]
    existing: tuple[str, ...]


class CombinedIdea(SearchableIdea):
    """An idea made from two others."""

    change: str = Field(
        description="1 or 2 sentences: what it takes from each of the two, what it leaves out"
    )


class SimplifiedIdea(SearchableIdea):
    """An idea with less in it."""

    change: str = Field(description="1 or 2 sentences: what is left out, and why the rest suffices")


class InvertedIdea(SearchableIdea):
    """An idea from the opposite assumption."""

    change: str = Field(description="1 or 2 sentences: the assumption of the idea, and its opposite")


def _check(inputs: VariationInputs, answer: SearchableIdea) -> str | None:
    if _key(answer.title) in {_key(title) for title in inputs.existing}:
        return "title: an idea with this title exists; write a different idea, with a title of its own"
    return check_sources(inputs, answer) if inputs.papers else None


def _key(title: str) -> str:
    return "".join(letter for letter in title.casefold() if letter.isalnum())


def _combine(engine: ExtractiveModel, inputs: VariationInputs) -> dict[str, Any]:
    """Return the lead from one parent's limitation and the other's mechanism, the new one of the two."""
    first, second = inputs.parents
    leads = [
        (_pair(engine, inputs, weak, strong), weak, strong)
        for weak, strong in ((first, second), (second, first))
    ]
    known = {_key(title) for title in inputs.existing}
    new = [lead for lead in leads if _key(lead[0]["title"]) not in known]
    lead, weak, strong = (new or leads)[0]
    change = f"The limitation is that of “{weak.title}”, the mechanism that of “{strong.title}”."
    return {**lead, "change": change}


def _invert(engine: ExtractiveModel, inputs: VariationInputs) -> dict[str, Any]:
    """Return a lead on a limitation of the paper that gave the mechanism; nothing is reasoned about.

    The mechanism is that of the paper that gave the limitation, or of another one if that lead exists.
    """
    parent, known = inputs.parents[0], {_key(title) for title in inputs.existing}
    weak = parent.model_copy(update={"purpose": "", "purpose_from": parent.mechanism_from})
    leads: list[dict[str, Any]] = []
    for number in dict.fromkeys([parent.purpose_from or 0, *range(len(inputs.papers))]):
        if number == weak.purpose_from and leads:
            continue
        strong = parent.model_copy(update={"mechanism": "", "mechanism_from": number})
        leads.append(_pair(engine, inputs, weak, strong))
        if _key(leads[-1]["title"]) not in known:
            break
    change = f"The paper that gave “{parent.title}” its mechanism gives the limitation here."
    return {**leads[-1], "change": change}


def _pair(
    engine: ExtractiveModel, inputs: VariationInputs, weak: ParentIdea, strong: ParentIdea
) -> dict[str, Any]:
    """Return the lead from the purpose of one parent and the mechanism of another."""
    last = len(inputs.papers) - 1
    direction = DirectionView(
        text="",
        limitation=weak.purpose,
        limitation_from=min(weak.purpose_from or 0, last),
        mechanism=strong.mechanism,
        mechanism_from=last if strong.mechanism_from is None else min(strong.mechanism_from, last),
    )
    return {**draft_lead(engine, inputs.topic, inputs.papers, direction), "queries": []}


def _simplify(engine: ExtractiveModel, inputs: VariationInputs) -> dict[str, Any]:
    """Return the parent with the first clause of its mechanism alone."""
    parent = inputs.parents[0]
    kept = _CLAUSE.split(parent.mechanism, maxsplit=1)[0].rstrip(" .")
    left_out = parent.mechanism[len(kept) :].lstrip(" ;:,.")
    change = (
        f"Left out of the mechanism: “{left_out}”" if left_out else "The mechanism has one clause; it stays."
    )
    quoted = [
        {"part": part, "paper": number, "quote": inputs.papers[number].title}
        for part, number in (("motivation", parent.purpose_from), ("method", parent.mechanism_from))
        if number is not None and number < len(inputs.papers)
    ]
    first = {"part": "method", "paper": 0, "quote": inputs.papers[0].title} if inputs.papers else None
    return {
        "title": texts.title_case(f"{texts.clip(parent.title, 10)}, first step only"),
        "motivation": parent.motivation or parent.purpose,
        "method": f"1. {kept}.\n2. Add nothing else, and compare it with the whole: {parent.title}.",
        "novelty": f"It asks whether the first step suffices: “{kept}”.",
        "summary": f"{kept}, and nothing else of “{parent.title}”.",
        "purpose": parent.purpose,
        "mechanism": f"{kept}.",
        "evaluation": f"Compare it with the whole mechanism on the same data. {parent.evaluation}",
        "sources": quoted or [first] * bool(first),
        "queries": [],
        "change": change,
    }


def _role(name: str, answer: type[SearchableIdea], offline: Callable[..., dict[str, Any]]) -> Role[Any]:
    return Role(
        name=name,
        group="main",
        inputs=VariationInputs,
        answer=answer,
        offline=offline,
        check=_check,
        prompts=PROMPTS,
    )


IDEA_COMBINER = _role("idea_combiner", CombinedIdea, _combine)
IDEA_SIMPLIFIER = _role("idea_simplifier", SimplifiedIdea, _simplify)
IDEA_INVERTER = _role("idea_inverter", InvertedIdea, _invert)
