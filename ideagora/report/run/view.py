"""Builds the records that the Markdown and HTML templates show from the files of a run.

It computes nothing but counts of listed items; figures come from the run's folder. Sentences about a
state (unchecked, not recorded, unknown price) are written here, so that both formats agree.
"""

from __future__ import annotations

import math
from typing import Any

from ideagora.report.run.idea_view import idea_view, lead_page
from ideagora.report.run.load import Failure, RecordedUsage, RunFiles, RunRecord, WithheldPaper
from ideagora.report.run.page_records import Ref, Report
from ideagora.report.run.paper_refs import paper_ref, refs_by_id
from ideagora.report.run.portfolio import portfolio_page
from ideagora.report.run.wording.formatting import count_in_words, format_value
from ideagora.report.run.wording.leads import is_lead
from ideagora.report.run.wording.provenance import recorded_notice
from ideagora.schema import Usage

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
    papers = refs_by_id(folder)
    leads = [idea for idea in folder.ideas if is_lead(idea)]
    whole = [idea for idea in folder.ideas if not is_lead(idea)]
    titles = {idea.id: idea.title for idea in whole}
    ideas = [idea_view(idea, rank, papers, titles) for rank, idea in enumerate(whole, 1)]
    return Report(
        topic=run.topic.text if run.topic else None,
        before=run.topic.before if run.topic else None,
        focus=run.topic.focus if run.topic else None,
        offline=run.offline,
        recorded=recorded_notice(run.settings.get("model")),
        status=_status(run.status),
        error=run.error,
        unread=folder.unread,
        leads=lead_page(leads, papers) if leads else None,
        best=ideas[0] if ideas else None,
        others=tuple(ideas[1:]),
        failures=_failures(run),
        held_back=_withheld_papers(run, papers),
        notes=run.notes,
        cost=_cost_rows(spent.roles, spent.total),
        labels=_cost_rows(spent.labels, None),
        cached=_billed_sentence(run.usage),
        made=_run_provenance(run),
        portfolio=portfolio_page(run.portfolio, folder.ideas),
    )


def _status(status: str | None) -> str | None:
    """Return a sentence on how the run ended, ``None`` if it is complete."""
    if status == "done":
        return None
    if status is None:
        return "The outcome of this run was not recorded."
    return _STATUS.get(status, f"Outcome of this run: {status}.")


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
    known = paper_ref(paper.id or "", papers)
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
    return count_in_words(
        count, "{} further answer came from the cache", "{} further answers came from the cache"
    )


def _run_provenance(run: RunRecord) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Return (heading, rows) on agent, settings, versions and prompts."""
    seed = "not recorded" if run.seed is None else str(run.seed)
    first = [("Agent", run.agent or "not recorded"), ("Seed", seed)]
    if run.topic:
        first += [("Inspirations", ", ".join(run.topic.inspirations))] if run.topic.inspirations else []
        first += [("Excluded", ", ".join(run.topic.excluded))] if run.topic.excluded else []
        for name, papers in (("Your own notes", run.topic.own), ("Avoided ideas", run.topic.avoided)):
            first += [(name, "; ".join(paper.title for paper in papers))] if papers else []
    return (
        ("Run", tuple(first)),
        ("Agent options", _rows(run.options)),
        ("Settings", _rows(run.settings)),
        ("Versions", _rows(run.versions)),
        ("Prompts (hashes)", _rows(run.prompts)),
    )


def _rows(values: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, format_value(value)) for name, value in sorted(values.items()))
