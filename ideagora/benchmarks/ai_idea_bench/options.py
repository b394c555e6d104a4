"""The options of the multiple-choice evaluation (section 3.2.1).

Beside the target there are the two inspirations closest to it, and one paper from elsewhere in the data set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ideagora.agents.paper_extractors import remove_name, system_name
from ideagora.benchmarks.ai_idea_bench.distractors import choose_elsewhere, most_central, nearest
from ideagora.benchmarks.ai_idea_bench.judges import INSPIRATION_READER
from ideagora.benchmarks.ai_idea_bench.parts import PARTS, Part, target_part
from ideagora.benchmarks.ai_idea_bench.samples import Inspiration, Sample
from ideagora.benchmarks.benchmark import Plan, Unscored
from ideagora.errors import UnreadableAnswer
from ideagora.models.single_flight import SingleFlight
from ideagora.models.usage import collect_answer_usage, usage_label
from ideagora.retrieval.cutoff import possible_ids, title_key
from ideagora.schema import Paper

if TYPE_CHECKING:
    from ideagora.graphs.services import Services
    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.retrieval.library import Library

TARGET = "target"
INSPIRATIONS_SHOWN = 2
TITLE_RESULTS = 5
"""Search results among which an inspiration without an id is looked up by its title."""


class Option(NamedTuple):
    """One option of a multiple-choice question."""

    source: str
    """``target``, ``inspiration ID`` or ``sample ID``."""
    text: str


@dataclass
class Options:
    """The options of every sample and part, each made once in a run."""

    elsewhere: Mapping[Part, Mapping[str, Sample]]
    """Part -> sample id -> the paper elsewhere in the data set; samples without one are left out."""
    judge: str
    """The model that describes inspirations: the first judge, so that all judges see the same options."""
    _made: dict[str, tuple[Option, ...] | str] = field(default_factory=dict)
    _running: SingleFlight[tuple[Option, ...] | str] = field(default_factory=SingleFlight)

    async def of(self, services: Services, sample: Sample, part: Part) -> tuple[Option, ...]:
        """The four options, the target first.

        Raises:
            Unscored: there are fewer; the message says why.
            IdeagoraError: the model or a source is down.
        """
        key = f"{part} {sample.id}"
        if key not in self._made:
            self._made[key], _ = await self._running.run(key, lambda: self._make(services, sample, part))
        made = self._made[key]
        if isinstance(made, str):
            raise Unscored(made)
        return made

    async def _make(self, services: Services, sample: Sample, part: Part) -> tuple[Option, ...] | str:
        """The options, or why there are none.

        Their usage is on the run's bill, but not in the verdict of the question that happens to be first.
        """
        with usage_label("options"), collect_answer_usage():
            try:
                target = target_part(sample, part)
                other = self.elsewhere[part].get(sample.id)
                if other is None:
                    return f"the data set has no other paper with a {part}"
                near = await nearest_inspirations(services, self.judge, sample, part)
            except Unscored as error:
                return str(error)
        return (Option(TARGET, target), *near, Option(f"sample {other.id}", target_part(other, part)))


async def nearest_inspirations(
    services: Services, judge: str, sample: Sample, part: Part
) -> tuple[Option, ...]:
    """The two inspirations closest to a part of the target, by title and abstract, among those with a text.

    Each is described by a model in the form in which the data set describes targets, so that no option can
    be told by its form. An inspiration without an abstract, or whose abstract does not state the part, is
    replaced by the next one.

    Raises:
        Unscored: fewer than two inspirations have a text.
    """
    library = services.library
    found = [await find_inspiration(library, one) for one in sample.inspirations]
    papers = [paper for paper in found if paper is not None and (paper.abstract or "").strip()]
    options: list[Option] = []
    for scored in await library.similar(papers, target_part(sample, part)):
        text = await _describe(services, judge, scored.paper, part)
        if text:
            options.append(Option(f"inspiration {scored.paper.id}", text))
        if len(options) == INSPIRATIONS_SHOWN:
            return tuple(options)
    raise Unscored(
        f"only {len(options)} of {len(sample.inspirations)} inspirations have a text that states a {part} "
        f"({sum(paper is None for paper in found)} are not in the library)"
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


async def find_inspiration(library: Library, inspiration: Inspiration) -> Paper | None:
    """An inspiration's record in the library, by its id or else by its exact title; ``None``: not there."""
    for paper_id in possible_ids(inspiration.paper_id) if inspiration.paper_id else ():
        paper = await library.paper(paper_id)
        if paper is not None:
            return paper
    if not inspiration.title:
        return None
    results = await library.search(inspiration.title, TITLE_RESULTS)
    wanted = title_key(inspiration.title)
    return next((one.paper for one in results if title_key(one.paper.title) == wanted), None)


def prepare_options(samples: Mapping[str, Sample], embedder: Callable[[], Embedder], plan: Plan) -> Options:
    """Choose the paper elsewhere in the data set for every sample and part."""
    choose = most_central if plan.protocol == "paper" else nearest
    elsewhere = {part: choose_elsewhere(list(samples.values()), part, embedder(), choose) for part in PARTS}
    return Options(elsewhere, plan.judges[0])
