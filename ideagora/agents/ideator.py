"""The forecaster and the ideator: from the chain to a future direction, from there to an idea.

Source: Chain of Ideas (arXiv 2410.13185), section 3.3 and Tables 13 to 15.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ideagora.agents.role import Role
from ideagora.agents.views import Change, ChainPaper, EntityView, PaperBrief, numbers_missing
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import Engine
from ideagora.models.offline import text as texts

FACETS = ("problem", "method", "finding", "limitation")

RESOLVED = 0.55
"""Cosine from which the offline model takes a limitation for answered by a later paper's method."""


class ForecastInputs(Inputs):
    """The chain with its changes, and papers from a neighbouring thread, numbered on from the chain's."""

    topic: str
    papers: tuple[ChainPaper, ...]
    changes: tuple[Change, ...]
    entities: tuple[EntityView, ...]
    neighbours: tuple[PaperBrief, ...]


class Forecast(Answer):
    """The predicted future direction, with what it rests on."""

    limitation: str = Field(description="an unresolved limitation of a late paper, 1 or 2 sentences")
    limitation_from: int = Field(description="number of the paper that has this limitation")
    mechanism: str = Field(description="a mechanism that another paper offers against it, 1 or 2 sentences")
    mechanism_from: int = Field(description="number of the paper that the mechanism comes from")
    direction: str = Field(
        description="the direction the field should take next and why now, 3 to 6 sentences"
    )


def _forecast(engine: Engine, inputs: ForecastInputs) -> dict[str, Any]:
    weak = _open_limitation(engine, inputs.topic, inputs.papers)
    limitation = inputs.papers[weak].limitation or inputs.papers[weak].problem or inputs.papers[weak].method
    strong = _mechanism_against(engine, inputs, weak, limitation)
    mechanism = _methods(engine, inputs)[strong]
    return {
        "limitation": limitation,
        "limitation_from": weak,
        "mechanism": mechanism,
        "mechanism_from": strong,
        "direction": _direction(engine, inputs, weak, limitation, strong, mechanism),
    }


def _open_limitation(engine: Engine, topic: str, papers: tuple[ChainPaper, ...]) -> int:
    """The late paper whose limitation is nearest to the topic and not yet answered by a later method."""
    scores: dict[int, float] = {}
    for i, paper in enumerate(papers):
        if paper.limitation is None:
            continue
        later = [other.method for other in papers[i + 1 :]]
        answered = max(engine.similarity(paper.limitation, later), default=0.0)
        lateness = i / max(1, len(papers) - 1)
        near = engine.similarity(topic, [paper.limitation])[0]
        scores[i] = near + 0.5 * lateness - (1.0 if answered >= RESOLVED else 0.0)
    return max(scores, key=lambda i: (round(scores[i], 4), i)) if scores else len(papers) - 1


def _methods(engine: Engine, inputs: ForecastInputs) -> list[str]:
    """The method of every paper shown: the chain's, then the neighbours' (picked from the abstract)."""
    neighbours = [engine.facets(n.abstract or "", FACETS)["method"] or n.title for n in inputs.neighbours]
    return [*(paper.method for paper in inputs.papers), *neighbours]


def _mechanism_against(engine: Engine, inputs: ForecastInputs, weak: int, limitation: str) -> int:
    """The paper whose method is near to limitation and topic, but not what the weak paper does already."""
    methods = _methods(engine, inputs)
    to_limitation = engine.similarity(limitation, methods)
    to_topic = engine.similarity(inputs.topic, methods)
    to_own = engine.similarity(inputs.papers[weak].method, methods)
    gain = {
        i: to_limitation[i]
        + 0.5 * to_topic[i]
        - 0.5 * max(0.0, to_own[i] - 0.5)
        - 0.2 * _only_measures(engine, methods[i])
        for i in range(len(methods))
        if i != weak
    }
    return max(gain, key=lambda i: (round(gain[i], 4), -i)) if gain else weak


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
    names = [_label(inputs, number).rsplit(" (", 1)[0] for number in (weak, strong)]
    brought = engine.key_phrases(mechanism, 2, avoid=names) or [names[1]]
    wanted = engine.key_phrases(limitation, 1, avoid=names) or [names[0]]
    place = "an earlier step of this chain" if strong < len(inputs.papers) else "a neighbouring line of work"
    moved = [phrase for change in inputs.changes for phrase in change.entered[:1]]
    path = f"Step by step the chain has brought in {texts.listed(moved)}. " if moved else ""
    return (
        f"{path}At its late end one limitation stays open. {_label(inputs, weak)}: {limitation} "
        f"{_label(inputs, strong)}, from {place}, offers a mechanism that speaks to it: {mechanism} "
        f"The next step is to bring {texts.listed(brought)} to bear on {texts.listed(wanted)}, "
        f"for {texts.without_stop(texts.clip(inputs.topic, 30))}."
    )


def _forecast_sources(inputs: ForecastInputs, answer: Forecast) -> str | None:
    shown = len(inputs.papers) + len(inputs.neighbours)
    if complaint := numbers_missing([answer.mechanism_from], shown):
        return complaint
    return numbers_missing([answer.limitation_from], shown)


