"""The style step: any idea in one plain form, so that no judge sees by its looks who wrote it.

Source: Chain of Ideas (arXiv 2410.13185), section 4.3, unifies the output format of all methods before
judging; how, it does not say. Here a model rewrites each part as plain sentences, and what it gives
is checked: no part comes or goes, no figure or name is new or lost, and the length stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

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
"""Words of a restyled part, as a share of the plain original's."""
LENGTH_TOLERANCE = 8
"""Words by which any part may differ."""
LISTS = ("steps", "datasets", "baselines", "metrics", "ablations", "risks")
PARTS = ("title", "motivation", "novelty", "method")


class StyleInputs(Inputs):
    """An idea as its author wrote it; ``None``: the author wrote no such part."""

    title: str
    motivation: str | None
    novelty: str | None
    method: str


class StyledIdea(Answer):
    """The same idea in plain sentences."""

    title: str = Field(description="the title on one line, nothing added")
    motivation: str | None = Field(description="the motivation in plain sentences, one paragraph")
    novelty: str | None = Field(description="the novelty in plain sentences, one paragraph")
    method: str = Field(description="the method in plain sentences, in the same order")


def _strip_idea(engine: ExtractiveModel, inputs: StyleInputs) -> dict[str, Any]:
    return {
        "title": strip_title(inputs.title) or inputs.title,
        "motivation": _strip_or_keep(inputs.motivation),
        "novelty": _strip_or_keep(inputs.novelty),
        "method": _strip_or_keep(inputs.method),
    }


def _strip_or_keep(text: str | None) -> str | None:
    """The plain form, or the text itself where nothing would be left of it."""
    return text if text is None else strip_formatting(text) or text


def _check_idea(inputs: StyleInputs, answer: StyledIdea) -> str | None:
    """The complaint when a part was added or dropped, or says other things or much more or less."""
    for name in PARTS:
        before, after = getattr(inputs, name), getattr(answer, name)
        if (before is None) != (after is None):
            told = "is not in the idea: answer null" if before is None else "is in the idea and was left out"
            return f"{name} {told}"
    whole = " ".join(getattr(inputs, name) or "" for name in PARTS)
    pairs = [(name, getattr(inputs, name), getattr(answer, name)) for name in PARTS if getattr(inputs, name)]
    return next((said for pair in pairs if (said := _compare_part(*pair, whole))), None)


def _compare_part(part: str, before: str, after: str, whole: str) -> str | None:
    """The complaint when a part says other things than it did; ``whole``: where its names may come from."""
    old, new = strip_formatting(before) or before, strip_formatting(after) or after
    if added := find_unsupported(new, f"{whole} {old}"):
        return f"{part} has {quote_first(added)}, which the idea does not: add nothing"
    if lost := find_unsupported(old, new):
        return f"{part} has lost {quote_first(lost)}: leave nothing out"
    words, was = len(new.split()), len(old.split())
    if not MIN_LENGTH * was - LENGTH_TOLERANCE <= words <= MAX_LENGTH * was + LENGTH_TOLERANCE:
        return f"{part} has {words} words, the original {was}: keep to about its length"
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
    """An experiment plan as its author wrote it; empty lists and ``None``: not written."""

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
    datasets: tuple[str, ...] = Field(description="the data sets, one each")
    baselines: tuple[str, ...] = Field(description="the baselines, one each")
    metrics: tuple[str, ...] = Field(description="the measures, one each")
    ablations: tuple[str, ...] = Field(description="the ablations, one each")
    risks: tuple[str, ...] = Field(description="the risks, one each")
    refuted_if: str | None = Field(description="the outcome that would refute the idea")


def _strip_plan(engine: ExtractiveModel, inputs: PlanText) -> dict[str, Any]:
    entries = {name: [strip_item(one) or one for one in getattr(inputs, name)] for name in LISTS[1:]}
    steps = [_strip_or_keep(step) for step in inputs.steps]
    return {"steps": steps, **entries, "refuted_if": _strip_or_keep(inputs.refuted_if)}


def _check_plan(inputs: PlanText, answer: StyledPlan) -> str | None:
    """The same complaints as for an idea, list by list. Steps may be parted; other lists may not."""
    for name in LISTS:
        before, after = getattr(inputs, name), getattr(answer, name)
        if bool(before) != bool(after):
            return f"{name} is {'not ' if not before else ''}in the plan: {'keep' if before else 'leave'} it"
        if name != "steps" and len(before) != len(after):
            return f"{name} has {len(after)} entries, the plan has {len(before)}"
    if (inputs.refuted_if is None) != (answer.refuted_if is None):
        return "refuted_if is null exactly when the plan has none"
    whole = " ".join(_texts(inputs))
    return next((said for part in _parts(inputs, answer) if (said := _compare_part(*part, whole))), None)


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
    """The idea in the plain form, experiment included; id, agent and all else stay.

    The parts as they were are in ``extra["original_text"]`` (a field the idea lacks is ``None``), the
    model in ``extra["styled_by"]``. An idea that was restyled before is returned as it is.

    Raises:
        UnreadableAnswer: no answer kept to the idea; the idea itself is unharmed.
        ModelError, BudgetExhausted: as ``LLMClient.ask``.
    """
    if "styled_by" in idea.extra:
        return idea
    told, plan = await asyncio.gather(_restyle_parts(client, idea), _restyle_plan(client, idea.experiment))
    original = {name: getattr(idea, name) for name in PARTS}
    original["experiment"] = idea.experiment and idea.experiment.model_dump(
        mode="json", include={*LISTS, "refuted_if"}
    )
    extra = {
        **idea.extra,
        "original_text": original,
        "styled_by": client.settings.model_of(RESTYLE.group),
    }
    return idea.model_copy(update={**told, "experiment": plan, "extra": extra})


async def _restyle_parts(client: LLMClient, idea: Idea) -> dict[str, str]:
    """The parts that the idea has, in the plain form whatever the model left of the old one."""
    answer = await RESTYLE(
        client,
        title=idea.title,
        motivation=idea.motivation or None,
        novelty=idea.novelty or None,
        method=idea.method,
    )
    told = {name: getattr(answer, name) for name in PARTS if getattr(idea, name)}
    shown = {name: strip_formatting(text) or text for name, text in told.items()}
    return {**shown, "title": strip_title(answer.title) or answer.title}


async def _restyle_plan(client: LLMClient, plan: Experiment | None) -> Experiment | None:
    """The plan in the plain form; what is told of its making is left as it is."""
    if plan is None:
        return None
    asked = plan.model_dump(include={*LISTS, "refuted_if"})
    answer = await RESTYLE_PLAN(client, **{**asked, "refuted_if": plan.refuted_if or None})
    lists = {name: _strip_items(getattr(answer, name)) for name in LISTS[1:]}
    steps = tuple(strip_formatting(step) or step for step in answer.steps)
    refuted = strip_formatting(answer.refuted_if) if answer.refuted_if else plan.refuted_if
    return plan.model_copy(update={"steps": steps, **lists, "refuted_if": refuted})


def _strip_items(items: Sequence[str]) -> tuple[str, ...]:
    return tuple(strip_item(item) or item for item in items)
