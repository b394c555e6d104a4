"""Shared code of agents that write one idea, or several one after the other, each with its experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ideagora.errors import UnreadableAnswer
from ideagora.graphs.agent import Origin
from ideagora.schema import Experiment, Idea, Paper, Source, Usage, stable_id

FACETS = ("purpose", "mechanism", "evaluation")


def ideas_so_far(state: Mapping[str, Any], make: Callable[[Mapping[str, Any] | None], Idea]) -> list[Idea]:
    """The idea of a run that may have ended early. ``make`` gets the plan, if there is one."""
    return [make(state.get("plan"))] if "draft" in state else []


def usage_name(name: str, number: int) -> str:
    """The usage label of a step for the idea with this number, from 1."""
    return name if number == 1 else f"{name} {number}"


def numbered_ideas(
    state: Mapping[str, Any],
    origin: Origin,
    make: Callable[[Mapping[str, Any], Mapping[str, Any] | None, Origin], Idea],
) -> list[Idea]:
    """The ideas of a run that may have ended early, in the order in which they were written.

    ``make`` gets a draft, its plan if there is one, and the origin with the idea's own usage.
    """
    drafts = state.get("drafts", [])
    plans = {plan["number"]: plan["plan"] for plan in state.get("plans", [])}
    origins = [_origin_of(number, origin, len(drafts)) for number in range(1, len(drafts) + 1)]
    return [
        make(draft, plans.get(number), own)
        for number, (draft, own) in enumerate(zip(drafts, origins, strict=True), 1)
    ]


def _origin_of(number: int, origin: Origin, count: int) -> Origin:
    if count == 1:
        return origin
    labels = [usage_name("idea", number), usage_name("experiment", number)]
    return replace(
        origin,
        usage={label: origin.usage[label] for label in labels if label in origin.usage},
        answered={label: origin.answered[label] for label in labels if label in origin.answered},
    )


def needs_idea(state: Mapping[str, Any], wanted: int) -> bool:
    """Whether another idea is to be written: not after one could not be."""
    return len(state.get("drafts", [])) < wanted and not state.get("failures")


def plan_tasks(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The payload of ``design_experiment`` for every draft."""
    shared = {name: state[name] for name in ("topic", "papers") if name in state}
    return [{**shared, "draft": draft, "number": number} for number, draft in enumerate(state["drafts"], 1)]


def no_further_idea(drafts: Sequence[Mapping[str, Any]], error: UnreadableAnswer) -> dict[str, Any]:
    """The update of the state when a further idea could not be written.

    Raises:
        UnreadableAnswer: it would have been the first one.
    """
    if not drafts:
        raise error
    why = f"idea {len(drafts) + 1} could not be written: {error}"
    return {"failures": [{"branch": None, "query": None, "error": why}]}


def one_idea(
    topic: str,
    draft: Mapping[str, Any],
    plan: Mapping[str, Any] | None,
    origin: Origin,
    papers: Sequence[Paper] = (),
    **more: Any,
) -> Idea:
    """The idea of a finished run.

    Args:
        topic: the text of the topic.
        draft: title, motivation, novelty and method; optionally summary, facets and sources.
        plan: fields of an ``Experiment``, if there is a plan.
        origin: agent, model and usage; the usage of all labels counts for the idea.
        papers: papers that the draft's sources refer to.
        more: further fields of the idea.
    """
    sources = tuple(Source.model_validate(source) for source in draft.get("sources", ()))
    return Idea(
        id=stable_id(origin.agent, topic, draft["title"], draft["method"]),
        topic=topic,
        agent=origin.agent,
        title=draft["title"],
        motivation=draft["motivation"],
        novelty=draft["novelty"],
        method=draft["method"],
        summary=draft.get("summary"),
        experiment=Experiment.model_validate(plan) if plan is not None else None,
        references=tuple(dict.fromkeys(source.paper_id for source in sources if source.verbatim)),
        sources=sources,
        neighbours=tuple(papers),
        facets={name: draft[name] for name in FACETS if draft.get(name)},
        model=origin.model,
        usage=sum((origin.usage[name] for name in sorted(origin.usage)), Usage()),
        created=max(origin.answered.values(), default=None),
        **more,
    )
