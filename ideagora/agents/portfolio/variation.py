"""Roles that make an idea from others: combine two, simplify one, or turn one upside down.

Each answers with a whole idea in the fields of the other ideators, so that judges cannot recognise a child by
its format.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import Field

from ideagora.agents.idea_inputs import DirectionView, ProposedIdea, draft_lead, lead_as_steps
from ideagora.agents.idea_parts import SearchableIdea, check_sources
from ideagora.agents.offline_leads.facts import PaperFacts, facts_of_abstracts
from ideagora.agents.offline_leads.fits import measure_pair
from ideagora.agents.role import Role
from ideagora.agents.text.quotes import is_quoted
from ideagora.agents.views import PaperBrief
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel

PROMPTS = Path(__file__).parent / "prompts"


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


@dataclass(frozen=True)
class _Pair:
    """A limitation and a mechanism for a lead, by the numbers of their papers, and what changes with it."""

    limitation: str
    """Its sentence; empty for that of the paper."""
    weak: int
    strong: int
    change: str


def _combine(engine: ExtractiveModel, inputs: VariationInputs) -> CombinedIdea:
    """Return the lead from one parent's limitation and the other's mechanism, if possible a new one."""
    facts, pairs, others = _facts(engine, inputs), [], []
    for weak, strong in (inputs.parents, inputs.parents[::-1]):
        text, place = _limitation(inputs, weak)
        change = f"The limitation is that of “{weak.title}”, the mechanism that of "
        pairs.append(_Pair(text, place, _mechanism_paper(inputs, strong), f"{change}“{strong.title}”."))
        others += [
            _Pair(text, place, number, f"{change}{paper.name}, because both together would not be new.")
            for number, paper in enumerate(facts)
        ]
    lead, change = _lead_of(engine, inputs, facts, [*pairs, *others])
    return lead.extended_to(CombinedIdea, change=change)


def _simplify(engine: ExtractiveModel, inputs: VariationInputs) -> SimplifiedIdea:
    """Return the lead from the parent's limitation and the closest shorter mechanism of another paper.

    A part of the parent's own mechanism would repeat the parent, and extraction cannot tell what it can do
    without.
    """
    parent = inputs.parents[0]
    facts, (text, place) = _facts(engine, inputs), _limitation(inputs, parent)
    length = len(parent.mechanism.split())
    words = [len((paper.method or paper.text).split()) for paper in facts]
    own = _mechanism_paper(inputs, parent)
    others = [number for number in range(len(facts)) if number != own] or [own]
    closeness = {number: measure_pair(engine, facts, place, number).closeness for number in others}
    others.sort(key=lambda number: (words[number] >= length, -round(closeness[number], 4)))
    pairs = [
        _Pair(
            text,
            place,
            number,
            f"The mechanism of {facts[number].name} takes the place of that of “{parent.title}”: "
            f"{words[number]} words instead of {length}. The offline model knows no other measure of "
            "simplicity.",
        )
        for number in others
    ]
    lead, change = _lead_of(engine, inputs, facts, pairs)
    return lead.extended_to(SimplifiedIdea, change=change)


def _invert(engine: ExtractiveModel, inputs: VariationInputs) -> InvertedIdea:
    """Return a lead on a limitation of the paper that gave the mechanism; nothing is reasoned about.

    The mechanism is that of the paper that gave the limitation, or of another one if that lead exists.
    """
    parent = inputs.parents[0]
    weak, (_, first) = _mechanism_paper(inputs, parent), _limitation(inputs, parent)
    change = f"The paper that gave “{parent.title}” its mechanism gives the limitation here."
    pairs = [_Pair("", weak, number, change) for number in (first, *range(len(inputs.papers)))]
    lead, change = _lead_of(engine, inputs, _facts(engine, inputs), pairs)
    return lead.extended_to(InvertedIdea, change=change)


def _facts(engine: ExtractiveModel, inputs: VariationInputs) -> list[PaperFacts]:
    return facts_of_abstracts(engine, inputs.papers)


def _limitation(inputs: VariationInputs, parent: ParentIdea) -> tuple[str, int]:
    """The limitation that a parent is about, with its paper; empty if the paper does not state it so."""
    place = min(parent.source_of("motivation") or 0, len(inputs.papers) - 1)
    is_stated = is_quoted(parent.purpose, inputs.papers[place].abstract or "")
    return parent.purpose if is_stated else "", place


def _mechanism_paper(inputs: VariationInputs, parent: ParentIdea) -> int:
    place, last = parent.source_of("method"), len(inputs.papers) - 1
    return last if place is None else min(place, last)


def _lead_of(
    engine: ExtractiveModel, inputs: VariationInputs, facts: Sequence[PaperFacts], pairs: Sequence[_Pair]
) -> tuple[SearchableIdea, str]:
    """Return the lead of the first pair with a new title, those of two papers with a method first."""

    def is_unfit(pair: _Pair) -> tuple[bool, bool]:
        strong = facts[pair.strong]
        return pair.weak == pair.strong, not strong.method or strong.is_resource

    ordered = sorted(pairs, key=is_unfit)
    leads = ((_write(engine, inputs, pair), pair.change) for pair in ordered)
    new = next((lead for lead in leads if _key(lead[0].title) not in inputs.titles), None)
    return new or (_write(engine, inputs, ordered[0]), ordered[0].change)


def _write(engine: ExtractiveModel, inputs: VariationInputs, pair: _Pair) -> SearchableIdea:
    direction = DirectionView(
        text="",
        limitation=pair.limitation,
        limitation_from=pair.weak,
        mechanism="",
        mechanism_from=pair.strong,
    )
    lead = draft_lead(engine, inputs.topic, inputs.papers, direction)
    return lead.extended_to(SearchableIdea, method=lead_as_steps(lead), queries=())


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
