"""Questions of IdeaBench about one target (sections 3.3.1 and 4.1.2).

By default every text that is compared, the target's and the agents', is restated by the same role as one
paragraph, so that style and length do not tell the judge which one has been published. The first judge's
model does so for all judges. ``--protocol paper`` shows ideas as their agents wrote them, and the target's as
the data set's authors extracted it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ideagora.benchmarks.benchmark import Judgement, Plan, Question
from ideagora.benchmarks.ideabench import bertscore
from ideagora.benchmarks.ideabench.replies import read_ranking
from ideagora.benchmarks.ideabench.roles import RANK, RATE_OVERLAP, STATE_IDEA
from ideagora.benchmarks.ideabench.samples import Sample
from ideagora.benchmarks.ideabench.scores import IDEAS, RATING, SIMILARITY
from ideagora.benchmarks.ideabench.scores import RANK as RANK_CRITERION
from ideagora.errors import UsageError
from ideagora.schema import Idea

if TYPE_CHECKING:
    from ideagora.graphs.services import Services
    from ideagora.models.client import LLMClient
    from ideagora.models.embeddings.embedder import Embedder

Answer = Callable[["Services"], Awaitable[Judgement]]
TARGET = "target"
"""The target's own idea in ``details["shown"]``."""
MAX_INDICATOR = 40
"""Characters of an indicator's name."""


@dataclass(frozen=True)
class Indicator:
    """A quality by which ideas are ranked, in the user's words (section 3.3.1)."""

    name: str
    definition: str

    @property
    def measure(self) -> str:
        """Its measure's name, e.g. ``insight_novelty``."""
        return f"insight_{'_'.join(self.name.lower().split())}"


NOVELTY = Indicator(
    "novelty",
    "how far the idea departs from what is known in its field or extends it: a question not yet asked, or a "
    "mechanism not yet proposed for it, whose answer would matter",
)
FEASIBILITY = Indicator(
    "feasibility",
    "how likely a research group could carry the idea out as stated and get an answer, given the resources, "
    "methods, time and expertise that such groups have",
)


def parse_indicator(text: str) -> Indicator:
    """Return the indicator written as ``NAME=DEFINITION``, or a shipped one by its name.

    Raises:
        UsageError: the definition is missing, or the name is unusable.
    """
    name, equals, definition = (part.strip() for part in text.partition("="))
    shipped = {each.name: each for each in (NOVELTY, FEASIBILITY)}
    if not equals and name in shipped:
        return shipped[name]
    if not definition or not all(word.isalnum() for word in name.replace("-", " ").split()) or not name:
        raise UsageError(
            f"indicator {text!r}: write NAME=DEFINITION, e.g. surprise='how unexpected the idea is', "
            f"or one of {', '.join(shipped)}."
        )
    if len(name) > MAX_INDICATOR:
        raise UsageError(f"indicator {name!r} has more than {MAX_INDICATOR} characters: use a shorter name.")
    return Indicator(name, definition)


def ranking_questions(
    sample: Sample, ideas: Sequence[Idea], plan: Plan, indicators: Sequence[Indicator]
) -> Iterator[Question]:
    """One ranking of the target's and one agent's ideas per indicator and judge."""
    restated = 0 if plan.protocol == "paper" else len(ideas) + 1
    for indicator in indicators:
        shown = _order(sample, ideas, plan, indicator)
        for judge in plan.judges:
            is_first = (indicator, judge) == (indicators[0], plan.judges[0])
            yield Question(
                measure=indicator.measure,
                sample=sample.id,
                judge=judge,
                subject=tuple(idea for idea in shown if idea is not None),
                answer=_ranker(sample, shown, plan, indicator, judge),
                calls=1 + (restated if is_first else 0),
            )


def _order(sample: Sample, ideas: Sequence[Idea], plan: Plan, indicator: Indicator) -> list[Idea | None]:
    """The ideas in the order shown, ``None`` for the target's; the released code always puts it first."""
    shown: list[Idea | None] = [None, *ideas]
    if plan.protocol != "paper":
        key = [str(plan.seed), sample.id, indicator.name, *(idea.id for idea in ideas)]
        random.Random("\x1f".join(key)).shuffle(shown)
    return shown


