"""GPT-Researcher, a baseline of Chain of Ideas (arXiv 2410.13185, section 4.3): plan, then solve.

A first search gives the planner an overview. It divides the topic into questions; each is searched for and
answered on its own, in parallel. The answers are combined into an idea, then its experiment is designed with
its source papers. Further ideas are written one after the other, each different from the earlier ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.gpt_researcher.roles import (
    QUESTION_PLANNER,
    QUESTION_RESEARCHER,
    RESEARCH_SYNTHESIZER,
    AnsweredQuestion,
    PlannedQuestion,
)
from ideagora.agents.plain_ideators import proposed_ideas
from ideagora.errors import RunError, UnreadableAnswer
from ideagora.graphs.drafts import Draft, DraftsState, needs_idea, no_further_idea, usage_name
from ideagora.graphs.reducers import concatenate
from ideagora.graphs.services import Services
from ideagora.graphs.sources import sourced_draft
from ideagora.graphs.steps.first_plan import design_experiment, paper_briefs, start_experiments
from ideagora.graphs.steps.literature.topic_papers import topic_papers
from ideagora.graphs.steps.literature.topic_similarity import related_to_topic
from ideagora.models.usage import usage_label
from ideagora.schema import Paper, Serialized, Topic, deserialize, serialize


class ResearchedQuestion(TypedDict):
    """A question with its answer, or why there is none."""

    number: int
    question: str
    query: str
    papers: list[Serialized[Paper]]
    """What the search found."""
    answer: str | None
    gap: str | None
    used: list[str]
    """Ids of the papers that the answer quotes."""
    missing: str | None
    """Why there is no answer."""


class ResearchState(DraftsState, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    papers: list[Serialized[Paper]]
    """Papers of the first search."""
    questions: list[Serialized[PlannedQuestion]]
    answers: Annotated[list[ResearchedQuestion], concatenate]


class QuestionTask(TypedDict):
    """Payload of ``answer_question``."""

    topic: Serialized[Topic]
    number: int
    question: str
    query: str


Context = Runtime[Services]


async def search_topic(state: ResearchState, runtime: Context) -> ResearchState:
    """An overview for the planner: the papers closest to the topic that are relevant to it."""
    topic = deserialize(Topic, state["topic"])
    found = await topic_papers(runtime.context, topic, runtime.context.options.papers)
    return {"papers": found.serialized, "notes": found.notes}


async def plan_questions(state: ResearchState, runtime: Context) -> ResearchState:
    """Divide the topic into questions, each with a search query."""
    count = runtime.context.options.questions
    plan = await QUESTION_PLANNER(
        runtime.context.client,
        topic=state["topic"]["text"],
        papers=paper_briefs(state["papers"]),
        count=count,
    )
    return {"questions": [serialize(planned) for planned in plan.questions[:count]]}


def research(state: ResearchState) -> list[Send]:
    """One task per question, in parallel."""
    return [
        Send(
            "answer_question",
            QuestionTask(
                topic=state["topic"],
                number=number,
                question=planned["question"],
                query=planned["query"],
            ),
        )
        for number, planned in enumerate(state["questions"], 1)
    ]


async def answer_question(state: QuestionTask, runtime: Context) -> ResearchState:
    """Search for one question and answer it from what is found; without an answer, say why."""
    question = ResearchedQuestion(
        number=state["number"],
        question=state["question"],
        query=state["query"],
        papers=[],
        answer=None,
        gap=None,
        used=[],
        missing=None,
    )
    topic, library = deserialize(Topic, state["topic"]), runtime.context.library
    with usage_label(f"question {state['number']}"):
        found = await library.search(state["query"], runtime.context.options.papers)
        papers = await related_to_topic(library, topic, [scored.paper for scored in found])
        question["papers"] = [serialize(paper) for paper in papers]
        if not papers:
            return _unanswered(question, "the search found no paper on the topic")
        try:
            answer = await QUESTION_RESEARCHER(
                runtime.context.client,
                topic=topic.text,
                question=state["question"],
                papers=paper_briefs(question["papers"]),
            )
        except UnreadableAnswer as error:
            return _unanswered(question, str(error).rstrip("."))
        runtime.context.say(f"question {state['number']}: {len(answer.evidence)} passages")
    if answer.findings is None:
        return _unanswered(question, "the papers found do not answer it")
    used = dict.fromkeys(papers[evidence.paper].id for evidence in answer.evidence)
    return {"answers": [{**question, "answer": answer.findings, "gap": answer.gap, "used": list(used)}]}


def _unanswered(question: ResearchedQuestion, reason: str) -> ResearchState:
    return {
        "answers": [{**question, "missing": reason}],
        "notes": [f"The question “{question['question']}” has no answer: {reason}."],
    }


async def write_idea(state: ResearchState, runtime: Context) -> ResearchState:
    """One more idea from all answers; each part names its source papers."""
    answers, drafts = state["answers"], state.get("drafts", [])
    if not any(question["answer"] for question in answers):
        why = "; ".join(dict.fromkeys(question["missing"] or "" for question in answers))
        raise RunError(f"None of {len(answers)} questions could be answered: {why}.")
    papers = list({paper["id"]: paper for question in answers for paper in question["papers"]}.values())
    numbers = {paper["id"]: number for number, paper in enumerate(papers)}
    with usage_label(usage_name("idea", len(drafts) + 1)):
        try:
            answer = await RESEARCH_SYNTHESIZER(
                runtime.context.client,
                topic=state["topic"]["text"],
                questions=tuple(_answered(question, numbers) for question in answers),
                papers=paper_briefs(papers),
                proposed=proposed_ideas(drafts),
            )
        except UnreadableAnswer as error:
            return {"failures": no_further_idea(drafts, error)}
    runtime.context.say(f"idea: {answer.title}")
    kept = ("question", "query", "answer", "gap", "used", "missing")
    questions = [{name: question[name] for name in kept} for question in answers]  # type: ignore[literal-required]
    draft: Draft = {
        **sourced_draft(answer, papers),
        "number": len(drafts) + 1,
        "papers": papers,
        "extra": {"synthesis": answer.synthesis, "questions": questions},
    }
    return {"drafts": [draft]}


def _answered(question: ResearchedQuestion, numbers: Mapping[str, int]) -> AnsweredQuestion:
    return AnsweredQuestion(
        question=question["question"],
        answer=question["answer"],
        gap=question["gap"],
        papers=tuple(numbers[paper_id] for paper_id in question["used"]),
    )


def after_idea(state: ResearchState, runtime: Context) -> list[Hashable | Send]:
    """Write another idea, or design the experiments of all, in parallel."""
    if needs_idea(state, runtime.context.options.ideas):
        return ["write_idea"]
    return [*start_experiments(state)]


def build_graph() -> StateGraph[ResearchState, Services, ResearchState, ResearchState]:
    """The graph of the agent, not compiled."""
    graph = StateGraph(ResearchState, context_schema=Services)
    graph.add_node("search_topic", search_topic)
    graph.add_node("plan_questions", plan_questions)
    graph.add_node("answer_question", answer_question)
    graph.add_node("write_idea", write_idea)
    graph.add_node("design_experiment", design_experiment)
    graph.add_edge(START, "search_topic")
    graph.add_edge("search_topic", "plan_questions")
    graph.add_conditional_edges("plan_questions", research, ["answer_question"])
    graph.add_edge("answer_question", "write_idea")
    graph.add_conditional_edges("write_idea", after_idea, ["write_idea", "design_experiment"])
    graph.add_edge("design_experiment", END)
    return graph
