"""An idea on one screen, and how it came about on the page."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

from rich.console import Console

from ideagora.report.run.terminal import show_idea, show_leads
from ideagora.report.run.write import write_report
from ideagora.report.text_cleaning import without_number
from ideagora.schema import (
    Candidate,
    ClosestPaper,
    Comparison,
    ConsideredPairing,
    DroppedDraft,
    Idea,
    Paper,
    Recollection,
    RememberedWork,
    Source,
)
from tests.support import report_samples as samples

LONG = "A long text that goes on and on. " * 40


def weighed() -> Idea:
    """An idea with everything that the agent keeps about how it came about."""
    idea = samples.idea(claim="Rehearsed calls fail less often.", might_fail="Traces may not transfer.")
    assert idea.chain
    assert idea.chain.direction
    first, second = (link.paper.id for link in idea.chain.links[:2])
    pairing = ConsideredPairing(
        limitation_from=first,
        mechanism="Replay of logs.",
        mechanism_from=None,
        way="analogy",
        why="Same kind.",
    )
    direction = idea.chain.direction.model_copy(update={"pairings": (pairing,)})
    twin = DroppedDraft(title="The twin", summary="s", too_close=(), same_as="Ask the Skeptic First")
    check = samples.novelty_check(
        dropped=(twin,),
        verdict="obvious combination",
        verdict_reason="Both are known.",
        combination=(first, second),
        from_memory=(RememberedWork(title="A remembered work", year=2021, why="Same aim."),),
    )
    criteria = {"novelty": "won", "clarity": "lost"}
    verdict = Comparison.model_validate(
        {
            "other": samples.other_ideas()[0].id,
            "shown_first": True,
            "criteria": criteria,
            "overall": "won",
            "reason": "The reason of the judge.",
            "judge": "a judge",
        }
    )
    return idea.model_copy(
        update={
            "chain": idea.chain.model_copy(update={"direction": direction}),
            "novelty_check": check,
            "candidates": (Candidate(text="The nearest thought", status="too obvious"),),
            "comparisons": (verdict,),
            "recollections": (
                Recollection(
                    paper_id="p9", title="A hidden paper", why_hidden="after the cut-off", similarity=0.8
                ),
            ),
        }
    )


def test_the_page_shows_what_was_weighed_and_why_it_won(tmp_path: Path) -> None:
    folder = samples.write_run(tmp_path, [weighed(), *samples.other_ideas()])
    for path in write_report(folder):
        text = path.read_text(encoding="utf-8")
        for expected in (
            "Rehearsed calls fail less often.",
            "Traces may not transfer.",
            "Replay of logs.",
            "The nearest thought",
            "The reason of the judge.",
            "won novelty; lost clarity",
            "The twin",
            "A hidden paper",
            "obvious combination",
            "A remembered work",
        ):
            assert text.count(expected) == 1, (path.name, expected)
        assert text.index("Rehearsed calls") < text.index("Chain of ideas") < text.index("Motivation")


def test_a_list_that_depends_on_the_agent_is_named_in_whole_words(tmp_path: Path) -> None:
    note = Paper(id="own:1", title="My note on traces", source="own")
    for path in write_report(samples.write_run(tmp_path, [samples.idea(neighbours=(note,))])):
        text = path.read_text(encoding="utf-8")
        assert "Pairwise comparisons of the branches" in text, path.name
        assert "shown beside the chain" in text, path.name


def test_the_whole_idea_on_the_screen_has_the_whole_plan() -> None:
    idea, output = samples.idea(), StringIO()
    show_idea(Console(file=output, width=2000), idea, 0, "report.html", full=True)
    assert idea.experiment
    plan = idea.experiment
    for entry in (*plan.datasets, *plan.baselines, *plan.metrics, *plan.ablations, *plan.risks):
        assert entry in output.getvalue()


def test_a_note_of_the_user_is_named_so(tmp_path: Path) -> None:
    note = Paper(id="own:1", title="My note on traces", source="own")
    idea = samples.idea(
        sources=(Source(part="method", paper_id=note.id, quote="traces"),), neighbours=(note,)
    )
    topic = {"text": samples.TOPIC, "steering": {"focus": "No training.", "own": [note.model_dump()]}}
    for path in write_report(samples.write_run(tmp_path, [idea], topic=topic)):
        text = path.read_text(encoding="utf-8")
        assert "Focus: No training." in text
        assert "My note on traces" in text
        assert "(your own)" in text


def test_the_direction_is_printed_once(tmp_path: Path) -> None:
    idea = weighed()
    assert idea.chain
    assert idea.chain.direction
    markdown, _ = write_report(samples.write_run(tmp_path, [idea]))
    first_words = " ".join(idea.chain.direction.text.split()[:5])
    assert markdown.read_text(encoding="utf-8").count(first_words) == 1


def test_an_idea_fits_on_a_screen_of_40_lines_unless_all_is_asked_for() -> None:
    close = tuple(ClosestPaper(paper_id=f"p{n}", title=LONG, similarity=0.5, overlap=None) for n in range(5))
    check = samples.novelty_check(closest=close)
    idea = weighed().model_copy(update={"title": LONG, "claim": LONG, "novelty_check": check})
    lead = samples.idea(kind="lead", motivation=LONG, method=LONG, novelty=LONG)

    def lines(full: bool, record: Idea) -> int:
        output = StringIO()
        console = Console(file=output, width=80)
        if record.kind == "lead":
            show_leads(console, [record] * 5, {}, "report.html", full)
        else:
            show_idea(console, record, 2, "report.html", full)
        return len(output.getvalue().splitlines())

    for record in (idea, lead):
        assert lines(False, record) <= 40, record.kind
        assert lines(True, record) > 40, record.kind


def test_a_step_with_its_own_number_is_not_numbered_twice() -> None:
    for text in ("1. Collect traces", "Step 2: Collect traces", "(3) Collect traces", "- Collect traces"):
        assert without_number(text) == "Collect traces"
    assert without_number("2024 was a year") == "2024 was a year"
