"""Roles that make an idea from others: combine two, simplify one, or turn one upside down.

Each answers with a whole idea in the fields of the other ideators, so that judges cannot recognise a child by
its format.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import Field

from ideagora.agents.idea_inputs import DirectionView, ProposedIdea, draft_lead, lead_as_steps
from ideagora.agents.idea_parts import IdeaPart, IdeaSource, SearchableIdea, check_sources
from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

PROMPTS = Path(__file__).parent / "prompts"
_CLAUSE = re.compile(r"[;:,.] ")


class Citation(Inputs):
    """The papers that one part of an idea cites, by their numbers."""

    part: str
    papers: tuple[int, ...]


class ParentIdea(Inputs):
    """An idea to make another one from."""

    title: str
    motivation: str | None
    novelty: str | None
    method: str
    purpose: str
    mechanism: str
    evaluation: str
    cites: tuple[Citation, ...]
    """The papers that its parts cite, as far as they are shown."""

    def source_of(self, part: str) -> int | None:
        """Number of the first paper that a part cites; ``None`` if no source says so."""
        return next((citation.papers[0] for citation in self.cites if citation.part == part), None)


class VariationInputs(Inputs):
    """One parent, or two; papers that they build on and close ones; the other ideas so far."""

    topic: str
    parents: tuple[ParentIdea, ...]
    papers: tuple[PaperBrief, ...]
    proposed: tuple[ProposedIdea, ...]

    @property
    def titles(self) -> set[str]:
        """The titles of all ideas so far, as they are compared."""
        return {_key(idea.title) for idea in self.parents} | {_key(idea.title) for idea in self.proposed}


class Combination(Answer):
    """What becomes of two ideas."""

    change: str = Field(
        description="2 or 3 sentences: the point at which the two need each other, what is taken from each, "
        "what is left out"
    )


class CombinedIdea(SearchableIdea, Combination):
    """An idea made from two others, after the decision on what it takes from them."""


class Simplification(Answer):
    """What an idea can do without."""

    change: str = Field(
        description="2 or 3 sentences: the component that carries the claim, what is left out, and why the "
        "rest suffices"
    )


class SimplifiedIdea(SearchableIdea, Simplification):
    """An idea with less in it, after the decision on what is left out."""


class Inversion(Answer):
    """The opposite of an assumption."""

    change: str = Field(
        description="2 or 3 sentences: the assumption of the idea, its opposite, and where the opposite holds"
    )


class InvertedIdea(SearchableIdea, Inversion):
    """An idea from the opposite assumption, after that assumption."""


V = TypeVar("V", bound=SearchableIdea)


def _check(inputs: VariationInputs, answer: SearchableIdea) -> str | None:
    if _key(answer.title) in inputs.titles:
        return "title: an idea with this title exists; write a different idea, with a title of its own"
    return check_sources(inputs, answer) if inputs.papers else None


def _key(title: str) -> str:
    return "".join(letter for letter in title.casefold() if letter.isalnum())


def _combine(engine: ExtractiveModel, inputs: VariationInputs) -> CombinedIdea:
    """Return the lead from one parent's limitation and the other's mechanism, the new one of the two."""
    first, second = inputs.parents
    leads = [
        (_pair(engine, inputs, _purpose(weak), _mechanism(strong)), weak, strong)
        for weak, strong in ((first, second), (second, first))
    ]
    new = [lead for lead in leads if _key(lead[0].title) not in inputs.titles]
    lead, weak, strong = (new or leads)[0]
    change = f"The limitation is that of “{weak.title}”, the mechanism that of “{strong.title}”."
    return lead.extended_to(CombinedIdea, change=change)


def _invert(engine: ExtractiveModel, inputs: VariationInputs) -> InvertedIdea:
    """Return a lead on a limitation of the paper that gave the mechanism; nothing is reasoned about.

    The mechanism is that of the paper that gave the limitation, or of another one if that lead exists.
    """
    parent = inputs.parents[0]
    weak = parent.source_of("method")
    leads: list[SearchableIdea] = []
    for number in dict.fromkeys([parent.source_of("motivation") or 0, *range(len(inputs.papers))]):
        if number == weak and leads:
            continue
        leads.append(_pair(engine, inputs, ("", weak), ("", number)))
        if _key(leads[-1].title) not in inputs.titles:
            break
    change = f"The paper that gave “{parent.title}” its mechanism gives the limitation here."
    return leads[-1].extended_to(InvertedIdea, change=change)


def _purpose(parent: ParentIdea) -> tuple[str, int | None]:
    return parent.purpose, parent.source_of("motivation")


def _mechanism(parent: ParentIdea) -> tuple[str, int | None]:
    return parent.mechanism, parent.source_of("method")


def _pair(
    engine: ExtractiveModel,
    inputs: VariationInputs,
    limitation: tuple[str, int | None],
    mechanism: tuple[str, int | None],
) -> SearchableIdea:
    """Return the lead from a limitation and a mechanism, each with the number of its paper."""
    last = len(inputs.papers) - 1
    direction = DirectionView(
        text="",
        limitation=limitation[0],
        limitation_from=min(limitation[1] or 0, last),
        mechanism=mechanism[0],
        mechanism_from=last if mechanism[1] is None else min(mechanism[1], last),
    )
    lead = draft_lead(engine, inputs.topic, inputs.papers, direction)
    return lead.extended_to(SearchableIdea, method=lead_as_steps(lead), queries=())


def _simplify(engine: ExtractiveModel, inputs: VariationInputs) -> SimplifiedIdea:
    """Return the parent with the first clause of its mechanism alone."""
    parent = inputs.parents[0]
    kept = _CLAUSE.split(parent.mechanism, maxsplit=1)[0].rstrip(" .")
    left_out = parent.mechanism[len(kept) :].lstrip(" ;:,.")
    change = (
        f"Left out of the mechanism: “{left_out}”" if left_out else "The mechanism has one clause; it stays."
    )
    parts: tuple[IdeaPart, ...] = ("motivation", "method")
    quoted = tuple(
        IdeaSource(part=part, paper=number, quote=inputs.papers[number].title)
        for part in parts
        if (number := parent.source_of(part)) is not None and number < len(inputs.papers)
    )
    first = tuple(IdeaSource(part="method", paper=0, quote=paper.title) for paper in inputs.papers[:1])
    return SimplifiedIdea(
        title=texts.title_case(f"{texts.clip(parent.title, 10)}, first step only"),
        motivation=parent.motivation or parent.purpose,
        method=f"1. {kept}.\n2. Add nothing else, and compare it with the whole: {parent.title}.",
        novelty=f"It asks whether the first step suffices: “{kept}”.",
        summary=f"{kept}, and nothing else of “{parent.title}”.",
        purpose=parent.purpose,
        mechanism=f"{kept}.",
        evaluation=f"Compare it with the whole mechanism on the same data. {parent.evaluation}",
        sources=quoted or first,
        queries=(),
        change=change,
    )


def _role(name: str, answer: type[V], offline: Callable[[ExtractiveModel, VariationInputs], V]) -> Role[V]:
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