FORECASTER = Role(
    name="forecaster",
    group="main",
    inputs=ForecastInputs,
    answer=Forecast,
    offline=_forecast,
    check=_forecast_sources,
)


class TooClose(Inputs):
    """A paper that an earlier draft came too close to."""

    title: str
    overlap: str


class DirectionView(Inputs):
    """The future direction, its limitation and mechanism with the numbers of their papers."""

    text: str
    limitation: str
    limitation_from: int
    mechanism: str
    mechanism_from: int


class IdeaInputs(Inputs):
    """All that an idea is made from; ``papers`` are the chain's, then the neighbours'."""

    topic: str
    papers: tuple[PaperBrief, ...]
    chain_length: int
    changes: tuple[Change, ...]
    entities: tuple[EntityView, ...]
    direction: DirectionView | None
    earlier_title: str | None
    too_close: tuple[TooClose, ...]


class IdeaSource(Answer):
    """Where a part of the idea came from."""

    part: Literal["motivation", "novelty", "method"]
    paper: int = Field(description="number of the paper")
    quote: str = Field(description="the words of the paper that this part rests on")


class IdeaDraft(Answer):
    """A research idea, consolidated step by step: motivation, novelty, method, then the whole."""

    motivation: str = Field(
        description="background, what earlier work falls short of, and why it matters; 4 to 8 sentences"
    )
    novelty: str = Field(
        description="how this differs from named earlier papers and what that gains; 3 to 6 sentences"
    )
    method: str = Field(
        description="numbered steps, one a line: each part, what it does and why it solves the problem"
    )
    title: str = Field(description="a specific title of at most 15 words")
    summary: str = Field(description="the idea in 2 or 3 sentences")
    purpose: str = Field(description="one sentence: the problem it solves")
    mechanism: str = Field(description="one sentence: the core mechanism")
    evaluation: str = Field(description="one sentence: how success would be measured")
    sources: tuple[IdeaSource, ...] = Field(description="for every part, the papers it rests on")


def _ideate(engine: Engine, inputs: IdeaInputs) -> dict[str, Any]:
    told = _Telling(engine, inputs, _basis(engine, inputs))
    return {
        "title": told.title(),
        "motivation": told.motivation(),
        "novelty": told.novelty(),
        "method": told.method(),
        "summary": told.summary(),
        "purpose": f"Overcome this limitation of {told.weak}: {told.basis.limitation}",
        "mechanism": f"Bring the mechanism of {told.strong} to it: {told.basis.mechanism}",
        "evaluation": told.evaluation(),
        "sources": told.sources(),
    }


def _basis(engine: Engine, inputs: IdeaInputs) -> DirectionView:
    """The direction to build on: the predicted one, or a new pairing after a paper was too close.

    Papers that an earlier draft was too close to lend no mechanism again.
    """
    closed = {paper.title for paper in inputs.too_close}
    if inputs.direction and inputs.papers[inputs.direction.mechanism_from].title not in closed:
        return inputs.direction
    facets = [engine.facets(p.abstract or p.title, FACETS) for p in inputs.papers]
    if inputs.direction:
        weak, limitation = inputs.direction.limitation_from, inputs.direction.limitation
        closed.add(inputs.papers[inputs.direction.mechanism_from].title)
    else:
        weak = max(
            (i for i in range(inputs.chain_length) if facets[i]["limitation"]),
            default=inputs.chain_length - 1,
        )
        limitation = facets[weak]["limitation"] or inputs.papers[weak].title
    order = engine.rank(
        f"{limitation} {inputs.topic}",
        [f["method"] or p.title for f, p in zip(facets, inputs.papers, strict=True)],
    )
    free = (
        [i for i, _ in order if i != weak and inputs.papers[i].title not in closed]
        or [i for i, _ in order if i != weak]
        or [weak]
    )
    mechanism = facets[free[0]]["method"] or inputs.papers[free[0]].title
    return DirectionView(
        text=f"{limitation} {mechanism}",
        limitation=limitation,
        limitation_from=weak,
        mechanism=mechanism,
        mechanism_from=free[0],
    )


