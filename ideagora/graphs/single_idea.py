"""Shared code of agents whose run produces one idea."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ideagora.graphs.agent import Origin
from ideagora.schema import Experiment, Idea, Paper, Source, Usage, stable_id

FACETS = ("purpose", "mechanism", "evaluation")


def ideas_so_far(state: Mapping[str, Any], make: Callable[[Mapping[str, Any] | None], Idea]) -> list[Idea]:
    """The idea of a run that may have ended early. ``make`` gets the plan, if there is one."""
    return [make(state.get("plan"))] if "draft" in state else []


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
