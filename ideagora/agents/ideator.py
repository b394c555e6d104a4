"""The forecaster and the ideator: from the chain to a future direction, from there to an idea.

Source: Chain of Ideas (arXiv 2410.13185), section 3.3 and Tables 13 to 15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from pydantic import Field

from ideagora.agents.idea_telling import FACETS, IdeaInputs, tell_idea
from ideagora.agents.quotes import is_quoted
from ideagora.agents.role import Role
from ideagora.agents.views import ChainPaper, Change, EntityView, PaperBrief, numbers_missing
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import Engine
from ideagora.models.offline import text as texts

RESOLVED = 0.55
"""Cosine from which the offline model takes a limitation for answered by a later paper's method."""


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


def _forecast(engine: Engine, inputs: ForecastInputs) -> dict[str, Any]:
    weak = _open_limitation(engine, inputs.topic, inputs.papers)
    limitation = inputs.papers[weak].limitation or inputs.papers[weak].problem or inputs.papers[weak].method
    strong = _mechanism_against(engine, inputs, weak, limitation)
    mechanism = _methods(engine, inputs)[strong]
    why = "Near to limitation and topic, and neither a benchmark nor much older."
    return {
        "limitations": _stated_limitations(engine, inputs.papers),
        "pairings": [{"limitation_from": weak, "mechanism_from": strong, "why": why}],
        "limitation": limitation,
        "limitation_from": weak,
        "mechanism": mechanism,
        "mechanism_from": strong,
        "direction": _direction(engine, inputs, weak, limitation, strong, mechanism),
    }


