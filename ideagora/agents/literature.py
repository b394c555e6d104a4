"""Roles that search and read literature: query planner, relevance judge and reader.

Source: Chain of Ideas (arXiv 2410.13185), section 3.2 and Tables 8 to 11.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief, check_paper_numbers
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts
from ideagora.models.offline.relevance import (
    CITED_ON_TOPIC_SHARE,
    COVERAGE_THRESHOLD,
    ON_TOPIC_SHARE,
    coverage,
    topic_scores,
)

READING_PREFIX = 1_500
"""Characters of a text that references are compared with, about the length of an abstract."""


class PlannerInputs(Inputs):
    """A topic and the number of queries wanted."""

    topic: str
    count: int


class Queries(Answer):
    """Search queries: the first for the whole topic, the others for its aspects."""

    queries: tuple[str, ...] = Field(description="a literature search query of 3 to 10 words")


def _plan_queries(engine: ExtractiveModel, inputs: PlannerInputs) -> dict[str, Any]:
    topic = texts.without_stop(texts.clip(inputs.topic, 30))
    aspects = [phrase for phrase in texts.phrases(inputs.topic) if not texts.is_generic(phrase)]
    suffixes = ["limitations", "evaluation", "training", "search and planning", "benchmarks", "survey"]
    queries = [
        topic,
        *aspects,
        *(f"{suffix} of {topic}" for suffix in suffixes),
        *(f"{topic} {n}" for n in range(2, 20)),
    ]
    return {"queries": list({query.lower(): query for query in queries}.values())[: inputs.count]}


def _check_queries(inputs: PlannerInputs, answer: Queries) -> str | None:
    distinct = {query.strip().lower() for query in answer.queries if query.strip()}
    if len(distinct) >= inputs.count:
        return None
    return f"expected {inputs.count} different queries, got {len(distinct)}"


QUERY_PLANNER = Role(
    name="query_planner",
    group="main",
    inputs=PlannerInputs,
    answer=Queries,
    offline=_plan_queries,
    check=_check_queries,
)


class RelevanceInputs(Inputs):
    """A topic and the papers to judge."""

    topic: str
    papers: tuple[PaperBrief, ...]
    cited: PaperBrief | None = None
    """The paper that they all cite; ``None`` if they come from searches for the topic."""


class Judgement(Answer):
    """Whether one paper is relevant to the topic."""

    paper: int = Field(description="number of the paper")
    reason: str = Field(description="one sentence: how the paper relates to the topic")
    relevant: bool = Field(description="whether reading the paper helps to study the topic")


class Judgements(Answer):
    """One judgement for each paper."""

    judgements: tuple[Judgement, ...]


def _judge_relevance(engine: ExtractiveModel, inputs: RelevanceInputs) -> dict[str, Any]:
    papers = [_paper_text(paper) for paper in inputs.papers]
    if inputs.cited is None:
        covered = coverage(engine, inputs.topic, papers)
        if not covered.is_enough:
            reason = (
                f"The papers found do not cover the topic (score {covered.score:.2f}, "
                f"minimum {COVERAGE_THRESHOLD:.2f})."
            )
            return {"judgements": [_judgement(number, False, reason) for number in range(len(papers))]}
    limit = ON_TOPIC_SHARE if inputs.cited is None else CITED_ON_TOPIC_SHARE
    reference = "the best match" if inputs.cited is None else "the cited paper"
    shares = topic_scores(engine, inputs.topic, papers, _paper_text(inputs.cited) if inputs.cited else None)
    judgements = []
    for number, share in enumerate(shares):
        sentence, _ = engine.best_sentence(inputs.topic, papers[number])
        reason = (
            f"Its similarity to the topic is {share:.0%} of that of {reference} (minimum {limit:.0%}). "
            f"Closest sentence: {sentence}"
        )
        judgements.append(_judgement(number, share >= limit, reason))
    return {"judgements": judgements}


def _paper_text(paper: PaperBrief) -> str:
    return f"{paper.title}. {paper.abstract or ''}"


def _judgement(number: int, relevant: bool, reason: str) -> dict[str, Any]:
    return {"paper": number, "reason": reason, "relevant": relevant}


def _check_judgements(inputs: RelevanceInputs, answer: Judgements) -> str | None:
    numbers = sorted(judgement.paper for judgement in answer.judgements)
    if numbers == list(range(len(inputs.papers))):
        return None
    return f"each paper 0 to {len(inputs.papers) - 1} needs exactly one judgement, got {numbers}"


RELEVANCE_JUDGE = Role(
    name="relevance_judge",
    group="judge",
    inputs=RelevanceInputs,
    answer=Judgements,
    offline=_judge_relevance,
    temperature=0.0,
    check=_check_judgements,
)


class ReaderInputs(Inputs):
    """A paper's text and references, and the topic to read it for."""

    topic: str
    title: str
    kind: str
    """What the text is: full text, abstract or title."""
    text: str
    references: tuple[PaperBrief, ...]


