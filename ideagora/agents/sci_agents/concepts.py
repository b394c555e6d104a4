"""Roles around the knowledge graph: triples from a paper, and the ontologist.

Source: Ghafarollahi and Buehler (arXiv 2409.05556), sections on the graph and on the ontologist.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from pydantic import Field

from ideagora.agents.role import Role
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

PROMPTS = Path(__file__).parent / "prompts"
MAX_TRIPLES = 10
RELATION_WORDS = 8


class TripleInputs(Inputs):
    """A paper to take triples from."""

    topic: str
    title: str
    text: str


class Triple(Answer):
    """Two concepts and how they are related, according to a paper."""

    subject: str = Field(description="a concept, 1 to 5 words")
    relation: str = Field(description="how the subject relates to the object, 1 to 8 words")
    object: str = Field(description="another concept, 1 to 5 words")
    quote: str = Field(description="5 to 25 words copied verbatim from the text, which say so")


class ConceptTriples(Answer):
    """The triples of one paper."""

    triples: tuple[Triple, ...] = Field(
        description=f"up to {MAX_TRIPLES}; [] if the text relates no concepts"
    )


def _extract_triples(engine: ExtractiveModel, inputs: TripleInputs) -> ConceptTriples:
    """Return neighbouring noun phrases of a sentence, related by the words between them."""
    triples = []
    for sentence in texts.sentences(inputs.text):
        phrases = [
            phrase
            for phrase in texts.phrases(sentence)
            if not texts.is_generic(phrase) and texts.ends_in_noun(phrase)
        ]
        for first, second in pairwise(phrases):
            between = sentence.lower().partition(first.lower())[2].partition(second.lower())[0]
            words = texts.clip(" ".join(texts.words(between)), RELATION_WORDS)
            triples.append(
                Triple(
                    subject=first,
                    relation=words or "with",
                    object=second,
                    quote=texts.clip(sentence, 25),
                )
            )
    return ConceptTriples(triples=tuple(triples[:MAX_TRIPLES]))


def _check_triples(inputs: TripleInputs, answer: ConceptTriples) -> str | None:
    for triple in answer.triples:
        if not all(part.strip() for part in (triple.subject, triple.relation, triple.object)):
            return "a triple has an empty subject, relation or object"
        if triple.subject.casefold() == triple.object.casefold():
            return f"“{triple.subject}” is related to itself; name two different concepts"
    return None


TRIPLE_EXTRACTOR = Role(
    name="triple_extractor",
    group="reader",
    inputs=TripleInputs,
    answer=ConceptTriples,
    offline=_extract_triples,
    temperature=0.0,
    check=_check_triples,
    prompts=PROMPTS,
)


class Relation(Inputs):
    """A relation of the path, with the sentence that it comes from."""

    subject: str
    relation: str
    object: str
    title: str
    quote: str


class PathInputs(Inputs):
    """A path of concepts through the graph, and the relations along it."""

    topic: str
    path: tuple[str, ...]
    relations: tuple[Relation, ...]


class Definition(Answer):
    """The meaning of one concept."""

    concept: str = Field(description="the concept, spelled as in the path")
    meaning: str = Field(description="1 or 2 sentences: what it means on this topic")


class Connection(Answer):
    """How two neighbours of the path are connected."""

    first: str = Field(description="a concept of the path")
    second: str = Field(description="the next concept of the path")
    explanation: str = Field(description="1 to 3 sentences: how they are connected, and what is not known")


class Ontology(Answer):
    """The path explained."""

    definitions: tuple[Definition, ...] = Field(description="one for each concept of the path, in order")
    connections: tuple[Connection, ...] = Field(description="one for each pair of neighbours, in order")


def _define(engine: ExtractiveModel, inputs: PathInputs) -> Ontology:
    """Return the sentences that the concepts come from."""
    quotes = [relation.quote for relation in inputs.relations] or [inputs.topic]
    return Ontology(
        definitions=tuple(
            Definition(concept=concept, meaning=f"Named in: “{quotes[engine.rank(concept, quotes)[0][0]]}”")
            for concept in inputs.path
        ),
        connections=tuple(
            Connection(first=first, second=second, explanation=_between(inputs, first, second))
            for first, second in pairwise(inputs.path)
        ),
    )


def _between(inputs: PathInputs, first: str, second: str) -> str:
    for one in inputs.relations:
        if {one.subject, one.object} == {first, second}:
            return f"“{one.subject}” {one.relation} “{one.object}”, according to “{one.title}”: “{one.quote}”"
    return "No paper relates them directly."


def _check_ontology(inputs: PathInputs, answer: Ontology) -> str | None:
    defined = {definition.concept.casefold() for definition in answer.definitions}
    missing = [concept for concept in inputs.path if concept.casefold() not in defined]
    return f"definitions lack “{missing[0]}”; spell each concept as in the path" if missing else None


ONTOLOGIST = Role(
    name="ontologist",
    group="main",
    inputs=PathInputs,
    answer=Ontology,
    offline=_define,
    check=_check_ontology,
    prompts=PROMPTS,
)
