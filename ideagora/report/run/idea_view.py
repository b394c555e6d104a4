"""Builds the records of ideas and leads that the templates show, from those of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from ideagora.models.cache.recording import PREFIX
from ideagora.report.drawings import chain_picture
from ideagora.report.drawings.geometry import Picture
from ideagora.report.run.page_records import (
    ChainView,
    CloseView,
    DirectionView,
    IdeaView,
    LeadPage,
    NoveltyView,
    PairingView,
    PaperView,
    Quote,
    RecollectionView,
    Ref,
    Step,
    VerdictView,
)
from ideagora.report.run.paper_refs import paper_ref
from ideagora.report.run.wording.formatting import count_in_words, format_value
from ideagora.report.run.wording.leads import (
    INTRODUCTION,
    far_leads_warning,
    lead_view,
    leads_heading,
    novelty_lines,
)
from ideagora.report.run.wording.novelty import (
    novelty_summary,
    same_mechanism_sentence,
    same_mechanism_titles,
)
from ideagora.report.run.wording.topic_similarity import similarity_sentence
from ideagora.report.text_cleaning import without_number
from ideagora.schema import (
    Chain,
    ClosestPaper,
    Comparison,
    Direction,
    DroppedDraft,
    Experiment,
    Idea,
    Link,
    NoveltyCheck,
)

_FACETS = ("purpose", "mechanism", "evaluation")
_GROWTH = {"backward": "Search for earlier papers", "forward": "Search for later papers"}


def idea_view(idea: Idea, rank: int, papers: dict[str, Ref], titles: Mapping[str, str]) -> IdeaView:
    """Return an idea as the page shows it.

    Args:
        idea: the record.
        rank: its place, 1 for the best.
        papers: the papers of the run by id.
        titles: titles of the run's ideas by id.
    """
    return IdeaView(
        record=idea,
        rank=rank,
        core=core_rows(idea),
        verdicts=_verdicts(idea, titles),
        twins=_twins(idea),
        recollections=_recollections(idea, papers),
        chain=_chain_view(idea.chain, papers) if idea.chain else None,
        parts=_parts(idea, papers),
        references=tuple(paper_ref(paper_id, papers) for paper_id in idea.references),
        shown=tuple(paper_ref(paper.id, papers) for paper in idea.neighbours),
        novelty=_novelty_view(idea.novelty_check, papers),
        plan=plan_sections(idea),
        first_steps=tuple(map(without_number, idea.experiment.first_steps)) if idea.experiment else (),
        made=_idea_provenance(idea),
    )


def core_rows(idea: Idea) -> tuple[tuple[str, str], ...]:
    """Return (name, text) of what an idea comes down to, without what was not recorded."""
    plan = idea.experiment
    rows = (
        ("Problem", idea.facets.get("purpose")),
        ("Claim", idea.claim),
        ("Mechanism", idea.facets.get("mechanism")),
        ("Test", idea.facets.get("evaluation")),
        ("Refuted if", plan.refuted_if if plan else None),
        ("Might fail", idea.might_fail),
    )
    return tuple((name, text.strip()) for name, text in rows if text and text.strip())


def _verdicts(idea: Idea, titles: Mapping[str, str]) -> tuple[VerdictView, ...]:
    """The verdicts of one opponent together, opponents in the order of their first verdict."""
    opponents = list(dict.fromkeys(comparison.other for comparison in idea.comparisons))
    return tuple(
        VerdictView(
            other=titles.get(comparison.other) or "an idea that is not in this folder",
            result=_verdict_sentence(comparison),
            reason=comparison.reason.strip(),
        )
        for comparison in sorted(idea.comparisons, key=lambda comparison: opponents.index(comparison.other))
    )


def _verdict_sentence(comparison: Comparison) -> str:
    shown = "shown first" if comparison.shown_first else "shown second"
    judge = comparison.judge.removeprefix(PREFIX)
    if comparison.criteria is None:
        return f"{judge}, {shown}: no readable verdict"
    by_result = {
        result: [name for name, outcome in comparison.criteria.items() if outcome == result]
        for result in ("won", "lost", "tied")
    }
    criteria = "; ".join(f"{result} {', '.join(names)}" for result, names in by_result.items() if names)
    overall = f" Overall: {comparison.overall}." if comparison.overall else ""
    return f"{judge}, {shown}: {criteria}.{overall}"


def _twins(idea: Idea) -> tuple[tuple[str, str], ...]:
    dropped = idea.novelty_check.dropped if idea.novelty_check else ()
    return tuple((draft.title, draft.same_as) for draft in dropped if draft.same_as)


def _recollections(idea: Idea, papers: dict[str, Ref]) -> tuple[RecollectionView, ...]:
    views = []
    for paper in idea.recollections:
        known = paper_ref(paper.paper_id, papers)
        ref = Ref(known.id, paper.title, (paper.date or "")[:4] or known.year, known.url)
        views.append(RecollectionView(ref, paper.why_hidden, f"{paper.similarity:.2f}"))
    return tuple(views)


def lead_page(ideas: Sequence[Idea], papers: dict[str, Ref]) -> LeadPage:
    """Return the leads, and each chain once without its direction, which the leads replace."""
    views = [lead_view(idea, number) for number, idea in enumerate(ideas, 1)]
    chains = {idea.chain.anchor: idea.chain for idea in ideas if idea.chain}
    return LeadPage(
        leads=tuple((lead, tuple(paper_ref(paper_id, papers) for paper_id in lead.read)) for lead in views),
        novelty=(*novelty_lines(ideas), *far_leads_warning(ideas)),
        chains=tuple(
            _chain_view(chain.model_copy(update={"direction": None}), papers) for chain in chains.values()
        ),
        heading=leads_heading(len(ideas)),
        introduction=INTRODUCTION,
    )


def _chain_view(chain: Chain, papers: dict[str, Ref]) -> ChainView:
    links = chain_picture.chronological_links(chain)
    pictures = chain_picture.chain_pictures(chain, {ref.id: ref.url for ref in papers.values() if ref.url})
    return ChainView(
        query=chain.query,
        nearness=similarity_sentence(chain),
        is_far=chain.is_far_from_topic,
        papers=tuple(_paper_view(chain, link, papers) for link in links),
        steps=_steps(chain, links, papers),
        direction=_direction_view(chain.direction, papers, pictures) if chain.direction else None,
        stopped=tuple((_GROWTH.get(side, side), why) for side, why in sorted(chain.stopped.items())),
        pictures=pictures,
    )


def _paper_view(chain: Chain, link: Link, papers: dict[str, Ref]) -> PaperView:
    kind = chain_picture.link_kind(link)
    return PaperView(
        ref=paper_ref(link.paper.id, papers),
        role=chain_picture.ROLES[kind],
        kind=kind,
        gives=chain_picture.contributions(chain, link),
        link=link,
    )


def _steps(chain: Chain, links: tuple[Link, ...], papers: dict[str, Ref]) -> tuple[Step, ...]:
    """Return one step per pair of neighbours, then the transitions recorded for other pairs."""
    steps = []
    for earlier, later in pairwise(links):
        change = chain_picture.transition_between(chain, earlier, later)
        steps.append(Step(paper_ref(earlier.paper.id, papers), paper_ref(later.paper.id, papers), change))
    listed = [step.change for step in steps]
    rest = [change for change in chain.transitions if change not in listed]
    return (*steps, *(Step(paper_ref(c.earlier, papers), paper_ref(c.later, papers), c) for c in rest))


def _direction_view(
    direction: Direction, papers: dict[str, Ref], pictures: tuple[Picture, Picture] | None
) -> DirectionView:
    def optional_ref(paper_id: str | None) -> Ref | None:
        return None if paper_id is None else paper_ref(paper_id, papers)

    return DirectionView(
        record=direction,
        limitation=paper_ref(direction.limitation_from, papers),
        mechanism=optional_ref(direction.mechanism_from),
        recalled=tuple(paper_ref(paper_id, papers) for paper_id in direction.mechanism_found),
        in_picture=pictures is not None and all(chain_picture.shows_all(picture) for picture in pictures),
        pairings=tuple(
            PairingView(
                way=pairing.way,
                limitation=paper_ref(pairing.limitation_from, papers),
                mechanism=pairing.mechanism,
                source=optional_ref(pairing.mechanism_from),
                why=pairing.why,
            )
            for pairing in direction.pairings
        ),
    )


def _parts(idea: Idea, papers: dict[str, Ref]) -> tuple[tuple[str, tuple[Quote, ...]], ...]:
    """Return the quotes behind each part of the idea, in recorded order."""
    quotes_by_part: dict[str, list[Quote]] = {}
    for source in idea.sources:
        quotes_by_part.setdefault(source.part, []).append(
            Quote(paper_ref(source.paper_id, papers), source.quote.strip())
        )
    return tuple((part, tuple(quotes)) for part, quotes in quotes_by_part.items())


def _novelty_view(check: NoveltyCheck | None, papers: dict[str, Ref]) -> NoveltyView:
    if check is None:
        return NoveltyView("unchecked", "The novelty of this idea was not checked.", (), (), ())
    others = {name for close in check.closest for name in close.facets} - set(_FACETS)
    named = any(close.facets for close in check.closest)
    columns = (*_FACETS, *sorted(others)) if named else ()
    facts = [
        *(
            [count_in_words(check.reported, "It reported on {}", "It reported on {}")]
            if check.reported
            else []
        ),
        *filter(None, [same_mechanism_sentence(same_mechanism_titles(check))]),
        *_verdict_facts(check, papers),
        _rounds(check.rounds),
        *(_dropped_draft(number, draft) for number, draft in enumerate(check.dropped, 1) if draft.too_close),
    ]
    if check.reason:
        facts.append(check.reason)
    closest = tuple(_close_view(close, columns, papers) for close in check.closest)
    return NoveltyView(
        check.status, novelty_summary(check), tuple(facts), columns, closest, check.from_memory
    )


def _verdict_facts(check: NoveltyCheck, papers: dict[str, Ref]) -> list[str]:
    """Return sentences on the verdict on the whole idea, and on what the judge read the idea as."""
    facts = []
    if check.verdict:
        facts.append(f"Verdict on the whole idea: {check.verdict}. {check.verdict_reason or ''}".strip())
    if check.combination:
        names = " and ".join(f"“{paper_ref(paper_id, papers).title}”" for paper_id in check.combination)
        facts.append(f"Together they make it obvious: {names}.")
    if check.plain_mechanism and check.judge != "offline":
        facts.append(f"The judge's words for it: {check.plain_purpose} {check.plain_mechanism}")
    return facts


def _close_view(close: ClosestPaper, columns: Iterable[str], papers: dict[str, Ref]) -> CloseView:
    known = paper_ref(close.paper_id, papers)
    return CloseView(
        ref=Ref(known.id, close.title.strip() or known.title, known.year, known.url),
        similarity=f"{close.similarity:.2f}" if math.isfinite(close.similarity) else "unknown",
        overlap=(close.overlap or "").strip(),
        cells=tuple((name, close.facets.get(name)) for name in columns),
        difference=(close.difference or "").strip(),
        too_close=close.too_close,
    )


def _dropped_draft(number: int, draft: DroppedDraft) -> str:
    """Return a sentence on a rewritten draft and the papers that it was too close to."""
    papers = "; ".join(f"{close.title} (similarity {close.similarity:.2f})" for close in draft.too_close)
    return f"Draft {number}, “{draft.title}”, was too close to: {papers}."


def _rounds(rounds: int) -> str:
    if rounds == 0:
        return "Not rewritten."
    times = "once" if rounds == 1 else f"{rounds} times"
    return f"Rewritten {times} because a paper was too close."


def plan_sections(idea: Idea) -> tuple[tuple[str, tuple[str, ...], str], ...] | None:
    """Return (heading, entries, text for no entries) of the parts of the experiment plan, and its review."""
    plan = idea.experiment
    if plan is None:
        return None
    lists = (
        ("Steps", tuple(map(without_number, plan.steps)), "None."),
        ("Datasets", plan.datasets, "None."),
        ("Baselines", plan.baselines, "None."),
        ("Metrics", plan.metrics, "None."),
        ("Ablations", plan.ablations, "None."),
        ("Risks", plan.risks, "None."),
        ("Refuted if", (plan.refuted_if,) if plan.refuted_if else (), "Not stated."),
        ("Cost", (plan.cost,) if plan.cost else (), ""),
        ("Suggestions of the reviewer", plan.suggestions, "None."),
        ("Declined suggestions", plan.declined, "None."),
        ("Defects of the idea, fixed in its method", idea.amendments, ""),
        ("Claim before the review", (idea.first_claim,) if idea.first_claim else (), ""),
        ("Searches", _searches(plan), "None."),
        ("Search results", tuple(f"{p.title} ({p.year})" for p in plan.found), "None."),
    )
    return tuple(row for row in lists if row[1] or row[2])


def _searches(plan: Experiment) -> tuple[str, ...]:
    return tuple(
        f"{query} (nothing found)" if query in plan.nothing_found else query for query in plan.searched
    )


def _idea_provenance(idea: Idea) -> tuple[tuple[str, str], ...]:
    rows = [("Model", idea.model), ("Agent", idea.agent)]
    if idea.branch is not None:
        rows.append(("Branch", str(idea.branch)))
    if idea.wins:
        rows.append(("Pairwise comparisons", idea.wins))
    rows.append(("Id", idea.id))
    extra = {name: value for name, value in idea.extra.items() if name != "original"}  # original: as imported
    rows += [(name, format_value(value)) for name, value in sorted(extra.items())]
    return tuple(rows)
