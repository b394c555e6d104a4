"""Chain-of-Ideas for the registry: the full agent and its three ablations (section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ideagora.config import Group
from ideagora.graphs.agent import Agent, Origin, imported
from ideagora.graphs.chain_of_ideas.options import MILESTONE_CITATIONS, ChainOptions
from ideagora.graphs.drafts import usage_name
from ideagora.graphs.steps.literature.relevance import unjudged_notes
from ideagora.schema import (
    Candidate,
    Comparison,
    Direction,
    Idea,
    NoveltyCheck,
    Paper,
    Source,
    Topic,
    Usage,
    deserialize,
    stable_id,
)

if TYPE_CHECKING:
    from ideagora.graphs.chain_of_ideas.records import ChainDraft, Duel
    from ideagora.graphs.chain_of_ideas.state import BranchState, IdeationState

NAME = "chain-of-ideas"
ABLATIONS = {"no-chain": {"chain": False}, "no-trend": {"trend": False}, "no-entities": {"entities": False}}


def agent(variant: str | None = None) -> Agent:
    """The agent, or one of its ablations (``no-chain``, ``no-trend``, ``no-entities``)."""
    switches = ABLATIONS[variant] if variant else {}
    return Agent(
        name=f"{NAME}/{variant}" if variant else NAME,
        about="Organises the literature into chains of ideas and derives an idea from where they lead."
        + (f" Ablation: {variant.replace('-', ' ')}." if variant else ""),
        source="Chain of Ideas, arXiv 2410.13185",
        options=ChainOptions(**switches),
        build=imported("ideagora.graphs.chain_of_ideas.graph:build_graph"),
        ideas=_ideas,
        notes=lambda state: [
            *unjudged_notes(state.get("unjudged", [])),
            *_unread_notes(state),
            *_milestone_notes(state),
            *_lead_notes(state),
        ],
        expected_calls=_expected_calls,
        is_steerable=True,
        steps=(
            "plan_queries",
            "find_anchors",
            "place_anchors",
            "extend_chain",
            "grow",
            "study_chain",
            "find_cures",
            "explore_branch",
            "judge_pair",
            "find_twins",
            "redraft_twin",
            "choose",
            "choose_pairs",
            "make_lead",
            "plan_experiment",
        ),
        subgraphs={
            "explore_branch": imported("ideagora.graphs.chain_of_ideas.branch:build_branch"),
            "plan_experiment": imported("ideagora.graphs.steps.experiment:build_experiment"),
        },
        set_ideas=_set_ideas,
    )


def _set_ideas(options: BaseModel, number: int) -> ChainOptions:
    """One branch per idea, at least those of the options, and an experiment for each wanted idea."""
    assert isinstance(options, ChainOptions)
    chosen = {"branches": max(options.branches, number), "experiments": number}
    return ChainOptions(**{**options.model_dump(), **chosen})


def _expected_calls(options: BaseModel) -> dict[Group, int]:
    """Calls if every chain reaches its full length and no idea is rewritten."""
    assert isinstance(options, ChainOptions)
    branches, length = options.branches, options.length
    growth = (length // 2) if options.chain else 0
    relevance = 1 + branches * growth
    making = branches * (1 + int(options.trend) + int(options.chain and length > 1))
    judging = branches + branches * (branches - 1) + int(options.twins and branches > 1)
    experiment = min(options.experiments, branches) * (1 + 2 * options.refinements)
    return {"main": 1 + making + experiment, "reader": branches * length, "judge": relevance + judging}


def _ideas(state: IdeationState, origin: Origin) -> list[Idea]:
    """The ideas, best first, in branch order if no choice was made; the best one has an experiment."""
    from ideagora.graphs.chain_of_ideas.experiment import load_experiments
    from ideagora.graphs.chain_of_ideas.leads import load_leads
    from ideagora.graphs.steps.experiment import with_experiment

    if "pairs" in state:
        return load_leads(state, origin)
    branches = {branch["branch"]: branch for branch in state.get("branches", []) if "draft" in branch}
    if "ranking" not in state:
        topic = deserialize(Topic, state["topic"])
        return [_idea(branches[number], topic, origin) for number in sorted(branches)]
    ideas, experiments = [], load_experiments(state)
    ids = {
        number: _idea(branch, deserialize(Topic, state["topic"]), origin).id
        for number, branch in branches.items()
    }
    for place, score in enumerate(state["ranking"]):
        idea = _idea(branches[score["branch"]], deserialize(Topic, state["topic"]), origin)
        update: dict[str, Any] = {"wins": score["told"] if len(branches) > 1 else None}
        if place == 0 or usage_name("experiment", place + 1) in origin.usage:
            labels = (f"branch {idea.branch}", usage_name("experiment", place + 1))
            spent = [origin.usage.get(label, Usage()) for label in labels]
            update["usage"] = spent[0] + spent[1]
        update["comparisons"] = _comparisons(state, score["branch"], ids)
        idea = idea.model_copy(update=update)
        ideas.append(with_experiment(idea, experiments[place]) if place in experiments else idea)
    return ideas


def _candidates(draft: ChainDraft) -> tuple[Candidate, ...]:
    statuses = {draft["chosen"]: "developed", draft["obvious"]: "too obvious"}
    return tuple(
        Candidate.model_validate({"text": text, "status": statuses.get(number, "not developed")})
        for number, text in enumerate(draft["candidates"])
    )


def _comparisons(state: IdeationState, branch: int, ids: Mapping[int, str]) -> tuple[Comparison, ...]:
    """The verdicts on one branch, as seen from its idea; those on replaced drafts are left out."""
    latest = {(duel["first"], duel["second"]): duel for duel in state.get("duels", [])}
    return tuple(
        _comparison(latest[pair], branch, ids)
        for pair in sorted(latest)
        if branch in pair and set(pair) <= ids.keys()
    )


def _comparison(duel: Duel, branch: int, ids: Mapping[int, str]) -> Comparison:
    is_first = duel["first"] == branch
    results = {"first": "won" if is_first else "lost", "second": "lost" if is_first else "won", "tie": "tied"}
    criteria = duel["criteria"]
    return Comparison.model_validate(
        {
            "other": ids[duel["second"] if is_first else duel["first"]],
            "shown_first": is_first,
            "criteria": criteria and {name: results[choice] for name, choice in criteria.items()},
            "overall": results[duel["overall"]] if duel["overall"] else None,
            "reason": duel["reason"],
            "judge": duel["judge"],
        }
    )


def _unread_notes(state: IdeationState) -> list[str]:
    """Which papers of the chains could not be read, and why."""
    return [
        f"Branch {branch['branch']}: “{link['paper']['title']}” could not be read "
        f"({reason.rstrip('.')}); its abstract or summary is used instead."
        for branch in sorted(state.get("branches", []), key=lambda branch: int(branch["branch"]))
        for link in branch["links"]
        if (reason := branch.get("unread", {}).get(link["paper"]["id"])) is not None
    ]


def _milestone_notes(state: IdeationState) -> list[str]:
    """How many papers the milestone rule could not be applied to, because of the cut-off date."""
    topic = deserialize(Topic, state["topic"])
    links = [link["paper"] for branch in state.get("branches", []) for link in branch["links"]]
    unknown = sum(paper["citation_count"] is None for paper in links)
    if topic.before is None or not unknown:
        return []
    return [
        f"The milestone rule (a paper with over {MILESTONE_CITATIONS:,} citations ends a chain) could not be "
        f"applied to {unknown} of {len(links)} papers: their citation counts are from after {topic.before} "
        "or unknown."
    ]


def _lead_notes(state: IdeationState) -> list[str]:
    from ideagora.graphs.chain_of_ideas.leads import explain_few_leads

    return explain_few_leads(state)


def _idea(branch: BranchState, topic: Topic, origin: Origin) -> Idea:
    from ideagora.graphs.chain_of_ideas.loading import load_chain

    draft, label = branch["draft"], f"branch {branch['branch']}"
    stated = branch.get("direction")
    direction = deserialize(Direction, stated) if stated else None
    sources = tuple(deserialize(Source, source) for source in draft["sources"])
    return Idea(
        id=stable_id(origin.agent, topic.text, str(branch["branch"]), draft["title"], draft["method"]),
        topic=topic.text,
        agent=origin.agent,
        title=draft["title"],
        motivation=draft["motivation"],
        novelty=draft["novelty"],
        method=draft["method"],
        summary=draft["summary"],
        references=tuple(dict.fromkeys(source.paper_id for source in sources if source.verbatim)),
        sources=sources,
        neighbours=tuple(
            deserialize(Paper, paper) for paper in (*branch["neighbours"], *branch.get("avoided", []))
        ),
        chain=load_chain(branch, direction),
        novelty_check=deserialize(NoveltyCheck, branch["novelty_check"]),
        facets={name: draft[name] for name in ("purpose", "mechanism", "evaluation")},
        candidates=_candidates(draft),
        claim=draft["claim"],
        might_fail=draft["might_fail"],
        branch=branch["branch"],
        model=origin.model,
        usage=origin.usage.get(label, Usage()),
        created=origin.answered.get(label),
    )
