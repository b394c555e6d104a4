"""The offline model's measures of relevance: papers to a topic, and coverage of a topic by papers.

All constants were chosen on the calibration topics in ``bench/topic_lists``. docs/offline.md has the figures
of the test topics; ``python -m bench calibrate_offline`` computes both.
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
"""How many papers coverage is computed from: those nearest to the topic."""

COVERAGE_THRESHOLD = 0.03
"""Minimum ``Coverage.score`` of a covered topic."""

SINGLE_PAPER = (0.55, 0.75)
"""Minimum cosine and share of the topic's words in the title for one paper to cover a topic."""

COVERAGE_WORDS_WEIGHT = 0.25
"""Weight of the topic's words, relative to the cosines, in ``Coverage.score``."""

WORDS_WEIGHT = 0.2
"""Weight of the share of the topic's words, relative to the cosine."""

REFERENCE_WEIGHT = 0.5
"""Weight of the cosine with the reference paper, relative to the similarity to the topic."""

ON_TOPIC_SHARE = 0.65
"""Minimum share of the best candidate's score for a search result that is on topic."""

CITED_ON_TOPIC_SHARE = 0.55
"""The same for a paper that cites a paper of the chain or is cited by it, relative to that paper's score."""

GENERIC_WEIGHT = 0.3
"""Weight of a generic word of a topic ("model"), relative to other words."""

_ENDINGS = sorted(
    """ications ication izations isations ization isation ized ised izing ising izes ises ize ise
    ations ation ators ator ated ates ating ate ative abilities ability alities ality ities ity ables
    able ational ically ical ics ic als al ings ing ers er ors or ions ion ies ier iers ied ying ed es s
    e y ness ives ive ously ous ly""".split(),
    key=len,
    reverse=True,
)
MIN_STEM = 4
"""Minimum letters of a stem."""


@dataclass(frozen=True)
class Coverage:
    """How well papers cover a topic."""

    similarity: float
    """Mean cosine (-1 to 1) of the three nearest papers: of each as a whole and of its nearest sentence."""
    other_fields: float
    """Mean cosine with the three nearest names of other fields."""
    shared_words: float
    """Mean share of the topic's words in each of the nearest papers (0 to 1)."""
    missing_words: float
    """Share of the topic's words in none of them."""
    by_single_paper: bool
    """Whether the title of one similar paper has the topic's words."""
    is_calibrated: bool = True
    """Whether the constants were chosen with this embedder."""

    @property
    def score(self) -> float:
        """How much closer the topic is to the papers than to other fields; weights by logistic regression."""
        words = self.shared_words - self.missing_words
        return round(self.similarity - self.other_fields + COVERAGE_WORDS_WEIGHT * words, 4)

    @property
    def is_enough(self) -> bool:
        """Whether the topic is covered; with another embedder, whether any of its words occurs."""
        if not self.is_calibrated:
            return self.missing_words < 1.0
        return self.by_single_paper or self.score >= COVERAGE_THRESHOLD


def coverage(engine: ExtractiveModel, topic: str, papers: Sequence[str]) -> Coverage:
    """How well papers (each "title. abstract") cover a topic."""
    nearest = [papers[number] for number, _ in engine.rank(topic, papers)[:NEAREST]]
    sentences = [engine.best_sentence(topic, _without_title(paper))[1] for paper in nearest]
    shares = [shared_words(topic, paper) for paper in nearest]
    cosines = engine.similarity(topic, nearest)
    fields = sorted(engine.similarity(topic, OTHER_FIELDS), reverse=True)
    by_single_paper = any(
        max(cosine, sentence) >= SINGLE_PAPER[0] and shared_words(topic, _title(paper)) >= SINGLE_PAPER[1]
        for cosine, sentence, paper in zip(cosines, sentences, nearest, strict=True)
    )
    return Coverage(
        similarity=_mean([*sorted(sentences, reverse=True)[:3], *sorted(cosines, reverse=True)[:3]]),
        other_fields=_mean(fields[:3]),
        shared_words=_mean(shares),
        missing_words=round(1.0 - _share_of_words(topic, nearest), 4),
        by_single_paper=by_single_paper,
        is_calibrated=engine.embedder_name == minilm_name(),
    )


