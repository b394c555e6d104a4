"""The forecaster and the ideator: from the chain to a future direction, from there to an idea.

Source: Chain of Ideas (arXiv 2410.13185), section 3.3 and Tables 13 to 15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from pydantic import Field

from ideagora.agents.idea_inputs import IdeaInputs, draft_lead
from ideagora.agents.offline_leads.leads import NEAREST_ONLY, Fit, PaperFacts, find_fits, paper_facts
from ideagora.agents.role import Role
from ideagora.agents.text.quotes import is_quoted
from ideagora.agents.views import ChainPaper, Change, EntityView, PaperBrief, check_paper_numbers
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel


class ForecastInputs(Inputs):
    """The chain with its changes, and papers from a neighbouring thread, numbered on from the chain's."""

    topic: str
    papers: tuple[ChainPaper, ...]
    changes: tuple[Change, ...]
    entities: tuple[EntityView, ...]
    neighbours: tuple[PaperBrief, ...]


class OpenLimitation(Answer):
    """A limitation of a paper of the chain, and whether a later one has answered it."""

    paper: int = Field(description="number of the paper")
    limitation: str = Field(description="one sentence")
    answered_by: int | None = Field(description="number of a later paper that answers it, or null")


class Pairing(Answer):
    """A limitation that could be met by another paper's mechanism."""

    limitation_from: int = Field(description="number of the paper with the limitation")
    mechanism_from: int = Field(description="number of the paper with the mechanism")
    why: str = Field(description="one sentence: why the mechanism applies there")


class Forecast(Answer):
    """The predicted future direction, with the ground it was reached over."""

    limitations: tuple[OpenLimitation, ...] = Field(description="the limitations that matter for the topic")
    pairings: tuple[Pairing, ...] = Field(description="two to four pairings that were weighed")
    limitation: str = Field(description="the limitation to take up, 1 or 2 sentences")
    limitation_from: int = Field(description="number of the paper that has this limitation")
    mechanism: str = Field(description="the mechanism that another paper offers against it, 1 or 2 sentences")
    mechanism_from: int = Field(description="number of the paper that the mechanism comes from")
    direction: str = Field(
        description="the direction the field should take next and why now, 3 to 6 sentences"
    )


def _forecast(engine: ExtractiveModel, inputs: ForecastInputs) -> dict[str, Any]:
    """The pairs that are good enough, best first; the first is the direction, else the nearest there are."""
    papers = _paper_facts(engine, inputs)
    found = find_fits(engine, inputs.topic, papers, _candidate_papers(engine, inputs))
    weak, strong = (
        (found[0].weak, found[0].strong) if found else _nearest_pair(engine, papers, len(inputs.papers))
    )
    limitation = papers[weak].limitation or papers[weak].problem or papers[weak].text
    mechanism = papers[strong].method or papers[strong].text
    return {
        "limitations": [
            {"paper": i, "limitation": paper.limitation, "answered_by": None}
            for i, paper in enumerate(inputs.papers)
            if paper.limitation
        ],
        "pairings": [
            {"limitation_from": fit.weak, "mechanism_from": fit.strong, "why": _explain_fit(fit)}
            for fit in found
        ]
        or [{"limitation_from": weak, "mechanism_from": strong, "why": NEAREST_ONLY}],
        "limitation": limitation,
        "limitation_from": weak,
        "mechanism": mechanism,
        "mechanism_from": strong,
        "direction": f"Set against each other: “{limitation}” and “{mechanism}”",
    }


NEIGHBOUR_SIMILARITY = 0.42
"""Cosine of a neighbour to topic and chain from which its limitation may be taken up too."""


def _candidate_papers(engine: ExtractiveModel, inputs: ForecastInputs) -> list[int]:
    """The chain's papers, and the neighbours that are near to the topic and to the chain's nearest paper."""
    titles = [paper.title for paper in inputs.papers]
    middle = titles[engine.rank(inputs.topic, titles)[0][0]]
    shown = [f"{paper.title}. {paper.abstract or ''}" for paper in inputs.neighbours]
    near = engine.similarity(f"{inputs.topic}. {middle}", shown)
    count = len(titles)
    return [*range(count), *(count + i for i, score in enumerate(near) if score >= NEIGHBOUR_SIMILARITY)]


