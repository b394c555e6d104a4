"""Drafts of ideas: the state that agents share, and the ideas made from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from ideagora.errors import UnreadableAnswer
from ideagora.graphs.agent import Failure, Origin
from ideagora.graphs.reducers import concatenate
from ideagora.schema import (
    Experiment,
    Idea,
    NoveltyCheck,
    Paper,
    Serialized,
    Source,
    Topic,
    Usage,
    deserialize,
    stable_id,
)

Facet = Literal["purpose", "mechanism", "evaluation"]
FACETS: tuple[Facet, ...] = ("purpose", "mechanism", "evaluation")


class Draft(TypedDict):
    """A drafted idea, as the steps of an agent pass it on."""

    number: NotRequired[int]
    """Its number among the drafts, from 1."""
    title: str
    motivation: str
    novelty: str
    method: str
    summary: NotRequired[str]
    purpose: NotRequired[str]
    mechanism: NotRequired[str]
    evaluation: NotRequired[str]
    queries: NotRequired[list[str]]
    """Searches that would find the idea if it were published."""
    sources: NotRequired[list[Serialized[Source]]]
    papers: NotRequired[list[Serialized[Paper]]]
    """Papers that the sources refer to."""
    novelty_check: NotRequired[Serialized[NoveltyCheck]]
    wins: NotRequired[str | None]
    extra: NotRequired[dict[str, Any]]


class NumberedPlan(TypedDict):
    """The experiment of the draft with this number."""

    number: int
    plan: Serialized[Experiment]


class DraftsState(TypedDict, total=False):
    """The channels of an agent that writes drafts. Plain JSON values only, as a checkpoint holds them."""

    topic: Serialized[Topic]
    drafts: Annotated[list[Draft], concatenate]
    """The ideas, each with its number, best first."""
    plans: Annotated[list[NumberedPlan], concatenate]
    failures: Annotated[list[Failure], concatenate]
    notes: Annotated[list[str], concatenate]


def failure(reason: str) -> Failure:
    """An entry of ``failures``."""
    return {"branch": None, "query": None, "error": reason}


def reasons(state: DraftsState) -> str:
    """The reasons of all failures so far."""
    return "; ".join(dict.fromkeys(one["error"] for one in state.get("failures", [])))


def usage_name(name: str, number: int) -> str:
    """The usage label of a step for the idea with this number, from 1."""
    return name if number == 1 else f"{name} {number}"


def drafted_ideas(state: DraftsState, origin: Origin) -> list[Idea]:
    """The ideas of a run that may have ended early: its drafts, each with its plan if there is one."""
    drafts, topic = state.get("drafts", []), state["topic"]["text"]
    plans = {plan["number"]: plan["plan"] for plan in state.get("plans", [])}
    return [
        one_idea(topic, draft, plans.get(draft["number"]), _origin_of(draft["number"], origin, len(drafts)))
        for draft in drafts
    ]


def _origin_of(number: int, origin: Origin, count: int) -> Origin:
    """The usage of one idea: all of the run, or of several ideas the calls that only this one needed."""
    if count == 1:
        return origin
    labels = [usage_name("idea", number), usage_name("experiment", number)]
    return replace(
        origin,
        usage={label: origin.usage[label] for label in labels if label in origin.usage},
        answered={label: origin.answered[label] for label in labels if label in origin.answered},
    )


def needs_idea(state: DraftsState, wanted: int) -> bool:
    """Whether another idea is to be written: not after one could not be."""
    return len(state.get("drafts", [])) < wanted and not state.get("failures")


def no_further_idea(drafts: Sequence[Draft], error: UnreadableAnswer) -> list[Failure]:
    """The failure of an idea after the first one that could not be written.

    Raises:
        UnreadableAnswer: it would have been the first one.
    """
    if not drafts:
        raise error
    return [failure(f"idea {len(drafts) + 1} could not be written: {error}")]


def one_idea(topic: str, draft: Draft, plan: Serialized[Experiment] | None, origin: Origin) -> Idea:
    """The idea of a draft.

    Args:
        topic: the text of the topic.
        draft: the draft, whose parts are as the idea has them.
        plan: its experiment, if there is one.
        origin: agent, model and usage; the usage of all labels counts for the idea.
    """
    sources = tuple(deserialize(Source, source) for source in draft.get("sources", ()))
    check = draft.get("novelty_check")
    facets = draft.get("purpose"), draft.get("mechanism"), draft.get("evaluation")
    return Idea(
        id=stable_id(origin.agent, topic, draft["title"], draft["method"]),
        topic=topic,
        agent=origin.agent,
        title=draft["title"],
        motivation=draft["motivation"],
        novelty=draft["novelty"],
        method=draft["method"],
        summary=draft.get("summary"),
        experiment=deserialize(Experiment, plan) if plan is not None else None,
        references=tuple(dict.fromkeys(source.paper_id for source in sources if source.verbatim)),
        sources=sources,
        neighbours=tuple(deserialize(Paper, paper) for paper in draft.get("papers", ())),
        novelty_check=deserialize(NoveltyCheck, check) if check is not None else None,
        facets={name: text for name, text in zip(FACETS, facets, strict=True) if text},
        wins=draft.get("wins"),
        model=origin.model,
        usage=sum((origin.usage[name] for name in sorted(origin.usage)), Usage()),
        created=max(origin.answered.values(), default=None),
        extra=draft.get("extra", {}),
    )