def topic_scores(
    engine: ExtractiveModel, topic: str, papers: Sequence[str], reference: str | None = None
) -> list[float]:
    """How much each paper is about a topic, as a share of the reference paper's score.

    The score of a paper combines its similarity to the topic (cosine and shared words) and to the reference,
    a paper known to be about the topic; by default the most similar one.
    """
    import numpy as np

    if not papers:
        return []
    candidates = list(papers) if reference is None else [*papers, reference]
    matrix = engine.vectors([topic, *candidates])
    similarity = _topic_similarity(topic, candidates, matrix)
    index = int(np.argmax(np.round(similarity, 4))) if reference is None else len(papers)
    scores = similarity + REFERENCE_WEIGHT * (matrix[1:] @ matrix[1 + index])
    reference_score = max(float(scores[index]), 1e-6)
    return [round(float(score) / reference_score, 4) for score in scores[: len(papers)]]


def _topic_similarity(topic: str, papers: Sequence[str], matrix: NDArray[np.float32]) -> NDArray[np.float64]:
    import numpy as np

    shares = np.array([shared_words(topic, paper) for paper in papers])
    cosines = np.asarray(matrix[1:] @ matrix[0], dtype=np.float64)
    return cosines + WORDS_WEIGHT * shares


def shared_words(topic: str, paper: str) -> float:
    """Share of the topic's words in a paper, by stems (0 to 1); generic words have less weight.

    An abbreviation matches words of the paper's title with its initials.
    """
    return _share_of_words(topic, [paper])


def _share_of_words(topic: str, papers: Sequence[str]) -> float:
    """Share of the topic's words that occur in at least one of the papers."""
    weights = _topic_words(topic)
    present = frozenset[str]().union(*map(_stems, papers))
    initials = frozenset[str]().union(*(_initials(_title(paper)) for paper in papers))
    matched = sum(
        weight
        for word, weight in weights
        if stem(word) in present or (word.isupper() and word.lower() in initials)
    )
    return matched / sum(weight for _, weight in weights) if weights else 0.0


@lru_cache(maxsize=500)
def _topic_words(topic: str) -> tuple[tuple[str, float], ...]:
    """The content words with their weights, each stem once; all words if there are none."""
    parts = _parts(topic)
    content = [part for part in parts if part.lower() not in FUNCTION_WORDS and len(part) > 1] or parts
    once = {stem(part): part for part in reversed(content)}
    return tuple((word, GENERIC_WEIGHT if word.lower() in GENERIC_WORDS else 1.0) for word in once.values())


@lru_cache(maxsize=5_000)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(part) for part in _parts(text))


@lru_cache(maxsize=5_000)
def _initials(title: str) -> frozenset[str]:
    """Initials of every run of three to five words, with and without function words."""
    words = [part.lower() for part in _parts(title)]
    content = [word for word in words if word not in FUNCTION_WORDS]
    rows = ["".join(word[0] for word in each) for each in (words, content)]
    return frozenset(
        row[start : start + n] for row in rows for n in (3, 4, 5) for start in range(len(row) - n + 1)
    )


def _parts(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)


def stem(word: str) -> str:
    """A word without its usual ending, the same for "verify" and "verification"; enough to compare words."""
    lower = word.lower()
    fits = (e for e in _ENDINGS if lower.endswith(e) and len(lower) - len(e) >= MIN_STEM)
    root = lower.removesuffix(next(fits, ""))
    is_doubled = len(root) > MIN_STEM and root[-1] == root[-2] != "s"
    return root[:-1] if is_doubled else root


def _title(paper: str) -> str:
    return paper.split(". ", 1)[0]


def _without_title(paper: str) -> str:
    return paper.split(". ", 1)[1] if ". " in paper else paper


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0
