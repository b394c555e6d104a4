"""Chain-of-Ideas (arXiv 2410.13185, section 3): queries, anchors, branches, choice, experiment.

Every branch is a state machine of its own (``branch.py``) and runs beside the others; one that
fails is recorded with its reason and costs its own idea only.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ideagora.agents.experiment import (
    EXPERIMENT_DESIGNER,
    EXPERIMENT_REFINER,
    EXPERIMENT_REVIEWER,
    PlanView,
)
from ideagora.agents.judges import IDEA_JUDGE
from ideagora.agents.literature import QUERY_PLANNER, RELEVANCE_JUDGE
from ideagora.agents.views import (
    EntityView,
    PaperBrief,
    entity_views,
    idea_view,
    paper_brief,
    past_experiments,
)
from ideagora.errors import AllBranchesFailed, IdeagoraError, TopicNotCovered, UnreadableAnswer
from ideagora.graphs.chain_of_ideas import leads
from ideagora.graphs.chain_of_ideas.branch import build_branch
from ideagora.graphs.chain_of_ideas.choice import duel_scores, rank_branches
from ideagora.graphs.chain_of_ideas.options import CANDIDATES
from ideagora.graphs.chain_of_ideas.topic_similarity import related_to_topic, topic_similarity
from ideagora.graphs.services import Services
from ideagora.models.usage import usage_label
from ideagora.schema import FAR_FROM_TOPIC, Experiment, Link, NoveltyCheck, Paper, ScoredPaper, Topic

RELATED = 3
"""Papers nearest to the idea that the designer is shown."""

SEARCHED = 4
"""Papers per query that the refiner is shown."""

TOPIC_WORDS = 30
"""Words of a long topic with which the library is searched."""

NEAR_TOPIC = 0.30
"""Cosine to the topic that a paper needs which only a query for an aspect of the topic found."""


class IdeationState(TypedDict, total=False):
    """Plain values only: this is what a checkpoint holds."""

    topic: dict[str, Any]
    queries: list[str]
    anchors: list[dict[str, Any]]
    branches: Annotated[list[dict[str, Any]], operator.add]
    failures: Annotated[list[dict[str, Any]], operator.add]
    duels: Annotated[list[dict[str, Any]], operator.add]
    ranking: list[dict[str, Any]]
    plan: dict[str, Any]
    review: dict[str, Any]
    suggestions: list[str]
    declined: list[str]
    searched: list[str]
    found: list[dict[str, Any]]
    """By the searches of this round of refinement."""
    found_in_all: list[dict[str, Any]]
    rounds: int
    pair: dict[str, Any]
    anchored: dict[str, Any]
    pairs: list[dict[str, Any]]
    leads: Annotated[list[dict[str, Any]], operator.add]


Context = Runtime[Services]


async def plan_queries(state: IdeationState, runtime: Context) -> IdeationState:
    """One query for the whole topic and others for its aspects (Table 8)."""
    count = runtime.context.options.branches
    answer = await QUERY_PLANNER(runtime.context.client, topic=_topic(state).text, count=count)
    return {"queries": list(answer.queries[:count])}


async def find_anchors(state: IdeationState, runtime: Context) -> IdeationState:
    """A different anchor for each query: the best hit that the relevance judge accepts (Table 9).

    A hit of a query for an aspect must be near to the topic too, whatever the judge says.
    """
    topic, library, options = _topic(state), runtime.context.library, runtime.context.options
    whole = " ".join(topic.text.split()[:TOPIC_WORDS])
    asked = dict.fromkeys([whole, *state["queries"]])
    hits = {query: await library.search(query, CANDIDATES) for query in asked}
    candidates = {scored.paper.id: scored for found in hits.values() for scored in found}
    if not candidates:
        raise TopicNotCovered(
            "The library holds no paper that may be shown for this topic. Widen --before or the bans."
        )
    shown = [scored.paper for scored in candidates.values()]
    answer = await RELEVANCE_JUDGE(
        runtime.context.client, topic=topic.text, papers=tuple(paper_brief(paper) for paper in shown)
    )
    judged = {shown[one.paper].id: one.reason for one in answer.judgements if one.relevant}
    nearness = await topic_similarity(library, topic, shown)
    own = {scored.paper.id for scored in hits[whole]}
    relevant = {key: why for key, why in judged.items() if key in own or nearness[key] >= NEAR_TOPIC}
    if not relevant and not options.allow_thin:
        spelling = await library.nearest_spelling(topic.text)
        raise _thin(topic, shown, nearness, spelling)
    allowed = {key: scored for key, scored in candidates.items() if key in relevant or not relevant}
    anchors = await _assign_anchors(runtime.context, state["queries"], hits, allowed)
    for anchored in anchors:
        anchored["reason"] = relevant.get(
            anchored["paper"]["id"], "nearest to the query, but judged off topic"
        )
    if len(anchors) < options.branches:
        runtime.context.say(f"{len(anchors)} of {options.branches} branches: no further paper on the topic")
    return {"anchors": anchors}


def _thin(
    topic: Topic, papers: list[Paper], nearness: dict[str, float], spelling: str | None
) -> TopicNotCovered:
    nearest = sorted(papers, key=lambda paper: (-nearness[paper.id], paper.id))[:5]
    titles = [f"{paper.title} ({paper.year}), similarity {nearness[paper.id]:.2f}" for paper in nearest]
    advice = f"Did you mean “{spelling[:80]}”? Else reword" if spelling else "Reword"
    return TopicNotCovered(
        f"The library has nothing on the topic “{topic.text[:80]}”. {advice} it in English, or go on with "
        "--allow-off-topic (the ideas will stand on the papers listed as nearest).",
        titles,
    )


async def _assign_anchors(
    context: Services, queries: list[str], hits: dict[str, list[ScoredPaper]], allowed: dict[str, ScoredPaper]
) -> list[dict[str, Any]]:
    """In the order of the queries, each takes its best hit that is left, then any other that is left.

    A paper that cites an anchor or is cited by one would lead to the same chain: it comes last. Each
    anchor is recorded with the query that found it.
    """
    taken: set[str] = set()
    linked: set[str] = set()
    anchors: list[dict[str, Any]] = []
    rest = sorted(allowed.values(), key=lambda scored: (-scored.similarity, scored.paper.id))
    for query in queries:
        own = [scored for scored in hits[query] if scored.paper.id in allowed]
        free = [scored.paper for scored in [*own, *rest] if scored.paper.id not in taken]
        apart = [paper for paper in free if paper.id not in linked]
        for paper in (apart or free)[:1]:
            taken.add(paper.id)
            around = [*await context.library.references(paper), *await context.library.citations(paper)]
            linked |= {neighbour.id for neighbour in around}
            found_by = _found_by(paper, query, hits)
            anchors.append(
                {"branch": len(anchors) + 1, "query": found_by, "paper": paper.model_dump(mode="json")}
            )
    return anchors


def _found_by(paper: Paper, query: str, hits: dict[str, list[ScoredPaper]]) -> str:
    """The query that found a paper: this one if it did, else the one that came nearest to it."""
    similarity = {
        asked: scored.similarity
        for asked, found in hits.items()
        for scored in found
        if scored.paper.id == paper.id
    }
    return query if query in similarity else max(similarity, key=lambda asked: similarity[asked])


def start_branches(state: IdeationState) -> list[Send]:
    """All branches side by side."""
    return [
        Send("explore_branch", {"topic": state["topic"], "anchored": anchored})
        for anchored in state["anchors"]
    ]


async def explore_branch(state: IdeationState, runtime: Context) -> IdeationState:
    """Run one branch; its failure is recorded and the others go on."""
    anchored = state["anchored"]
    number, query = int(anchored["branch"]), str(anchored["query"])
    branch = build_branch().compile()
    start = {
        "topic": state["topic"],
        "branch": number,
        "query": query,
        "anchor": anchored["paper"],
        "anchor_reason": anchored["reason"],
    }
    with usage_label(f"branch {number}"):
        try:
            done = await branch.ainvoke(start, context=runtime.context)  # type: ignore[call-overload]
        except IdeagoraError as error:
            if error.fatal:  # no branch's own failure
                raise
            runtime.context.say(f"failed: {error}")
            return {"failures": [{"branch": number, "query": query, "error": str(error)}]}
    kept = {key: done[key] for key in sorted(done) if key != "topic"}
    papers = [Paper.model_validate(link["paper"]) for link in done["links"]]
    nearness = await topic_similarity(runtime.context.library, _topic(state), papers)
    return {"branches": [{**kept, "topic_similarity": round(sum(nearness.values()) / len(nearness), 4)}]}


def gather(state: IdeationState) -> IdeationState:
    """Where the branches meet; what comes next is decided on the edge."""
    return {}


def pair_up(state: IdeationState, runtime: Context) -> list[Hashable | Send]:
    """Every pair of branches is judged in both orders, side by side; a single branch needs no judge.

    Where leads are made (``leads.py``), no branch has a draft to be judged.
    """
    branches = sorted(state.get("branches", []), key=lambda branch: branch["branch"])
    if not branches:
        raise AllBranchesFailed(_why_none(state.get("failures", [])))
    if runtime.context.makes_leads:
        return ["choose_pairs"]
    sends: list[Hashable | Send] = [
        Send("judge_pair", {"topic": state["topic"], "pair": {"first": first, "second": second}})
        for i, one in enumerate(branches)
        for other in branches[i + 1 :]
        for first, second in ((one, other), (other, one))
    ]
    return sends or ["choose"]


def _why_none(failures: list[dict[str, Any]]) -> str:
    reasons = "; ".join(f"branch {f['branch']} ({f['query']}): {f['error']}" for f in failures)
    return f"No branch came to an idea. {reasons}"


async def judge_pair(state: IdeationState, runtime: Context) -> IdeationState:
    """One pair in one order; an unreadable verdict is recorded as unscored, never as a tie."""
    first, second = state["pair"]["first"], state["pair"]["second"]
    order = {"first": first["branch"], "second": second["branch"]}
    with usage_label("choice"):
        try:
            answer = await IDEA_JUDGE(
                runtime.context.client,
                topic=_topic(state).text,
                first=idea_view(first["draft"]),
                second=idea_view(second["draft"]),
            )
        except UnreadableAnswer as error:
            return {"duels": [{**order, "criteria": None, "reason": str(error)}]}
    criteria = answer.model_dump(exclude={"reason"})
    return {"duels": [{**order, "criteria": criteria, "reason": answer.reason}]}


def choose_pairs(state: IdeationState, runtime: Context) -> IdeationState:
    """The pairs of limitation and mechanism, of all chains, that leads are made of."""
    pairs = leads.distinct(state["branches"], leads.MOST + 2)
    if not pairs:
        raise AllBranchesFailed(
            f"No lead: in {len(state['branches'])} chains no open limitation comes near enough to a "
            "mechanism of another paper. Try a neighbouring topic, or a language model (--model)."
        )
    return {"pairs": [{**pair, "number": number} for number, pair in enumerate(pairs, 1)]}


def start_leads(state: IdeationState) -> list[Send]:
    """All leads side by side."""
    return [Send("make_lead", {"topic": state["topic"], "pair": pair}) for pair in state["pairs"]]


async def make_lead(state: IdeationState, runtime: Context) -> IdeationState:
    """One lead in words, with what the literature has near to it and a first cheap test."""
    return {"leads": [await leads.make_lead(runtime.context, _topic(state), state["pair"])]}


def choose(state: IdeationState) -> IdeationState:
    """The idea with the highest winning rate goes on to experiment design (section 3.3)."""
    checks = {branch["branch"]: branch["novelty_check"]["status"] for branch in state["branches"]}
    scores = duel_scores(state.get("duels", []), list(checks))
    too_close = {number for number, status in checks.items() if status == "too_close"}
    similarity = {branch["branch"]: branch.get("topic_similarity") for branch in state["branches"]}
    far = {number for number, found in similarity.items() if found is not None and found < FAR_FROM_TOPIC}
    ranking = rank_branches(scores, too_close, far)
    return {"ranking": [score.as_state() for score in ranking], "rounds": 0, "searched": []}


async def design_experiment(state: IdeationState, runtime: Context) -> IdeationState:
    """A first plan from the experiments of the chain's papers (Table 17)."""
    best = _best(state)
    with usage_label("experiment"):
        plan = await EXPERIMENT_DESIGNER(
            runtime.context.client,
            topic=_topic(state).text,
            idea=idea_view(best["draft"]),
            evaluation=best["draft"]["evaluation"],
            past=tuple(past_experiments(_read_links(best))),
            related=await _nearest(best, runtime.context),
            entities=_best_entities(state, runtime.context),
        )
    return {"plan": plan.model_dump(mode="json")}


