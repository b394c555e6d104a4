"""The merger of the two paths, the filter and the refiner.

Source: Wang et al. (arXiv 2410.23166), the section on the dual-path proposal of ideas.
"""

from __future__ import annotations

from pydantic import Field

from ideagora.agents.idea_inputs import draft_lead
from ideagora.agents.idea_parts import SearchableIdea, check_sources
from ideagora.agents.role import Role
from ideagora.agents.scipip.sketches import PROMPTS, Sketch, SketchView, distinct_titles
from ideagora.agents.views import PaperBrief
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

MAX_SCORE = 5


class MergeInputs(Inputs):
    """The ideas of both paths."""

    topic: str
    from_literature: tuple[SketchView, ...]
    brainstormed: tuple[SketchView, ...]
    count: int


CHECK = "To see what matters: "
"""Precedes what the offline model takes from the brainstormed idea."""


class MergedIdea(Sketch):
    """An idea made of one from each path."""

    from_literature: int = Field(description="number of the idea from literature that it uses")
    brainstormed: int = Field(description="number of the brainstormed idea that it uses")


class MergedIdeas(Answer):
    """Ideas that combine the two paths."""

    ideas: tuple[MergedIdea, ...] = Field(description="the combined ideas, each different from the others")


def _merge(engine: ExtractiveModel, inputs: MergeInputs) -> MergedIdeas:
    """Return each idea from literature with the most similar brainstormed one."""
    others = [f"{idea.title}. {idea.approach}" for idea in inputs.brainstormed]
    ideas: dict[str, MergedIdea] = {}
    for number, idea in enumerate(inputs.from_literature):
        place = engine.rank(f"{idea.title}. {idea.approach}", others)[0][0]
        other = inputs.brainstormed[place]
        merged = MergedIdea(
            title=idea.title,
            problem=idea.problem,
            approach=f"{idea.approach} {CHECK}{texts.lower_first(other.approach)}",
            from_literature=number,
            brainstormed=place,
        )
        ideas.setdefault(idea.title.casefold(), merged)
    return MergedIdeas(ideas=tuple(ideas.values())[: inputs.count])


def _check_merged(inputs: MergeInputs, answer: MergedIdeas) -> str | None:
    for idea in answer.ideas:
        for field in ("from_literature", "brainstormed"):
            number, known = getattr(idea, field), len(getattr(inputs, field))
            if not 0 <= number < known:
                return f"{field} is {number}, but these ideas are numbered 0 to {known - 1}"
    return distinct_titles([idea.title for idea in answer.ideas], inputs.count)


IDEA_MERGER = Role(
    name="idea_merger",
    group="main",
    inputs=MergeInputs,
    answer=MergedIdeas,
    offline=_merge,
    check=_check_merged,
    prompts=PROMPTS,
)


class FilterInputs(Inputs):
    """The ideas to choose among."""

    topic: str
    ideas: tuple[SketchView, ...]


class IdeaScore(Answer):
    """The scores of one idea."""

    idea: int = Field(description="number of the idea")
    reason: str = Field(description="one sentence: what decides the scores")
    relevance: int = Field(description=f"1 to {MAX_SCORE}: how much it helps with the topic")
    novelty: int = Field(description=f"1 to {MAX_SCORE}: how far it is from what is usually done")
    feasibility: int = Field(description=f"1 to {MAX_SCORE}: whether a small group could carry it out")


class IdeaScores(Answer):
    """Scores of all ideas."""

    scores: tuple[IdeaScore, ...]


def _score(engine: ExtractiveModel, inputs: FilterInputs) -> IdeaScores:
    """Return similarity to the topic as relevance; the middle of the scale for what cannot be measured."""
    near = engine.similarity(
        inputs.topic, [f"{one.title}. {one.problem} {one.approach}" for one in inputs.ideas]
    )
    return IdeaScores(
        scores=tuple(
            IdeaScore(
                idea=number,
                reason=f"Similarity to the topic {cosine:.2f}; the offline model measures nothing else.",
                relevance=max(1, min(MAX_SCORE, round(1 + 5 * cosine))),
                novelty=3,
                feasibility=3,
            )
            for number, cosine in enumerate(near)
        )
    )


def _check_scores(inputs: FilterInputs, answer: IdeaScores) -> str | None:
    numbers = sorted(score.idea for score in answer.scores)
    if numbers != list(range(len(inputs.ideas))):
        return f"each idea 0 to {len(inputs.ideas) - 1} needs exactly one entry, got {numbers}"
    given = [value for one in answer.scores for value in (one.relevance, one.novelty, one.feasibility)]
    wrong = [value for value in given if not 1 <= value <= MAX_SCORE]
    return f"a score is {wrong[0]}; scores are 1 to {MAX_SCORE}" if wrong else None


IDEA_FILTER = Role(
    name="idea_filter",
    group="judge",
    inputs=FilterInputs,
    answer=IdeaScores,
    offline=_score,
    temperature=0.0,
    check=_check_scores,
    prompts=PROMPTS,
)


class RefineIdeaInputs(Inputs):
    """A merged idea, and papers: those of its idea from literature first, then the closest ones."""

    topic: str
    idea: SketchView
    papers: tuple[PaperBrief, ...]


class RefinedIdea(SearchableIdea):
    """A merged idea in full."""


def _refine(engine: ExtractiveModel, inputs: RefineIdeaInputs) -> RefinedIdea:
    """Return the lead of the papers, with the merged approach as its last step."""
    lead = draft_lead(engine, inputs.topic, inputs.papers)
    check = inputs.idea.approach.partition(CHECK)[2] or inputs.idea.approach
    method = f"1. {lead.method}\n2. {CHECK}{check}"
    return lead.extended_to(RefinedIdea, method=method, queries=())


IDEA_REFINER = Role(
    name="idea_refiner",
    group="main",
    inputs=RefineIdeaInputs,
    answer=RefinedIdea,
    offline=_refine,
    check=check_sources,
    prompts=PROMPTS,
)
