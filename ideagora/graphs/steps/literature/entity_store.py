"""An entity store: which names and terms occur together in the papers of a library.

Source: ResearchAgent (arXiv 2404.07738), section 3.2: entities from beyond a set of papers are ranked by
their probability given the entities of the set, from co-occurrences, with the entities taken as independent.
The paper links entities with a trained model; here they are names and noun phrases of titles and abstracts.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ideagora.models.offline import text as texts
from ideagora.schema import Entity, Paper

SMOOTHING = 0.1
"""Added to every co-occurrence count."""
MIN_PAPERS = 2
"""Papers of the store that an entity must occur in: a concept that only one paper has connects nothing."""


@dataclass(frozen=True)
class FoundEntity:
    """An entity and the paper that presents it."""

    entity: Entity
    paper: Paper


@dataclass(frozen=True)
class EntityStore:
    """The entities of a library by their lower-case names."""

    by_paper: tuple[frozenset[str], ...]
    """The entities of each paper."""
    described: dict[str, FoundEntity]
    """Each entity as the first paper that has it presents it."""

    def related(self, papers: Iterable[Paper], count: int) -> list[FoundEntity]:
        """The entities most probable given those of some papers, whose texts do not have them; best first."""
        papers = list(papers)
        shown = frozenset[str]().union(*(texts.words(_text(paper)) for paper in papers))
        known = frozenset[str]().union(*(entities_of(paper) for paper in papers))
        occurrences = Counter(name for entities in self.by_paper for name in entities)
        together: dict[str, Counter[str]] = defaultdict(Counter)
        for entities in self.by_paper:
            shared = entities & known
            for name in entities - known:
                if shown.issuperset(texts.words(name)):  # a part of a known term
                    continue
                together[name].update(shared)
        scores = {
            name: _log_probability(occurrences[name], counts, len(known))
            for name, counts in together.items()
            if counts and occurrences[name] >= MIN_PAPERS
        }
        ranked = sorted(scores, key=lambda name: (-scores[name], name))
        return [self.described[name] for name in ranked[:count]]


def _log_probability(occurrences: int, together: Counter[str], known: int) -> float:
    """The logarithm of P(entity) times the product of P(known entity | entity), up to a constant."""
    total = occurrences + SMOOTHING * known
    seen = sum(math.log((count + SMOOTHING) / total) for count in together.values())
    return math.log(occurrences) + seen + (known - len(together)) * math.log(SMOOTHING / total)


def build_entity_store(papers: Sequence[Paper]) -> EntityStore:
    """The store of a library's papers."""
    described: dict[str, FoundEntity] = {}
    by_paper = []
    for paper in papers:
        entities = entities_of(paper)
        by_paper.append(frozenset(entities))
        for name, entity in entities.items():
            described.setdefault(name, FoundEntity(entity, paper))
    return EntityStore(tuple(by_paper), described)


def entities_of(paper: Paper) -> dict[str, Entity]:
    """Names and terms of a paper by their lower-case form; the abstract presents them before the title."""
    text = _text(paper)
    found = {
        name.name.lower(): Entity(name=name.name, description=name.sentence, kind=name.kind)
        for name in texts.names(text)
    }
    for sentence in texts.sentences(text):
        for phrase in texts.phrases(sentence):
            if " " in phrase and not texts.is_generic(phrase):
                term = Entity(name=phrase, description=sentence, kind="technique")
                found.setdefault(phrase.lower(), term)
    return found


def _text(paper: Paper) -> str:
    return f"{paper.abstract or ''} {paper.title}."
