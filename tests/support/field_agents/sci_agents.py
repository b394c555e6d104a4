"""The roles of ``sci-agents``."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from ideagora.agents.sci_agents import concepts, proposal
from ideagora.models.call import Inputs
from tests.support.baseline_samples import PAPERS, SEARCHABLE, TOPIC
from tests.support.standin import _MATERIAL, _idea, _text, _word

PATH = ("dead ends", "critique", "episodic memory")
RELATION = concepts.Relation(
    subject="critique",
    relation="is stored in",
    object="episodic memory",
    title=PAPERS[1].title,
    quote="stores that critique in an episodic memory",
)
ASPECTS = {
    "hypothesis": 'Search with an "episodic memory" leaves dead ends {earlier}.',
    "outcome": "A third fewer tokens; it's an estimate.",
    "mechanisms": "A critique lowers the rating of like steps.",
    "design_principles": "One entry per dead end, naïvely by nearest neighbour.",
    "unexpected_properties": "The memory could transfer between tasks.",
    "comparison": "Tree of Thoughts forgets; it stays simpler.",
    "novelty": "Nobody rates steps by written failures.",
}
VIEWS = tuple(proposal.AspectView(name=name, text=text) for name, text in ASPECTS.items())
CRITIQUE = {
    "strengths": ['A "cheap" change {so far}'],
    "weaknesses": ["It isn't said when a critique is wrong."],
    "improvements": ["Drop entries that a success contradicts, naïve as it is."],
    "question": "Do critiques change ratings at all?",
}
DEFINITION = {"concept": "critique", "meaning": 'A "written" reason {for a failure}; it\'s naïve prose.'}

SAMPLES: dict[str, tuple[Inputs, dict[str, Any]]] = {
    "triple_extractor": (
        concepts.TripleInputs(topic=TOPIC, title=PAPERS[1].title, text=PAPERS[1].abstract or ""),
        {
            "triples": [
                {
                    "subject": "agent",
                    "relation": 'writes "after a failure" {again} a naïve',
                    "object": "critique",
                    "quote": "Reflexion writes a critique after a failure",
                }
            ]
        },
    ),
    "ontologist": (
        concepts.PathInputs(topic=TOPIC, path=PATH, relations=(RELATION,)),
        {
            "definitions": [
                DEFINITION,
                {"concept": "dead ends", "meaning": "Branches that lead nowhere."},
                {"concept": "Episodic memory", "meaning": "Records of single runs."},
            ],
            "connections": [
                {"first": "dead ends", "second": "critique", "explanation": "Each can be criticised."},
                {"first": "critique", "second": "episodic memory", "explanation": "It's stored there."},
            ],
        },
    ),
    "scientist": (
        proposal.ExplainedPath(
            topic=TOPIC,
            path=PATH,
            definitions=(proposal.ExplainedConcept(**DEFINITION),),
            connections=("critique → episodic memory: it is stored there",),
        ),
        ASPECTS,
    ),
    "aspect_expander": (
        proposal.ExpandInputs(topic=TOPIC, aspect=VIEWS[2], others=VIEWS[:2], papers=PAPERS),
        {"expansion": 'The rating drops by 0.2 per "critique", {an estimate}; it\'s naïve but testable.'},
    ),
    "proposal_critic": (proposal.CritiqueInputs(topic=TOPIC, path=PATH, aspects=VIEWS), CRITIQUE),
    "path_writer": (
        proposal.WriterInputs(
            topic=TOPIC,
            path=PATH,
            aspects=VIEWS,
            critique=proposal.CritiqueView(
                weaknesses=("It is not said when a critique is wrong.",),
                improvements=("Drop entries that a success contradicts.",),
                question="Do critiques change ratings at all?",
            ),
            papers=PAPERS,
            quotes=("Tree of Thoughts rates partial solutions", "stores that critique in an episodic memory"),
        ),
        {
            **SEARCHABLE,
            "method": "1. Search.\n2. Write a critique of dead ends.\n3. Keep an episodic memory, {small}.",
            "sources": [
                {"part": "method", "paper": 1, "quote": "stores that critique in an episodic memory"}
            ],
        },
    ),
}


def _path(prompt: str) -> list[str]:
    part = re.split(r"path of concepts.*:\n|connects these concepts:\n", prompt)[1].partition("\n\n")[0]
    return [text for _, text in _MATERIAL.findall(part)]


CONCEPTS = """verifier memory retrieval planner diffusion reward tokenizer annotation dialogue robot
speech protein weather music law chess finance camera bridge garden kitchen violin glacier volcano
harbour carpet""".split()
"""Names that no embedder takes for one another."""


def _triples(prompt: str) -> dict[str, Any]:
    """A chain of three concepts, which starts where that of the paper before it has its second."""
    title, text = (text for _, text in _MATERIAL.findall(prompt.partition("Paper: ")[2])[:2])
    part = re.search(r"part (\d+)", title)
    number = int(part[1]) if part else int(_word(title), 16)
    chain = [CONCEPTS[(number + step) % len(CONCEPTS)] for step in range(3)]
    return {
        "triples": [
            {"subject": first, "relation": "acts on", "object": second, "quote": text[:80]}
            for first, second in pairwise(chain)
        ]
    }


def _ontology(prompt: str) -> dict[str, Any]:
    path = _path(prompt)
    return {
        "definitions": [{"concept": name, "meaning": _text(prompt, name, 1)} for name in path],
        "connections": [
            {"first": first, "second": second, "explanation": _text(prompt, "connection", 1)}
            for first, second in pairwise(path)
        ],
    }


def _aspects(prompt: str) -> dict[str, Any]:
    path = _path(prompt)
    return {
        **{name: _text(prompt, name, 2) for name in proposal.ASPECTS},
        "hypothesis": f"{path[0]} needs {path[-1]}. {_text(prompt, 'hypothesis', 1)}",
    }


def _path_idea(prompt: str) -> dict[str, Any]:
    path, idea = _path(prompt), _idea(prompt)
    return {**idea, "summary": f"{path[0]} works with {path[-1]}. {idea['summary']}"}


ANSWERS = {
    "ConceptTriples": _triples,
    "Ontology": _ontology,
    "Aspects": _aspects,
    "Expansion": lambda prompt: {"expansion": _text(prompt, "expansion", 4)},
    "Critique": lambda prompt: {
        "strengths": ["clear"],
        "weaknesses": [_text(prompt, "weakness", 1)],
        "improvements": [_text(prompt, "change", 1)],
        "question": _text(prompt, "question", 1),
    },
    "PathIdea": _path_idea,
}
ROLES = {
    "triple_extractor": "ConceptTriples",
    "ontologist": "Ontology",
    "scientist": "Aspects",
    "aspect_expander": "Expansion",
    "proposal_critic": "Critique",
    "path_writer": "PathIdea",
}
