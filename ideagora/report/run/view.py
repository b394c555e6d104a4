"""What both templates show: the records of a run in the order and the words of a report.

Nothing is computed here but counts of what is listed; figures come from the run's folder. Each
sentence about a state (unchecked, not recorded, unknown price) is made once, so that Markdown and
HTML say the same.
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

_BY_THEN = "what stands here is what there was by then."
_STATUS = {
    "running": "This run is not finished: what stands here is what there is so far.",
    "failed": f"This run failed: {_BY_THEN}",
    "interrupted": f"This run was interrupted: {_BY_THEN} It can be resumed.",
    "budget": f"This run was stopped by its budget: {_BY_THEN} It can be resumed.",
    "incomplete": "This run is incomplete, since something that it needs was down: what stands here is what "
    "could be made without it. The same command goes on and asks only for what is missing.",
}
_FACETS = ("purpose", "mechanism", "evaluation")
_GROWTH = {"backward": "Back in time", "forward": "Forward in time"}


def build_report(folder: RunFiles) -> Report:
    """Everything that a report shows, in plain records."""
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
    """A sentence on how the run ended; ``None`` when it is simply done."""
    if status == "done":
        return None
    if status is None:
        return "How this run ended was not recorded."
    return _STATUS.get(status, f"How this run ended: {status}.")


# --- papers -----------------------------------------------------------------------------------


def _refs_by_id(folder: RunFiles) -> dict[str, Ref]:
    """Title, year and address of every paper that the folder knows, by id."""
    found: dict[str, Ref] = {}
    for idea in folder.ideas:
        linked = [link.paper for link in idea.chain.links] if idea.chain else []
        for paper in (*linked, *idea.neighbours, *(idea.experiment.found if idea.experiment else ())):
            url = safe_url(paper.url) or paper_url(paper.id)
            found.setdefault(paper.id, Ref(paper.id, paper.title.strip() or paper.id, paper.year, url))
    for idea in folder.ideas:
        for close in idea.novelty_check.closest if idea.novelty_check else ():
            title = close.title.strip() or close.paper_id
            found.setdefault(close.paper_id, Ref(close.paper_id, title, None, paper_url(close.paper_id)))
    return found


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
    """The leads; each chain once, without the direction, which is what the leads say."""
    views = [lead_view(idea, number) for number, idea in enumerate(ideas, 1)]
    chains = {idea.chain.anchor: idea.chain for idea in ideas if idea.chain}
    return LeadPage(
        leads=tuple((one, tuple(_ref(paper_id, papers) for paper_id in one.read)) for one in views),
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
    """One step for each pair of neighbours, then what was recorded of other pairs."""
    found = []
    for earlier, later in pairwise(links):
        change = chain_picture.transition_between(chain, earlier, later)
        found.append(Step(_ref(earlier.paper.id, papers), _ref(later.paper.id, papers), change))
    shown = [step.change for step in found]
    rest = [change for change in chain.transitions if change not in shown]
    return (*found, *(Step(_ref(c.earlier, papers), _ref(c.later, papers), c) for c in rest))


def _direction_view(direction: Direction, papers: dict[str, Ref]) -> DirectionView:
    return DirectionView(
        direction, _ref(direction.limitation_from, papers), _ref(direction.mechanism_from, papers)
    )


def _parts(idea: Idea, papers: dict[str, Ref]) -> tuple[tuple[str, tuple[Quote, ...]], ...]:
    """The quotes by the part of the idea that rests on them, in the order they were given."""
    found: dict[str, list[Quote]] = {}
    for source in idea.sources:
        found.setdefault(source.part, []).append(Quote(_ref(source.paper_id, papers), source.quote.strip()))
    return tuple((part, tuple(quotes)) for part, quotes in found.items())


def _novelty_view(check: NoveltyCheck | None, papers: dict[str, Ref]) -> NoveltyView:
    if check is None:
        return NoveltyView("unchecked", "No novelty check was made: this idea is unchecked.", (), (), ())
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
    """A draft that was rewritten, with the papers that it was too close to."""
    papers = "; ".join(f"{close.title} (similarity {close.similarity:.2f})" for close in draft.too_close)
    return f"Draft {number}, “{draft.title}”, was too close to: {papers}."


def _rounds(rounds: int) -> str:
    if rounds == 0:
        return "Not rewritten."
    times = "once" if rounds == 1 else f"{rounds} times"
    return f"Rewritten {times} because a paper was too close."


def _plural(count: int, one: str, many: str) -> str:
    return f"{(one if count == 1 else many).format(f'{count:,}')}."


def _facets(facets: dict[str, str]) -> tuple[tuple[str, str], ...]:
    names = [name for name in _FACETS if name in facets] + sorted(set(facets) - set(_FACETS))
    return tuple((name, facets[name]) for name in names)


def _plan(idea: Idea) -> tuple[tuple[str, tuple[str, ...], str], ...] | None:
    plan = idea.experiment
    if plan is None:
        return None
    return (
        ("Steps", plan.steps, "No steps were written."),
        ("Datasets", plan.datasets, "None named."),
        ("Baselines", plan.baselines, "None named."),
        ("Metrics", plan.metrics, "None named."),
        ("Ablations", plan.ablations, "None named."),
        ("Risks", plan.risks, "None named."),
        ("Would be refuted by", (plan.refuted_if,) if plan.refuted_if else (), "Not said."),
        ("What the reviewer asked for", plan.suggestions, "Nothing was asked for."),
        ("Suggestions not followed, and why", plan.declined, "None."),
        ("What was searched", plan.searched, "Nothing was searched."),
        ("What the searches found", tuple(f"{p.title} ({p.year})" for p in plan.found), "Nothing was found."),
    )


def _idea_provenance(idea: Idea) -> tuple[tuple[str, str], ...]:
    rows = [("Model", idea.model), ("Agent", idea.agent)]
    if idea.branch is not None:
        rows.append(("Branch", str(idea.branch)))
    if idea.wins:
        rows.append(("Pairwise choice", idea.wins))
    rows.append(("Id", idea.id))
    told = {name: value for name, value in idea.extra.items() if name != "original"}  # the record as imported
    rows += [(name, _format_value(value)) for name, value in sorted(told.items())]
    return tuple(rows)


# --- the run ----------------------------------------------------------------------------------


def _failures(run: RunRecord) -> tuple[tuple[str, str], ...]:
    """(which branch, why) in the order of the branches."""
    ordered = sorted(run.failures, key=lambda one: (one.branch is None, one.branch or 0, one.query or ""))
    return tuple((_branch_name(one), one.error or "Why was not recorded.") for one in ordered)


def _branch_name(failed: Failure) -> str:
    branch = "Left out" if failed.branch is None else f"Branch {failed.branch}"
    return f"{branch}, query “{failed.query}”" if failed.query else branch


def _withheld_papers(run: RunRecord, papers: dict[str, Ref]) -> tuple[tuple[Ref, str], ...]:
    ordered = sorted(run.held_back, key=lambda paper: (paper.title or "", paper.id or ""))
    return tuple((_withheld_ref(paper, papers), paper.why or "Why was not recorded.") for paper in ordered)


def _withheld_ref(paper: WithheldPaper, papers: dict[str, Ref]) -> Ref:
    known = _ref(paper.id or "", papers)
    return Ref(known.id, paper.title or known.title, known.year, known.url)


def _cost_rows(named: dict[str, Usage], total: Usage | None) -> tuple[tuple[str, ...], ...]:
    """(name, calls, prompt tokens, completion tokens, dollars) by name, and the total last."""
    rows = [_usage_row(name, usage) for name, usage in sorted(named.items())]
    return (*rows, _usage_row("Total", total)) if total else tuple(rows)


def _usage_row(name: str, usage: Usage) -> tuple[str, ...]:
    counts = (usage.calls, usage.prompt_tokens, usage.completion_tokens)
    return (name, *(f"{count:,}" for count in counts), dollars(usage.cost_usd))


def dollars(cost: float | None) -> str:
    """A cost in words: cents below a dollar need four digits; ``None`` is said to be unknown."""
    if cost is None or not math.isfinite(cost):
        return "unknown price"
    return f"${cost:,.2f}" if cost >= 1 or cost == 0 else f"${cost:.4f}"


def _billed_sentence(usage: RecordedUsage) -> str:
    """What this run itself asked of providers and paid, and how much came from the cache."""
    if usage.total is None or usage.answers is None:
        return _cached_sentence(usage.cached)
    times = "once" if usage.total.calls == 1 else f"{usage.total.calls:,} times"
    told = f"This run asked {times}, for {dollars(usage.total.cost_usd)}"
    if usage.estimated_calls:
        told += (
            f", of which {dollars(usage.total.estimated_usd)} is estimated: the most that "
            f"{usage.estimated_calls:,} of the calls may have cost, which were cut off or whose usage nobody "
            "reported"
        )
    return f"{told}. {_cached_sentence(usage.cached)}"


def _cached_sentence(count: int | None) -> str:
    if count is None:
        return "How many answers came from the cache was not recorded."
    if count == 0:
        return "No answer came from the cache."
    return _plural(count, "{} further answer came from the cache", "{} further answers came from the cache")


def _run_provenance(run: RunRecord) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """(heading, rows) of how the run was made."""
    seed = "not recorded" if run.seed is None else str(run.seed)
    first = [("Agent", run.agent or "not recorded"), ("Seed", seed)]
    if run.topic:
        first += [("Inspirations", ", ".join(run.topic.inspirations))] if run.topic.inspirations else []
        first += [("Excluded", ", ".join(run.topic.excluded))] if run.topic.excluded else []
    return (
        ("RunRecord", tuple(first)),
        ("Options of the agent", _rows(run.options)),
        ("Settings", _rows(run.settings)),
        ("Versions", _rows(run.versions)),
        ("Prompts (hashes)", _rows(run.prompts)),
    )


def _rows(values: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, _format_value(value)) for name, value in sorted(values.items()))


def _format_value(value: Any) -> str:
    """A setting's value in words; a folder is not named, since it differs from machine to machine."""
    if value is None:
        return "not set"
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return "a local folder" if text.startswith("…/") else text
