"""Ideators without a chain: from the topic alone, and from retrieved papers in one prompt.

Source: the RAG baseline of Chain of Ideas (arXiv 2410.13185), section 4.3, and the same without
literature. Both answer in the form of the full agent's ideator, so that no judge can tell them apart
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
    """A topic and nothing else."""

    topic: str


class DirectIdea(IdeaParts):
    """An idea that stands on no paper."""


def _recombine_topic(engine: ExtractiveModel, inputs: DirectInputs) -> dict[str, Any]:
    """The topic's own words in an idea's form: an extractive engine has nothing to extract here."""
    topic = texts.without_stop(texts.clip(inputs.topic, 40))
    phrases = sorted(texts.phrases(inputs.topic), key=texts.is_generic)
    parts = phrases[:2] or [topic]
    first, last = parts[0], parts[-1]
    both = texts.listed([first, last] if first != last else [first])
    steps = [
        f"State the task of the topic as one question with an answer that can be checked: {topic}.",
        f"Build the plainest system that does it, with {both} as parts that can be exchanged.",
        f"Change {first} alone, and hold everything else.",
        f"Change {last} alone, and hold everything else." if first != last else "Repeat it with other data.",
    ]
    return {
        "motivation": f"The topic is “{topic}”. No paper was shown and the offline model knows nothing by "
        "itself, so why it matters, and what was tried before, cannot be told here.",
        "method": "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1)),
        "novelty": "None is claimed: no literature was looked at. The topic's own words are put together "
        "as a plan to start from.",
        "title": texts.title_case(f"Varying {both} one at a time"),
        "summary": f"For the topic “{topic}”, take {both} apart and vary what can be varied, one thing at a "
        "time.",
        "purpose": f"Find out what matters in: {topic}.",
        "mechanism": f"One part is changed at a time: {both}.",
        "evaluation": f"Compare each change with the plainest system, on the same tasks of: {topic}.",
    }


DIRECT_IDEATOR = Role(
    name="direct_ideator", group="main", inputs=DirectInputs, answer=DirectIdea, offline=_recombine_topic
)


class RagInputs(Inputs):
    """A topic and the papers that a search for it found, best first."""

    topic: str
    papers: tuple[PaperBrief, ...]


class RagIdea(IdeaDraft):
    """An idea that stands on retrieved papers."""


def _draft_lead(engine: ExtractiveModel, inputs: RagInputs) -> dict[str, Any]:
    """A lead from the papers shown, which stand in no chain."""
    shown = tuple(ShownPaper(**paper.model_dump(), retelling=None) for paper in inputs.papers)
    whole = IdeaInputs(
        topic=inputs.topic,
        papers=shown,
        chain_length=0,
        changes=(),
        entities=(),
        direction=None,
        earlier=None,
        too_close=(),
    )
    return draft_lead(engine, whole)


RAG_IDEATOR = Role(
    name="rag_ideator",
    group="main",
    inputs=RagInputs,
    answer=RagIdea,
    offline=_draft_lead,
    check=check_sources,
)
