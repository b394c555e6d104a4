"""The forecaster, which derives a research direction from a chain.

Source: Chain of Ideas (arXiv 2410.13185), section 3.3 and Table 13.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from ideagora.agents.offline_leads.facts import PaperFacts, Reported, facts_of_abstracts, paper_facts
from ideagora.agents.offline_leads.fits import Fit, find_fits
from ideagora.agents.offline_leads.leads import NEAREST_ONLY
from ideagora.agents.role import Role
from ideagora.agents.views import ChainPaper, Change, EntityView, PaperBrief, check_paper_numbers
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel


class MechanismSearch(Inputs):
    """A search for mechanisms that could answer what the chain leaves open."""

    query: str
    found: tuple[int, ...]
    """Numbers of the related papers that are close to the query."""


class ForecastInputs(Inputs):
    """The chain with its changes, and related papers, whose numbers follow those of the chain."""

    topic: str
    papers: tuple[ChainPaper, ...]
    changes: tuple[Change, ...]
    entities: tuple[EntityView, ...]
    neighbours: tuple[PaperBrief, ...]
    searches: tuple[MechanismSearch, ...] = ()
    """The searches for mechanisms; empty if the related papers are from other searches."""
    focus: str | None = None
    """What the user prefers."""
    memory: bool = True
    """Whether a mechanism may come from the model's memory."""


Way = Literal["reflection", "analogy", "deep dive", "other"]
"""How a direction is reached (Table 13)."""


def _normalize_way(value: object) -> object:
    """Map ways that models invent to "other"."""
    if not isinstance(value, str) or not value.strip():
        return value
    word = value.strip().lower().replace("-", " ")
    return word if word in ("reflection", "analogy", "deep dive") else "other"


class OpenLimitation(Answer):
    """A limitation of a paper in the chain, and the paper that resolves it, if any."""

    paper: int = Field(description="number of the paper")
    limitation: str = Field(description="the limitation, one sentence")
    answered_by: int | None = Field(
        description="number of another paper that resolves it; null if it is open"
    )


class Pairing(Answer):
    """A limitation and a mechanism that could address it."""

    limitation_from: int = Field(description="number of the paper with the limitation")
    way: Annotated[Way, BeforeValidator(_normalize_way)]
    mechanism: str = Field(description="the mechanism, one sentence")
    mechanism_from: int | None = Field(
        description="number of the paper with the mechanism; null if it is from memory"
    )
    why: str = Field(description="one sentence: why the mechanism applies to the limitation")


class Forecast(Answer):
    """The predicted direction, with the limitations and pairings considered."""

    limitations: tuple[OpenLimitation, ...] = Field(description="the limitations that matter for the topic")
    pairings: tuple[Pairing, ...] = Field(description="three or four pairings considered, in different ways")
    limitation: str = Field(description="the limitation to address, 1 or 2 sentences")
    limitation_from: int = Field(description="number of the paper with this limitation")
    mechanism: str = Field(description="the mechanism that addresses it, 1 or 2 sentences")
    mechanism_from: int | None = Field(
        description="number of the paper with this mechanism; null if it is from memory"
    )
    mechanism_query: str | None = Field(
        description="3 to 8 words, as in the title of a paper that has this mechanism, if it is from memory; "
        "null if it is from a paper above"
    )
    direction: str = Field(
        description="the direction the field should take next, and why now; 3 to 6 sentences"
    )