async def _nearest(branch: dict[str, Any], context: Services) -> tuple[PaperBrief, ...]:
    """The papers that the novelty check found nearest."""
    close = NoveltyCheck.model_validate(branch["novelty_check"]).closest[:RELATED]
    found = [await context.library.paper(one.paper_id) for one in close]
    return tuple(paper_brief(paper) for paper in found if paper is not None)


async def review_experiment(state: IdeationState, runtime: Context) -> IdeationState:
    """What the plan lacks, and what to look up for it (Tables 18 and 19)."""
    with usage_label("experiment"):
        review = await EXPERIMENT_REVIEWER(
            runtime.context.client,
            topic=_topic(state).text,
            idea=idea_view(_best(state)["draft"]),
            plan=PlanView(**state["plan"]),
            entities=_best_entities(state, runtime.context),
        )
    runtime.context.say(f"review: {len(review.suggestions)} suggestions")
    return {"review": review.model_dump(mode="json")}


async def search_for_experiment(state: IdeationState, runtime: Context) -> IdeationState:
    """The searches that the reviewer named; what they find in unrelated fields is left out."""
    queries = state["review"]["queries"][:3]
    found: dict[str, Paper] = {}
    for query in queries:
        for scored in await runtime.context.library.search(query, SEARCHED):
            found.setdefault(scored.paper.id, scored.paper)
    related = await related_to_topic(runtime.context.library, _topic(state), list(found.values()))
    papers = [paper.model_dump(mode="json") for paper in related]
    met = {paper["id"] for paper in state.get("found_in_all", [])}
    in_all = [*state.get("found_in_all", []), *(paper for paper in papers if paper["id"] not in met)]
    return {"found": papers, "found_in_all": in_all, "searched": [*state["searched"], *queries]}


