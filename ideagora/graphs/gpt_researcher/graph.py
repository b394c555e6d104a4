"""GPT-Researcher, a baseline of Chain of Ideas (arXiv 2410.13185, section 4.3): plan, then solve.

A first search gives the planner an overview. It divides the topic into questions; each is searched for and
answered on its own, in parallel. The answers are combined into an idea, then its experiment is designed with
its source papers. Further ideas are written one after the other, each different from the earlier ones.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping
from typing import Annotated, Any, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.gpt_researcher.roles import (
    QUESTION_PLANNER,
    QUESTION_RESEARCHER,
    RESEARCH_SYNTHESIZER,
    AnsweredQuestion,
)
from ideagora.agents.plain_ideators import proposed_ideas
from ideagora.errors import RunError, UnreadableAnswer
from ideagora.graphs.services import Services
from ideagora.graphs.single_idea import needs_idea, no_further_idea, usage_name
from ideagora.graphs.sources import checked_sources
from ideagora.graphs.steps.first_plan import PlanTask, design_experiment, paper_briefs, source_papers
from ideagora.graphs.steps.topic_papers import topic_papers
from ideagora.graphs.steps.topic_similarity import related_to_topic
from ideagora.models.usage import usage_label
from ideagora.schema import Topic


class ResearchState(TypedDict, total=False):
    """Plain JSON values only, as a checkpoint holds them."""

    topic: dict[str, Any]
    found: list[dict[str, Any]]
    """Papers of the first search."""
    questions: list[dict[str, Any]]
    answers: Annotated[list[dict[str, Any]], operator.add]
    """Questions with answer, gap, papers and quotes; ``missing`` says why there is no answer."""
    drafts: Annotated[list[dict[str, Any]], operator.add]
    plans: Annotated[list[dict[str, Any]], operator.add]
    failures: Annotated[list[dict[str, Any]], operator.add]


class QuestionTask(TypedDict):
    """Payload of ``answer_question``."""

    topic: dict[str, Any]
    number: int
    question: str
    query: str


Context = Runtime[Services]


async def search_topic(state: ResearchState, runtime: Context) -> ResearchState:
    """An overview for the planner: the papers closest to the topic that are relevant to it."""
    topic = Topic.model_validate(state["topic"])
    papers = await topic_papers(runtime.context, topic, runtime.context.options.papers)
    return {"found": [paper.model_dump(mode="json") for paper in papers]}


async def plan_questions(state: ResearchState, runtime: Context) -> ResearchState:
    """Divide the topic into questions, each with a search query."""
    count = runtime.context.options.questions
    plan = await QUESTION_PLANNER(
        runtime.context.client, topic=state["topic"]["text"], papers=paper_briefs(state["found"]), count=count
    )
    return {"questions": [planned.model_dump(mode="json") for planned in plan.questions[:count]]}


def research(state: ResearchState) -> list[Send]:
    """One task per question, in parallel."""
    return [
        Send("answer_question", {"topic": state["topic"], "number": number, **planned})
        for number, planned in enumerate(state["questions"], 1)
    ]


async def answer_question(state: QuestionTask, runtime: Context) -> ResearchState:
    """Search for one question and answer it from what is found; without an answer, say why."""
    question: dict[str, Any] = {key: value for key, value in state.items() if key != "topic"}
    topic, library = Topic.model_validate(state["topic"]), runtime.context.library
    with usage_label(f"question {state['number']}"):
        found = await library.search(state["query"], runtime.context.options.papers)
        papers = await related_to_topic(library, topic, [scored.paper for scored in found])
        question["papers"] = [paper.model_dump(mode="json") for paper in papers]
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
    return {
        "answers": [
            {**question, "answer": answer.findings, "gap": answer.gap, "used": list(used), "missing": None}
        ]
    }


def _unanswered(question: Mapping[str, Any], reason: str) -> ResearchState:
    return {"answers": [{**question, "answer": None, "gap": None, "used": [], "missing": reason}]}


def load_papers(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The papers found for all questions, each once, in order of the questions; else the first search's."""
    answers = sorted(state.get("answers", []), key=lambda answer: int(answer["number"]))
    papers = {paper["id"]: paper for answer in answers for paper in answer["papers"]}
    return list(papers.values()) or state.get("found", [])


def load_questions(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The questions in order, each with its answer and the ids of the papers that the answer uses."""
    names = ("question", "query", "answer", "gap", "used", "missing")
    answers = sorted(state.get("answers", []), key=lambda answer: int(answer["number"]))
    return [{name: answer[name] for name in names} for answer in answers]


async def write_idea(state: ResearchState, runtime: Context) -> ResearchState:
    """One more idea from all answers; each part names its source papers."""
    questions, papers, drafts = load_questions(state), load_papers(state), state.get("drafts", [])
    if not any(question["answer"] for question in questions):
        reasons = "; ".join(dict.fromkeys(question["missing"] for question in questions))
        raise RunError(f"None of {len(questions)} questions could be answered: {reasons}.")
    numbers = {paper["id"]: number for number, paper in enumerate(papers)}
    with usage_label(usage_name("idea", len(drafts) + 1)):
        try:
            answer = await RESEARCH_SYNTHESIZER(
                runtime.context.client,
                topic=state["topic"]["text"],
                questions=tuple(_answered(question, numbers) for question in questions),
                papers=paper_briefs(papers),
                proposed=proposed_ideas(drafts),
            )
        except UnreadableAnswer as error:
            return cast(ResearchState, no_further_idea(drafts, error))
    runtime.context.say(f"idea: {answer.title}")
    draft = answer.model_dump(mode="json")
    return {"drafts": [{**draft, "sources": checked_sources(draft["sources"], papers)}]}


def _answered(question: Mapping[str, Any], numbers: Mapping[str, int]) -> AnsweredQuestion:
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
    papers = load_papers(state)
    tasks = [
        PlanTask(topic=state["topic"], draft=draft, number=number, papers=source_papers(draft, papers))
        for number, draft in enumerate(state["drafts"], 1)
    ]
    return [Send("design_experiment", task) for task in tasks]


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
