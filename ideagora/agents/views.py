"""Views of records as roles see them, and conversions from records to views.

A view contains only what a model should read. Prompts number papers by their position in the role's input,
so the numbers in an answer can be checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ideagora.models.call import Inputs
from ideagora.models.offline.text import clip
from ideagora.schema import AVOIDED_SOURCE, OWN_SOURCE, Entity, Link, Paper, Reading, Transition

STARTER_SOURCE = "starter"
"""Source of the papers of the starter corpus."""


class PaperBrief(Inputs):
    """A paper as title and abstract, which the starter corpus replaces by a summary of our own."""

    title: str
    year: str
    abstract: str | None


class ShownPaper(PaperBrief):
    """A paper with its abstract and, if only a part of its full text is shown, the reader's notes on it."""

    kind: str = "Abstract"
    """What ``abstract`` is: ``Abstract``, ``Our summary``, a note of the user, or ``Text`` from the paper."""
    retelling: str | None


class ChainPaper(Inputs):
    """A paper in the chain, as reported by the reader."""

    title: str
    year: str
    reason: str
    problem: str | None
    method: str
    why_it_works: str | None = None
    details: str | None = None
    finding: str | None
    limitation: str | None

    @property
    def text(self) -> str:
        """All parts as one text."""
        parts = [
            self.problem,
            self.method,
            self.why_it_works,
            self.details,
            self.finding,
            self.limitation,
        ]
        return " ".join(part for part in parts if part)


class EntityView(Inputs):
    """A named entity and what its paper says about it."""

    name: str
    description: str
    kind: str


class Change(Inputs):
    """What changed between two consecutive papers of the chain."""

    entered: tuple[str, ...]
    left: tuple[str, ...]
    text: str


class PastExperiment(Inputs):
    """The experiment of a paper in the chain."""

    title: str
    experiment: str


class IdeaView(Inputs):
    """An idea without provenance. Parts that are ``None`` are not shown."""

    title: str
    motivation: str | None
    novelty: str | None
    method: str


class IdeaToTest(IdeaView):
    """An idea as those see it who plan or judge its experiment."""

    claim: str | None = None
    """The central claim; ``None`` if its author states none apart from the novelty."""
    might_fail: str | None = None
    """Why its author thinks that it might not work."""


def paper_brief(paper: Paper) -> PaperBrief:
    """Return a paper's title, year and abstract."""
    return PaperBrief(title=paper.title, year=paper.year, abstract=paper.abstract)


def is_our_summary(paper: Paper) -> bool:
    """Return whether the abstract is our summary: sentences on problem, method, finding and limitation."""
    return paper.source == STARTER_SOURCE and paper.abstract is not None


def text_kind(paper: Paper) -> str:
    """Return what a record's abstract is, as prompts call it."""
    if paper.source in (OWN_SOURCE, AVOIDED_SOURCE):
        return "The researcher's own note"
    return "Our summary" if is_our_summary(paper) else "Abstract"


def idea_view(draft: Mapping[str, Any]) -> IdeaView:
    """Return the parts of a draft that judges and designers see."""
    return IdeaView(**{name: draft[name] for name in IdeaView.model_fields})


def idea_to_test(draft: Mapping[str, Any]) -> IdeaToTest:
    """Return the parts of a draft that the planners of its experiment see.

    Agents may leave out the claim; where it is known, it says what to test, and the motivation is left out.
    """
    idea = IdeaToTest.model_validate({name: draft.get(name) for name in IdeaToTest.model_fields})
    return idea.model_copy(update={"motivation": None}) if idea.claim else idea


def chain_paper(link: Link) -> ChainPaper:
    """Return a link of the chain by its reading, or by its abstract if it was not read."""
    reading = link.reading or Reading(method=link.paper.abstract or link.paper.title)
    return ChainPaper(
        title=link.paper.title,
        year=link.paper.year,
        reason=link.reason,
        problem=reading.problem,
        method=reading.method,
        why_it_works=reading.why_it_works,
        details=reading.details,
        finding=reading.finding,
        limitation=reading.limitation,
    )


def change_view(transition: Transition) -> Change:
    """Return a transition without its ids."""
    return Change(entered=transition.entered, left=transition.left, text=transition.text)


def entity_views(entities: Iterable[Entity]) -> list[EntityView]:
    """Return entities with unique names (the first one counts) and descriptions of at most 30 words."""
    seen: dict[str, EntityView] = {}
    for entity in entities:
        view = EntityView(name=entity.name, description=clip(entity.description, 30), kind=entity.kind)
        seen.setdefault(entity.name.lower(), view)
    return list(seen.values())


def past_experiments(links: Sequence[Link]) -> list[PastExperiment]:
    """Return the experiments of the chain's papers, where reported."""
    return [
        PastExperiment(title=link.paper.title, experiment=link.reading.experiment)
        for link in links
        if link.reading is not None and link.reading.experiment
    ]


def check_paper_numbers(field: str, numbers: Iterable[int], titles: Sequence[str]) -> str | None:
    """Return an error if a field has paper numbers outside the list, else None."""
    wrong = sorted({n for n in numbers if not 0 <= n < len(titles)})
    if not wrong:
        return None
    known = "; ".join(f"[{n}] {clip(title, 8)}" for n, title in enumerate(titles))
    return f"{field} is {wrong[0]}, but papers are numbered from 0: {known}. Check the other numbers too"
