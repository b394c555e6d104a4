"""The primitives of the offline model: no language model, but an extractive engine.

Sentence embeddings rank and contrast, facet prototypes pick sentences, maximal marginal relevance
(Carbonell and Goldstein 1998) keeps a selection diverse. Roles say in a few lines of recipe which
primitive fills which field; the engine knows no role by name. Same inputs, same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ideagora.models.offline import text as texts
from ideagora.models.offline.word_lists import CUES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ideagora.models.embeddings.embedder import Embedder

PROTOTYPES: dict[str, tuple[str, ...]] = {
    "problem": (
        "Earlier approaches could not handle this and needed too much manual work.",
        "It was unclear how to do this, and existing systems struggled with it.",
    ),
    "method": (
        "The approach works by first doing one step and then feeding its output to another module.",
        "The system trains a model with an objective and adds a component that controls generation.",
    ),
    "finding": (
        "Accuracy improved over strong baselines on several benchmarks.",
        "Experiments showed large gains compared with the previous best system.",
    ),
    "limitation": (
        "The approach remains costly and fails when its assumptions do not hold.",
        "It is still open whether the results carry over to other settings.",
    ),
    "experiment": (
        "The system was evaluated on benchmark data sets against baselines.",
        "Tests measured accuracy on held-out tasks and compared ablated versions.",
    ),
}
PLACE = {"problem": 0.0, "method": 0.35, "finding": 0.75, "limitation": 1.0, "experiment": 0.7}
"""Where in an abstract a facet is usually found (0: first sentence, 1: last)."""

ABSTRACT_SENTENCES = 12
"""Texts longer than this have no such order, so the place counts for nothing there."""


@dataclass(frozen=True)
class Contrast:
    """What a later text has that an earlier one lacks, the reverse, and what both have (phrases)."""

    entered: tuple[str, ...]
    left: tuple[str, ...]
    kept: tuple[str, ...]


class ExtractiveModel:
    """Primitives over one embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def embedder_name(self) -> str:
        """What the vectors go by: constants hold for the embedder that they were chosen with."""
        return self._embedder.name

    def vectors(self, items: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (n, dimension)."""
        return self._embedder.encode(list(items))

    def similarity(self, one: str, others: Sequence[str]) -> list[float]:
        """Cosine of one text to each of the others (-1 to 1, four decimals)."""
        if not others:
            return []
        matrix = self.vectors([one, *others])
        return [round(float(value), 4) for value in matrix[1:] @ matrix[0]]

    def rank(self, query: str, items: Sequence[str]) -> list[tuple[int, float]]:
        """(index, similarity), best first; equals keep their order."""
        scores = self.similarity(query, items)
        return sorted(enumerate(scores), key=lambda pair: (-pair[1], pair[0]))

    def best_sentence(self, query: str, text: str) -> tuple[str, float]:
        """The sentence of the text nearest to the query, with its cosine; ('', 0.0) for no text."""
        parts = texts.sentences(text)
        if not parts:
            return "", 0.0
        index, score = self.rank(query, parts)[0]
        return parts[index], score

    def facets(self, text: str, wanted: Sequence[str]) -> dict[str, str | None]:
        """A sentence for each facet (see ``PROTOTYPES``), no sentence twice; ``None``: too few sentences.

        A sentence's score for a facet joins its cosine to the prototypes, cue words, and its place;
        the assignment with the highest sum wins (SciPy's linear sum assignment). In an abstract the
        sentence after the method's belongs to the method too when no facet claims it.
        """
        from scipy.optimize import linear_sum_assignment

        parts = texts.sentences(text)
        if not parts:
            return dict.fromkeys(wanted)
        scores = [[self._facet_score(parts, i, facet) for i in range(len(parts))] for facet in wanted]
        rows, columns = linear_sum_assignment(scores, maximize=True)
        place = {wanted[int(row)]: int(column) for row, column in zip(rows, columns, strict=True)}
        found = {facet: parts[place[facet]] if facet in place else None for facet in wanted}
        after = place.get("method", len(parts)) + 1
        if len(parts) <= ABSTRACT_SENTENCES and after < len(parts) - 1 and after not in place.values():
            found["method"] = f"{found['method']} {parts[after]}"
        return found

    def _facet_score(self, parts: list[str], index: int, facet: str) -> float:
        near = max(self.similarity(parts[index], PROTOTYPES[facet]))
        cues = len(CUES[facet] & set(texts.words(parts[index])))
        place = index / max(1, len(parts) - 1)
        nearness = 0.0 if len(parts) > ABSTRACT_SENTENCES else 1.0 - abs(place - PLACE[facet])
        return round(near + 0.1 * min(cues, 3) + 0.5 * nearness, 4)

    def select(self, query: str, items: Sequence[str], count: int, diversity: float = 0.4) -> list[int]:
        """Indices by maximal marginal relevance: near to the query, far from one another."""
        if not items:
            return []
        matrix = self.vectors([query, *items])
        relevance, among = matrix[1:] @ matrix[0], matrix[1:] @ matrix[1:].T
        chosen: list[int] = []
        while len(chosen) < min(count, len(items)):
            left = [i for i in range(len(items)) if i not in chosen]
            gain = {
                i: (1 - diversity) * float(relevance[i])
                - diversity * max((float(among[i][j]) for j in chosen), default=0.0)
                for i in left
            }
            chosen.append(max(left, key=lambda i: (round(gain[i], 4), -i)))
        return chosen

    def key_phrases(
        self, text: str, count: int, avoid: Sequence[str] = (), about: str | None = None
    ) -> list[str]:
        """Phrases that stand best for the text (or are nearest to ``about``), best first, diverse.

        Left out are generic ones ("language model") and those that name what is to be avoided. Phrases
        of several words come before words with a hyphen; single words do not count.
        """
        shunned = [word.lower() for word in avoid]
        candidates = [
            phrase
            for phrase in texts.phrases(text)
            if not texts.is_generic(phrase) and not any(_shares(word, phrase.lower()) for word in shunned)
        ]
        several = [phrase for phrase in candidates if " " in phrase]
        pool = several or [phrase for phrase in candidates if "-" in phrase]
        return [pool[i] for i in self.select(about or text, pool, count, diversity=0.3)]

    def nearest_clauses(self, one: str, other: str) -> tuple[str, str]:
        """The clause of one text and the clause of the other that are nearest to each other."""
        left, right = texts.clauses(one), texts.clauses(other)
        among = self.vectors(left) @ self.vectors(right).T
        pairs = ((round(float(among[i, j]), 4), -i, -j) for i in range(len(left)) for j in range(len(right)))
        _, i, j = max(pairs)
        return left[-i], right[-j]

    def contrast(self, earlier: str, later: str, count: int = 3, near: float = 0.55) -> Contrast:
        """Phrases that entered, left and stayed between two texts.

        A phrase stays when the other text has one at a cosine of at least ``near``.
        """
        before, after = texts.phrases(earlier), texts.phrases(later)
        if not before or not after:
            return Contrast(tuple(after[:count]), tuple(before[:count]), ())
        both = self.vectors(before) @ self.vectors(after).T
        entered = [p for j, p in enumerate(after) if float(both[:, j].max()) < near]
        left = [p for i, p in enumerate(before) if float(both[i].max()) < near]
        kept = [p for j, p in enumerate(after) if float(both[:, j].max()) >= near]
        return Contrast(
            self._leading(later, entered, count),
            self._leading(earlier, left, count),
            self._leading(later, kept, count),
        )

    def _leading(self, text: str, pool: list[str], count: int) -> tuple[str, ...]:
        telling = [p for p in pool if not texts.is_generic(p)]
        several = [p for p in telling if " " in p or "-" in p] or telling
        return tuple(several[i] for i in self.select(text, several, count, diversity=0.3))


def _shares(name: str, phrase: str) -> bool:
    return name in phrase or phrase in name
