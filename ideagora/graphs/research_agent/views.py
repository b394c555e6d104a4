"""What the roles are shown of one core paper's state."""

from __future__ import annotations

from ideagora.agents.research_agent.parts import MethodView, ProblemView, ReviewView
from ideagora.agents.research_agent.review import CRITERIA
from ideagora.agents.views import EntityView, IdeaToTest, PaperBrief
from ideagora.graphs.research_agent.state import DevelopmentState, Method, PartReviewed, Problem
from ideagora.graphs.steps.first_plan import papers_of
from ideagora.schema import Paper, Serialized, deserialize


def current_reviews(state: DevelopmentState) -> list[PartReviewed]:
    """The reviews of the current version of the current part, in the order of the criteria."""
    part = state["part"]
    current = [
        review
        for review in state.get("reviews", [])
        if (review["part"], review["round"]) == (part, state["rounds"][part] + 1)
    ]
    return sorted(current, key=lambda review: list(CRITERIA[part]).index(review["criterion"]))


def motivation_of(problem: Problem) -> str:
    """Problem and rationale as one text."""
    return f"{problem['problem']} {problem['rationale']}"


def idea_view(state: DevelopmentState) -> IdeaToTest:
    """The idea as the roles of the experiment see it."""
    problem, method = state["problem"], state["method"]
    return IdeaToTest(
        title=method["title"],
        motivation=motivation_of(problem),
        novelty=method["novelty"],
        method=method["method"],
    )


def source_papers(state: DevelopmentState) -> list[Serialized[Paper]]:
    """The papers that problem and method name as their sources."""
    sources = [*state["problem"]["sources"], *state["method"]["sources"]]
    return papers_of(sources, [*state["papers"], *state["elsewhere"]])


def entities_used(state: DevelopmentState) -> tuple[EntityView, ...]:
    """The entities that shaped problem or method; others would distract the experiment."""
    names = [*state["problem"]["entities_used"], *state["method"]["entities_used"]]
    used = {name.casefold() for name in names}
    return tuple(
        EntityView(name=entity["name"], description=entity["description"], kind=entity["kind"])
        for entity in state["entities"]
        if entity["name"].casefold() in used
    )


def entity_passages(state: DevelopmentState) -> list[PaperBrief]:
    """The papers from elsewhere, each with the sentences that present its entities."""
    first = len(state["papers"])
    return [
        PaperBrief(
            title=paper["title"],
            year=deserialize(Paper, paper).year,
            abstract=" ".join(
                dict.fromkeys(
                    entity["description"] for entity in state["entities"] if entity["paper"] == number
                )
            ),
        )
        for number, paper in enumerate(state["elsewhere"], first)
    ]


def problem_view(problem: Problem) -> ProblemView:
    """A problem as the roles see it."""
    return ProblemView(problem=problem["problem"], rationale=problem["rationale"], purpose=problem["purpose"])


def method_view(method: Method) -> MethodView:
    """A method as the roles see it."""
    return MethodView(
        title=method["title"],
        method=method["method"],
        novelty=method["novelty"],
        mechanism=method["mechanism"],
        evaluation=method["evaluation"],
    )


def review_view(review: PartReviewed) -> ReviewView:
    """A review as the author of the next version sees it."""
    return ReviewView(
        criterion=review["criterion"],
        rating=review["rating"],
        review=review["review"],
        suggestions=tuple(review["suggestions"]),
    )
