"""Answers that contain an idea, as most ideators give it, and the check of its sources.

Source: Chain of Ideas (arXiv 2410.13185), section 3.3 and Tables 14 and 15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from pydantic import Field

from ideagora.agents.text.quotes import is_quoted
from ideagora.agents.views import PaperBrief, check_paper_numbers
from ideagora.models.call import Answer

IdeaPart = Literal["motivation", "method", "novelty"]


class IdeaSource(Answer):
    """The source of one part of an idea."""

    part: IdeaPart
    paper: int = Field(description="number of the paper")
    quote: str = Field(description="5 to 25 words copied verbatim from the text under that number")


class IdeaParts(Answer):
    """A research idea: motivation, method and novelty first, then title and summary."""

    motivation: str = Field(
        description="background, what earlier work lacks, and why it matters; 4 to 8 sentences"
    )
    method: str = Field(
        description="numbered steps, one per line: each component, what it does and why it solves the problem"
    )
    novelty: str = Field(
        description="how this differs from named earlier papers, and the benefit; 3 to 6 sentences"
    )
    title: str = Field(description="a specific title of at most 15 words")
    summary: str = Field(description="the idea in 2 or 3 sentences")
    purpose: str = Field(description="one sentence: the problem it solves")
    mechanism: str = Field(description="one sentence: the core mechanism")
    evaluation: str = Field(description="one sentence: how success would be measured")


class SourcedIdea(IdeaParts):
    """An idea with its sources."""

    sources: tuple[IdeaSource, ...] = Field(description="for every part, the papers it is based on")


class SearchableIdea(SourcedIdea):
    """An idea with its sources and the searches of the novelty check."""

    queries: tuple[str, ...] = Field(
        description="two literature searches that would find this idea if it were published: its mechanism "
        "in the words that another author would use, and the methods that it resembles, by name"
    )


class Deliberation(Answer):
    """What the ideator weighs before it writes: candidates, the claim of the chosen one, and its doubt."""

    candidates: tuple[str, ...] = Field(
        description="candidate ideas with different mechanisms, one line each, as many as asked for"
    )
    obvious: int | None = Field(
        description="number (from 0) of the candidate that most readers of these papers would think of "
        "first; null without candidates"
    )
    chosen: int | None = Field(
        description="number of the candidate that the idea develops, never the obvious one; null without "
        "candidates"
    )
    claim: str = Field(description="one sentence: the central claim, stated so that a test can refute it")
    might_fail: str = Field(description="1 or 2 sentences: the most likely reason why it would not work")


class IdeaDraft(SearchableIdea, Deliberation):
    """The deliberation first, then the idea with its sources and the searches of the novelty check."""


class HasPapers(Protocol):
    """Inputs whose papers an answer refers to by number."""

    @property
    def papers(self) -> Sequence[PaperBrief]:
        """Papers in the order of their numbers."""


class HasSources(Protocol):
    """An answer that names its sources."""

    @property
    def sources(self) -> Sequence[IdeaSource]:
        """The sources of its parts."""


def check_sources(inputs: HasPapers, answer: HasSources) -> str | None:
    """Return an error if sources are missing, numbered wrongly or quoted from another paper, else None."""
    if not answer.sources:
        return "sources is empty: name the papers that each part is based on"
    titles = [paper.title for paper in inputs.papers]
    if complaint := check_paper_numbers("sources.paper", [source.paper for source in answer.sources], titles):
        return complaint
    texts_shown = [f"{paper.title} {paper.abstract or ''}" for paper in inputs.papers]
    for place, source in enumerate(answer.sources, 1):
        if is_quoted(source.quote, texts_shown[source.paper]):
            continue
        others = [number for number, text in enumerate(texts_shown) if is_quoted(source.quote, text)]
        if len(others) == 1:
            return f"source {place}: this quote is from [{others[0]}], not from [{source.paper}]"
    return None
