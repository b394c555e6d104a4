"""Inputs and answers for the roles of the plain baselines, of the style step and of real papers."""

from __future__ import annotations

from typing import Any

from ideagora.agents import paper_extractors, plain_ideators
from ideagora.agents.arena import style
from ideagora.agents.views import PaperBrief
from ideagora.models.call import Inputs

TOPIC = "search and self-correction in reasoning"
PAPERS = (
    PaperBrief(
        title="Tree of Thoughts: Deliberate Problem Solving",
        year="2023",
        abstract="Left-to-right decoding cannot look ahead. Tree of Thoughts rates partial solutions "
        "and goes back. It solved 74 percent of the puzzles. It uses many times more tokens.",
    ),
    PaperBrief(
        title="Reflexion: Agents with Verbal Memory",
        year="2023",
        abstract="Agents repeat their mistakes. Reflexion writes a critique after a failure and stores that "
        "critique in an episodic memory. Success rose on coding tasks. The memory is small.",
    ),
)
PARTS: dict[str, Any] = {
    "motivation": "Tree search forgets; it's costly. What failed once, fails again.",
    "method": "1. Search as before.\n2. Write a critique, {one per dead end}.\n3. Rate with it.",
    "novelty": 'Unlike Tree of Thoughts, ratings learn from "written" failures.',
    "title": "Remembering Dead Ends: Critiques for Tree Search",
    "summary": "A memory of critiques steers the search, naïve as that sounds.",
    "purpose": "Save the tokens that dead ends cost.",
    "mechanism": "An episodic memory (Σ of critiques) in the rating prompt.",
    "evaluation": "Share solved per 1,000 tokens.",
}
SEARCHABLE: dict[str, Any] = {
    **PARTS,
    "queries": ["memory of failed branches in tree search", "Reflexion with {search}"],
}
MARKED = style.StyleInputs(
    title='**Title: "Search that Remembers"**',
    motivation="### Motivation\n\nTree search **forgets**: 40 tokens in 100 are spent on known dead ends.",
    novelty=None,
    method="- **Memory**: keep critiques of `GPT-4`\n- *Rating*: put the 3 nearest ones into the prompt",
)
MARKED_PLAN = style.PlanText(
    steps=("1. **Data**: take GSM8K, it's {public}.", "2. Run 5 seeds of each variant."),
    datasets=("GSM8K",),
    baselines=("Tree of Thoughts", "self-consistency"),
    metrics=(),
    ablations=("without the memory",),
    risks=("Critiques may repeat, as in `Reflexion`.",),
    refuted_if=None,
)
PAPER = paper_extractors.PaperInputs(
    topic=TOPIC,
    title="ToolTree: Deliberate Problem Solving with Memory",
    kind="abstract",
    text="Left-to-right decoding cannot look ahead, so an early choice decides everything. ToolTree splits a "
    "solution into steps, rates 5 candidates for each of them and goes back when none is good. It is "
    "evaluated on GSM8K and on the benchmark Game24 with 3 seeds. ToolTree solved 74 percent of the puzzles "
    "and outperformed chain-of-thought prompting. It remains costly, since every step is rated.",
)


def samples() -> dict[str, tuple[Inputs, dict[str, Any]]]:
    """(inputs, answer) by the role's name."""
    sources = [
        {"part": "motivation", "paper": 0, "quote": "uses many times more tokens"},
        {"part": "method", "paper": 1, "quote": "stores that critique in an episodic memory"},
    ]
    return {
        "direct_ideator": (plain_ideators.DirectInputs(topic=TOPIC), PARTS),
        "rag_ideator": (
            plain_ideators.RagInputs(topic=TOPIC, papers=PAPERS),
            {**PARTS, "sources": sources},
        ),
        "restyle": (
            MARKED,
            {
                "title": "Search that Remembers",
                "motivation": 'Tree search "forgets", so 40 tokens in 100 are spent on known dead ends.',
                "novelty": None,
                "method": "A memory keeps critiques of GPT-4, {as they are}. The rating puts the 3 nearest "
                "ones into the prompt.",
            },
        ),
        "restyle_plan": (
            MARKED_PLAN,
            {
                "steps": ["For data, take GSM8K, it's {public}.", 'Run "5 seeds" of each variant.'],
                "datasets": ["GSM8K"],
                "baselines": ["Tree of Thoughts", "self-consistency"],
                "metrics": [],
                "ablations": ["without the memory, naïvely"],
                "risks": ["Critiques may repeat, as in Reflexion."],
                "refuted_if": None,
            },
        ),
        "topic_extractor": (
            paper_extractors.TopicInputs(title=PAPER.title, abstract=PAPER.text, opening="It began {so}."),
            {
                "topic": "reasoning with language models",
                "task": 'searching over "steps" that can\'t be undone',
            },
        ),
        "idea_extractor": (
            PAPER,
            {
                "motivation": "Left-to-right decoding can't look ahead: early choices decide everything.",
                "method": '1. Split a solution into steps.\n2. Rate {5} each.\n3. Go back if "none" is.',
                "novelty": "Unlike chain-of-thought prompting, a naïve first choice can be taken back.",
                "title": "Rated Steps that Can Be Taken Back",
            },
        ),
        "experiment_extractor": (
            PAPER,
            {
                "steps": ['Evaluate on "GSM8K" and {Game24}, with 3 seeds.', "Compare with prompting."],
                "datasets": ["GSM8K", "Game24"],
                "baselines": ["chain-of-thought prompting, naïve as it's"],
                "metrics": [],
                "ablations": [],
            },
        ),
    }


NAMES = frozenset(samples())
