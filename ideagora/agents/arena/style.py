"""Rewrite ideas in one plain style, so that judges cannot recognise the author by the formatting.

Chain of Ideas (arXiv 2410.13185), section 4.3, unifies the output format of all methods before judging
but does not say how. Here a model rewrites each part as plain sentences, and a check rejects answers that
add or drop a part, a figure or a name, or change the length.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from ideagora.agents.role import Role
from ideagora.agents.text.faithfulness import find_unsupported, quote_first
from ideagora.agents.text.plain_text import strip_formatting, strip_item, strip_title
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.schema import Experiment, Idea

if TYPE_CHECKING:
    from ideagora.models.client import LLMClient

MIN_LENGTH, MAX_LENGTH = 0.7, 1.4
"""Allowed length of a restyled part, relative to the plain original, in words."""
LENGTH_TOLERANCE = 8
"""Words by which any part may differ in addition."""
LISTS = ("steps", "datasets", "baselines", "metrics", "ablations", "risks")
PARTS = ("title", "motivation", "novelty", "method")


class StyleInputs(Inputs):
    """An idea as its author wrote it; missing parts are ``None``."""

    title: str
    motivation: str | None
    novelty: str | None
    method: str


class StyledIdea(Answer):
    """The same idea in plain sentences."""

    title: str = Field(description="the title on one line, with nothing added")
    motivation: str | None = Field(description="the motivation in plain sentences, one paragraph")
    novelty: str | None = Field(description="the novelty in plain sentences, one paragraph")
    method: str = Field(description="the method in plain sentences, in the same order")


def _strip_idea(engine: ExtractiveModel, inputs: StyleInputs) -> StyledIdea:
    return StyledIdea(
        title=strip_title(inputs.title) or inputs.title,
        motivation=_strip_or_keep(inputs.motivation),
        novelty=_strip_or_keep(inputs.novelty),
        method=strip_formatting(inputs.method) or inputs.method,
    )


def _strip_or_keep(text: str | None) -> str | None:
    """Return the plain form, or the text itself if its plain form is empty."""
    return text if text is None else strip_formatting(text) or text


def _check_idea(inputs: StyleInputs, answer: StyledIdea) -> str | None:
    """Return an error if a part was added, dropped, or changed in content or length, else None."""
    for name in PARTS:
        before, after = getattr(inputs, name), getattr(answer, name)
        if (before is None) != (after is None):
            problem = (
                "is not in the idea: answer null" if before is None else "is in the idea but was left out"
            )
            return f"{name} {problem}"
    source = " ".join(getattr(inputs, name) or "" for name in PARTS)
    pairs = [(name, getattr(inputs, name), getattr(answer, name)) for name in PARTS if getattr(inputs, name)]
    return next((error for pair in pairs if (error := _compare_part(*pair, source))), None)


def _compare_part(part: str, before: str, after: str, source: str) -> str | None:
    """Return an error if a part changed in content or length; its names may come from all of ``source``."""
    old, new = strip_formatting(before) or before, strip_formatting(after) or after
    if added := find_unsupported(new, f"{source} {old}"):
        return f"{part} has {quote_first(added)}, which the original does not: add nothing"
    if lost := find_unsupported(old, new):
        return f"{part} lacks {quote_first(lost)}: leave nothing out"
    words, was = len(new.split()), len(old.split())
    if not MIN_LENGTH * was - LENGTH_TOLERANCE <= words <= MAX_LENGTH * was + LENGTH_TOLERANCE:
        return f"{part} has {words} words and the original {was}: keep about the same length"
    return None


RESTYLE = Role(
    name="restyle",
    group="reader",
    inputs=StyleInputs,
    answer=StyledIdea,
    offline=_strip_idea,
    temperature=0.0,
    check=_check_idea,
)


class PlanText(Inputs):
    """An experiment plan as its author wrote it; missing parts are empty or ``None``."""

    steps: tuple[str, ...]
    datasets: tuple[str, ...]
    baselines: tuple[str, ...]
    metrics: tuple[str, ...]
    ablations: tuple[str, ...]
    risks: tuple[str, ...]
    refuted_if: str | None


class StyledPlan(Answer):
    """The same plan in plain sentences."""

    steps: tuple[str, ...] = Field(description="the steps, each in plain sentences without its number")
    datasets: tuple[str, ...] = Field(description="the data sets, one per entry")
    baselines: tuple[str, ...] = Field(description="the baselines, one per entry")
    metrics: tuple[str, ...] = Field(description="the metrics, one per entry")
    ablations: tuple[str, ...] = Field(description="the ablations, one per entry")
    risks: tuple[str, ...] = Field(description="the risks, one per entry")
    refuted_if: str | None = Field(description="the outcome that would refute the idea")


def _strip_plan(engine: ExtractiveModel, inputs: PlanText) -> StyledPlan:
    def stripped(items: Sequence[str]) -> tuple[str, ...]:
        return tuple(strip_item(item) or item for item in items)

    return StyledPlan(
        steps=tuple(strip_formatting(step) or step for step in inputs.steps),
        datasets=stripped(inputs.datasets),
        baselines=stripped(inputs.baselines),
        metrics=stripped(inputs.metrics),
        ablations=stripped(inputs.ablations),
        risks=stripped(inputs.risks),
        refuted_if=_strip_or_keep(inputs.refuted_if),
    )


def _check_plan(inputs: PlanText, answer: StyledPlan) -> str | None:
    """As ``_check_idea``, list by list. Steps may be split; entries of other lists may not."""
    for name in LISTS:
        before, after = getattr(inputs, name), getattr(answer, name)
        if bool(before) != bool(after):
            return f"{name} is in the plan: keep it" if before else f"{name} is not in the plan: answer []"
        if name != "steps" and len(before) != len(after):
            return f"{name} has {len(after)} entries and the plan {len(before)}: keep their number"
    if (inputs.refuted_if is None) != (answer.refuted_if is None):
        return "refuted_if must be null if and only if the plan has none"
    source = " ".join(_texts(inputs))
    return next((error for part in _parts(inputs, answer) if (error := _compare_part(*part, source))), None)


def _parts(inputs: PlanText, answer: StyledPlan) -> Iterator[tuple[str, str, str]]:
    for name in LISTS:
        if getattr(inputs, name):
            yield name, "\n\n".join(getattr(inputs, name)), "\n\n".join(getattr(answer, name))
    if inputs.refuted_if and answer.refuted_if:
        yield "refuted_if", inputs.refuted_if, answer.refuted_if


def _texts(inputs: PlanText) -> Iterator[str]:
    for name in LISTS:
        yield from getattr(inputs, name)
    yield inputs.refuted_if or ""


RESTYLE_PLAN = Role(
    name="restyle_plan",
    group="reader",
    inputs=PlanText,
    answer=StyledPlan,
    offline=_strip_plan,
    temperature=0.0,
    check=_check_plan,
)


async def with_plain_style(client: LLMClient, idea: Idea) -> Idea:
    """Return the idea and its experiment in the plain style; id, agent and other fields stay.

    ``extra["original_text"]`` holds the original parts (missing ones are ``None``) and ``extra["styled_by"]``
    the model. An idea that has been restyled before is returned unchanged.

    Raises:
        UnreadableAnswer: no answer preserved the idea.
        ModelError, BudgetExhausted: as ``LLMClient.ask``.
    """
    if "styled_by" in idea.extra:
        return idea
    parts, plan = await asyncio.gather(_restyle_parts(client, idea), _restyle_plan(client, idea.experiment))
    original = {name: getattr(idea, name) for name in PARTS}
    original["experiment"] = idea.experiment and idea.experiment.model_dump(
        mode="json", include={*LISTS, "refuted_if"}
    )
    extra = {
        **idea.extra,
        "original_text": original,
        "styled_by": client.settings.model_of(RESTYLE.group),
    }
    return idea.model_copy(update={**parts, "experiment": plan, "extra": extra})


async def _restyle_parts(client: LLMClient, idea: Idea) -> dict[str, str]:
    """Return the idea's parts in the plain style, with any remaining formatting removed."""
    answer = await RESTYLE(
        client,
        title=idea.title,
        motivation=idea.motivation or None,
        novelty=idea.novelty or None,
        method=idea.method,
    )
    styled = {name: getattr(answer, name) for name in PARTS if getattr(idea, name)}
    stripped = {name: strip_formatting(text) or text for name, text in styled.items()}
    return {**stripped, "title": strip_title(answer.title) or answer.title}


async def _restyle_plan(client: LLMClient, plan: Experiment | None) -> Experiment | None:
    """Return the plan in the plain style; its provenance stays."""
    if plan is None:
        return None
    fields = plan.model_dump(include={*LISTS, "refuted_if"})
    answer = await RESTYLE_PLAN(client, **{**fields, "refuted_if": plan.refuted_if or None})
    lists = {name: _strip_items(getattr(answer, name)) for name in LISTS[1:]}
    steps = tuple(strip_formatting(step) or step for step in answer.steps)
    refuted = strip_formatting(answer.refuted_if) if answer.refuted_if else plan.refuted_if
    return plan.model_copy(update={"steps": steps, **lists, "refuted_if": refuted})


def _strip_items(items: Sequence[str]) -> tuple[str, ...]:
    return tuple(strip_item(item) or item for item in items)
