"""Ideators without a chain: from the topic alone, and from retrieved papers in one prompt.

Source: the RAG baseline of Chain of Ideas (arXiv 2410.13185), section 4.3, and the same without
literature. Both use the answer format of the full agent's ideator, so that judges cannot recognise them
by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Protocol

from ideagora.agents.idea_inputs import ProposedIdea, TooClose, draft_lead
from ideagora.agents.idea_parts import IdeaParts, SourcedIdea, check_sources
from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief
from ideagora.models.call import Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts


def proposed_ideas(drafts: Sequence[Mapping[str, Any]]) -> tuple[ProposedIdea, ...]:
    """Drafts as the next prompt shows them."""
    return tuple(ProposedIdea(title=draft["title"], summary=draft["summary"]) for draft in drafts)


class HasProposed(Protocol):
    """Inputs with the ideas already written."""

    @property
    def proposed(self) -> Sequence[ProposedIdea]:
        """The ideas already written for the topic, in order."""


def check_distinct(inputs: HasProposed, answer: IdeaParts) -> str | None:
    """Return an error if the answer repeats the title of an earlier idea, else None."""
    if any(_key(idea.title) == _key(answer.title) for idea in inputs.proposed):
        return "title: this idea was already proposed; propose a different one"
    return None


def _key(title: str) -> str:
    return "".join(letter for letter in title.casefold() if letter.isalnum())


class DirectInputs(Inputs):
    """The topic, the ideas already written for it, and what the user prefers."""

    topic: str
    proposed: tuple[ProposedIdea, ...] = ()
    focus: str | None = None


class DirectIdea(IdeaParts):
    """An idea without sources."""


def _recombine_topic(engine: ExtractiveModel, inputs: DirectInputs) -> DirectIdea:
    """Return a one-factor-at-a-time plan from the topic's own words; there is no text to extract from.

    Each further idea varies other words; when none are left, it repeats the first.
    """
    topic = texts.without_stop(texts.clip(inputs.topic, 40))
    phrases = sorted(texts.phrases(inputs.topic), key=texts.is_generic)
    pairs: list[tuple[str, ...]] = list(combinations(phrases, 2)) or [(*phrases, topic)[:1]]
    parts = pairs[len(inputs.proposed)] if len(inputs.proposed) < len(pairs) else pairs[0]
    first, last = parts[0], parts[-1]
    both = texts.listed([first, last] if first != last else [first])
    noun = "exchangeable components" if first != last else "an exchangeable component"
    steps = [
        f"State the task as one question with a checkable answer: {topic}.",
        f"Build the simplest system for it, with {both} as {noun}.",
        f"Change only {first} and keep everything else fixed.",
        f"Change only {last} and keep everything else fixed." if first != last else "Repeat with other data.",
    ]
    return DirectIdea(
        motivation=f"The topic is “{topic}”. No papers were retrieved and the offline model has no "
        "knowledge of its own, so it cannot say why the topic matters or what has been tried.",
        method="\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1)),
        novelty="None is claimed, because no literature was consulted. The plan only recombines the words "
        "of the topic as a starting point.",
        title=texts.title_case(f"Varying {both} one at a time"),
        summary=f"For the topic “{topic}”, isolate {both} and vary one factor at a time.",
        purpose=f"Find out which factors matter for: {topic}.",
        mechanism=f"Change one factor at a time: {both}.",
        evaluation=f"Compare each change with the simplest system on the same tasks: {topic}.",
    )


DIRECT_IDEATOR = Role(
    name="direct_ideator",
    group="main",
    inputs=DirectInputs,
    answer=DirectIdea,
    offline=_recombine_topic,
    check=check_distinct,
)


class RagInputs(Inputs):
    """A topic, the papers retrieved for it, best first, and the ideas already written for it."""

    topic: str
    papers: tuple[PaperBrief, ...]
    proposed: tuple[ProposedIdea, ...] = ()
    focus: str | None = None


class RagIdea(SourcedIdea):
    """An idea based on retrieved papers."""


def _draft_lead(engine: ExtractiveModel, inputs: RagInputs) -> RagIdea:
    """Return a lead from the retrieved papers, without a chain."""
    lead = draft_distinct_lead(engine, inputs.topic, inputs.papers, inputs.proposed)
    return lead.extended_to(RagIdea)


def draft_distinct_lead(
    engine: ExtractiveModel, topic: str, papers: Sequence[PaperBrief], proposed: Sequence[ProposedIdea]
) -> SourcedIdea:
    """Return a lead from papers that form no chain.

    A lead that was already proposed gives way to one with the mechanism of another paper; when none is left,
    it is repeated.
    """
    used: list[TooClose] = []
    while True:
        draft = draft_lead(engine, topic, papers, too_close=tuple(used))
        mechanism = next((source.paper for source in draft.sources if source.part == "method"), None)
        is_new = all(_key(idea.title) != _key(draft.title) for idea in proposed)
        if is_new or mechanism is None or mechanism in {one.paper for one in used}:
            return draft
        used.append(TooClose(paper=mechanism, title=papers[mechanism].title, overlap=None))


def _check_rag(inputs: RagInputs, answer: RagIdea) -> str | None:
    return check_sources(inputs, answer) or check_distinct(inputs, answer)


RAG_IDEATOR = Role(
    name="rag_ideator",
    group="main",
    inputs=RagInputs,
    answer=RagIdea,
    offline=_draft_lead,
    check=_check_rag,
)