def _forecast(engine: ExtractiveModel, inputs: ForecastInputs) -> Forecast:
    """Return the pairs that fit, best first; the first, or else the nearest pair, is the direction."""
    papers = _paper_facts(engine, inputs)
    fits = find_fits(engine, inputs.topic, papers, _candidate_papers(engine, inputs))
    weak, strong = (
        (fits[0].weak, fits[0].strong) if fits else _nearest_pair(engine, papers, len(inputs.papers))
    )
    limitation = papers[weak].limitation or papers[weak].problem or papers[weak].text
    mechanism = papers[strong].method or papers[strong].text
    return Forecast(
        limitations=tuple(
            OpenLimitation(paper=i, limitation=paper.limitation, answered_by=None)
            for i, paper in enumerate(inputs.papers)
            if paper.limitation
        ),
        pairings=tuple(_pairing(papers, fit.weak, fit.strong, _explain_fit(fit)) for fit in fits)
        or (_pairing(papers, weak, strong, NEAREST_ONLY),),
        limitation=limitation,
        limitation_from=weak,
        mechanism=mechanism,
        mechanism_from=strong,
        mechanism_query=None,
        direction=f"Address the limitation “{limitation}” with the mechanism “{mechanism}”",
    )


def _pairing(papers: Sequence[PaperFacts], weak: int, strong: int, why: str) -> Pairing:
    mechanism = papers[strong].method or papers[strong].text
    return Pairing(
        limitation_from=weak,
        way="analogy",
        mechanism=mechanism,
        mechanism_from=strong,
        why=why,
    )


NEIGHBOUR_SIMILARITY = 0.42
"""Minimum cosine to topic and chain for a related paper whose limitation may be addressed."""


def _candidate_papers(engine: ExtractiveModel, inputs: ForecastInputs) -> list[int]:
    """Return the chain's papers, and those related papers that are close to topic and chain."""
    titles = [paper.title for paper in inputs.papers]
    middle = titles[engine.rank(inputs.topic, titles)[0][0]]
    related = [f"{paper.title}. {paper.abstract or ''}" for paper in inputs.neighbours]
    near = engine.similarity(f"{inputs.topic}. {middle}", related)
    count = len(titles)
    return [*range(count), *(count + i for i, score in enumerate(near) if score >= NEIGHBOUR_SIMILARITY)]


def _paper_facts(engine: ExtractiveModel, inputs: ForecastInputs) -> list[PaperFacts]:
    """Return the facts of the chain's papers (from readings) and related papers (from abstracts)."""
    chain = [
        paper_facts(engine, p.title, p.year, None, Reported(p.problem, p.method, p.limitation))
        for p in inputs.papers
    ]
    return [*chain, *facts_of_abstracts(engine, inputs.neighbours)]


def _nearest_pair(engine: ExtractiveModel, papers: Sequence[PaperFacts], chain: int) -> tuple[int, int]:
    """Return the chain's last limitation and the paper whose mechanism is most similar to it."""
    weak = max((i for i in range(chain) if papers[i].limitation), default=chain - 1)
    others = [i for i in range(len(papers)) if i != weak and papers[i].method]
    others = others or [i for i in range(len(papers)) if i != weak] or [weak]
    ranked = engine.rank(papers[weak].limitation or papers[weak].text, [papers[i].text for i in others])
    return weak, others[ranked[0][0]]


def _explain_fit(fit: Fit) -> str:
    subject = "both are" if fit.terms else "the limitation is"
    return (
        f"The limitation has similarity {fit.to_problem:.2f} to the other paper's problem and "
        f"{fit.to_method:.2f} to its method; {subject} about {fit.kind.name}."
    )


def _check_forecast(inputs: ForecastInputs, answer: Forecast) -> str | None:
    titles = [*(paper.title for paper in inputs.papers), *(paper.title for paper in inputs.neighbours)]
    limitations = [answer.limitation_from, *(pairing.limitation_from for pairing in answer.pairings)]
    mechanisms = [answer.mechanism_from, *(pairing.mechanism_from for pairing in answer.pairings)]
    known = [number for number in mechanisms if number is not None]
    if not inputs.memory and len(known) < len(mechanisms):
        return "mechanism_from is null, but the mechanism must be from a paper: give its number"
    for field, numbers in (("limitation_from", limitations), ("mechanism_from", known)):
        if complaint := check_paper_numbers(field, numbers, titles):
            return complaint
    return None


FORECASTER = Role(
    name="forecaster",
    group="main",
    inputs=ForecastInputs,
    answer=Forecast,
    offline=_forecast,
    check=_check_forecast,
)
