"""What roles see of records: small views, and the conversions from records to them.

A view holds only what a model should read. Numbers in square brackets in the prompts are positions
in the list that the role was given, so an answer refers to a paper by an index that can be checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ideagora.models.call import Inputs
from ideagora.models.offline.text import clip
from ideagora.schema import Entity, Link, Paper, Reading, Transition


class PaperBrief(Inputs):
    """A paper as title and abstract."""

    title: str
    year: str
    abstract: str | None


class ShownPaper(PaperBrief):
    """A paper with its own words and, where it was read, its reader's retelling."""

    retelling: str | None


class ChainPaper(Inputs):
    """A paper of the chain as its reader told it."""

    title: str
    year: str
    reason: str
    problem: str | None
    method: str
    finding: str | None
    limitation: str | None

    @property
    def text(self) -> str:
        """All that is known of the paper, as one text."""
        parts = [self.problem, self.method, self.finding, self.limitation]
        return " ".join(part for part in parts if part)


class EntityView(Inputs):
    """A named thing and what its paper says of it."""

    name: str
    description: str
    kind: str


class Change(Inputs):
    """What changed between two neighbours of the chain."""

    entered: tuple[str, ...]
    left: tuple[str, ...]
    text: str


class PastExperiment(Inputs):
    """How a paper of the chain tested its idea."""

    title: str
    experiment: str


class IdeaView(Inputs):
    """An idea without a word on who made it. What its source does not say is not shown at all."""

    title: str
    motivation: str | None
    novelty: str | None
    method: str


def paper_brief(paper: Paper) -> PaperBrief:
    """Title and abstract of a paper."""
    return PaperBrief(title=paper.title, year=paper.year, abstract=paper.abstract)


def idea_view(draft: Mapping[str, Any]) -> IdeaView:
    """The parts of a draft that judges and designers see."""
    return IdeaView(**{name: draft[name] for name in IdeaView.model_fields})


def chain_paper(link: Link) -> ChainPaper:
    """A link of the chain as its reader told it; one that could not be read by its own summary."""
    reading = link.reading or Reading(method=link.paper.abstract or link.paper.title)
    return ChainPaper(
        title=link.paper.title,
        year=link.paper.year,
        reason=link.reason,
        problem=reading.problem,
        method=reading.method,
        finding=reading.finding,
        limitation=reading.limitation,
    )


def change_view(transition: Transition) -> Change:
    """A transition without its ids."""
    return Change(entered=transition.entered, left=transition.left, text=transition.text)


def entity_views(entities: Iterable[Entity]) -> list[EntityView]:
    """Entities, each name once (the first description stays), described in 30 words at most."""
    seen: dict[str, EntityView] = {}
    for entity in entities:
        view = EntityView(name=entity.name, description=clip(entity.description, 30), kind=entity.kind)
        seen.setdefault(entity.name.lower(), view)
    return list(seen.values())


def past_experiments(links: Sequence[Link]) -> list[PastExperiment]:
    """The experiments of the chain's papers, where their readers found any."""
    return [
        PastExperiment(title=link.paper.title, experiment=link.reading.experiment)
        for link in links
        if link.reading is not None and link.reading.experiment
    ]


def check_paper_numbers(field: str, numbers: Iterable[int], titles: Sequence[str]) -> str | None:
    """The complaint when paper numbers of a field point outside the list; ``None`` when all exist."""
    wrong = sorted({n for n in numbers if not 0 <= n < len(titles)})
    if not wrong:
        return None
    known = "; ".join(f"[{n}] {clip(title, 8)}" for n, title in enumerate(titles))
    return f"{field} is {wrong[0]}, but papers are numbered from 0: {known}. Check the other numbers too"