async def refine_experiment(state: IdeationState, runtime: Context) -> IdeationState:
    """The plan after review (Table 20)."""
    suggestions = state["review"]["suggestions"]
    with usage_label("experiment"):
        plan = await EXPERIMENT_REFINER(
            runtime.context.client,
            topic=_topic(state).text,
            idea=idea_view(_best(state)["draft"]),
            plan=PlanView(**state["plan"]),
            suggestions=tuple(suggestions),
            papers=tuple(paper_brief(Paper.model_validate(paper)) for paper in state["found"]),
        )
    return {
        "plan": plan.model_dump(mode="json", exclude={"declined"}),
        "declined": [*state.get("declined", []), *plan.declined],
        "rounds": state["rounds"] + 1,
        "suggestions": [*state.get("suggestions", []), *suggestions],
    }


def refine_again(state: IdeationState, runtime: Context) -> str:
    """Review while rounds are left."""
    return "review_experiment" if state["rounds"] < runtime.context.options.refinements else END


def worth_refining(state: IdeationState) -> str:
    """A reviewer who asks for nothing ends the refinement."""
    return "search_for_experiment" if state["review"]["suggestions"] else END


def _topic(state: IdeationState) -> Topic:
    return Topic.model_validate(state["topic"])


def _best(state: IdeationState) -> dict[str, Any]:
    number = state["ranking"][0]["branch"]
    return next(branch for branch in state["branches"] if branch["branch"] == number)


