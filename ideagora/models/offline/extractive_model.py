"""The operations of the offline model, which is extractive and not a language model.

Sentence embeddings rank and compare texts, facet prototypes select sentences, and maximal marginal
relevance (Carbonell and Goldstein 1998) diversifies selections. Offline handlers of roles combine these
operations; the model knows no role by name. Deterministic.
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
TYPICAL_POSITION = {"problem": 0.0, "method": 0.35, "finding": 0.75, "limitation": 1.0, "experiment": 0.7}
"""Where an abstract usually states a facet (0: first sentence, 1: last)."""

MAX_ABSTRACT_SENTENCES = 12
"""Positions are ignored in longer texts, which do not have this order."""


@dataclass(frozen=True)
class Contrast:
    """Phrases that only the later of two texts has, that only the earlier one has, and that both have."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    shared: tuple[str, ...]


class ExtractiveModel:
    """Extractive operations on the vectors of one embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def embedder_name(self) -> str:
        """Name of the embedder; constants are calibrated for one embedder."""
        return self._embedder.name

    def vectors(self, items: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (n, dimension)."""
        return self._embedder.encode(list(items))

    def similarity(self, text: str, others: Sequence[str]) -> list[float]:
        """Cosine of a text with each of the others (-1 to 1, four decimals)."""
        if not others:
            return []
        matrix = self.vectors([text, *others])
        return [round(float(value), 4) for value in matrix[1:] @ matrix[0]]

    def rank(self, query: str, items: Sequence[str]) -> list[tuple[int, float]]:
        """(index, similarity) of each item, best first; ties keep their order."""
        scores = self.similarity(query, items)
        return sorted(enumerate(scores), key=lambda pair: (-pair[1], pair[0]))

    def best_sentence(self, query: str, text: str) -> tuple[str, float]:
        """The sentence of a text most similar to the query, with its cosine; ('', 0.0) for an empty text."""
        parts = texts.sentences(text)
        if not parts:
            return "", 0.0
        index, score = self.rank(query, parts)[0]
        return parts[index], score

    def facets(self, text: str, names: Sequence[str]) -> dict[str, str | None]:
        """A different sentence for each facet (see ``PROTOTYPES``); ``None``: too few sentences.

        The score of a sentence for a facet combines its cosine with the prototypes, cue words and its
        position. The assignment with the highest total is chosen. In an abstract, the sentence after the
        method's is added to the method if no other facet has it.
        """
        from scipy.optimize import linear_sum_assignment

        parts = texts.sentences(text)
        if not parts:
            return dict.fromkeys(names)
        scores = [[self._facet_score(parts, i, facet) for i in range(len(parts))] for facet in names]
        rows, columns = linear_sum_assignment(scores, maximize=True)
        position = {names[int(row)]: int(column) for row, column in zip(rows, columns, strict=True)}
        facets = {facet: parts[position[facet]] if facet in position else None for facet in names}
        after = position.get("method", len(parts)) + 1
        if len(parts) <= MAX_ABSTRACT_SENTENCES and after < len(parts) - 1 and after not in position.values():
            facets["method"] = f"{facets['method']} {parts[after]}"
        return facets

    def _facet_score(self, parts: list[str], index: int, facet: str) -> float:
        similarity = max(self.similarity(parts[index], PROTOTYPES[facet]))
        cues = len(CUES[facet] & set(texts.words(parts[index])))
        position = index / max(1, len(parts) - 1)
        proximity = (
            0.0 if len(parts) > MAX_ABSTRACT_SENTENCES else 1.0 - abs(position - TYPICAL_POSITION[facet])
        )
        return round(similarity + 0.1 * min(cues, 3) + 0.5 * proximity, 4)

    def select(self, query: str, items: Sequence[str], count: int, diversity: float = 0.4) -> list[int]:
        """Indices of items by maximal marginal relevance: similar to the query, dissimilar to each other."""
        if not items:
            return []
        matrix = self.vectors([query, *items])
        relevance, among = matrix[1:] @ matrix[0], matrix[1:] @ matrix[1:].T
        chosen: list[int] = []
        while len(chosen) < min(count, len(items)):
            remaining = [i for i in range(len(items)) if i not in chosen]
            gain = {
                i: (1 - diversity) * float(relevance[i])
                - diversity * max((float(among[i][j]) for j in chosen), default=0.0)
                for i in remaining
            }
            chosen.append(max(remaining, key=lambda i: (round(gain[i], 4), -i)))
        return chosen

    def key_phrases(
        self, text: str, count: int, avoid: Sequence[str] = (), about: str | None = None
    ) -> list[str]:
        """Diverse phrases most similar to the text (or to ``about``), best first.

        Excludes generic phrases ("language model") and phrases that contain a word of ``avoid`` or are part
        of one. Hyphenated words are used only if there are no phrases of several words.
        """
        avoided = [word.lower() for word in avoid]
        candidates = [
            phrase
            for phrase in texts.phrases(text)
            if not texts.is_generic(phrase) and not any(_overlaps(word, phrase.lower()) for word in avoided)
        ]
        several = [phrase for phrase in candidates if " " in phrase]
        pool = several or [phrase for phrase in candidates if "-" in phrase]
        return [pool[i] for i in self.select(about or text, pool, count, diversity=0.3)]

    def nearest_clauses(self, first: str, second: str) -> tuple[str, str]:
        """The most similar pair of clauses of two texts."""
        left, right = texts.clauses(first), texts.clauses(second)
        among = self.vectors(left) @ self.vectors(right).T
        pairs = ((round(float(among[i, j]), 4), -i, -j) for i in range(len(left)) for j in range(len(right)))
        _, i, j = max(pairs)
        return left[-i], right[-j]

    def contrast(self, earlier: str, later: str, count: int = 3, threshold: float = 0.55) -> Contrast:
        """Phrases added, removed and shared between two texts.

        A phrase is shared if the other text has one with a cosine of at least ``threshold``.
        """
        before, after = texts.phrases(earlier), texts.phrases(later)
        if not before or not after:
            return Contrast(tuple(after[:count]), tuple(before[:count]), ())
        both = self.vectors(before) @ self.vectors(after).T
        added = [p for j, p in enumerate(after) if float(both[:, j].max()) < threshold]
        removed = [p for i, p in enumerate(before) if float(both[i].max()) < threshold]
        shared = [p for j, p in enumerate(after) if float(both[:, j].max()) >= threshold]
        return Contrast(
            self._top_phrases(later, added, count),
            self._top_phrases(earlier, removed, count),
            self._top_phrases(later, shared, count),
        )

    def _top_phrases(self, text: str, pool: list[str], count: int) -> tuple[str, ...]:
        specific = [p for p in pool if not texts.is_generic(p)]
        several = [p for p in specific if " " in p or "-" in p] or specific
        return tuple(several[i] for i in self.select(text, several, count, diversity=0.3))


def _overlaps(name: str, phrase: str) -> bool:
    return name in phrase or phrase in name
