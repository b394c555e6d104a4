"""Ideators without a chain: from the topic alone, and from retrieved papers in one prompt.

Source: the RAG baseline of Chain of Ideas (arXiv 2410.13185), section 4.3, and the same without
literature. Both use the answer format of the full agent's ideator, so that judges cannot recognise them
by it.
"""

from __future__ import annotations

from typing import Any

from ideagora.agents.idea_inputs import IdeaInputs, draft_lead
from ideagora.agents.ideator import IdeaDraft, IdeaParts, check_sources
from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief, ShownPaper
from ideagora.models.call import Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts


class DirectInputs(Inputs):
    """The topic alone."""

    topic: str


class DirectIdea(IdeaParts):
    """An idea without sources."""


def _recombine_topic(engine: ExtractiveModel, inputs: DirectInputs) -> dict[str, Any]:
    """Return a one-factor-at-a-time plan from the topic's own words; there is no text to extract from."""
    topic = texts.without_stop(texts.clip(inputs.topic, 40))
    phrases = sorted(texts.phrases(inputs.topic), key=texts.is_generic)
    parts = phrases[:2] or [topic]
    first, last = parts[0], parts[-1]
    both = texts.listed([first, last] if first != last else [first])
    noun = "exchangeable components" if first != last else "an exchangeable component"
    steps = [
        f"State the task as one question with a checkable answer: {topic}.",
        f"Build the simplest system for it, with {both} as {noun}.",
        f"Change only {first} and keep everything else fixed.",
        f"Change only {last} and keep everything else fixed." if first != last else "Repeat with other data.",
    ]
    return {
        "motivation": f"The topic is “{topic}”. No papers were retrieved and the offline model has no "
        "knowledge of its own, so it cannot say why the topic matters or what has been tried.",
        "method": "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1)),
        "novelty": "None is claimed, because no literature was consulted. The plan only recombines the words "
        "of the topic as a starting point.",
        "title": texts.title_case(f"Varying {both} one at a time"),
        "summary": f"For the topic “{topic}”, isolate {both} and vary one factor at a time.",
        "purpose": f"Find out which factors matter for: {topic}.",
        "mechanism": f"Change one factor at a time: {both}.",
        "evaluation": f"Compare each change with the simplest system on the same tasks: {topic}.",
    }


DIRECT_IDEATOR = Role(
    name="direct_ideator", group="main", inputs=DirectInputs, answer=DirectIdea, offline=_recombine_topic
)


class RagInputs(Inputs):
    """A topic and the papers retrieved for it, best first."""

    topic: str
    papers: tuple[PaperBrief, ...]


class RagIdea(IdeaDraft):
    """An idea based on retrieved papers."""


def _draft_lead(engine: ExtractiveModel, inputs: RagInputs) -> dict[str, Any]:
    """Return a lead from the retrieved papers, without a chain."""
    papers = tuple(ShownPaper(**paper.model_dump(), retelling=None) for paper in inputs.papers)
    idea_inputs = IdeaInputs(
        topic=inputs.topic,
        papers=papers,
        chain_length=0,
        changes=(),
        entities=(),
        direction=None,
        earlier=None,
        too_close=(),
    )
    return draft_lead(engine, idea_inputs)


RAG_IDEATOR = Role(
    name="rag_ideator",
    group="main",
    inputs=RagInputs,
    answer=RagIdea,
    offline=_draft_lead,
    check=check_sources,
)