def _open_limitation(engine: Engine, topic: str, papers: tuple[ChainPaper, ...]) -> int:
    """The paper of the chain's late half whose limitation is nearest to the topic and not answered since.

    Where the late half states none that is open, the earlier papers count too.
    """
    stated = [i for i, paper in enumerate(papers) if paper.limitation]
    still_open = [i for i in stated if _answered_by(engine, papers, i) is None]
    late = [i for i in still_open if i >= len(papers) // 2]
    pool = late or still_open or stated
    if not pool:
        return len(papers) - 1
    near = engine.similarity(topic, [papers[i].limitation or "" for i in pool])
    return max(zip(near, pool, strict=True))[1]


def _stated_limitations(engine: Engine, papers: tuple[ChainPaper, ...]) -> list[dict[str, Any]]:
    return [
        {"paper": i, "limitation": paper.limitation, "answered_by": _answered_by(engine, papers, i)}
        for i, paper in enumerate(papers)
        if paper.limitation
    ]


def _answered_by(engine: Engine, papers: tuple[ChainPaper, ...], i: int) -> int | None:
    """The later paper whose method comes nearest to a limitation, if near enough."""
    ranked = engine.rank(papers[i].limitation or "", [other.method for other in papers[i + 1 :]])
    return i + 1 + ranked[0][0] if ranked and ranked[0][1] >= RESOLVED else None


def _methods(engine: Engine, inputs: ForecastInputs) -> list[str]:
    """The method of every paper shown: the chain's, then the neighbours' (picked from the abstract)."""
    neighbours = [engine.facets(n.abstract or "", FACETS)["method"] or n.title for n in inputs.neighbours]
    return [*(paper.method for paper in inputs.papers), *neighbours]


def _mechanism_against(engine: Engine, inputs: ForecastInputs, weak: int, limitation: str) -> int:
    """The paper whose method is near to limitation and topic, but not what the weak paper does already."""
    methods = _methods(engine, inputs)
    older, bare = _years_older(inputs, weak), _known_by_title(inputs)
    to_limitation = engine.similarity(limitation, methods)
    to_topic = engine.similarity(inputs.topic, methods)
    to_own = engine.similarity(inputs.papers[weak].method, methods)
    gain = {
        i: to_limitation[i]
        + 0.5 * to_topic[i]
        - 0.5 * max(0.0, to_own[i] - 0.5)
        - 0.35 * _only_measures(engine, methods[i])
        - 0.1 * older[i]
        - NO_MECHANISM * bare[i]
        for i in range(len(methods))
        if i != weak
    }
    return max(gain, key=lambda i: (round(gain[i], 4), -i)) if gain else weak


NO_MECHANISM = 3.0
"""More than any similarities can make up for: a title says of no mechanism how it works."""


def _known_by_title(inputs: ForecastInputs) -> list[bool]:
    """Of which papers nothing is known but the title."""
    chain = [paper.method == paper.title for paper in inputs.papers]
    return [*chain, *(not paper.abstract for paper in inputs.neighbours)]


def _years_older(inputs: ForecastInputs, weak: int) -> list[int]:
    """By how many years each paper is older than the weak one, beyond one; 0 where a date is unknown."""
    years = [*(paper.year for paper in inputs.papers), *(paper.year for paper in inputs.neighbours)]
    return [
        max(0, int(years[weak]) - int(year) - 1) if year.isdigit() and years[weak].isdigit() else 0
        for year in years
    ]


MEASURES = "A benchmark collects tasks and grades systems; a study compares people and models."
BUILDS = "A system generates, searches, trains or revises step by step with a new component."


def _only_measures(engine: Engine, method: str) -> bool:
    """Whether a method is a benchmark or a study: it has little that could be brought elsewhere."""
    measures, builds = engine.similarity(method, [MEASURES, BUILDS])
    return measures > builds


def _label(inputs: ForecastInputs, number: int) -> str:
    chain = [(paper.title, paper.year, paper.method) for paper in inputs.papers]
    title, year, text = [*chain, *((p.title, p.year, p.abstract or "") for p in inputs.neighbours)][number]
    return f"{texts.short_name(title, text)} ({year})"


def _direction(
    engine: Engine, inputs: ForecastInputs, weak: int, limitation: str, strong: int, mechanism: str
) -> str:
    lack, step = engine.nearest_clauses(limitation, mechanism)
    within = strong < len(inputs.papers)
    place = (
        "a neighbouring line of work"
        if not within
        else f"{'an earlier' if strong < weak else 'a later'} step"
    )
    moved = [phrase for change in inputs.changes for phrase in change.entered[:1]]
    path = f"Step by step the chain has brought in {texts.listed(moved)}. " if moved else ""
    return (
        f"{path}One limitation is taken up here. {_label(inputs, weak)}: {limitation} "
        f"{_label(inputs, strong)}, from {place}, offers a mechanism that speaks to it: {mechanism} "
        f"The next step is to set “{step}” against “{lack}”, for "
        f"{texts.without_stop(texts.clip(inputs.topic, 30))}."
    )


def _forecast_sources(inputs: ForecastInputs, answer: Forecast) -> str | None:
    titles = [*(paper.title for paper in inputs.papers), *(paper.title for paper in inputs.neighbours)]
    for field in ("limitation_from", "mechanism_from"):
        if complaint := numbers_missing(field, [getattr(answer, field)], titles):
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
    check=_forecast_sources,
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


class ShowsPapers(Protocol):
    """Inputs with papers that an answer can refer to by their numbers."""

    @property
    def papers(self) -> Sequence[PaperBrief]:
        """Title and abstract, in the order of their numbers."""


def idea_sources(inputs: ShowsPapers, answer: IdeaDraft) -> str | None:
    """The complaint about an idea's sources: none, a number that nobody showed, words of another paper."""
    if not answer.sources:
        return "sources is empty: name the papers that each part rests on"
    titles = [paper.title for paper in inputs.papers]
    if complaint := numbers_missing("sources.paper", [source.paper for source in answer.sources], titles):
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
    name="ideator", group="main", inputs=IdeaInputs, answer=IdeaDraft, offline=tell_idea, check=idea_sources
)
