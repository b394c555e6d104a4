"""Formats leads for pages and terminals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ideagora.report.run.wording.novelty import (
    caveat,
    comparison_sentence,
    same_mechanism_sentence,
    same_mechanism_titles,
)
from ideagora.schema import Idea

LIMITATION, MECHANISM, WHY = "Open limitation", "Mechanism", "Why they may fit"
READ, TEST = "Read first", "First cheap test"
INTRODUCTION = (
    "Each lead pairs an open limitation of one paper with the most similar mechanism of another, as "
    "quoted below. Whether the two fit is for you to judge."
)


@dataclass(frozen=True)
class LeadView:
    """A lead: its rows of text, and the ids of the papers to read first."""

    number: int
    title: str
    rows: tuple[tuple[str, str], ...]
    read: tuple[str, ...]
    test: str | None


def is_lead(idea: Idea) -> bool:
    """Return whether a record is a lead."""
    return idea.kind == "lead"


def lead_view(idea: Idea, number: int) -> LeadView:
    """Return a lead as rows, without rows for missing parts."""
    rows = ((LIMITATION, idea.motivation), (MECHANISM, idea.method), (WHY, idea.novelty))
    steps = idea.experiment.steps if idea.experiment else ()
    return LeadView(
        number=number,
        title=idea.title,
        rows=tuple((name, text) for name, text in rows if text),
        read=reading_list(idea),
        test=steps[0] if steps else None,
    )


def reading_list(idea: Idea) -> tuple[str, ...]:
    """Return the ids of the papers with the mechanism and the limitation, and of the most similar other."""
    own = list(reversed(idea.references))
    closest = idea.novelty_check.closest if idea.novelty_check else ()
    others = sorted(
        (paper for paper in closest if paper.paper_id not in own), key=lambda paper: -paper.similarity
    )
    return (*own, *(paper.paper_id for paper in others[:1]))


def novelty_lines(ideas: Sequence[Idea]) -> tuple[str, ...]:
    """Return the sentences of the novelty checks, each once, with the leads to which it applies."""
    numbers_by_sentence: dict[str, list[int]] = {}
    for number, idea in enumerate(ideas, 1):
        for line in _novelty_sentences(idea):
            numbers_by_sentence.setdefault(line, []).append(number)
    return tuple(f"{_subject(numbers, len(ideas))}: {line}" for line, numbers in numbers_by_sentence.items())


def _novelty_sentences(idea: Idea) -> Iterable[str]:
    check = idea.novelty_check
    if check is None:
        return ("Novelty was not checked.",)
    same = same_mechanism_sentence(same_mechanism_titles(check, idea.references))
    return filter(None, (comparison_sentence(check), same, caveat(check)))


def far_leads_warning(ideas: Sequence[Idea]) -> tuple[str, ...]:
    """Return a warning about leads whose chains are far from the topic, if any."""
    far = [number for number, idea in enumerate(ideas, 1) if idea.chain and idea.chain.is_far_from_topic]
    return (f"{_subject(far, len(ideas))}: the chain is far from the topic.",) if far else ()


def _subject(numbers: Sequence[int], count: int) -> str:
    if len(numbers) == count:
        return "The lead" if count == 1 else "Every lead"
    return (
        f"Lead {', '.join(map(str, numbers))}"
        if len(numbers) == 1
        else f"Leads {', '.join(map(str, numbers))}"
    )


def leads_heading(count: int) -> str:
    """Return a heading such as ``4 leads``."""
    return f"{count} lead{'s' * (count != 1)}"
