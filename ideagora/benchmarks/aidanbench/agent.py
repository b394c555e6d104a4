"""A model as the contestant of AidanBench: its answers to one question, in order, as ideas."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import BaseModel

from ideagora.benchmarks.aidanbench.graph import (
    FAILED,
    STEPS_PER_ANSWER,
    LoopOptions,
    LoopState,
    answer_label,
    build_graph,
)
from ideagora.config import Group
from ideagora.graphs.agent import Agent, Origin
from ideagora.importing.sections import title_from_text
from ideagora.schema import Idea, Usage, stable_id

MEASURED: tuple[Literal["coherence", "novelty", "model_novelty"], ...] = (
    "coherence", "novelty", "model_novelty",
)  # fmt: skip
"""Figures of an answer, in the state and in its ``extra``."""
ENDING, REASON = "ending", "reason"
"""Keys in the ``extra`` of the last answer: why the loop ended, and what failed if it did."""


def looping_agent(agent: Agent, options: LoopOptions) -> Agent:
    """The model of ``agent``, which answers in the loop."""
    return replace(
        agent,
        about=f"Answers a question until it repeats itself or makes no sense ({agent.name}).",
        source="AidanBench, section 3",
        options=options,
        build=build_graph,
        ideas=_ideas,
        expected_calls=_expected_calls,
        set_ideas=None,
        reads_literature=True,  # novelty is measured with the library's embedder
        steps=("answer", "judge_coherence", "measure_novelty", "judge_novelty", "answer_ahead", "decide"),
        most_steps=STEPS_PER_ANSWER * options.maximum + STEPS_PER_ANSWER,
    )


def _expected_calls(options: BaseModel) -> dict[Group, int] | None:
    """The answers; what judges are asked in the loop counts with the questions on them."""
    return {"main": getattr(options, "maximum", 1)}


def _ideas(state: LoopState, origin: Origin) -> list[Idea]:
    answers = state.get("answers", [])
    ideas = [_idea(state, origin, number) for number in range(1, len(answers) + 1)]
    if ideas and "ending" in state:
        reasons = [str(one["error"]) for one in state.get("failures", ())]
        why = {REASON: "; ".join(reasons)} if state["ending"] == FAILED else {}
        ideas[-1] = ideas[-1].model_copy(
            update={"extra": {**ideas[-1].extra, ENDING: state["ending"], **why}}
        )
    return ideas


def _idea(state: LoopState, origin: Origin, number: int) -> Idea:
    topic, text, label = state["topic"]["text"], state["answers"][number - 1], answer_label(number)
    judged: dict[str, float] = {
        name: state[name][number - 1] for name in MEASURED if len(state.get(name, ())) >= number
    }
    return Idea(
        id=stable_id(origin.agent, topic, str(number), text),
        topic=topic,
        agent=origin.agent,
        kind="lead" if origin.model == "offline" else "idea",
        title=title_from_text(text),
        method=text,
        model=origin.model,
        usage=origin.usage.get(label, Usage()),
        created=origin.answered.get(label),
        extra={"answer": number, **judged},
    )
