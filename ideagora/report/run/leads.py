"""Leads as a page and a terminal show them: rows with names, and what is said once for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ideagora.report.run.novelty import (
    caveat,
    comparison_sentence,
    same_mechanism_sentence,
    same_mechanism_titles,
)
from ideagora.schema import Idea

LIMITATION, MECHANISM, WHY = "Open limitation", "Mechanism", "Why they may fit"
READ, TEST = "Read first", "First cheap test"
INTRODUCTION = (
    "Each lead sets an open limitation of one paper beside the mechanism of another that comes nearest, in "
    "the papers' own words. Whether anything comes of it is for you to think out."
)


@dataclass(frozen=True)
class LeadView:
    """A lead: its rows of text, and which papers to read first (ids)."""

    number: int
    title: str
    rows: tuple[tuple[str, str], ...]
    read: tuple[str, ...]
    test: str | None


def is_lead(idea: Idea) -> bool:
    """Whether a record is a lead."""
    return idea.kind == "lead"


def lead_view(idea: Idea, number: int) -> LeadView:
    """A lead in rows; what it lacks has no row."""
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
    """Ids: the paper with the mechanism, the one with the limitation, and the nearest other one."""
    own = list(reversed(idea.references))
    closest = idea.novelty_check.closest if idea.novelty_check else ()
    others = sorted((one for one in closest if one.paper_id not in own), key=lambda one: -one.similarity)
    return (*own, *(one.paper_id for one in others[:1]))


def novelty_lines(ideas: Sequence[Idea]) -> tuple[str, ...]:
    """What the novelty check says, each sentence once with the numbers of the leads it holds for."""
    said: dict[str, list[int]] = {}
    for number, idea in enumerate(ideas, 1):
        for line in _novelty_sentences(idea):
            said.setdefault(line, []).append(number)
    return tuple(f"{_subject(numbers, len(ideas))}: {line}" for line, numbers in said.items())


def _novelty_sentences(idea: Idea) -> Iterable[str]:
    check = idea.novelty_check
    if check is None:
        return ("No novelty check was made.",)
    same = same_mechanism_sentence(same_mechanism_titles(check, idea.references))
    return filter(None, (comparison_sentence(check), same, caveat(check)))


def far_leads_warning(ideas: Sequence[Idea]) -> tuple[str, ...]:
    """A warning on the leads whose chains are far from the topic; none where all are near."""
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
    """``4 leads``."""
    return f"{count} lead{'s' * (count != 1)}"