def _read_links(branch: dict[str, Any]) -> list[Link]:
    links = [
        Link.model_validate({**link, "reading": branch["readings"].get(link["paper"]["id"])})
        for link in branch["links"]
    ]
    return sorted(links, key=lambda link: link.position)


def _best_entities(state: IdeationState, context: Services) -> tuple[EntityView, ...]:
    if not context.options.entities:
        return ()
    links = _read_links(_best(state))
    return tuple(entity_views(entity for link in links if link.reading for entity in link.reading.entities))


def experiment_of(state: IdeationState) -> Experiment:
    """The plan as a record, with how it was refined."""
    return Experiment(
        **state["plan"],
        suggestions=tuple(state.get("suggestions", [])),
        declined=tuple(state.get("declined", [])),
        searched=tuple(state["searched"]),
        found=tuple(Paper.model_validate(paper) for paper in state.get("found_in_all", [])),
        rounds=state["rounds"],
    )


def build_graph() -> StateGraph[IdeationState, Services, IdeationState, IdeationState]:
    """The state machine of the agent."""
    graph = StateGraph(IdeationState, context_schema=Services)
    for node in (
        plan_queries,
        find_anchors,
        explore_branch,
        gather,
        judge_pair,
        choose_pairs,
        make_lead,
        choose,
        design_experiment,
        review_experiment,
        search_for_experiment,
        refine_experiment,
    ):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "plan_queries")
    graph.add_edge("plan_queries", "find_anchors")
    graph.add_conditional_edges("find_anchors", start_branches, ["explore_branch"])
    graph.add_edge("explore_branch", "gather")
    graph.add_conditional_edges("gather", pair_up, ["judge_pair", "choose", "choose_pairs"])
    graph.add_conditional_edges("choose_pairs", start_leads, ["make_lead"])
    graph.add_edge("make_lead", END)
    graph.add_edge("judge_pair", "choose")
    graph.add_edge("choose", "design_experiment")
    graph.add_conditional_edges("design_experiment", refine_again, ["review_experiment", END])
    graph.add_conditional_edges("review_experiment", worth_refining, ["search_for_experiment", END])
    graph.add_edge("search_for_experiment", "refine_experiment")
    graph.add_conditional_edges("refine_experiment", refine_again, ["review_experiment", END])
    return graph
