"""Roles that search literature: query planner, query reworder and relevance judge.

Source: Chain of Ideas (arXiv 2410.13185), section 3.2 and Tables 8 and 9. Rewording and grades are ours;
the paper accepts or rejects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from pydantic import Field

from ideagora.agents.offline_leads.facts import is_resource
from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief
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

ACCEPTED_GRADE = 2
"""Minimum grade of a paper that is used."""


class PlannerInputs(Inputs):
    """A topic, the number of queries wanted, and what the user prefers."""

    topic: str
    count: int
    focus: str | None = None


class Queries(Answer):
    """Search queries: the first for the whole topic, the others for its aspects."""

    queries: tuple[str, ...] = Field(description="a literature search query of 3 to 10 words")


def _plan_queries(engine: ExtractiveModel, inputs: PlannerInputs) -> Queries:
    topic = texts.without_stop(texts.clip(inputs.topic, 30))
    focus = [texts.clip(texts.without_stop(inputs.focus), 10)] if inputs.focus else []
    aspects = [phrase for phrase in texts.phrases(inputs.topic) if not texts.is_generic(phrase)]
    suffixes = ["limitations", "evaluation", "training", "search and planning", "benchmarks", "survey"]
    queries = [
        topic,
        *focus,
        *aspects,
        *(f"{suffix} of {topic}" for suffix in suffixes),
        *(f"{topic} {n}" for n in range(2, 20)),
    ]
    return Queries(queries=tuple({query.lower(): query for query in queries}.values())[: inputs.count])


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


class RewordingInputs(Inputs):
    """A query that found little, and what it found."""

    topic: str
    query: str
    found: tuple[str, ...]
    """Titles."""


class RewordedQuery(Answer):
    """Another query for the same aspect of the topic."""

    reason: str = Field(description="one sentence: why the query found little")
    query: str = Field(description="the new query, 2 to 8 words")


def _reword_query(engine: ExtractiveModel, inputs: RewordingInputs) -> RewordedQuery:
    words = [word for word in inputs.query.split() if not texts.is_generic(word)]
    shorter = " ".join(words) if 1 < len(words) < len(inputs.query.split()) else inputs.topic
    return RewordedQuery(reason="Its general words are left out.", query=texts.clip(shorter, 8))


QUERY_REWORDER = Role(
    name="query_reworder",
    group="main",
    inputs=RewordingInputs,
    answer=RewordedQuery,
    offline=_reword_query,
)


class RelevanceInputs(Inputs):
    """A topic and the papers to judge, numbered from the first group to the last."""

    topic: str
    papers: tuple[PaperBrief, ...]
    """Papers that searches found."""
    latest: PaperBrief | None = None
    citing: tuple[PaperBrief, ...] = ()
    """Papers that cite ``latest``, the last paper of a chain."""
    earliest: PaperBrief | None = None
    cited: tuple[PaperBrief, ...] = ()
    """Papers that ``earliest`` cites, the first paper of the chain."""

    @property
    def candidates(self) -> tuple[PaperBrief, ...]:
        """All papers to judge, in the order of their numbers."""
        return (*self.papers, *self.citing, *self.cited)


Contribution = Literal["method", "measurement", "other"]
Grade = Literal[0, 1, 2, 3]
GRADES: tuple[Grade, ...] = get_args(Grade)


class Judgement(Answer):
    """How relevant one paper is to the topic."""

    paper: int = Field(description="number of the paper")
    reason: str = Field(description="one sentence: what the paper offers for the topic")
    contribution: Contribution = Field(description="method: proposes one; measurement: evaluates or compares")
    grade: Grade = Field(description="as defined above")


class Judgements(Answer):
    """Judgements of the papers, and the order of those that are accepted."""

    judgements: tuple[Judgement, ...]
    best_first: tuple[int, ...] = Field(
        description="papers with grade 2 or 3, the one most worth reading first"
    )


def _judge_relevance(engine: ExtractiveModel, inputs: RelevanceInputs) -> Judgements:
    searched = [paper_text(paper) for paper in inputs.papers]
    if searched and not (covered := coverage(engine, inputs.topic, searched)).is_enough:
        reason = (
            f"The papers found do not cover the topic (score {covered.score:.2f}, "
            f"minimum {COVERAGE_THRESHOLD:.2f})."
        )
        return Judgements(
            judgements=tuple(
                Judgement(paper=number, reason=reason, contribution="other", grade=0)
                for number in range(len(inputs.candidates))
            ),
            best_first=(),
        )
    shares = [
        *topic_scores(engine, inputs.topic, searched),
        *_linked_scores(engine, inputs.topic, inputs.citing, inputs.latest),
        *_linked_scores(engine, inputs.topic, inputs.cited, inputs.earliest),
    ]
    judgements = [_judgement(engine, inputs, number, share) for number, share in enumerate(shares)]
    accepted = [number for number, judged in enumerate(judgements) if judged.grade >= ACCEPTED_GRADE]
    best_first = sorted(accepted, key=lambda number: (-shares[number], number))
    return Judgements(judgements=tuple(judgements), best_first=tuple(best_first))


def _linked_scores(
    engine: ExtractiveModel, topic: str, papers: Sequence[PaperBrief], linked: PaperBrief | None
) -> list[float]:
    texts_of = [paper_text(paper) for paper in papers]
    return topic_scores(engine, topic, texts_of, paper_text(linked) if linked else None)


def _judgement(engine: ExtractiveModel, inputs: RelevanceInputs, number: int, share: float) -> Judgement:
    paper, is_linked = inputs.candidates[number], number >= len(inputs.papers)
    limit = CITED_ON_TOPIC_SHARE if is_linked else ON_TOPIC_SHARE
    reference = "the linked paper" if is_linked else "the best match"
    sentence, _ = engine.best_sentence(inputs.topic, paper_text(paper))
    return Judgement(
        paper=number,
        reason=f"Its similarity to the topic is {share:.0%} of that of {reference} (minimum {limit:.0%}). "
        f"Closest sentence: {sentence}",
        contribution="measurement" if is_resource(paper.title, paper.abstract or "") else "method",
        grade=GRADES[sum(share >= bound for bound in (limit / 2, limit, (1 + limit) / 2))],
    )


def paper_text(paper: PaperBrief) -> str:
    """Title and abstract as one text."""
    return f"{paper.title}. {paper.abstract or ''}"


def _check_judgements(inputs: RelevanceInputs, answer: Judgements) -> str | None:
    numbers = {judgement.paper for judgement in answer.judgements}
    unknown = sorted(numbers - set(range(len(inputs.candidates))))
    if unknown:
        return f"papers are numbered 0 to {len(inputs.candidates) - 1}, got a judgement of {unknown[0]}"
    if len(numbers) * 2 < len(inputs.candidates):  # single missing ones are asked for alone
        return f"each paper 0 to {len(inputs.candidates) - 1} needs a judgement, got {sorted(numbers)}"
    return None


RELEVANCE_JUDGE = Role(
    name="relevance_judge",
    group="judge",
    inputs=RelevanceInputs,
    answer=Judgements,
    offline=_judge_relevance,
    temperature=0.0,
    check=_check_judgements,
)
