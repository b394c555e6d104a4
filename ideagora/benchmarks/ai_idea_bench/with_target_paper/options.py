"""The options of the multiple-choice evaluation (section 3.2.1).

Besides the target, these are the two inspirations closest to it and another target of the data set.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ideagora.agents.paper_extractors import remove_name, system_name
from ideagora.benchmarks.ai_idea_bench.parts import PARTS, Part, target_part
from ideagora.benchmarks.ai_idea_bench.samples import Sample
from ideagora.benchmarks.ai_idea_bench.with_target_paper.distractors import Elsewhere, choose_elsewhere
from ideagora.benchmarks.ai_idea_bench.with_target_paper.judges import INSPIRATION_READER
from ideagora.benchmarks.benchmark import Plan, ProtocolName, Unscored
from ideagora.errors import UnreadableAnswer
from ideagora.models.single_flight import SingleFlight
from ideagora.models.usage import collect_answer_usage, usage_label
from ideagora.retrieval.similarity import rank_by_similarity
from ideagora.schema import Paper

if TYPE_CHECKING:
    from ideagora.graphs.services import Services
    from ideagora.models.embeddings.embedder import Embedder

TARGET = "target"
INSPIRATIONS_SHOWN = 2

Papers = Callable[[Sample, "Services"], Awaitable[Sequence[Paper]]]
"""The inspirations of a sample, as far as known."""


class Option(NamedTuple):
    """One option of a multiple-choice question."""

    source: str
    """``target``, ``inspiration ID`` or ``sample ID``."""
    text: str


Made = Mapping[Part, tuple[Option, ...] | str]
"""Target and inspirations for each part, or why there are not enough."""


@dataclass
class Options:
    """The options of every sample; inspirations are described once in a run."""

    elsewhere: Mapping[Part, Elsewhere]
    """The papers elsewhere in the data set."""
    judge: str
    """The model that describes inspirations: the first judge, so that all judges see the same options."""
    papers: Papers
    _made: dict[str, Made] = field(default_factory=dict)
    _running: SingleFlight[Made] = field(default_factory=SingleFlight)

    async def of(
        self, services: Services, sample: Sample, part: Part, protocol: ProtocolName
    ) -> tuple[Option, ...]:
        """The four options, the target first, then the inspirations.

        Raises:
            Unscored: there are fewer; the message says why.
            IdeagoraError: the model or a source is down.
        """
        if sample.id not in self._made:
            made, _ = await self._running.run(sample.id, lambda: self._make(services, sample))
            self._made[sample.id] = made
        options, other = self._made[sample.id][part], self.elsewhere[part][protocol].get(sample.id)
        if isinstance(options, str):
            raise Unscored(options)
        if other is None:
            raise Unscored(f"the data set has no other paper with a {part}")
        return (*options, Option(f"sample {other.id}", target_part(other, part)))

    async def _make(self, services: Services, sample: Sample) -> Made:
        """Target and inspirations for both parts.

        Their usage is on the run's bill, but not in the verdict of the question that happens to be first.
        """
        with usage_label("options"), collect_answer_usage():
            papers = await self.papers(sample, services)
            made = [self._make_part(services, sample, papers, part) for part in PARTS]
            return dict(zip(PARTS, await asyncio.gather(*made), strict=True))

    async def _make_part(
        self, services: Services, sample: Sample, papers: Sequence[Paper], part: Part
    ) -> tuple[Option, ...] | str:
        try:
            target = target_part(sample, part)
            return (
                Option(TARGET, target),
                *await nearest_inspirations(services, self.judge, papers, target, part),
            )
        except Unscored as error:
            return str(error)


async def nearest_inspirations(
    services: Services, judge: str, papers: Sequence[Paper], target: str, part: Part
) -> tuple[Option, ...]:
    """The two inspirations closest to a part of the target, by title and abstract, among those with a text.

    Each is described by a model in the form in which the data set describes targets, so that no option can
    be recognised by its form. An inspiration without an abstract, or whose abstract does not state the part,
    is replaced by the next one.

    Raises:
        Unscored: fewer than two inspirations have a text.
    """
    embedder = services.library.embedder
    usable = [paper for paper in papers if (paper.abstract or "").strip()]
    ranked = [one.paper for one in await asyncio.to_thread(rank_by_similarity, embedder, usable, target)]
    options: list[Option] = []
    while ranked and len(options) < INSPIRATIONS_SHOWN:
        missing = INSPIRATIONS_SHOWN - len(options)
        nearest, ranked = ranked[:missing], ranked[missing:]
        texts = await asyncio.gather(*(_describe(services, judge, paper, part) for paper in nearest))
        pairs = zip(nearest, texts, strict=True)
        options += [Option(f"inspiration {paper.id}", text) for paper, text in pairs if text]
    if len(options) == INSPIRATIONS_SHOWN:
        return tuple(options)
    raise Unscored(
        f"multiple choice needs two inspirations with a {part}; of {len(papers)}, {len(usable)} have an "
        f"abstract and {len(options)} state it there"
    )


async def _describe(services: Services, judge: str, paper: Paper, part: Part) -> str:
    try:
        answer = await INSPIRATION_READER(
            services.client, model=judge, title=paper.title, abstract=paper.abstract
        )
    except UnreadableAnswer:
        return ""
    text = (answer.motivation or "") if part == "motivation" else answer.method
    return remove_name(text, system_name(paper.title))


def prepare_options(
    samples: Mapping[str, Sample], embedder: Callable[[], Embedder], plan: Plan, papers: Papers
) -> Options:
    """Choose the paper elsewhere in the data set for every sample and part."""
    every = list(samples.values())
    return Options(
        {part: choose_elsewhere(every, part, embedder()) for part in PARTS}, plan.judges[0], papers
    )