class _Telling:
    """Puts the parts of an offline idea into sentences; every part that was taken keeps its source's name."""

    def __init__(self, engine: Engine, inputs: IdeaInputs, basis: DirectionView) -> None:
        self.engine, self.inputs, self.basis = engine, inputs, basis
        weak, strong = inputs.papers[basis.limitation_from], inputs.papers[basis.mechanism_from]
        self.weak_text = weak.abstract or weak.title
        self.own = engine.facets(self.weak_text, FACETS)
        self.other = engine.facets(strong.abstract or strong.title, FACETS)
        short = [texts.short_name(paper.title, paper.abstract or "") for paper in (weak, strong)]
        self.weak_name, self.strong_name = short
        self.weak, self.strong = f"{short[0]} ({weak.year})", f"{short[1]} ({strong.year})"
        self.brought = engine.key_phrases(basis.mechanism, 2, avoid=short) or [short[1]]
        about = (basis.limitation, self.own["problem"] or "", inputs.topic)
        self.wanted = next(
            filter(None, (engine.key_phrases(one, 2, avoid=short) for one in about)), [short[0]]
        )
        self.topic = texts.without_stop(texts.clip(inputs.topic, 30))

    def title(self) -> str:
        paired = f"{self.brought[0]} for {self.wanted[0]}: from {self.strong_name} to {self.weak_name}"
        return texts.title_case(paired)

    def motivation(self) -> str:
        chain = self.inputs.papers[: self.inputs.chain_length]
        first, last = (
            f"{texts.short_name(p.title, p.abstract or '')} ({p.year})" for p in (chain[0], chain[-1])
        )
        moved = [phrase for change in self.inputs.changes for phrase in change.entered[:1]]
        told = [
            f"This line of work leads from {first} to {last}."
            if len(chain) > 1
            else f"The starting point is {last}."
        ]
        if moved:
            told.append(f"On the way came in {texts.listed(moved)}.")
        if self.own["problem"]:
            told.append(f"What {self.weak} set out from: {self.own['problem']}")
        told.append(f"What it leaves open: {self.basis.limitation}")
        return " ".join([*told, self._still_open()])

    def _still_open(self) -> str:
        """What the chain's later papers do about the limit, as measured."""
        later = self.inputs.papers[self.basis.limitation_from + 1 : self.inputs.chain_length]
        if not later or self.basis.limitation_from >= self.inputs.chain_length:
            return "No later paper of the chain could have taken it up."
        scores = self.engine.similarity(self.basis.limitation, [p.abstract or p.title for p in later])
        near = max(range(len(later)), key=lambda i: (scores[i], -i))
        name = texts.short_name(later[near].title, later[near].abstract or "")
        return f"Of the later papers of the chain, {name} ({later[near].year}) comes nearest to it, at a similarity of {scores[near]:.2f} only."

    def novelty(self) -> str:
        where = (
            "another step of the same chain"
            if self.basis.mechanism_from < self.inputs.chain_length
            else "a line of work beside the chain"
        )
        told = [f"The mechanism comes from {self.strong}, {where}."]
        if self.other["problem"]:
            told.append(f"It was made for another problem: {self.other['problem']}")
        sentence, score = self.engine.best_sentence(self.basis.mechanism, self.weak_text)
        told.append(
            f"Here it is turned on the limit of {self.weak}. The nearest that {self.weak_name} itself comes to this mechanism, at a similarity of {score:.2f}, is: {sentence}"
        )
        if self.inputs.too_close:
            told.append(
                f"An earlier draft was too close to {'; '.join(p.title for p in self.inputs.too_close)}; this one takes another mechanism."
            )
        return " ".join(told)

    def method(self) -> str:
        part, goal = texts.listed(self.brought), texts.listed(self.wanted)
        limit = texts.lower_first(texts.without_stop(self.basis.limitation))
        steps = [
            f"Start from {self.weak}: {self.own['method'] or 'as its authors describe it.'}",
            f"Collect the cases in which its limit shows ({limit}), and hold them apart as a stress set.",
            f"Bring in {part} as {self.strong} does: {self.basis.mechanism}",
            f"Join the two where the limit arises: whatever {self.weak_name} does about {goal} goes through {part} first, and is accepted, revised or sent back by what comes out.",
            "Keep a switch for each new part, so that a gain can be traced to it and not to more computation.",
        ]
        return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))

    def summary(self) -> str:
        return (
            f"{self.weak} leaves a limit open: {self.basis.limitation} The idea is to turn {texts.listed(self.brought)}, "
            f"known from {self.strong}, on {texts.listed(self.wanted)}, and to test it on cases chosen for that limit."
        )

    def evaluation(self) -> str:
        found, name = (
            (self.own["finding"], self.weak) if self.own["finding"] else (self.other["finding"], self.strong)
        )
        setting = f" Point of reference, from {name}: {found}" if found else ""
        return f"Compare with {self.weak} unchanged, on the stress set and on its original tasks.{setting}"

    def sources(self) -> list[dict[str, Any]]:
        weak, strong = self.basis.limitation_from, self.basis.mechanism_from
        found = [
            ("motivation", weak, self.own["problem"]),
            ("motivation", weak, self.basis.limitation),
            ("novelty", strong, self.other["problem"]),
            ("method", weak, self.own["method"]),
            ("method", strong, self.basis.mechanism),
        ]
        return [{"part": part, "paper": paper, "quote": quote} for part, paper, quote in found if quote]


def _idea_sources(inputs: IdeaInputs, answer: IdeaDraft) -> str | None:
    if not answer.sources:
        return "no part names a paper that it rests on"
    return numbers_missing([source.paper for source in answer.sources], len(inputs.papers))


IDEATOR = Role(
    name="ideator", group="main", inputs=IdeaInputs, answer=IdeaDraft, offline=_ideate, check=_idea_sources
)
