"""The ideator of many short seed ideas, with or without literature.

Source: Si et al. (arXiv 2409.04109), section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from pydantic import Field

from ideagora.agents.ai_researcher.literature_review import PROMPTS
from ideagora.agents.offline_leads.facts import PaperFacts, facts_of_abstracts
from ideagora.agents.offline_leads.fits import Fit, find_fits, measure_pair
from ideagora.agents.offline_leads.leads import write_lead
from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief, check_paper_numbers
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts


class SeedInputs(Inputs):
    """The topic, papers (none: from the model's own knowledge), titles of earlier seeds, number wanted."""

    topic: str
    papers: tuple[PaperBrief, ...]
    earlier: tuple[str, ...]
    count: int


class Seed(Answer):
    """A short idea."""

    title: str = Field(description="a specific title of at most 15 words")
    problem: str = Field(description="1 or 2 sentences: what fails today, and where existing methods stop")
    mechanism: str = Field(description="2 to 4 sentences: what is proposed, and why it should help")
    test: str = Field(description="1 or 2 sentences: the experiment that would decide whether it works")
    papers: tuple[int, ...] = Field(description="numbers of the papers it builds on; [] if none")

    @property
    def text(self) -> str:
        """Title, problem and mechanism as one text, which similarity is measured on."""
        return f"{self.title}. {self.problem} {self.mechanism}"


class Seeds(Answer):
    """Several seed ideas."""

    seeds: tuple[Seed, ...] = Field(description="the ideas, each different from all others")


def _write_seeds(engine: ExtractiveModel, inputs: SeedInputs) -> Seeds:
    seeds = _from_papers(engine, inputs) if inputs.papers else _from_topic(inputs)
    known = {_key(title) for title in inputs.earlier}
    new = [seed for seed in seeds if _key(seed.title) not in known]
    chosen = new or [_without_literature(inputs.topic, len(inputs.earlier))]
    return Seeds(seeds=tuple(chosen[: inputs.count]))


def _from_papers(engine: ExtractiveModel, inputs: SeedInputs) -> list[Seed]:
    """Return the pairs of limitation and mechanism that fit, best first, then other pairs of near papers."""
    papers = facts_of_abstracts(engine, inputs.papers)
    seeds: dict[str, Seed] = {}
    fits = find_fits(engine, inputs.topic, papers, range(len(papers)))
    for fit in [*fits, *_near_pairs(engine, papers)]:
        lead = write_lead(fit, papers[fit.weak], papers[fit.strong], "")
        seed = Seed(
            title=lead.title,
            problem=lead.motivation,
            mechanism=lead.method,
            test=lead.test,
            papers=(fit.weak, fit.strong),
        )
        seeds.setdefault(_key(lead.title), seed)
    return list(seeds.values())


def _near_pairs(engine: ExtractiveModel, papers: Sequence[PaperFacts]) -> list[Fit]:
    """Return each limitation with the most similar method of another paper, most similar first."""
    pairs = []
    for weak, paper in enumerate(papers):
        others = [place for place in range(len(papers)) if place != weak and papers[place].method]
        if paper.limitation and others:
            near = engine.rank(paper.limitation, [papers[place].method or "" for place in others])
            pairs.append(measure_pair(engine, papers, weak, others[near[0][0]]))
    return sorted(pairs, key=lambda pair: -pair.to_method)


def _from_topic(inputs: SeedInputs) -> list[Seed]:
    """Return plans that vary words of the topic; there is no text to extract from."""
    phrases = [phrase for phrase in texts.phrases(inputs.topic) if not texts.is_generic(phrase)]
    topic = texts.without_stop(texts.clip(inputs.topic, 40))
    seeds = [
        Seed(
            title=texts.title_case(f"Varying {first} and {last} independently"),
            problem=f"No papers were shown. For the topic “{topic}”, it is open which part matters.",
            mechanism=f"Keep everything fixed but {first}; then everything but {last}; then vary both.",
            test=f"Compare the three variants with the simplest system for: {topic}.",
            papers=(),
        )
        for first, last in combinations(phrases, 2)
    ]
    return [*seeds, _without_literature(inputs.topic, 0)]


def _without_literature(topic: str, number: int) -> Seed:
    short = texts.without_stop(texts.clip(topic, 20))
    also = f", Variant {number}" if number else ""
    return Seed(
        title=texts.title_case(f"A minimal system for {texts.clip(short, 10)}{also}"),
        problem=f"No papers were shown. For the topic “{short}”, the simplest system is not known.",
        mechanism="Build the smallest system that does the task, and remove one component at a time.",
        test=f"Compare each reduced system with the complete one on the task: {short}.",
        papers=(),
    )


def _key(title: str) -> str:
    return "".join(letter for letter in title.casefold() if letter.isalnum())


def _check_seeds(inputs: SeedInputs, answer: Seeds) -> str | None:
    if not 1 <= len(answer.seeds) <= inputs.count:
        return f"expected {inputs.count} seeds, got {len(answer.seeds)}"
    known = {_key(title) for title in inputs.earlier}
    for seed in answer.seeds:
        if _key(seed.title) in known:
            return f"the seed “{seed.title}” has the title of another one; propose something else"
        known.add(_key(seed.title))
        if seed.papers and not inputs.papers:
            return "papers must be empty, since no papers were shown"
        if wrong := check_paper_numbers("papers", seed.papers, [paper.title for paper in inputs.papers]):
            return wrong
    return None


SEED_IDEATOR = Role(
    name="seed_ideator",
    group="main",
    inputs=SeedInputs,
    answer=Seeds,
    offline=_write_seeds,
    check=_check_seeds,
    prompts=PROMPTS,
)
