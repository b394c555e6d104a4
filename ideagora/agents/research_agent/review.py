"""The role that reviews one part of an idea on one criterion, and the criteria.

Source: ResearchAgent (arXiv 2404.07738), section 3.3 and its tables of criteria: five for each of problem,
method and experiment. The questions are in our words.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from ideagora.agents.experiment import CostedPlan
from ideagora.agents.research_agent.parts import PROMPTS, MethodView, ProblemView
from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

CRITERIA: Mapping[str, Mapping[str, str]] = {
    "problem": {
        "clarity": "Is the problem stated precisely enough that two experts would understand the same by it?",
        "relevance": "Does it follow from the core paper and matter for the topic?",
        "originality": "Is it a question that the papers have not asked yet, rather than a variation of one?",
        "feasibility": "Can it be studied with the data, systems and means that a research group has?",
        "significance": "Would an answer change what others in the field do?",
    },
    "method": {
        "clarity": "Could an expert build every component from the description?",
        "validity": "Does it address the stated problem, and is each step sound for it?",
        "rigorousness": "Is it worked out systematically, each choice justified and no gap between steps?",
        "innovativeness": "Does it contain a mechanism or combination that the papers do not have?",
        "generalizability": "Would it work on other data, models and tasks than those it was made for?",
    },
    "experiment": {
        "clarity": "Is the plan ordered and complete, so that nothing has to be guessed?",
        "validity": "Would its result confirm or refute the claim of the method?",
        "robustness": "Would the conclusion hold under other seeds, data and settings, and is that tested?",
        "feasibility": "Can a research group carry it out in reasonable time and cost?",
        "reproducibility": "Could another group repeat it from the description and get the same result?",
    },
}
"""Criteria as questions, by part; the parts are in the order in which they are written."""
PARTS = tuple(CRITERIA)
COMPARES = frozenset(["relevance", "originality", "innovativeness"])
"""Criteria that cannot be judged without the other papers."""


class PartReviewInputs(Inputs):
    """A part of an idea with what comes before it, and the criterion to review it on."""

    topic: str
    papers: tuple[PaperBrief, ...]
    """The core paper; for criteria that compare (``COMPARES``) also the others that the author is shown."""
    part: str
    """One of ``PARTS``."""
    criterion: str
    definition: str
    """The criterion as a question."""
    problem: ProblemView
    method: MethodView | None
    plan: CostedPlan | None


class PartReview(Answer):
    """A review on one criterion."""

    review: str = Field(description="what is good and what is weak on this criterion; 2 to 5 sentences")
    suggestions: tuple[str, ...] = Field(
        description="concrete changes that would raise the rating, at most 3; [] if nothing has to change"
    )
    rating: int | None = Field(description="1 (fails) to 5 (nothing to improve); null if it cannot be judged")


LONG_SENTENCE = 30
"""Mean words per sentence from which the offline reviewer calls a part unclear."""
NEAR, FAR = 0.6, 0.3
"""Cosines at which the offline reviewer calls a part a restatement, and off the topic."""


def _review(engine: ExtractiveModel, inputs: PartReviewInputs) -> PartReview:
    """Return a measurement for clarity, relevance and originality; other criteria cannot be measured."""
    text = _text_of(inputs)
    if inputs.criterion == "clarity":
        lengths = [len(texts.words(sentence)) for sentence in texts.sentences(text)] or [0]
        mean = sum(lengths) / len(lengths)
        return _measured(f"Its sentences have {mean:.0f} words on average.", mean <= LONG_SENTENCE)
    if inputs.criterion == "relevance":
        near = engine.similarity(text, [inputs.topic])[0]
        return _measured(f"Its similarity to the topic is {near:.2f}.", near >= FAR)
    if inputs.criterion in ("originality", "innovativeness"):
        papers = [f"{paper.title}. {paper.abstract or ''}" for paper in inputs.papers]
        near = max(engine.similarity(text, papers))
        return _measured(f"Its similarity to the nearest of the papers is {near:.2f}.", near < NEAR)
    unmeasured = f"The offline model cannot judge {inputs.criterion}."
    return PartReview(review=unmeasured, suggestions=(), rating=None)


def _measured(finding: str, is_good: bool) -> PartReview:
    return PartReview(review=finding, suggestions=(), rating=4 if is_good else 2)


def _text_of(inputs: PartReviewInputs) -> str:
    if inputs.plan is not None:
        return " ".join(inputs.plan.steps)
    return inputs.method.method if inputs.method is not None else inputs.problem.rationale


def _check_review(inputs: PartReviewInputs, answer: PartReview) -> str | None:
    if answer.rating is not None and not 1 <= answer.rating <= 5:
        return f"rating is {answer.rating}; rate from 1 to 5"
    return None


PART_REVIEWER = Role(
    name="part_reviewer",
    group="judge",
    inputs=PartReviewInputs,
    answer=PartReview,
    offline=_review,
    temperature=0.0,
    check=_check_review,
    prompts=PROMPTS,
)
