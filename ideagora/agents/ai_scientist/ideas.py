"""Roles that write the next idea for an archive, and reflect on it.

Source: The AI Scientist (arXiv 2408.06292), section 3, idea generation.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from pydantic import Field

from ideagora.agents.idea_inputs import ProposedIdea
from ideagora.agents.idea_parts import IdeaSource, SourcedIdea, check_sources
from ideagora.agents.plain_ideators import check_distinct, draft_distinct_lead
from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel

PROMPTS = Path(__file__).parent / "prompts"
SCORES = ("interestingness", "feasibility", "originality")
"""What the model rates in its own ideas, 1 to 10; it ranks them by the sum, and no judge sees it."""

PARTS: tuple[str, ...] = get_args(IdeaSource.model_fields["part"].annotation)


class ArchiveInputs(Inputs):
    """A topic, papers on it, and the archive of ideas written so far."""

    topic: str
    papers: tuple[PaperBrief, ...]
    proposed: tuple[ProposedIdea, ...] = ()


class Thought(Answer):
    """Reasoning that comes before an answer."""

    considerations: str = Field(description="what you considered, and why; 3 to 6 sentences")


class ArchivedIdea(SourcedIdea, Thought):
    """The next idea for the archive, with the model's own ratings."""

    interestingness: int | None = Field(description="your rating, 1 (low) to 10 (high); null if unsure")
    feasibility: int | None = Field(description="your rating, 1 (low) to 10 (high); null if unsure")
    originality: int | None = Field(description="your rating, 1 (low) to 10 (high); null if unsure")


def _next_idea(engine: ExtractiveModel, inputs: ArchiveInputs) -> ArchivedIdea:
    """Return a lead that is not in the archive; an extractive model does not rate its own leads."""
    lead = draft_distinct_lead(engine, inputs.topic, inputs.papers, inputs.proposed)
    count = len(inputs.proposed)
    held = f"holds {count} idea{'s' * (count > 1)}; this one pairs other papers" if count else "is empty"
    thought = f"The archive {held}."
    return lead.extended_to(ArchivedIdea, considerations=thought, **dict.fromkeys(SCORES))


def _check_idea(inputs: ArchiveInputs, answer: ArchivedIdea) -> str | None:
    return check_sources(inputs, answer) or check_distinct(inputs, answer) or _check_scores(answer)


def _check_scores(answer: ArchivedIdea) -> str | None:
    for name in SCORES:
        score = getattr(answer, name)
        if score is not None and not 1 <= score <= 10:
            return f"{name} is {score}; rate from 1 to 10"
    return None


ARCHIVE_IDEATOR = Role(
    name="archive_ideator",
    group="main",
    inputs=ArchiveInputs,
    answer=ArchivedIdea,
    offline=_next_idea,
    check=_check_idea,
    prompts=PROMPTS,
)


class DraftView(Inputs):
    """An idea as its author sees it when reflecting on it."""

    title: str
    summary: str
    motivation: str
    method: str
    novelty: str
    purpose: str
    mechanism: str
    evaluation: str


class DraftSource(Inputs):
    """A source of the draft."""

    part: str
    paper: int
    quote: str


class ReflectionInputs(ArchiveInputs):
    """The draft to reflect on, its sources, and which round of how many this is."""

    draft: DraftView
    sources: tuple[DraftSource, ...]
    scores: tuple[int | None, ...]
    """In the order of ``SCORES``."""
    round: int
    rounds: int


class ReflectedIdea(ArchivedIdea):
    """The idea after reflection."""

    done: bool = Field(description="true if nothing is left to improve, so that no further round is needed")


def _reflect(engine: ExtractiveModel, inputs: ReflectionInputs) -> ReflectedIdea:
    """Return the draft unchanged: an extractive model has nothing to revise it with."""
    sources = [
        IdeaSource.model_validate(source.model_dump())
        for source in inputs.sources
        if source.part in PARTS and source.paper < len(inputs.papers)
    ]
    title = inputs.papers[0].title if inputs.papers else inputs.draft.title
    interestingness, feasibility, originality = inputs.scores
    return ReflectedIdea(
        considerations="The offline model does not revise its leads.",
        **inputs.draft.model_dump(),
        sources=tuple(sources) or (IdeaSource(part="motivation", paper=0, quote=title),),
        interestingness=interestingness,
        feasibility=feasibility,
        originality=originality,
        done=True,
    )


def _check_reflection(inputs: ReflectionInputs, answer: ReflectedIdea) -> str | None:
    is_renamed = answer.title != inputs.draft.title
    known = check_distinct(inputs, answer) if is_renamed else None
    return check_sources(inputs, answer) or known or _check_scores(answer)


ARCHIVE_REFLECTOR = Role(
    name="archive_reflector",
    group="main",
    inputs=ReflectionInputs,
    answer=ReflectedIdea,
    offline=_reflect,
    check=_check_reflection,
    prompts=PROMPTS,
)
