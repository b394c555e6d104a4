"""Roles that read papers: one for a full text, one for several short texts in one call.

Source: Chain of Ideas (arXiv 2410.13185), section 3.2 and Tables 10 and 11. Reading several abstracts in
one call is ours.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ideagora.agents.literature import paper_text
from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief, check_paper_numbers
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts
from ideagora.models.offline.relevance import CITED_ON_TOPIC_SHARE, topic_scores

READING_PREFIX = 1_500
"""Characters of a text that references are compared with, about the length of an abstract."""

EntityKind = Literal["model", "dataset", "metric", "technique", "other"]
Relation = Literal["builds on", "baseline", "same topic", "unclear"]


class ReadEntity(Answer):
    """A named entity in the paper."""

    name: str
    description: str = Field(description="one sentence, as the paper presents it")
    kind: EntityKind


class ReadReference(Answer):
    """A reference to follow."""

    paper: int = Field(description="number of the reference")
    relation: Relation
    reason: str = Field(
        description="one sentence: what this paper takes from it, and why it matters for the topic"
    )


class PaperReading(Answer):
    """What a paper says, by facet."""

    problem: str | None = Field(description="what earlier work could not do, 1 or 2 sentences")
    method: str = Field(description="the core mechanism and its components, 2 to 5 sentences")
    finding: str | None = Field(
        description="what the experiments showed, with figures exactly as in the text"
    )
    limitation: str | None = Field(description="what remains unsolved or fails, according to the text")
    experiment: str | None = Field(description="how it was tested: data, baselines, metrics and procedure")
    entities: tuple[ReadEntity, ...] = Field(description="up to 8 models, data sets, metrics, techniques")


class FullTextReading(PaperReading):
    """The reader's report on a full text."""

    why_it_works: str | None = Field(
        description="why the method works where earlier work failed, and what it depends on, 1 to 3 sentences"
    )
    details: str | None = Field(
        description="what is needed to rebuild it: settings, sizes, training signal, costs, 1 to 4 sentences"
    )
    references: tuple[ReadReference, ...] = Field(
        description="up to 3 references, the most important first; [] if none is relevant to the topic"
    )


class ReaderInputs(Inputs):
    """A paper's text and references, and the topic to read it for."""

    topic: str
    title: str
    kind: str
    """What the text is: full text, abstract or title."""
    text: str
    references: tuple[PaperBrief, ...]


def _read(engine: ExtractiveModel, inputs: ReaderInputs) -> FullTextReading:
    references = _choose_references(engine, inputs)
    reading = _read_text(engine, inputs.text)
    return reading.extended_to(FullTextReading, why_it_works=None, details=None, references=references)


def _read_text(engine: ExtractiveModel, text: str) -> PaperReading:
    facets = engine.facets(text, ["problem", "method", "finding", "limitation"])
    names = texts.names(text)[:8]
    return PaperReading(
        problem=facets["problem"],
        method=facets["method"] or text,
        finding=facets["finding"],
        limitation=facets["limitation"],
        experiment=facets["finding"],
        entities=tuple(ReadEntity(name=n.name, description=n.sentence, kind=n.kind) for n in names),
    )


def _choose_references(engine: ExtractiveModel, inputs: ReaderInputs) -> list[ReadReference]:
    candidates = [paper_text(reference) for reference in inputs.references]
    reading = f"{inputs.title}. {inputs.text[:READING_PREFIX]}"
    shares = topic_scores(engine, inputs.topic, candidates, reading)
    followed: list[ReadReference] = []
    for number, share in sorted(enumerate(shares), key=lambda pair: (-pair[1], pair[0]))[:3]:
        if share < CITED_ON_TOPIC_SHARE:
            continue
        named = texts.short_name(inputs.references[number].title).lower() in inputs.text.lower()
        reason = f"Its similarity to the topic and the paper is {share:.0%} of the paper's own" + (
            ", and the text names it." if named else "."
        )
        relation: Relation = "builds on" if named else "unclear"
        followed.append(ReadReference(paper=number, relation=relation, reason=reason))
    return followed


def _check_references(inputs: ReaderInputs, answer: FullTextReading) -> str | None:
    numbers = [reference.paper for reference in answer.references]
    if numbers and not inputs.references:
        return "the paper has no references: return an empty list"
    return check_paper_numbers("references", numbers, [reference.title for reference in inputs.references])


READER = Role(
    name="reader",
    group="reader",
    inputs=ReaderInputs,
    answer=FullTextReading,
    offline=_read,
    temperature=0.0,
    check=_check_references,
)


class AbstractInputs(Inputs):
    """Papers of which only a short text is known, and the topic to read them for."""

    topic: str
    papers: tuple[PaperBrief, ...]


class AbstractReading(PaperReading):
    """The reading of one of several short texts."""

    paper: int = Field(description="number of the paper")


class AbstractReadings(Answer):
    """One reading for each paper."""

    readings: tuple[AbstractReading, ...]


def _read_abstracts(engine: ExtractiveModel, inputs: AbstractInputs) -> AbstractReadings:
    readings = (_read_text(engine, paper.abstract or paper.title) for paper in inputs.papers)
    return AbstractReadings(
        readings=tuple(
            reading.extended_to(AbstractReading, paper=number) for number, reading in enumerate(readings)
        )
    )


def _check_abstracts(inputs: AbstractInputs, answer: AbstractReadings) -> str | None:
    if not answer.readings:
        return "readings is empty"
    titles = [paper.title for paper in inputs.papers]
    return check_paper_numbers("readings.paper", [reading.paper for reading in answer.readings], titles)


ABSTRACT_READER = Role(
    name="abstract_reader",
    group="reader",
    inputs=AbstractInputs,
    answer=AbstractReadings,
    offline=_read_abstracts,
    temperature=0.0,
    check=_check_abstracts,
)
