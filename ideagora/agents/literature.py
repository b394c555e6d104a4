"""Workers that find and read literature: query planner, relevance judge, reader.

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
"""Of a text, what stands for it when references are compared with it: about an abstract."""


class PlannerInputs(Inputs):
    """A topic and how many queries are wanted."""

    topic: str
    count: int


class Queries(Answer):
    """Search queries, the first for the whole topic, the others for aspects of it."""

    queries: tuple[str, ...] = Field(description="a literature search query of 3 to 10 words")


def _plan_queries(engine: ExtractiveModel, inputs: PlannerInputs) -> dict[str, Any]:
    whole = texts.without_stop(texts.clip(inputs.topic, 30))
    aspects = [phrase for phrase in texts.phrases(inputs.topic) if not texts.is_generic(phrase)]
    ends = ["limitations", "evaluation", "training", "search and planning", "benchmarks", "survey"]
    queries = [
        whole,
        *aspects,
        *(f"{end} of {whole}" for end in ends),
        *(f"{whole} {n}" for n in range(2, 20)),
    ]
    return {"queries": list({query.lower(): query for query in queries}.values())[: inputs.count]}


def _check_queries(inputs: PlannerInputs, answer: Queries) -> str | None:
    distinct = {query.strip().lower() for query in answer.queries if query.strip()}
    if len(distinct) >= inputs.count:
        return None
    return f"{inputs.count} different queries are wanted, there are {len(distinct)}"


QUERY_PLANNER = Role(
    name="query_planner",
    group="main",
    inputs=PlannerInputs,
    answer=Queries,
    offline=_plan_queries,
    check=_check_queries,
)


class RelevanceInputs(Inputs):
    """A topic and papers to be judged against it."""

    topic: str
    papers: tuple[PaperBrief, ...]
    cited: PaperBrief | None = None
    """The paper that all of them cite; ``None``: they were found by searches for the topic."""


class Judgement(Answer):
    """Whether one paper helps to study the topic."""

    paper: int = Field(description="number of the paper")
    reason: str = Field(description="one sentence: what the paper has to do with the topic")
    relevant: bool = Field(description="does the paper help to study the topic?")


class Judgements(Answer):
    """One judgement for each paper."""

    judgements: tuple[Judgement, ...]


def _judge_relevance(engine: ExtractiveModel, inputs: RelevanceInputs) -> dict[str, Any]:
    papers = [_paper_text(paper) for paper in inputs.papers]
    if inputs.cited is None:
        found = coverage(engine, inputs.topic, papers)
        if not found.is_enough:
            reason = (
                f"The papers found do not cover the topic (score {found.score:.2f}, "
                f"limit {COVERAGE_THRESHOLD:.2f})."
            )
            return {"judgements": [_judgement(number, False, reason) for number in range(len(papers))]}
    limit = ON_TOPIC_SHARE if inputs.cited is None else CITED_ON_TOPIC_SHARE
    middle = "the best one's" if inputs.cited is None else "the cited paper's"
    shares = topic_scores(engine, inputs.topic, papers, _paper_text(inputs.cited) if inputs.cited else None)
    judgements = []
    for number, share in enumerate(shares):
        sentence, _ = engine.best_sentence(inputs.topic, papers[number])
        reason = (
            f"Its nearness to the topic is {share:.0%} of {middle} (limit {limit:.0%}); closest: {sentence}"
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
    """A paper's text and its references (titles), to be read for a topic."""

    topic: str
    title: str
    kind: str
    """What the text is: full text, abstract or title."""
    text: str
    references: tuple[PaperBrief, ...]


EntityKind = Literal["model", "dataset", "metric", "technique", "other"]


def _normalize_kind(value: object) -> object:
    """Models invent kinds ("framework"); what is none of the named ones is other, by that word's meaning."""
    if not isinstance(value, str) or not value.strip():
        return value
    known = {"model", "dataset", "metric", "technique", "other"}
    word = value.strip().lower().replace("data set", "dataset")
    return word if word in known else "other"


class ReadEntity(Answer):
    """A named thing in the paper."""

    name: str
    description: str = Field(description="one sentence from the paper's point of view")
    kind: Annotated[EntityKind, BeforeValidator(_normalize_kind)]


class ReadReference(Answer):
    """A reference worth following."""

    paper: int = Field(description="number of the reference")
    relation: Literal["builds on", "baseline", "same topic"]
    reason: str = Field(
        description="one sentence: what this paper takes from it, and why it bears on the topic"
    )


class PaperReading(Answer):
    """What the reader takes from a paper."""

    problem: str | None = Field(description="what earlier work could not do, 1 or 2 sentences")
    method: str = Field(description="the core mechanism, its parts and why they work, 2 to 5 sentences")
    finding: str | None = Field(description="what the experiments showed; figures only as in the text")
    limitation: str | None = Field(description="what stays unsolved or goes wrong, as far as the text tells")
    experiment: str | None = Field(description="how it was tested: data, baselines, metrics, procedure")
    entities: tuple[ReadEntity, ...] = Field(description="up to 8 models, data sets, metrics, techniques")
    references: tuple[ReadReference, ...] = Field(
        description="up to 3 references, the one to follow first; [] when none bears on the topic"
    )


def _read(engine: ExtractiveModel, inputs: ReaderInputs) -> dict[str, Any]:
    facets = engine.facets(inputs.text, ["problem", "method", "finding", "limitation"])
    found = texts.names(inputs.text)[:8]
    return {
        **facets,
        "method": facets["method"] or inputs.text,
        "experiment": facets["finding"],
        "entities": [{"name": n.name, "description": n.sentence, "kind": n.kind} for n in found],
        "references": _choose_references(engine, inputs),
    }


def _choose_references(engine: ExtractiveModel, inputs: ReaderInputs) -> list[dict[str, Any]]:
    shown = [_paper_text(reference) for reference in inputs.references]
    reading = f"{inputs.title}. {inputs.text[:READING_PREFIX]}"
    shares = topic_scores(engine, inputs.topic, shown, reading)
    followed = []
    for number, share in sorted(enumerate(shares), key=lambda pair: (-pair[1], pair[0]))[:3]:
        if share < CITED_ON_TOPIC_SHARE:
            continue
        named = texts.short_name(inputs.references[number].title).lower() in inputs.text.lower()
        relation = "builds on" if named else "same topic"
        reason = f"Its nearness to topic and paper is {share:.0%} of the paper's own" + (
            ", and the text names it." if named else "."
        )
        followed.append({"paper": number, "relation": relation, "reason": reason})
    return followed


def _check_references(inputs: ReaderInputs, answer: PaperReading) -> str | None:
    numbers = [reference.paper for reference in answer.references]
    if numbers and not inputs.references:
        return "there are no references to follow: answer with an empty list"
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
