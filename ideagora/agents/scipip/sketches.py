"""Entities of a topic, and short ideas on two paths: from literature, and from brainstorming.

Source: Wang et al. (arXiv 2410.23166), the sections on retrieval and on the dual-path proposal of ideas.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from pydantic import Field

from ideagora.agents.offline_leads.facts import facts_of_abstracts
from ideagora.agents.offline_leads.fits import find_fits, measure_pair
from ideagora.agents.offline_leads.leads import write_lead
from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief, check_paper_numbers
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

PROMPTS = Path(__file__).parent / "prompts"
MAX_ENTITIES = 6


class EntityInputs(Inputs):
    """The topic to take entities from."""

    topic: str


class TopicEntities(Answer):
    """Entities by which papers are found."""

    entities: tuple[str, ...] = Field(description="terms of 1 to 4 words, the most specific first")


def _extract_entities(engine: ExtractiveModel, inputs: EntityInputs) -> TopicEntities:
    phrases = texts.phrases(inputs.topic)
    specific = [phrase for phrase in phrases if not texts.is_generic(phrase)]
    return TopicEntities(entities=tuple(specific or phrases or [texts.clip(inputs.topic, 4)])[:MAX_ENTITIES])


def _check_entities(inputs: EntityInputs, answer: TopicEntities) -> str | None:
    return (
        None if any(entity.strip() for entity in answer.entities) else "entities is empty: name at least one"
    )


ENTITY_EXTRACTOR = Role(
    name="entity_extractor",
    group="reader",
    inputs=EntityInputs,
    answer=TopicEntities,
    offline=_extract_entities,
    temperature=0.0,
    check=_check_entities,
    prompts=PROMPTS,
)


class SketchView(Inputs):
    """A short idea as other roles see it."""

    title: str
    problem: str
    approach: str


class BrainstormInputs(Inputs):
    """The topic and the number of ideas wanted."""

    topic: str
    count: int


class Sketch(Answer):
    """A short idea."""

    title: str = Field(description="a specific title of at most 15 words")
    problem: str = Field(description="1 or 2 sentences: what is to be solved, and why it is hard")
    approach: str = Field(description="2 to 4 sentences: what is done, and why it should work")


class Sketches(Answer):
    """Several short ideas."""

    ideas: tuple[Sketch, ...] = Field(description="the ideas, each different from the others")


def _brainstorm(engine: ExtractiveModel, inputs: BrainstormInputs) -> Sketches:
    """Return plans made of the topic's words; the offline model knows nothing beyond them."""
    phrases = texts.phrases(inputs.topic)
    pairs = [*combinations(phrases, 2)] or [(texts.clip(inputs.topic, 6), "everything else")]
    topic = texts.without_stop(texts.clip(inputs.topic, 40))
    return Sketches(
        ideas=tuple(
            Sketch(
                title=texts.title_case(f"Separating {first} from {second}"),
                problem=f"For the topic “{topic}”, it is open which part causes what.",
                approach=f"Vary {first} with {second} fixed, then {second} with {first} fixed.",
            )
            for first, second in pairs[: inputs.count]
        )
    )


def distinct_titles(titles: Sequence[str], count: int) -> str | None:
    """Return an error if there are no ideas, more than ``count``, or two with one title, else None."""
    if not 1 <= len(titles) <= count:
        return f"expected {count} ideas, got {len(titles)}"
    keys = ["".join(letter for letter in title.casefold() if letter.isalnum()) for title in titles]
    twice = [title for title, key in zip(titles, keys, strict=True) if keys.count(key) > 1]
    return f"“{twice[0]}” is the title of two ideas; propose different ones" if twice else None


BRAINSTORMER = Role(
    name="brainstormer",
    group="main",
    inputs=BrainstormInputs,
    answer=Sketches,
    offline=_brainstorm,
    check=lambda inputs, answer: distinct_titles([idea.title for idea in answer.ideas], inputs.count),
    prompts=PROMPTS,
)


class LiteratureInputs(Inputs):
    """The topic, one paper of each cluster, and the number of ideas wanted."""

    topic: str
    papers: tuple[PaperBrief, ...]
    count: int


class LiteratureSketch(Sketch):
    """A short idea from papers."""

    papers: tuple[int, ...] = Field(description="numbers of the papers that it takes something from")


class LiteratureSketches(Answer):
    """Short ideas from papers."""

    ideas: tuple[LiteratureSketch, ...] = Field(description="the ideas, each different from the others")


def _from_literature(engine: ExtractiveModel, inputs: LiteratureInputs) -> LiteratureSketches:
    """Return pairs of a limitation and a method of another paper, first those that fit."""
    papers = facts_of_abstracts(engine, inputs.papers)
    places = range(len(papers))
    fits = find_fits(engine, inputs.topic, papers, places)
    fits += [measure_pair(engine, papers, weak, (weak + 1) % len(papers)) for weak in places]
    ideas: dict[str, LiteratureSketch] = {}
    for fit in fits:
        lead = write_lead(fit, papers[fit.weak], papers[fit.strong], "")
        idea = LiteratureSketch(
            title=lead.title,
            problem=lead.motivation,
            approach=lead.method,
            papers=tuple(sorted({fit.weak, fit.strong})),
        )
        ideas.setdefault(lead.title.casefold(), idea)
    return LiteratureSketches(ideas=tuple(ideas.values())[: inputs.count])


def _check_literature(inputs: LiteratureInputs, answer: LiteratureSketches) -> str | None:
    titles = [paper.title for paper in inputs.papers]
    for idea in answer.ideas:
        if not idea.papers:
            return f"papers of “{idea.title}” is empty: name the papers that it takes something from"
        if wrong := check_paper_numbers("papers", idea.papers, titles):
            return wrong
    return distinct_titles([idea.title for idea in answer.ideas], inputs.count)


LITERATURE_IDEATOR = Role(
    name="literature_ideator",
    group="main",
    inputs=LiteratureInputs,
    answer=LiteratureSketches,
    offline=_from_literature,
    check=_check_literature,
    prompts=PROMPTS,
)