def _ranker(
    sample: Sample, shown: Sequence[Idea | None], plan: Plan, indicator: Indicator, judge: str
) -> Answer:
    async def answer(services: Services) -> Judgement:
        """The rank of the target's idea among those shown; paragraphs are made in parallel."""
        texts = await asyncio.gather(*(_paragraph(services.client, sample, idea, plan) for idea in shown))
        found = await RANK(
            services.client,
            model=judge,
            indicator=indicator.name,
            definition=indicator.definition,
            ideas=tuple(texts),
            as_of=None if plan.protocol == "paper" else sample.target.date,
        )
        ranking = read_ranking(found.ranking, texts)
        place = shown.index(None) + 1
        return Judgement(
            criteria={RANK_CRITERION: ranking.index(place) + 1, IDEAS: len(shown) - 1},
            rationale=found.reason,
            details={
                "shown": [TARGET if idea is None else idea.id for idea in shown],
                "target_place": place,
                "ranking": list(ranking),
            },
        )

    return answer


async def _paragraph(client: LLMClient, sample: Sample, idea: Idea | None, plan: Plan) -> str:
    """An idea as it is shown; ``None`` for the target's own."""
    return await (target_text(client, sample, plan) if idea is None else idea_text(client, idea, plan))


def overlap_questions(sample: Sample, ideas: Sequence[Idea], plan: Plan) -> Iterator[Question]:
    """One rating per idea and judge."""
    for idea in ideas:
        for judge in plan.judges:
            yield Question(
                measure="overlap",
                sample=sample.id,
                judge=judge,
                subject=(idea,),
                answer=_overlap_rater(sample, idea, plan, judge),
            )


def _overlap_rater(sample: Sample, idea: Idea, plan: Plan, judge: str) -> Answer:
    async def answer(services: Services) -> Judgement:
        text = await idea_text(services.client, idea, plan)
        found = await RATE_OVERLAP(services.client, model=judge, idea=text, abstract=sample.target.abstract)
        return Judgement({RATING: found.rating}, rationale=found.explanation)

    return answer


def bertscore_questions(sample: Sample, ideas: Sequence[Idea], plan: Plan, model: str) -> Iterator[Question]:
    """BERTScore F1 of each idea with the target's abstract; no model is asked."""

    def similarity(text: str) -> float:
        return bertscore.bertscore(text, sample.target.abstract, model)

    for idea in ideas:
        yield _computation("similarity", "bertscore", sample, idea, plan, similarity)


def embedding_questions(
    sample: Sample, ideas: Sequence[Idea], plan: Plan, embedder: Callable[[], Embedder]
) -> Iterator[Question]:
    """Cosine of the embeddings of each idea and the target's abstract."""

    def similarity(text: str) -> float:
        vectors = embedder().encode([text, sample.target.abstract])
        return round(float(vectors[0] @ vectors[1]), 6)

    for idea in ideas:
        yield _computation("embedding", "embedding", sample, idea, plan, similarity)


def _computation(
    measure: str, name: str, sample: Sample, idea: Idea, plan: Plan, similarity: Callable[[str], float]
) -> Question:
    async def answer(services: Services) -> Judgement:
        text = await idea_text(services.client, idea, plan)
        return Judgement({SIMILARITY: await asyncio.to_thread(similarity, text)})

    return Question(measure=measure, sample=sample.id, judge=name, subject=(idea,), answer=answer)


async def target_text(client: LLMClient, sample: Sample, plan: Plan) -> str:
    """The target's own idea as one paragraph (appendix A.2)."""
    target = sample.target
    if plan.protocol == "paper" and target.summary is not None:
        return target.summary
    return (
        await STATE_IDEA(client, model=plan.judges[0], title=target.title, text=target.abstract)
    ).paragraph


async def idea_text(client: LLMClient, idea: Idea, plan: Plan) -> str:
    """An agent's idea as it is compared: restated, or for ``--protocol paper`` as it is."""
    text = "\n\n".join(part for part in (idea.motivation, idea.novelty, idea.method) if part)
    if plan.protocol == "paper":
        return text
    return (await STATE_IDEA(client, model=plan.judges[0], title=idea.title, text=text)).paragraph


Asker = Callable[[Sample, Sequence[Idea], Plan], Iterator[Question]]
"""Returns the questions of one group of measures about one agent's ideas."""
