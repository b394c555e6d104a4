"""What an idea is made from, and how the offline model tells one.

The offline ideator pairs an open limitation with a mechanism, each from a paper, and puts what it
took into sentences; where it says that something is near or far, the figure stands beside it.
"""

from __future__ import annotations

from typing import Any

from ideagora.agents.views import Change, EntityView, ShownPaper
from ideagora.models.call import Inputs
from ideagora.models.offline import Engine
from ideagora.models.offline import text as texts

FACETS = ("problem", "method", "finding", "limitation")


class TooClose(Inputs):
    """A paper that an earlier draft came too close to, by its number."""

    paper: int
    title: str
    overlap: str | None


class EarlierDraft(Inputs):
    """The draft that has to be replaced."""

    title: str
    summary: str


class DirectionView(Inputs):
    """The future direction, its limitation and mechanism with the numbers of their papers."""

    text: str
    limitation: str
    limitation_from: int
    mechanism: str
    mechanism_from: int


class IdeaInputs(Inputs):
    """All that an idea is made from; ``papers``: the chain's, the neighbours', those that were too close.

    A ``chain_length`` of 0 says that the papers stand in no chain.
    """

    topic: str
    papers: tuple[ShownPaper, ...]
    chain_length: int
    changes: tuple[Change, ...]
    entities: tuple[EntityView, ...]
    direction: DirectionView | None
    earlier: EarlierDraft | None
    too_close: tuple[TooClose, ...]


def tell_idea(engine: Engine, inputs: IdeaInputs) -> dict[str, Any]:
    """The offline recipe of the ideator: the fields of an ``IdeaDraft``."""
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
        weak = _weak_place(engine, inputs, [facet["limitation"] for facet in facets])
        limitation = facets[weak]["limitation"] or inputs.papers[weak].title
    order = engine.rank(
        f"{limitation} {inputs.topic}",
        [f["method"] or p.title for f, p in zip(facets, inputs.papers, strict=True)],
    )
    order.sort(key=lambda ranked: not inputs.papers[ranked[0]].abstract)  # a title says no mechanism
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


def _weak_place(engine: Engine, inputs: IdeaInputs, limitations: list[str | None]) -> int:
    """The last paper of the chain that tells a limitation; without a chain, that nearest to the topic."""
    stated = [i for i, limitation in enumerate(limitations) if limitation]
    if inputs.chain_length:
        return max((i for i in stated if i < inputs.chain_length), default=inputs.chain_length - 1)
    ranked = engine.rank(inputs.topic, [limitations[i] or "" for i in stated])
    return stated[ranked[0][0]] if ranked else 0


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
        self.lack, self.step = engine.nearest_clauses(basis.limitation, basis.mechanism)
        phrases = [engine.key_phrases(one, 1, avoid=short) for one in (self.step, basis.mechanism)]
        self.part = next((found[0] for found in phrases if found), "mechanism")

    def title(self) -> str:
        return texts.title_case(f"{self.weak_name} with the {self.part} of {self.strong_name}")

    def motivation(self) -> str:
        if not self.inputs.chain_length:
            told = [f"Of the {len(self.inputs.papers)} papers shown, {self.weak} is taken up."]
            told += [f"What it set out from: {self.own['problem']}"] if self.own["problem"] else []
            return " ".join([*told, f"What it leaves open: {self.basis.limitation}"])
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
        return (
            f"Of the later papers of the chain, {name} ({later[near].year}) comes nearest to it, at a "
            f"similarity of {scores[near]:.2f} only."
        )

    def novelty(self) -> str:
        told = [f"The mechanism comes from {self.strong}, {self._place()}."]
        if self.other["problem"]:
            told.append(f"It was made for another problem: {self.other['problem']}")
        sentence, score = self.engine.best_sentence(self.basis.mechanism, self.weak_text)
        told.append(
            f"Here it is turned on the limit of {self.weak}. The nearest that {self.weak_name} "
            f"itself comes to this mechanism, at a similarity of {score:.2f}, is: {sentence}"
        )
        if self.inputs.too_close:
            told.append(
                "An earlier draft was too close to "
                f"{'; '.join(p.title for p in self.inputs.too_close)}; this one takes another "
                "mechanism."
            )
        return " ".join(told)

    def _place(self) -> str:
        """Where the paper with the mechanism stands."""
        if not self.inputs.chain_length:
            return "another of the papers shown"
        within = self.basis.mechanism_from < self.inputs.chain_length
        return "another step of the same chain" if within else "a line of work beside the chain"

    def method(self) -> str:
        base = self.own["method"] or "as its authors describe it."
        steps = [
            f"Start from {self.weak}: {base}",
            f"Collect the cases in which its limit shows (“{self.lack}”), and hold them as a stress set.",
            f"Take from {self.strong}: {self.basis.mechanism}",
            f"Join the two where the limit arises: what {self.weak_name} puts out goes through the step "
            f"taken from {self.strong_name} (“{self.step}”), and is accepted, revised or sent back.",
            "Keep a switch for each new part, so that a gain can be traced to it, not to more computation.",
        ]
        return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))

    def summary(self) -> str:
        return (
            f"Where {self.weak} falls short (“{self.lack}”), {self.strong} has something to offer "
            f"(“{self.step}”). The idea is to build that step into {self.weak_name} where its limit "
            "arises, and to test it on cases chosen for that limit."
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
