"""Terminal views of a run: live progress by branch, then the best idea or the leads.

Text from models and papers is printed without console markup and control characters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ideagora.models.offline.text import clip
from ideagora.report.console import plain
from ideagora.report.live_view import LiveView
from ideagora.report.run.idea_view import core_rows, plan_sections
from ideagora.report.run.wording.leads import (
    READ,
    TEST,
    LeadView,
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
from ideagora.report.text_cleaning import short_name, without_number
from ideagora.schema import Chain, Idea
from ideagora.schema.events import CallEvent, Event

STEPS = {
    "plan_queries": "planning queries",
    "find_anchors": "choosing anchors",
    "place_anchors": "starting the chains",
    "extend_chain": "searching for earlier and later papers",
    "study_chain": "reading the papers and their trend",
    "find_cures": "searching for mechanisms",
    "predict_direction": "predicting the direction",
    "draft_idea": "drafting the idea",
    "judge_novelty": "checking novelty",
    "judge_pair": "comparing ideas",
    "find_twins": "looking for duplicate ideas",
    "redraft_twin": "redrafting a duplicate",
    "choose_pairs": "choosing pairs for leads",
    "make_lead": "writing the leads",
    "plan_experiment": "planning the experiment",
    "design_experiment": "designing the experiment",
    "review_experiment": "reviewing the experiment",
    "search_for_experiment": "searching for the experiment",
    "refine_experiment": "refining the experiment",
    "draft": "drafting with another agent",
    "merge_twins": "looking for duplicate ideas",
    "vary": "making an idea from others",
    "compare_with_parent": "comparing an idea with those it was made from",
    "choose_ideas": "choosing different ideas",
    "check_novelty": "checking novelty",
    "rank_ideas": "ranking the ideas",
    "write_overview": "writing the overview",
}

LISTED_LEADS = 6
"""Leads listed on the screen without --full, the first with its text; the page has all."""
PLAN_LISTS = ("Datasets", "Baselines", "Metrics", "Ablations", "Risks", "Cost")
"""Parts of the experiment plan, besides its steps, that --full prints."""
CLAIM_WORDS, ROW_WORDS = 90, 45
"""Maximum words of a claim and of other texts on the screen, without --full."""


class RunProgress(LiveView):
    """A live table of a run: one row per branch, one for shared work, and a footer with calls and cost.

    Without a terminal, a line for every step as it starts.
    """

    def __init__(self, console: Console, quiet: bool = False) -> None:
        super().__init__(console, quiet)
        self._console = None if quiet or console.is_terminal else console
        self._rows: dict[str, tuple[str, str]] = {}
        self._last_step = ""
        self._calls = self._cached = self._tokens = 0
        self._cost: float | None = 0.0

    def update(self, event: Event) -> None:
        """Update the row that an event belongs to, or the totals."""
        if event["event"] == "call":
            self._count(event)
        elif event["event"] == "note" or event["event"] == "outage":
            name = event["label"] or "shared"
            text = event["text"] if event["event"] == "note" else event["reason"]
            self._rows[name] = (self._rows.get(name, ("", ""))[0], text)
        elif event["event"] == "step" and event["status"] == "started":
            name = f"branch {event['branch']}" if event["branch"] else "shared"
            step = event["step"]
            self._last_step = STEPS.get(step, plain(step))
            if self._console and step in STEPS and self._rows.get(name, ("", ""))[0] != self._last_step:
                self._console.print(Text(f"{self.seconds} s  {name}: {self._last_step}"), soft_wrap=True)
            self._rows[name] = (self._last_step, self._rows.get(name, ("", ""))[1])

    def set_status(self, text: str) -> None:
        """Show what the run waits for in the shared row."""
        self._rows["shared"] = (text, "")

    def _count(self, event: CallEvent) -> None:
        if event["cached"]:
            self._cached += 1
            return
        usage = event["usage"]
        self._calls += 1
        self._tokens += usage["prompt_tokens"] + usage["completion_tokens"]
        cost = usage["cost_usd"]
        self._cost = None if cost is None or self._cost is None else self._cost + cost

    def __rich__(self) -> Group:
        return Group(self.rows(), self.footer())

    def rows(self) -> Table:
        """Return the table without the footer."""
        table = Table.grid(padding=(0, 2))
        table.add_column(style="bold", no_wrap=True)
        table.add_column(style="cyan", no_wrap=True)
        table.add_column(overflow="ellipsis", no_wrap=True)
        for name in sorted(self._rows, key=lambda name: (name == "shared", name)):
            step, note = self._rows[name]
            table.add_row(Text(name), Text(step), Text(plain(note)))
        return table

    def footer(self) -> Text:
        """Return the number of calls so far, their tokens, cost and time."""
        cost = "price unknown" if self._cost is None else f"${self._cost:.3f}"
        calls = f"{self._calls} call{'s' * (self._calls != 1)}, {self._cached} from the cache"
        return Text(f"{calls}, {self._tokens:,} tokens, {cost}, {self.seconds} s", style="dim")

    @property
    def last_step(self) -> str:
        """The step that started last; empty before the first."""
        return self._last_step


def show_idea(console: Console, idea: Idea, others: int, report: str, full: bool = False) -> None:
    """Print the best idea in at most 40 lines of 80 columns, or all of it, and the path of the report."""
    body = Table.grid(padding=(0, 0, 1, 0))
    body.add_column()
    title = idea.title if full else clip(idea.title, 40)
    body.add_row(Text(plain(title), style="bold"))  # a panel's own title would be cut at its width
    for part in _idea_sections(idea) if full else _idea_summary(idea):
        body.add_row(part)
    console.print(Panel(body, padding=(1, 2)))
    more = f"{others} further idea{'s' * (others != 1)} and all evidence: " if others else "All evidence: "
    console.print(Text(f"{more}{report}", overflow="fold"), soft_wrap=True)


def show_leads(
    console: Console, leads: Sequence[Idea], titles: Mapping[str, str], report: str, full: bool = False
) -> None:
    """Print the first lead and the titles of the others, or all leads and remarks.

    Args:
        console: the console to print to.
        leads: records whose kind is lead, best first.
        titles: short titles of papers by id, for the papers to read first.
        report: path of the page with links and chains.
        full: print all leads and the novelty checks in full.
    """
    body = Table.grid(padding=(0, 0, 1, 0))
    body.add_column()
    for number, idea in enumerate(leads if full else leads[:LISTED_LEADS], 1):
        lead = lead_view(idea, number)
        if full or number == 1:
            body.add_row(_lead(lead, titles, None if full else ROW_WORDS))
        else:
            body.add_row(Text(plain(f"{number}. {clip(lead.title, 30)}"), style="bold"))
    for line in novelty_lines(leads) if full else novelty_lines(leads)[:2]:
        body.add_row(Text(plain(line if full else clip(line, ROW_WORDS)), style="dim"))
    for text in far_leads_warning(leads):
        body.add_row(Text(text, style="yellow"))
    title = f"{leads_heading(len(leads))}: {leads[0].topic}"
    console.print(Panel(body, title=Text(plain(title), style="bold"), title_align="left", padding=(1, 2)))
    more = "Links and chains"
    if not full:
        unlisted = f"{len(leads) - LISTED_LEADS} more. " if len(leads) > LISTED_LEADS else ""
        more = f"{unlisted}To print everything: --full. Report with links and chains"
    console.print(Text(f"{more}: {report}", overflow="fold"), soft_wrap=True)


def _lead(lead: LeadView, titles: Mapping[str, str], most_words: int | None = None) -> Group:
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column()
    read = ", ".join(titles.get(paper_id, paper_id) for paper_id in lead.read)
    tested = [(TEST, lead.test)] if lead.test else []
    for name, text in (*lead.rows, (READ, read), *tested):
        rows.add_row(name, Text(plain(clip(text, most_words) if most_words else text)))
    return Group(Text(plain(f"{lead.number}. {lead.title}"), style="bold"), Padding(rows, (0, 0, 0, 3)))


def short_titles(ideas: Sequence[Idea]) -> dict[str, str]:
    """Return a short title with the year for every paper of the ideas, by id."""
    titles: dict[str, str] = {}
    for idea in ideas:
        linked = [link.paper for link in idea.chain.links] if idea.chain else []
        for paper in (*linked, *idea.neighbours):
            titles.setdefault(paper.id, f"{short_name(paper.title)} ({paper.year})")
        for close in idea.novelty_check.closest if idea.novelty_check else ():
            titles.setdefault(close.paper_id, short_name(close.title))
    return titles


def _idea_summary(idea: Idea) -> list[Any]:
    """The claim, the three nearest papers, and what a reader must know before trusting them."""
    claim = idea.claim or idea.summary or idea.method
    parts: list[Any] = [_section("Claim", clip(claim, CLAIM_WORDS))]
    check = idea.novelty_check
    if check and check.closest:
        papers = [f"{close.similarity:.2f}  {clip(close.title, 20)}" for close in check.closest[:3]]
        parts.append(_section("Nearest papers", "\n".join(papers)))
    if check:
        parts.append(Text(plain(clip(novelty_summary(check), ROW_WORDS)), style="dim"))
    if idea.recollections:
        near = clip(idea.recollections[0].title, 20)
        parts.append(Text(plain(f"Possible recollection of: {near}"), style="yellow"))
    if idea.chain:
        parts += _similarity_lines(idea.chain)
    return parts


def _idea_sections(idea: Idea) -> list[Any]:
    parts: list[Any] = []
    if idea.summary:
        parts.append(Text(plain(idea.summary)))
    if core := core_rows(idea):
        rows = Table.grid(padding=(0, 2))
        rows.add_column(style="dim", no_wrap=True)
        rows.add_column()
        for name, text in core:
            rows.add_row(name, Text(plain(text)))
        parts.append(rows)
    if idea.chain:
        parts.append(_chain_group(idea.chain))
        if idea.chain.direction:
            parts.append(_section("Where it leads", idea.chain.direction.text))
    parts.append(_section("Method", idea.method))
    if idea.novelty_check:
        parts.append(_section("Novelty", _novelty_text(idea)))
    if idea.experiment:
        numbered = enumerate(map(without_number, idea.experiment.steps), 1)
        steps = "\n".join(f"{number}. {step}" for number, step in numbered)
        parts.append(_section("Experiment", steps))
        for heading, entries, _ in plan_sections(idea) or ():
            if heading in PLAN_LISTS and entries:
                parts.append(_section(heading, "\n".join(entries)))
    return parts


def _section(title: str, text: str) -> Group:
    return Group(Text(title, style="bold"), Padding(Text(plain(text)), (0, 0, 0, 2)))


def _chain_group(chain: Chain) -> Group:
    lines = [Text("Chain of ideas", style="bold")]
    for link in chain.links:
        mark = "*" if link.position == 0 else " "
        lines.append(Text(f"  {mark} {link.paper.year}  {plain(link.paper.title)}"))
    return Group(*lines, Text("    (* anchor)", style="dim"), *_similarity_lines(chain))


def _similarity_lines(chain: Chain) -> list[Text]:
    """Return the similarity to the topic, coloured if it is low; nothing if it was not measured."""
    line = similarity_sentence(chain)
    return [Text(f"  {line}", style="yellow" if chain.is_far_from_topic else "dim")] if line else []


def _novelty_text(idea: Idea) -> str:
    check = idea.novelty_check
    assert check is not None
    text = " ".join(
        filter(None, (novelty_summary(check), same_mechanism_sentence(same_mechanism_titles(check))))
    )
    if check.status == "unchecked" and check.reason:
        text += f" {check.reason}."
    nearest = [f"{close.title} ({close.similarity:.2f})" for close in check.closest[:3]]
    return f"{text} Nearest: {'; '.join(nearest)}." if nearest else text
