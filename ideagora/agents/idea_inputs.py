"""The inputs of the ideator, and its offline handler, which writes a lead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice

from ideagora.agents.idea_parts import IdeaDraft, IdeaSource, SourcedIdea
from ideagora.agents.offline_leads.facts import PaperFacts, facts_of_abstracts
from ideagora.agents.offline_leads.fits import Fit, find_fits, measure_pair
from ideagora.agents.offline_leads.leads import LeadText, write_lead
from ideagora.agents.views import Change, EntityView, PaperBrief, ShownPaper
from ideagora.models.call import Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts


class TooClose(Inputs):
    """A paper, by number, that an earlier draft was too close to."""

    paper: int
    title: str
    overlap: str | None


class EarlierDraft(Inputs):
    """The draft to replace."""

    title: str
    summary: str


class TakenIdea(Inputs):
    """An idea that another branch has already come to."""

    title: str
    summary: str
    purpose: str
    mechanism: str


class ProposedIdea(Inputs):
    """An idea that was already proposed for the topic, in this run or before."""

    title: str
    summary: str


class DirectionView(Inputs):
    """A research direction: a limitation and a mechanism with the numbers of their papers."""

    text: str
    limitation: str
    limitation_from: int
    mechanism: str
    mechanism_from: int | None
    """``None``: the mechanism is stated from memory."""
    recalled: tuple[int, ...] = ()
    """Numbers of the papers that a search for a mechanism from memory found."""


class IdeaInputs(Inputs):
    """The inputs of the ideator.

    ``papers`` holds the chain, then related papers, then papers that an earlier draft was too close to.
    ``chain_length`` is 0 if the papers form no chain.
    """

    topic: str
    papers: tuple[ShownPaper, ...]
    chain_length: int
    changes: tuple[Change, ...]
    entities: tuple[EntityView, ...]
    direction: DirectionView | None
    earlier: EarlierDraft | None
    too_close: tuple[TooClose, ...]
    taken: tuple[TakenIdea, ...] = ()
    """Ideas of other branches that the draft must not repeat."""
    focus: str | None = None
    """What the user prefers."""
    avoid: tuple[ProposedIdea, ...] = ()
    """Ideas that must not come again."""
    candidates: int = 3
    """Number of candidates to weigh; 0 for a lead, whose pair is already chosen."""


def draft_lead(
    engine: ExtractiveModel,
    topic: str,
    papers: Sequence[PaperBrief],
    direction: DirectionView | None = None,
    too_close: tuple[TooClose, ...] = (),
    chain_length: int = 0,
) -> SourcedIdea:
    """Return a lead: the handler of ideators without candidates.

    Args:
        engine: the offline model.
        topic: the topic of the lead.
        papers: papers that supply limitations and mechanisms.
        direction: the pair to use, if it is chosen already.
        too_close: papers that supply no mechanism.
        chain_length: only so many of the first papers supply limitations; 0 for all.
    """
    inputs = IdeaInputs(
        topic=topic,
        papers=tuple(ShownPaper(**paper.model_dump(), retelling=None) for paper in papers),
        chain_length=chain_length,
        changes=(),
        entities=(),
        direction=direction,
        earlier=None,
        too_close=too_close,
    )
    facts, fit = _best_pair(engine, inputs)
    return _write_lead(inputs, facts, fit)


def lead_as_steps(lead: SourcedIdea) -> str:
    """Return the method of a lead as steps: take the mechanism, apply it, make the first test."""
    return "\n".join(
        (
            f"1. Take this mechanism: {lead.method}.",
            f"2. Apply it to this limitation: {lead.motivation}.",
            f"3. {lead.evaluation}",
        )
    )


def draft_weighed_lead(engine: ExtractiveModel, inputs: IdeaInputs) -> IdeaDraft:
    """Return a lead with candidates: the ideator's offline handler."""
    papers, fit = _best_pair(engine, inputs)
    lead = _lead_text(inputs, papers, fit)
    return _write_lead(inputs, papers, fit).extended_to(
        IdeaDraft,
        candidates=_candidates(engine, inputs, papers, fit),
        obvious=1 if inputs.candidates > 1 else None,
        chosen=0 if inputs.candidates else None,
        claim=lead.claim,
        might_fail=lead.doubt,
        queries=(),
    )


