"""The roles of ``portfolio``."""

from __future__ import annotations

from typing import Any

from ideagora.agents.idea_inputs import ProposedIdea
from ideagora.agents.portfolio import overview, variation
from ideagora.models.call import Inputs
from tests.support.baseline_samples import PAPERS, PARTS, SEARCHABLE, TOPIC
from tests.support.standin import _count, _idea, _text

PARENT = variation.ParentIdea(
    **{name: PARTS[name] for name in ("title", "motivation", "novelty", "method")},
    **{name: PARTS[name] for name in ("purpose", "mechanism", "evaluation")},
    cites=(
        variation.Citation(part="motivation", papers=(0,)),
        variation.Citation(part="method", papers=(1, 0)),
    ),
)
OTHER = PARENT.model_copy(update={"title": "Voting with Fewer Chains", "cites": PARENT.cites[:1]})
SOURCES = [{"part": "method", "paper": 1, "quote": "stores that critique in an episodic memory"}]


def _child(title: str, change: str) -> dict[str, Any]:
    return {**SEARCHABLE, "title": title, "sources": SOURCES, "change": change}


def _inputs(*parents: variation.ParentIdea) -> variation.VariationInputs:
    other = ProposedIdea(title="A Memory of Tools", summary="Tools are remembered with their failures.")
    return variation.VariationInputs(topic=TOPIC, parents=parents, papers=PAPERS, proposed=(other,))


SAMPLES: dict[str, tuple[Inputs, dict[str, Any]]] = {
    "idea_combiner": (
        _inputs(PARENT, OTHER),
        _child("Votes {with} a Memory", 'The "memory" of one, the votes of the other; it\'s one prompt.'),
    ),
    "idea_simplifier": (
        _inputs(PARENT),
        _child("One Critique Is Enough", "All but the last critique, naïvely by age, {nothing} else."),
    ),
    "idea_inverter": (
        _inputs(PARENT),
        _child("Forget the Critiques", 'It assumes that "failures" help;\nhere they\'re hidden.'),
    ),
    "overview_writer": (
        overview.OverviewInputs(
            topic=TOPIC,
            ideas=tuple(
                overview.ListedIdea(
                    title=title,
                    **{name: PARTS[name] for name in ("summary", "purpose", "mechanism", "evaluation")},
                )
                for title in (PARENT.title, OTHER.title)
            ),
        ),
        {
            "common": 'Both assume that a "dead end" teaches, {as} memory does.',
            "differences": "One keeps critiques; the other doesn't, naïvely.",
            "questions": [
                {"idea": 0, "question": "Do critiques help at equal cost?"},
                {"idea": 1, "question": "Do fewer chains vote as well?"},
            ],
        },
    ),
}


def _variation(prompt: str) -> dict[str, Any]:
    return {**_idea(prompt), "change": _text(prompt, "change", 1)}


def _overview(prompt: str) -> dict[str, Any]:
    count = _count(prompt, "The ideas, numbered from 0:")
    return {
        "common": _text(prompt, "common ground", 2),
        "differences": _text(prompt, "difference", 2),
        "questions": [{"idea": n, "question": f"{_text(prompt, 'question', 1)}?"} for n in range(count)],
    }


ANSWERS = {
    "CombinedIdea": _variation,
    "SimplifiedIdea": _variation,
    "InvertedIdea": _variation,
    "Overview": _overview,
}
ROLES = {
    "idea_combiner": "CombinedIdea",
    "idea_simplifier": "SimplifiedIdea",
    "idea_inverter": "InvertedIdea",
    "overview_writer": "Overview",
}