def _paper_facts(engine: ExtractiveModel, inputs: ForecastInputs) -> list[PaperFacts]:
    """The chain as its readers told it, then the neighbours, of which the abstract is known."""
    chain = [
        paper_facts(engine, p.title, p.year, None, p.problem, p.method, p.limitation) for p in inputs.papers
    ]
    return [*chain, *(paper_facts(engine, p.title, p.year, p.abstract) for p in inputs.neighbours)]


def _nearest_pair(engine: ExtractiveModel, papers: Sequence[PaperFacts], chain: int) -> tuple[int, int]:
    """The last limitation of the chain, and the paper whose mechanism comes nearest to it."""
    weak = max((i for i in range(chain) if papers[i].limitation), default=chain - 1)
    others = [i for i in range(len(papers)) if i != weak and papers[i].method]
    others = others or [i for i in range(len(papers)) if i != weak] or [weak]
    ranked = engine.rank(papers[weak].limitation or papers[weak].text, [papers[i].text for i in others])
    return weak, others[ranked[0][0]]


def _explain_fit(fit: Fit) -> str:
    shared = f"; {'both speak' if fit.terms else 'the limitation speaks'} of {fit.kind.name}"
    return (
        f"Similarity of limitation and problem {fit.to_problem:.2f}, and method {fit.to_method:.2f}{shared}."
    )


def _check_forecast(inputs: ForecastInputs, answer: Forecast) -> str | None:
    titles = [*(paper.title for paper in inputs.papers), *(paper.title for paper in inputs.neighbours)]
    for field in ("limitation_from", "mechanism_from"):
        if complaint := check_paper_numbers(field, [getattr(answer, field)], titles):
            return complaint
    if answer.limitation_from == answer.mechanism_from and len(titles) > 1:
        return f"limitation_from and mechanism_from are both {answer.mechanism_from}: two papers are wanted"
    return None


FORECASTER = Role(
    name="forecaster",
    group="main",
    inputs=ForecastInputs,
    answer=Forecast,
    offline=_forecast,
    check=_check_forecast,
)


class IdeaSource(Answer):
    """Where a part of the idea came from."""

    part: Literal["motivation", "method", "novelty"]
    paper: int = Field(description="number of the paper")
    quote: str = Field(description="5 to 25 words copied unchanged from the text under that number")


class IdeaParts(Answer):
    """A research idea, consolidated step by step: motivation, novelty, method, then the whole."""

    motivation: str = Field(
        description="background, what earlier work falls short of, and why it matters; 4 to 8 sentences"
    )
    method: str = Field(
        description="numbered steps, one a line: each part, what it does and why it solves the problem"
    )
    novelty: str = Field(
        description="how this differs from named earlier papers and what that gains; 3 to 6 sentences"
    )
    title: str = Field(description="a specific title of at most 15 words")
    summary: str = Field(description="the idea in 2 or 3 sentences")
    purpose: str = Field(description="one sentence: the problem it solves")
    mechanism: str = Field(description="one sentence: the core mechanism")
    evaluation: str = Field(description="one sentence: how success would be measured")


class IdeaDraft(IdeaParts):
    """An idea with the papers that it stands on."""

    sources: tuple[IdeaSource, ...] = Field(description="for every part, the papers it rests on")


class HasPapers(Protocol):
    """Inputs with papers that an answer can refer to by their numbers."""

    @property
    def papers(self) -> Sequence[PaperBrief]:
        """Title and abstract, in the order of their numbers."""


def check_sources(inputs: HasPapers, answer: IdeaDraft) -> str | None:
    """The complaint about an idea's sources: none, a number that nobody showed, words of another paper."""
    if not answer.sources:
        return "sources is empty: name the papers that each part rests on"
    titles = [paper.title for paper in inputs.papers]
    if complaint := check_paper_numbers("sources.paper", [source.paper for source in answer.sources], titles):
        return complaint
    texts_shown = [f"{paper.title} {paper.abstract or ''}" for paper in inputs.papers]
    for place, source in enumerate(answer.sources, 1):
        if is_quoted(source.quote, texts_shown[source.paper]):
            continue
        others = [number for number, text in enumerate(texts_shown) if is_quoted(source.quote, text)]
        if len(others) == 1:
            return f"source {place}: these words stand in [{others[0]}], not in [{source.paper}]"
    return None


IDEATOR = Role(
    name="ideator", group="main", inputs=IdeaInputs, answer=IdeaDraft, offline=draft_lead, check=check_sources
)