def _best_pair(engine: ExtractiveModel, inputs: IdeaInputs) -> tuple[list[PaperFacts], Fit]:
    papers = facts_of_abstracts(engine, inputs.papers)
    fit = _fit_of_direction(engine, inputs, papers) if inputs.direction else _best_fit(engine, inputs, papers)
    return papers, fit


def _lead_text(inputs: IdeaInputs, papers: Sequence[PaperFacts], fit: Fit) -> LeadText:
    place = inputs.direction.text if inputs.direction else ""
    return write_lead(fit, papers[fit.weak], papers[fit.strong], place)


def _write_lead(inputs: IdeaInputs, papers: Sequence[PaperFacts], fit: Fit) -> SourcedIdea:
    lead, problem = _lead_text(inputs, papers, fit), papers[fit.strong].problem
    sources = (
        IdeaSource(part="motivation", paper=fit.weak, quote=lead.limitation),
        IdeaSource(part="method", paper=fit.strong, quote=lead.mechanism),
        IdeaSource(part="novelty", paper=fit.strong, quote=problem or ""),
    )
    return SourcedIdea(
        title=lead.title,
        motivation=lead.motivation,
        novelty=lead.novelty,
        method=lead.method,
        summary=f"{texts.without_stop(lead.limitation)}. {lead.mechanism}",
        purpose=lead.limitation,
        mechanism=lead.mechanism,
        evaluation=lead.test,
        sources=tuple(source for source in sources if source.quote),
    )


def _candidates(
    engine: ExtractiveModel, inputs: IdeaInputs, papers: Sequence[PaperFacts], fit: Fit
) -> tuple[str, ...]:
    """Return the pair and others for the same limitation; the second one has the most similar paper."""
    weak, strong = papers[fit.weak], papers[fit.strong]
    others = [papers[i] for i in range(len(papers)) if i not in (fit.weak, fit.strong)] or [strong]
    ranked = engine.rank(weak.text or weak.name, [paper.text or paper.name for paper in others])
    sources = [strong, *(others[place] for place, _ in ranked)]
    return tuple(
        f"Use the mechanism of {source.name} for the limitation of {weak.name}."
        for source in islice(cycle(sources), inputs.candidates)
    )


def _fit_of_direction(engine: ExtractiveModel, inputs: IdeaInputs, papers: Sequence[PaperFacts]) -> Fit:
    """Return the pair that the direction names, measured again, even if it is not a good fit."""
    direction = inputs.direction
    assert direction is not None
    assert direction.mechanism_from is not None, "the offline model remembers nothing"
    weak, strong = direction.limitation_from, direction.mechanism_from
    chosen = [
        replace(papers[weak], limitation=direction.limitation or papers[weak].limitation),
        papers[strong],
    ]
    fits = [fit for fit in find_fits(engine, inputs.topic, chosen, [0]) if fit.strong == 1]
    fit = fits[0] if fits else measure_pair(engine, chosen, 0, 1)
    return replace(fit, weak=weak, strong=strong)


def _best_fit(engine: ExtractiveModel, inputs: IdeaInputs, papers: Sequence[PaperFacts]) -> Fit:
    """Return the best pair; papers that an earlier draft was too close to supply no mechanism."""
    excluded = {paper.paper for paper in inputs.too_close}
    weak = range(inputs.chain_length or len(papers))
    fits = [fit for fit in find_fits(engine, inputs.topic, papers, weak) if fit.strong not in excluded]
    if fits:
        return fits[0]
    limited = [i for i in weak if papers[i].limitation] or [weak[-1]]
    places = limited[-1:] if inputs.chain_length else limited
    others = [i for i in range(len(papers)) if i not in excluded] or [places[0]]
    strong = [i for i in others if papers[i].method] or others
    pairs = [(i, j) for i in places for j in strong if i != j] or [(places[0], strong[0])]
    near = engine.similarity(inputs.topic, [paper.text or paper.name for paper in papers])
    return max(
        (measure_pair(engine, papers, *pair) for pair in pairs),
        key=lambda fit: fit.closeness + near[fit.weak] + near[fit.strong],
    )
