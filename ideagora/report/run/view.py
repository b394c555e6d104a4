"""Builds the records that the Markdown and HTML templates show from the files of a run.

It computes nothing but counts of listed items; figures come from the run's folder. Sentences about a
state (unchecked, not recorded, unknown price) are written here, so that both formats agree.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from ideagora.report.drawings import chain_picture
from ideagora.report.run.leads import (
    INTRODUCTION,
    far_leads_warning,
    is_lead,
    lead_view,
    leads_heading,
    novelty_lines,
)
from ideagora.report.run.load import Failure, RecordedUsage, RunFiles, RunRecord, WithheldPaper
from ideagora.report.run.novelty import novelty_summary, same_mechanism_sentence, same_mechanism_titles
from ideagora.report.run.page_records import (
    ChainView,
    CloseView,
    DirectionView,
    IdeaView,
    LeadPage,
    NoveltyView,
    PaperView,
    Quote,
    Ref,
    Report,
    Step,
)
from ideagora.report.run.provenance import recorded_notice
from ideagora.report.run.topic_similarity import similarity_sentence
from ideagora.report.text_cleaning import paper_url, safe_url
from ideagora.schema import Chain, ClosestPaper, Direction, DroppedDraft, Idea, Link, NoveltyCheck, Usage

_SO_FAR = "this report shows its results up to that point."
_STATUS = {
    "running": "This run is not finished: this report shows its results so far.",
    "failed": f"This run failed: {_SO_FAR}",
    "interrupted": f"This run was interrupted: {_SO_FAR} Run the same command again to resume it.",
    "budget": f"This run reached its budget: {_SO_FAR} To resume it, run the same command with a higher "
    "--budget.",
    "incomplete": "This run is incomplete because a provider or source was down. Run the same command again "
    "to fetch only what is missing.",
}
_FACETS = ("purpose", "mechanism", "evaluation")
_GROWTH = {"backward": "Search for earlier papers", "forward": "Search for later papers"}


def build_report(folder: RunFiles) -> Report:
    """Return everything that a report shows."""
    run = folder.run
    spent = run.usage.answers or run.usage
    papers = _refs_by_id(folder)
    leads = [idea for idea in folder.ideas if is_lead(idea)]
    whole = [idea for idea in folder.ideas if not is_lead(idea)]
    ideas = [_idea_view(idea, rank, papers) for rank, idea in enumerate(whole, 1)]
    return Report(
        topic=run.topic.text if run.topic else None,
        before=run.topic.before if run.topic else None,
        offline=run.offline,
        recorded=recorded_notice(run.settings.get("model")),
        status=_status(run.status),
        error=run.error,
        unread=folder.unread,
        leads=_lead_page(leads, papers) if leads else None,
        best=ideas[0] if ideas else None,
        others=tuple(ideas[1:]),
        failures=_failures(run),
        held_back=_withheld_papers(run, papers),
        notes=run.notes,
        cost=_cost_rows(spent.roles, spent.total),
        labels=_cost_rows(spent.labels, None),
        cached=_billed_sentence(run.usage),
        made=_run_provenance(run),
    )


def _status(status: str | None) -> str | None:
    """Return a sentence on how the run ended, ``None`` if it is complete."""
    if status == "done":
        return None
    if status is None:
        return "The outcome of this run was not recorded."
    return _STATUS.get(status, f"Outcome of this run: {status}.")


# --- papers -----------------------------------------------------------------------------------


def _refs_by_id(folder: RunFiles) -> dict[str, Ref]:
    """Return title, year and URL of every paper in the folder, by id."""
    refs: dict[str, Ref] = {}
    for idea in folder.ideas:
        linked = [link.paper for link in idea.chain.links] if idea.chain else []
        for paper in (*linked, *idea.neighbours, *(idea.experiment.found if idea.experiment else ())):
            url = safe_url(paper.url) or paper_url(paper.id)
            refs.setdefault(paper.id, Ref(paper.id, paper.title.strip() or paper.id, paper.year, url))
    for idea in folder.ideas:
        for close in idea.novelty_check.closest if idea.novelty_check else ():
            title = close.title.strip() or close.paper_id
            refs.setdefault(close.paper_id, Ref(close.paper_id, title, None, paper_url(close.paper_id)))
    return refs


def _ref(paper_id: str, papers: dict[str, Ref]) -> Ref:
    return papers.get(paper_id) or Ref(
        paper_id, paper_id or "a paper without an id", None, paper_url(paper_id)
    )


# --- ideas ------------------------------------------------------------------------------------


def _idea_view(idea: Idea, rank: int, papers: dict[str, Ref]) -> IdeaView:
    return IdeaView(
        record=idea,
        rank=rank,
        chain=_chain_view(idea.chain, papers) if idea.chain else None,
        parts=_parts(idea, papers),
        references=tuple(_ref(paper_id, papers) for paper_id in idea.references),
        novelty=_novelty_view(idea.novelty_check, papers),
        facets=_facets(idea.facets),
        plan=_plan(idea),
        made=_idea_provenance(idea),
    )


def _lead_page(ideas: Sequence[Idea], papers: dict[str, Ref]) -> LeadPage:
    """Return the leads, and each chain once without its direction, which the leads replace."""
    views = [lead_view(idea, number) for number, idea in enumerate(ideas, 1)]
    chains = {idea.chain.anchor: idea.chain for idea in ideas if idea.chain}
    return LeadPage(
        leads=tuple((lead, tuple(_ref(paper_id, papers) for paper_id in lead.read)) for lead in views),
        novelty=(*novelty_lines(ideas), *far_leads_warning(ideas)),
        chains=tuple(
            _chain_view(chain.model_copy(update={"direction": None}), papers) for chain in chains.values()
        ),
        heading=leads_heading(len(ideas)),
        introduction=INTRODUCTION,
    )


def _chain_view(chain: Chain, papers: dict[str, Ref]) -> ChainView:
    links = chain_picture.chronological_links(chain)
    return ChainView(
        query=chain.query,
        nearness=similarity_sentence(chain),
        is_far=chain.is_far_from_topic,
        papers=tuple(_paper_view(chain, link, papers) for link in links),
        steps=_steps(chain, links, papers),
        direction=_direction_view(chain.direction, papers) if chain.direction else None,
        stopped=tuple((_GROWTH.get(side, side), why) for side, why in sorted(chain.stopped.items())),
        pictures=chain_picture.chain_pictures(chain, {ref.id: ref.url for ref in papers.values() if ref.url}),
    )


def _paper_view(chain: Chain, link: Link, papers: dict[str, Ref]) -> PaperView:
    kind = chain_picture.link_kind(link)
    return PaperView(
        ref=_ref(link.paper.id, papers),
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
        steps.append(Step(_ref(earlier.paper.id, papers), _ref(later.paper.id, papers), change))
    listed = [step.change for step in steps]
    rest = [change for change in chain.transitions if change not in listed]
    return (*steps, *(Step(_ref(c.earlier, papers), _ref(c.later, papers), c) for c in rest))


def _direction_view(direction: Direction, papers: dict[str, Ref]) -> DirectionView:
    source = direction.mechanism_from
    mechanism = None if source is None else _ref(source, papers)
    return DirectionView(direction, _ref(direction.limitation_from, papers), mechanism)


def _parts(idea: Idea, papers: dict[str, Ref]) -> tuple[tuple[str, tuple[Quote, ...]], ...]:
    """Return the quotes behind each part of the idea, in recorded order."""
    quotes_by_part: dict[str, list[Quote]] = {}
    for source in idea.sources:
        quotes_by_part.setdefault(source.part, []).append(
            Quote(_ref(source.paper_id, papers), source.quote.strip())
        )
    return tuple((part, tuple(quotes)) for part, quotes in quotes_by_part.items())


def _novelty_view(check: NoveltyCheck | None, papers: dict[str, Ref]) -> NoveltyView:
    if check is None:
        return NoveltyView("unchecked", "The novelty of this idea was not checked.", (), (), ())
    others = {name for close in check.closest for name in close.facets} - set(_FACETS)
    named = any(close.facets for close in check.closest)
    columns = (*_FACETS, *sorted(others)) if named else ()
    facts = [
        *([_plural(check.reported, "It reported on {}", "It reported on {}")] if check.reported else []),
        *filter(None, [same_mechanism_sentence(same_mechanism_titles(check))]),
        _rounds(check.rounds),
        *(_dropped_draft(number, draft) for number, draft in enumerate(check.dropped, 1)),
    ]
    if check.reason:
        facts.append(check.reason)
    closest = tuple(_close_view(close, columns, papers) for close in check.closest)
    return NoveltyView(check.status, novelty_summary(check), tuple(facts), columns, closest)


def _close_view(close: ClosestPaper, columns: Iterable[str], papers: dict[str, Ref]) -> CloseView:
    known = _ref(close.paper_id, papers)
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


def _plural(count: int, singular: str, plural: str) -> str:
    return f"{(singular if count == 1 else plural).format(f'{count:,}')}."


def _facets(facets: dict[str, str]) -> tuple[tuple[str, str], ...]:
    names = [name for name in _FACETS if name in facets] + sorted(set(facets) - set(_FACETS))
    return tuple((name, facets[name]) for name in names)


def _plan(idea: Idea) -> tuple[tuple[str, tuple[str, ...], str], ...] | None:
    plan = idea.experiment
    if plan is None:
        return None
    return (
        ("Steps", plan.steps, "None."),
        ("Datasets", plan.datasets, "None."),
        ("Baselines", plan.baselines, "None."),
        ("Metrics", plan.metrics, "None."),
        ("Ablations", plan.ablations, "None."),
        ("Risks", plan.risks, "None."),
        ("Refuted if", (plan.refuted_if,) if plan.refuted_if else (), "Not stated."),
        ("Suggestions of the reviewer", plan.suggestions, "None."),
        ("Declined suggestions", plan.declined, "None."),
        ("Searches", plan.searched, "None."),
        ("Search results", tuple(f"{p.title} ({p.year})" for p in plan.found), "None."),
    )


def _idea_provenance(idea: Idea) -> tuple[tuple[str, str], ...]:
    rows = [("Model", idea.model), ("Agent", idea.agent)]
    if idea.branch is not None:
        rows.append(("Branch", str(idea.branch)))
    if idea.wins:
        rows.append(("Pairwise comparisons", idea.wins))
    rows.append(("Id", idea.id))
    extra = {name: value for name, value in idea.extra.items() if name != "original"}  # original: as imported
    rows += [(name, _format_value(value)) for name, value in sorted(extra.items())]
    return tuple(rows)


# --- the run ----------------------------------------------------------------------------------


def _failures(run: RunRecord) -> tuple[tuple[str, str], ...]:
    """Return (branch, reason) in the order of the branches."""
    ordered = sorted(
        run.failures, key=lambda failure: (failure.branch is None, failure.branch or 0, failure.query or "")
    )
    return tuple((_branch_name(failure), failure.error or "Reason not recorded.") for failure in ordered)


def _branch_name(failed: Failure) -> str:
    branch = "Left out" if failed.branch is None else f"Branch {failed.branch}"
    return f"{branch}, query “{failed.query}”" if failed.query else branch


def _withheld_papers(run: RunRecord, papers: dict[str, Ref]) -> tuple[tuple[Ref, str], ...]:
    ordered = sorted(run.held_back, key=lambda paper: (paper.title or "", paper.id or ""))
    return tuple((_withheld_ref(paper, papers), paper.why or "Reason not recorded.") for paper in ordered)


def _withheld_ref(paper: WithheldPaper, papers: dict[str, Ref]) -> Ref:
    known = _ref(paper.id or "", papers)
    return Ref(known.id, paper.title or known.title, known.year, known.url)


def _cost_rows(named: dict[str, Usage], total: Usage | None) -> tuple[tuple[str, ...], ...]:
    """Return rows of (name, calls, prompt tokens, completion tokens, dollars), the total last."""
    rows = [_usage_row(name, usage) for name, usage in sorted(named.items())]
    return (*rows, _usage_row("Total", total)) if total else tuple(rows)


def _usage_row(name: str, usage: Usage) -> tuple[str, ...]:
    counts = (usage.calls, usage.prompt_tokens, usage.completion_tokens)
    return (name, *(f"{count:,}" for count in counts), dollars(usage.cost_usd))


def dollars(cost: float | None) -> str:
    """Format a cost: four digits below a dollar, and ``unknown price`` for ``None``."""
    if cost is None or not math.isfinite(cost):
        return "unknown price"
    return f"${cost:,.2f}" if cost >= 1 or cost == 0 else f"${cost:.4f}"


def _billed_sentence(usage: RecordedUsage) -> str:
    """Return what this run itself requested and paid, and how many answers were cached."""
    if usage.total is None or usage.answers is None:
        return _cached_sentence(usage.cached)
    text = f"This run made {_call_count(usage.total.calls)}, for {dollars(usage.total.cost_usd)}"
    if usage.estimated_calls:
        text += (
            f", of which {dollars(usage.total.estimated_usd)} is an upper estimate for "
            f"{_call_count(usage.estimated_calls)} that were cut off or whose usage was not reported"
        )
    return f"{text}. {_cached_sentence(usage.cached)}"


def _call_count(number: int) -> str:
    return "1 model call" if number == 1 else f"{number:,} model calls"


def _cached_sentence(count: int | None) -> str:
    if count is None:
        return "The number of cached answers was not recorded."
    if count == 0:
        return "No answer came from the cache."
    return _plural(count, "{} further answer came from the cache", "{} further answers came from the cache")


def _run_provenance(run: RunRecord) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Return (heading, rows) on agent, settings, versions and prompts."""
    seed = "not recorded" if run.seed is None else str(run.seed)
    first = [("Agent", run.agent or "not recorded"), ("Seed", seed)]
    if run.topic:
        first += [("Inspirations", ", ".join(run.topic.inspirations))] if run.topic.inspirations else []
        first += [("Excluded", ", ".join(run.topic.excluded))] if run.topic.excluded else []
    return (
        ("Run", tuple(first)),
        ("Agent options", _rows(run.options)),
        ("Settings", _rows(run.settings)),
        ("Versions", _rows(run.versions)),
        ("Prompts (hashes)", _rows(run.prompts)),
    )


def _rows(values: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, _format_value(value)) for name, value in sorted(values.items()))


def _format_value(value: Any) -> str:
    """Format a setting's value. Folders are not named, since they differ between machines."""
    if value is None:
        return "not set"
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return "a local folder" if text.startswith("…/") else text
