"""Find pairs of an open limitation of one paper and a mechanism of another, with measures of their fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ideagora.agents.offline_leads.difficulties import (
    DIFFICULTIES,
    Difficulty,
    classify_difficulty,
    is_scope,
    shared_difficulty,
)
from ideagora.agents.offline_leads.facts import PaperFacts, mentions_resource
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

FIT_SHARED = 0.38
"""Minimum cosine of a limitation to another paper's problem or method if both mention the same difficulty."""
FIT = 0.55
"""Minimum cosine to the problem if they share no difficulty (the method must reach ``FIT_SHARED`` too)."""
MIN_PROBLEM_SIMILARITY = 0.3
"""Minimum cosine to the problem, whatever the method's."""
MECHANISMS_PER_LIMITATION = 4
"""Maximum number of mechanisms per limitation."""
SAME_FIELD = 0.42
"""Minimum cosine of the two papers; below it they belong to different fields."""
ON_TOPIC = 0.18
"""Minimum cosine of a mechanism to the topic."""
CLAUSE_END = re.compile(r"[;:,] ")


@dataclass(frozen=True)
class Fit:
    """A limitation and a mechanism, by the positions of their papers, with similarity scores."""

    weak: int
    strong: int
    clause: str
    """The clause of the limitation that was compared."""
    kind: Difficulty
    terms: tuple[str, ...]
    """Words by which both mention that kind of difficulty; empty if they share none."""
    to_problem: float
    to_method: float
    score: float

    @property
    def closeness(self) -> float:
        """How similar the other paper is to the limitation, by its problem first and then by its method."""
        return self.to_problem + 0.5 * self.to_method


def find_fits(
    engine: ExtractiveModel, topic: str, papers: Sequence[PaperFacts], weak: Sequence[int]
) -> list[Fit]:
    """Return the pairs that fit, best first, with the closest mechanisms for each limitation.

    Args:
        engine: the offline model.
        topic: the topic of the leads.
        papers: the papers that supply mechanisms.
        weak: positions of the papers that supply limitations.
    """
    methods = [paper.method or paper.name for paper in papers]
    near_topic = engine.similarity(topic, methods)
    about = frozenset(kind for kind in DIFFICULTIES if kind.found_in(topic))
    fits: list[Fit] = []
    for place in weak:
        if papers[place].is_resource and not mentions_resource(topic):
            continue
        own = engine.similarity(methods[place], methods)
        field = engine.similarity(papers[place].text, [paper.text for paper in papers])
        of_weak = [
            _fit_or_none(
                papers,
                (place, strong),
                clause,
                about,
                (*(near[strong] for near in nearness), own[strong], field[strong]),
            )
            for clause in limitation_clauses(papers[place].limitation or "")
            for nearness in [(*_clause_similarities(engine, papers, clause, methods), near_topic)]
            for strong, paper in enumerate(papers)
            if strong != place and paper.method
        ]
        lift = 0.3 * near_topic[place]
        fits += _best_per_mechanism(
            [replace(fit, score=round(fit.score + lift, 4)) for fit in of_weak if fit]
        )
    return sorted(fits, key=lambda fit: (-fit.score, fit.weak, fit.strong))


def _best_per_mechanism(fits: Sequence[Fit]) -> list[Fit]:
    """Return the best pair with each mechanism, best first."""
    best: dict[int, Fit] = {}
    for fit in sorted(fits, key=lambda fit: (-fit.score, fit.strong)):
        best.setdefault(fit.strong, fit)
    return list(best.values())[:MECHANISMS_PER_LIMITATION]


def _clause_similarities(
    engine: ExtractiveModel, papers: Sequence[PaperFacts], clause: str, methods: Sequence[str]
) -> tuple[list[float], list[float]]:
    """Return the cosines of a limitation to every paper's problem and to every method."""
    problems = [paper.problem or paper.name for paper in papers]
    return engine.similarity(clause, problems), engine.similarity(clause, methods)


def _fit_or_none(
    papers: Sequence[PaperFacts],
    pair: tuple[int, int],
    clause: str,
    about: frozenset[Difficulty],
    near: tuple[float, ...],
) -> Fit | None:
    """Return a pair if it fits.

    Args:
        papers: all papers.
        pair: positions of the papers with the limitation and the mechanism.
        clause: the clause of the limitation to compare.
        about: kinds of difficulty that the topic itself mentions; sharing one of them does not count.
        near: cosines of the clause to the problem and to the method, of the method to the topic and to
            the method of the paper with the limitation, and between the two papers.
    """
    to_problem, to_method, to_topic, to_own, to_paper = near
    other = papers[pair[1]]
    shared = shared_difficulty(clause, other.problem or "", about)
    if (
        to_topic < ON_TOPIC
        or to_paper < SAME_FIELD
        or not _is_near_enough(to_problem, to_method, shared is not None)
    ):
        return None
    score = to_problem + 0.5 * to_method + 0.4 * (to_topic + to_paper) + 0.15 * bool(shared)
    score -= 0.5 * max(0.0, to_own - 0.5)  # a similar method adds little
    kind = shared[0] if shared else classify_difficulty(clause)
    terms = tuple(sorted(shared[1])) if shared else ()
    return Fit(*pair, clause, kind, terms, to_problem, to_method, round(score, 4))


def measure_pair(engine: ExtractiveModel, papers: Sequence[PaperFacts], weak: int, strong: int) -> Fit:
    """Return a pair with its measures, whether or not it fits."""
    limitation = papers[weak].limitation or papers[weak].problem or papers[weak].text or papers[weak].name
    clause = next(iter(limitation_clauses(limitation)), texts.without_stop(limitation))
    other = papers[strong]
    near = engine.similarity(clause, [other.problem or other.name, other.method or other.name])
    return Fit(weak, strong, clause, classify_difficulty(clause), (), near[0], near[1], 0.0)


def _is_near_enough(to_problem: float, to_method: float, shared: bool) -> bool:
    """Return whether a pair is similar enough; a shared difficulty lowers the minimum."""
    if shared:
        return to_problem >= MIN_PROBLEM_SIMILARITY and max(to_problem, to_method) >= FIT_SHARED
    return to_problem >= FIT and to_method >= FIT_SHARED


def limitation_clauses(limitation: str) -> list[str]:
    """Return the clauses of a limitation that say what goes wrong, without those about the tests' scope."""
    parts: list[str] = []
    for sentence in texts.sentences(limitation):
        for part in CLAUSE_END.split(texts.without_stop(sentence)):
            if parts and len(part.split()) < 5:
                parts[-1] = f"{parts[-1]}, {part}"
            else:
                parts.append(re.sub(r"^(?:and|but|so|while|whereas|although) ", "", part))
    return [part for part in parts if not is_scope(part) and len(part.split()) > 3]
