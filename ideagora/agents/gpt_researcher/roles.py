"""Roles that plan questions, answer them from papers, and combine the answers into an idea.

Source: the GPT-Researcher baseline of Chain of Ideas (arXiv 2410.13185), section 4.3, which plans and solves
(arXiv 2305.04091).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from ideagora.agents.idea_inputs import ProposedIdea
from ideagora.agents.idea_parts import SourcedIdea, check_sources
from ideagora.agents.plain_ideators import check_distinct, draft_distinct_lead
from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief, check_paper_numbers
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

PROMPTS = Path(__file__).parent / "prompts"


class QuestionPlanInputs(Inputs):
    """A topic, the papers that a first search found for it, and the number of questions wanted."""

    topic: str
    papers: tuple[PaperBrief, ...]
    count: int


class PlannedQuestion(Answer):
    """A question on the topic, and how to search for papers that answer it."""

    question: str = Field(description="one sentence that ends with a question mark")
    query: str = Field(description="a literature search query of 3 to 10 words")


class QuestionPlan(Answer):
    """The questions whose answers together lead to an idea."""

    questions: tuple[PlannedQuestion, ...]


def _plan_questions(engine: ExtractiveModel, inputs: QuestionPlanInputs) -> QuestionPlan:
    """Return fixed questions about the topic, then one per phrase of the topic and of the papers."""
    topic = texts.without_stop(texts.clip(inputs.topic, 30))
    shown = " ".join(f"{paper.title}. {paper.abstract or ''}" for paper in inputs.papers)
    aspects = [phrase for phrase in texts.phrases(inputs.topic) if not texts.is_generic(phrase)]
    aspects += engine.key_phrases(shown, inputs.count, aspects, about=inputs.topic)
    questions = [
        (f"What remains unsolved in {topic}?", f"limitations and open problems of {topic}"),
        (f"How do existing methods approach {topic}?", f"methods for {topic}"),
        *((f"What is known about {aspect}?", aspect) for aspect in aspects),
        (f"How is {topic} evaluated?", f"evaluation of {topic}"),
        *((f"What else is known about {topic} ({n})?", f"{topic} {n}") for n in range(2, 20)),
    ]
    distinct = {question.casefold(): (question, query) for question, query in reversed(questions)}
    ordered = [pair for pair in questions if distinct.pop(pair[0].casefold(), None)]
    return QuestionPlan(
        questions=tuple(PlannedQuestion(question=q, query=query) for q, query in ordered[: inputs.count])
    )


def _check_plan(inputs: QuestionPlanInputs, answer: QuestionPlan) -> str | None:
    distinct = {planned.question.strip().casefold() for planned in answer.questions}
    if len(distinct) >= inputs.count:
        return None
    return f"expected {inputs.count} different questions, got {len(distinct)}"


QUESTION_PLANNER = Role(
    name="question_planner",
    group="main",
    inputs=QuestionPlanInputs,
    answer=QuestionPlan,
    offline=_plan_questions,
    check=_check_plan,
    prompts=PROMPTS,
)


class QuestionInputs(Inputs):
    """One question, and the papers found for it."""

    topic: str
    question: str
    papers: tuple[PaperBrief, ...]


class Evidence(Answer):
    """A passage that an answer is based on."""

    paper: int = Field(description="number of the paper")
    quote: str = Field(description="5 to 25 words copied verbatim from the text under that number")


class QuestionAnswer(Answer):
    """What the papers say about one question."""

    evidence: tuple[Evidence, ...] = Field(
        description="the passages that answer it; [] if the papers do not answer the question"
    )
    findings: str | None = Field(
        description="3 to 6 sentences that name the papers; null if they do not answer the question"
    )
    gap: str | None = Field(
        description="1 or 2 sentences: what the papers leave open about it; null if nothing"
    )


ANSWERING_SENTENCES = 3
ANSWERS_QUESTION = 0.3
"""Minimum cosine to the question of a sentence that the offline model takes for a part of the answer."""


def _answer_question(engine: ExtractiveModel, inputs: QuestionInputs) -> QuestionAnswer:
    """Return the sentences nearest to the question, and the limitation of the nearest paper."""
    sentences = [
        (number, sentence)
        for number, paper in enumerate(inputs.papers)
        for sentence in texts.sentences(paper.abstract or "")
    ]
    similarity = engine.similarity(inputs.question, [sentence for _, sentence in sentences])
    near = [pair for pair, value in zip(sentences, similarity, strict=True) if value >= ANSWERS_QUESTION]
    if not near:
        return QuestionAnswer(evidence=(), findings=None, gap=None)
    chosen = [
        near[i] for i in engine.select(inputs.question, [text for _, text in near], ANSWERING_SENTENCES)
    ]
    named = [f"{texts.short_name(inputs.papers[number].title)}: “{text}”" for number, text in chosen]
    first = inputs.papers[chosen[0][0]]
    return QuestionAnswer(
        evidence=tuple(Evidence(paper=number, quote=texts.clip(text, 25)) for number, text in chosen),
        findings=" ".join(named),
        gap=engine.facets(first.abstract or "", ["problem", "method", "finding", "limitation"])["limitation"],
    )


def _check_answer(inputs: QuestionInputs, answer: QuestionAnswer) -> str | None:
    numbers = [evidence.paper for evidence in answer.evidence]
    if complaint := check_paper_numbers("evidence.paper", numbers, [paper.title for paper in inputs.papers]):
        return complaint
    if (answer.findings is None) != (not answer.evidence):
        return "findings is null if and only if evidence is empty: an answer needs its passages"
    return None


QUESTION_RESEARCHER = Role(
    name="question_researcher",
    group="reader",
    inputs=QuestionInputs,
    answer=QuestionAnswer,
    offline=_answer_question,
    temperature=0.0,
    check=_check_answer,
    prompts=PROMPTS,
)


class AnsweredQuestion(Inputs):
    """A question with its answer; the numbers are those of the papers that it is based on."""

    question: str
    answer: str | None
    gap: str | None
    papers: tuple[int, ...]


class SynthesisInputs(Inputs):
    """The answered questions, the papers behind them, and the ideas already written."""

    topic: str
    questions: tuple[AnsweredQuestion, ...]
    papers: tuple[PaperBrief, ...]
    proposed: tuple[ProposedIdea, ...] = ()


class Synthesis(Answer):
    """What the answers say together."""

    synthesis: str = Field(
        description="what the answers establish together, where they disagree, and which gap the idea "
        "closes; 4 to 8 sentences"
    )


class ResearchedIdea(SourcedIdea, Synthesis):
    """An idea that follows from answered questions."""


def _synthesize(engine: ExtractiveModel, inputs: SynthesisInputs) -> ResearchedIdea:
    """Return a lead from the papers, and for which questions its two papers were found."""
    lead = draft_distinct_lead(engine, inputs.topic, inputs.papers, inputs.proposed)
    numbers = dict.fromkeys(source.paper for source in lead.sources)
    origins = [
        f"{texts.short_name(inputs.papers[number].title)} was found for “{question}”"
        for number in numbers
        if (question := _question_of(number, inputs.questions))
    ]
    answered = sum(question.answer is not None for question in inputs.questions)
    counted = f"{answered} of {len(inputs.questions)} questions are answered by {len(inputs.papers)} papers."
    synthesis = " ".join([counted, *(f"{origin}." for origin in origins)])
    return lead.extended_to(ResearchedIdea, synthesis=synthesis)


def _question_of(number: int, questions: Sequence[AnsweredQuestion]) -> str | None:
    return next((question.question for question in questions if number in question.papers), None)


def _check_idea(inputs: SynthesisInputs, answer: ResearchedIdea) -> str | None:
    return check_sources(inputs, answer) or check_distinct(inputs, answer)


RESEARCH_SYNTHESIZER = Role(
    name="research_synthesizer",
    group="main",
    inputs=SynthesisInputs,
    answer=ResearchedIdea,
    offline=_synthesize,
    check=_check_idea,
    prompts=PROMPTS,
)
