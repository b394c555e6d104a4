"""Whether papers are about a topic, and whether a set of papers covers it: the offline model's measures.

All constants were chosen on the calibration topics in ``bench/topic_lists``; docs/offline.md has the figures
of the test topics, and ``python -m bench calibrate_offline`` counts both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ideagora.models.embeddings.weights import minilm_name
from ideagora.models.offline.extractive_model import ExtractiveModel
from ideagora.models.offline.research_fields import OTHER_FIELDS
from ideagora.models.offline.word_lists import FUNCTION_WORDS, GENERIC_WORDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEAREST = 5
"""Papers by which coverage is measured: those nearest to the topic."""

COVERAGE_THRESHOLD = 0.05
"""Score (``Coverage.score``) from which papers cover a topic."""

SAID_BY_ONE = (0.55, 0.75)
"""Cosine, and share of words in the title, from which a single paper is enough to cover a topic."""

COVERAGE_WORDS_WEIGHT = 0.25
"""What the topic's words count beside the cosines in ``Coverage.score``."""

WORDS_WEIGHT = 0.2
"""What the share of the topic's words counts beside the cosine."""

CENTRE_WEIGHT = 0.5
"""What the cosine to the paper in the centre counts beside the nearness to the topic."""

ON_TOPIC_SHARE = 0.7
"""Share of the best candidate's score from which a search result is about the topic."""

CITED_ON_TOPIC_SHARE = 0.55
"""The same for a paper that cites one of the chain, or is cited by it, against that one's score."""

GENERIC_WEIGHT = 0.3
"""What a generic word of a topic ("model") counts beside any other."""

_ENDINGS = ("ations", "ation", "ings", "ing", "ions", "ion", "ies", "ed", "es", "s", "e", "y")


@dataclass(frozen=True)
class Coverage:
    """How well papers cover a topic.

    ``near``: mean over the three best of the nearest papers of the cosine (-1 to 1) of their nearest
    sentence; ``elsewhere``: mean cosine to the three nearest names of other fields; ``shared``: mean share
    of the topic's words that each of the nearest papers has (0 to 1); ``missing``: share that none of them
    has; ``single``: the title of one paper near to the topic says it; ``calibrated``: the cosines are of the
    embedder that the constants were chosen with.
    """

    near: float
    elsewhere: float
    shared: float
    missing: float
    single: bool
    calibrated: bool = True

    @property
    def score(self) -> float:
        """How much nearer the topic is to the papers than to other fields; weights by logistic regression."""
        words = self.shared - self.missing
        return round(self.near - self.elsewhere + COVERAGE_WORDS_WEIGHT * words, 4)

    @property
    def is_enough(self) -> bool:
        """Whether the topic is covered; with another embedder, whether any of its words is at hand."""
        if not self.calibrated:
            return self.missing < 1.0
        return self.single or self.score >= COVERAGE_THRESHOLD


def coverage(engine: ExtractiveModel, topic: str, papers: Sequence[str]) -> Coverage:
    """How well papers (each "title. abstract") cover a topic."""
    nearest = [papers[number] for number, _ in engine.rank(topic, papers)[:NEAREST]]
    sentences = [engine.best_sentence(topic, _without_title(paper))[1] for paper in nearest]
    shares = [shared_words(topic, paper) for paper in nearest]
    cosines = engine.similarity(topic, nearest)
    fields = sorted(engine.similarity(topic, OTHER_FIELDS), reverse=True)
    single = any(
        max(cosine, sentence) >= SAID_BY_ONE[0] and shared_words(topic, _title(paper)) >= SAID_BY_ONE[1]
        for cosine, sentence, paper in zip(cosines, sentences, nearest, strict=True)
    )
    return Coverage(
        near=_mean(sorted(sentences, reverse=True)[:3]),
        elsewhere=_mean(fields[:3]),
        shared=_mean(shares),
        missing=round(1.0 - _share_of_words(topic, nearest), 4),
        single=single,
        calibrated=engine.embedder_name == minilm_name(),
    )


def topic_scores(
    engine: ExtractiveModel, topic: str, papers: Sequence[str], centre: str | None = None
) -> list[float]:
    """How much each paper is about a topic, as a share of the score of the paper in the centre.

    A paper's score is its nearness to the topic (cosine and shared words) and to the paper in the centre,
    which is a paper that is known to be about the topic, or the nearest one.
    """
    import numpy as np

    if not papers:
        return []
    listed = list(papers) if centre is None else [*papers, centre]
    matrix = engine.vectors([topic, *listed])
    near = _nearness(topic, listed, matrix)
    middle = int(np.argmax(np.round(near, 4))) if centre is None else len(papers)
    scores = near + CENTRE_WEIGHT * (matrix[1:] @ matrix[1 + middle])
    highest = max(float(scores[middle]), 1e-6)
    return [round(float(score) / highest, 4) for score in scores[: len(papers)]]


def _nearness(topic: str, papers: Sequence[str], matrix: NDArray[np.float32]) -> NDArray[np.float64]:
    import numpy as np

    shares = np.array([shared_words(topic, paper) for paper in papers])
    cosines = np.asarray(matrix[1:] @ matrix[0], dtype=np.float64)
    return cosines + WORDS_WEIGHT * shares


def shared_words(topic: str, paper: str) -> float:
    """Share of the topic's words that a paper has, by their stems; generic words count less, 0 to 1.

    An abbreviation counts as there when words of the paper's title have its initials.
    """
    return _share_of_words(topic, [paper])


def _share_of_words(topic: str, papers: Sequence[str]) -> float:
    """Share of the topic's words that at least one of the papers has."""
    weights = _topic_words(topic)
    there = frozenset[str]().union(*map(_stems, papers))
    initials = frozenset[str]().union(*(_initials(_title(paper)) for paper in papers))
    found = sum(
        weight
        for word, weight in weights
        if stem(word) in there or (word.isupper() and word.lower() in initials)
    )
    return found / sum(weight for _, weight in weights) if weights else 0.0


@lru_cache(maxsize=500)
def _topic_words(topic: str) -> tuple[tuple[str, float], ...]:
    """The words that say something, each stem once, with their weights; all words when none does."""
    parts = _parts(topic)
    telling = [part for part in parts if part.lower() not in FUNCTION_WORDS and len(part) > 1] or parts
    once = {stem(part): part for part in reversed(telling)}
    return tuple((word, GENERIC_WEIGHT if word.lower() in GENERIC_WORDS else 1.0) for word in once.values())


@lru_cache(maxsize=5_000)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(part) for part in _parts(text))


@lru_cache(maxsize=5_000)
def _initials(title: str) -> frozenset[str]:
    """Initials of every run of three to five words, with and without function words."""
    every = [part.lower() for part in _parts(title)]
    told = [word for word in every if word not in FUNCTION_WORDS]
    rows = ["".join(word[0] for word in words) for words in (every, told)]
    return frozenset(
        row[place : place + n] for row in rows for n in (3, 4, 5) for place in range(len(row) - n + 1)
    )


def _parts(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)


def stem(word: str) -> str:
    """A word without its usual ending: crude, and enough to tell that two words have one root."""
    lower = word.lower()
    for ending in _ENDINGS:
        if lower.endswith(ending) and len(lower) - len(ending) >= 3:
            return lower[: -len(ending)]
    return lower


def _title(paper: str) -> str:
    return paper.split(". ", 1)[0]


def _without_title(paper: str) -> str:
    return paper.split(". ", 1)[1] if ". " in paper else paper


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0