EntityKind = Literal["model", "dataset", "metric", "technique", "other"]


def _normalize_kind(value: object) -> object:
    """Map kinds that models invent, such as "framework", to "other"."""
    if not isinstance(value, str) or not value.strip():
        return value
    known = {"model", "dataset", "metric", "technique", "other"}
    word = value.strip().lower().replace("data set", "dataset")
    return word if word in known else "other"


class ReadEntity(Answer):
    """A named entity in the paper."""

    name: str
    description: str = Field(description="one sentence, as the paper presents it")
    kind: Annotated[EntityKind, BeforeValidator(_normalize_kind)]


class ReadReference(Answer):
    """A reference to follow."""

    paper: int = Field(description="number of the reference")
    relation: Literal["builds on", "baseline", "same topic"]
    reason: str = Field(
        description="one sentence: what this paper takes from it, and why it matters for the topic"
    )


class PaperReading(Answer):
    """The reader's report on a paper."""

    problem: str | None = Field(description="what earlier work could not do, 1 or 2 sentences")
    method: str = Field(description="the core mechanism, its components and why they work, 2 to 5 sentences")
    finding: str | None = Field(
        description="what the experiments showed, with figures exactly as in the text"
    )
    limitation: str | None = Field(description="what remains unsolved or fails, according to the text")
    experiment: str | None = Field(description="how it was tested: data, baselines, metrics and procedure")
    entities: tuple[ReadEntity, ...] = Field(description="up to 8 models, data sets, metrics, techniques")
    references: tuple[ReadReference, ...] = Field(
        description="up to 3 references, the most important first; [] if none is relevant to the topic"
    )


def _read(engine: ExtractiveModel, inputs: ReaderInputs) -> dict[str, Any]:
    facets = engine.facets(inputs.text, ["problem", "method", "finding", "limitation"])
    names = texts.names(inputs.text)[:8]
    return {
        **facets,
        "method": facets["method"] or inputs.text,
        "experiment": facets["finding"],
        "entities": [{"name": n.name, "description": n.sentence, "kind": n.kind} for n in names],
        "references": _choose_references(engine, inputs),
    }


def _choose_references(engine: ExtractiveModel, inputs: ReaderInputs) -> list[dict[str, Any]]:
    candidates = [_paper_text(reference) for reference in inputs.references]
    reading = f"{inputs.title}. {inputs.text[:READING_PREFIX]}"
    shares = topic_scores(engine, inputs.topic, candidates, reading)
    followed = []
    for number, share in sorted(enumerate(shares), key=lambda pair: (-pair[1], pair[0]))[:3]:
        if share < CITED_ON_TOPIC_SHARE:
            continue
        named = texts.short_name(inputs.references[number].title).lower() in inputs.text.lower()
        relation = "builds on" if named else "same topic"
        reason = f"Its similarity to the topic and the paper is {share:.0%} of the paper's own" + (
            ", and the text names it." if named else "."
        )
        followed.append({"paper": number, "relation": relation, "reason": reason})
    return followed


def _check_references(inputs: ReaderInputs, answer: PaperReading) -> str | None:
    numbers = [reference.paper for reference in answer.references]
    if numbers and not inputs.references:
        return "the paper has no references: return an empty list"
    return check_paper_numbers("references", numbers, [reference.title for reference in inputs.references])


READER = Role(
    name="reader",
    group="reader",
    inputs=ReaderInputs,
    answer=PaperReading,
    offline=_read,
    temperature=0.0,
    check=_check_references,
)
