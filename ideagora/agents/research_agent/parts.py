"""Roles that write the problem and the method of an idea, and rewrite them after reviews.

Source: ResearchAgent (arXiv 2404.07738), section 3. The experiment is written by the roles of
``agents/experiment.py``.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from ideagora.agents.idea_inputs import draft_lead
from ideagora.agents.idea_parts import IdeaSource, SourcedIdea, check_sources
from ideagora.agents.offline_leads.facts import short_paper_name
from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

PROMPTS = Path(__file__).parent / "prompts"


class EntityFrom(Inputs):
    """An entity from beyond the references, with the number of the paper that presents it."""

    name: str
    kind: str
    paper: int


class ReviewView(Inputs):
    """One reviewer's comments on a part, as its author sees them."""

    criterion: str
    rating: int | None
    review: str
    suggestions: tuple[str, ...]


class ProblemView(Inputs):
    """A problem as other roles see it."""

    problem: str
    rationale: str
    purpose: str


class MethodView(Inputs):
    """A method as other roles see it."""

    title: str
    method: str
    novelty: str
    mechanism: str
    evaluation: str


class PartInputs(Inputs):
    """What every part is written from.

    ``papers`` holds the core paper, papers that it builds on, then those that present the entities.
    """

    topic: str
    papers: tuple[PaperBrief, ...]
    own: int
    """Number of papers before those that present the entities."""
    entities: tuple[EntityFrom, ...]
    """Entities that occur together with those of the core paper and the papers that it builds on."""
    reviews: tuple[ReviewView, ...]
    """Reviews of the earlier version; empty for the first one."""


class ProblemInputs(PartInputs):
    """Inputs of the problem's author."""

    earlier: ProblemView | None


class ResearchProblem(Answer):
    """A research problem."""

    rationale: str = Field(
        description="what the core paper and the others leave unsolved, why it matters, and what makes it "
        "hard; 4 to 8 sentences"
    )
    problem: str = Field(description="the problem as one precise question, 1 or 2 sentences")
    purpose: str = Field(description="one sentence: what solving it achieves")
    entities_used: tuple[str, ...] = Field(
        description="entities of the list that shaped the problem, by name; [] if none did"
    )
    sources: tuple[IdeaSource, ...] = Field(description="the papers that the motivation is based on")


def _lead(engine: ExtractiveModel, inputs: PartInputs) -> SourcedIdea:
    """Return a lead whose limitation is the core paper's and whose mechanism is another paper's."""
    return draft_lead(engine, inputs.topic, inputs.papers, chain_length=1)


def _state_problem(engine: ExtractiveModel, inputs: ProblemInputs) -> ResearchProblem:
    """Return the core paper's limitation, and the entities from elsewhere that are closest to it."""
    lead = _lead(engine, inputs)
    limitation = lead.purpose
    names = [entity.name for entity in inputs.entities]
    nearest = [names[number] for number, _ in engine.rank(limitation, names)[:3]]
    verb = "comes" if len(nearest) == 1 else "come"
    beyond = f" From beyond its references, {texts.listed(nearest)} {verb} closest to it." if nearest else ""
    sources = tuple(source for source in lead.sources if source.part == "motivation")
    core = inputs.papers[0]
    name = short_paper_name(core.title, core.abstract or "")
    first = texts.sentences(core.abstract or "") or [core.title]
    return ResearchProblem(
        rationale=f"{lead.motivation}.{beyond}",
        problem=f"How can this limitation of {name} be overcome?",
        purpose=limitation,
        entities_used=tuple(nearest),
        sources=sources or (IdeaSource(part="motivation", paper=0, quote=first[0]),),
    )


PROBLEM_FINDER = Role(
    name="problem_finder",
    group="main",
    inputs=ProblemInputs,
    answer=ResearchProblem,
    offline=_state_problem,
    check=check_sources,
    prompts=PROMPTS,
)


class MethodInputs(PartInputs):
    """Inputs of the method's author."""

    problem: ProblemView
    earlier: MethodView | None


class ResearchMethod(Answer):
    """A method for a problem."""

    method: str = Field(
        description="numbered steps, one per line: each component, what it does and why it solves the problem"
    )
    novelty: str = Field(
        description="how this differs from named earlier papers, and the benefit; 3 to 6 sentences"
    )
    title: str = Field(description="a specific title of at most 15 words for the whole idea")
    summary: str = Field(description="problem and method in 2 or 3 sentences")
    mechanism: str = Field(description="one sentence: the core mechanism")
    evaluation: str = Field(description="one sentence: how success would be measured")
    entities_used: tuple[str, ...] = Field(
        description="entities of the list that shaped the method, by name; [] if none did"
    )
    sources: tuple[IdeaSource, ...] = Field(description="the papers that method and novelty are based on")


def _propose_method(engine: ExtractiveModel, inputs: MethodInputs) -> ResearchMethod:
    """Return another paper's mechanism for the core paper's limitation."""
    lead = _lead(engine, inputs)
    known = lead.mechanism.casefold()
    sources = tuple(source for source in lead.sources if source.part != "motivation")
    last = len(inputs.papers) - 1
    return lead.extended_to(
        ResearchMethod,
        entities_used=[entity.name for entity in inputs.entities if entity.name.casefold() in known],
        sources=sources or (IdeaSource(part="method", paper=last, quote=inputs.papers[last].title),),
    )


METHOD_DEVELOPER = Role(
    name="method_developer",
    group="main",
    inputs=MethodInputs,
    answer=ResearchMethod,
    offline=_propose_method,
    check=check_sources,
    prompts=PROMPTS,
)
