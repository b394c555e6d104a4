"""Leads, which are what the offline model has in place of ideas.

A lead pairs an open limitation of one paper with a mechanism of another, both in the papers' own words,
and says by measures why they may fit. It is no plan: what may come of it is for its reader to think out.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ideagora.agents.offline_leads.difficulties import (
    DIFFICULTIES,
    GENERAL,
    Difficulty,
    classify_difficulty,
    is_scope,
    shared_difficulty,
)
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts
from ideagora.models.offline.word_lists import FUNCTION_WORDS

FACETS = ("problem", "method", "finding", "limitation")
FIT_SHARED = 0.38
"""Cosine of a limitation to the problem that another paper set out from, or to its method, from which the
two may fit where both speak of one kind of difficulty."""
FIT = 0.55
"""Cosine to the problem where they share no such word (the method has to reach ``FIT_SHARED`` too)."""
MIN_PROBLEM_SIMILARITY = 0.3
"""Cosine to the problem below which no nearness of the method counts."""
MECHANISMS_PER_LIMITATION = 4
"""Mechanisms that are kept for one limitation."""
SAME_FIELD = 0.42
"""Cosine of the two papers below which a mechanism would have to come from another field."""
ON_TOPIC = 0.18
"""Cosine that a mechanism has to have to the topic: below it the paper is about something else."""

_CLAUSE_END = re.compile(r"[;:,] ")
_RESULTS = frozenset(
    """cannot fails unable reached improved improves outperformed outperforms exceeded surpassed beat
    raised gained stayed lowered lagged hurt matched exposes lacks""".split()
)
_STUDY_SUBJECTS = frozenset(
    "study survey benchmark evaluation re-evaluation meta-analysis experiments crowdworkers experts".split()
)
"""As the subject of a sentence: who tries out what others have made."""
_STUDY_VERBS = frozenset(
    """measures compares compared examines examined evaluates evaluated surveys probed studied tests
    recruited contains poses stratifies converts taxonomy blueprint comparison""".split()
)
_COUNTED = re.compile(
    r"\b\d[\d,]*(?: [\w-]+){0,2} (?:tasks|questions|problems|competitions|issue|subjects|data sets)\b"
)
_COMPARED = re.compile(r"\b(?:more often|better|higher|lower|faster|fewer|stronger|worse) than\b|[Bb]ench\b")
_HEADING = re.compile(
    r"^(?:\d{1,2}(?:\.\d{1,2}){0,2}\.? )?"
    r"(?:abstract|introduction|methods?|background|motivation|approach|results|discussion|conclusions?"
    r"|limitations?|related work|summary|overview)[:. ]{1,3}"
    r"(?=(?:we|our|in|the|this|these|to|an?|while|large|recent)\b)",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"^(?:[\w-]+ ){1,4}is an? (?!(?:method|framework|procedure|technique|system|pipeline|recipe)\b)"
)
"""What a thing is, not what is done with it."""
_PRESENTS = re.compile(r"\b(?:[Ww]e|[Tt]his (?:paper|work)) (?:propos|introduc|present|develop|describ)")
_RESOURCE = re.compile(
    r"\b(?:benchmark|data ?set|corpus|survey|study|holistic|measuring|evaluat|dataset)|bench\b|\barena\b",
    re.I,
)
_STUDIED = re.compile(
    r"\b(?:[Tt]he|[Aa]) [\w -]{0,40}(?:study|survey|benchmark) (?:of|on|measures|has|tests|compares|gives)\b"
)
_REFERS_BACK = re.compile(r"(?:This|That|These|Those|It|Its|They|Their|Such|He|She|Both|Here)\b")
MAX_NAME_WORDS = 4
"""Words of a paper's name at most, since a lead says it several times."""
OPENING_WORDS = 8
"""Words of a sentence in which its subject and its verb are looked for."""


@dataclass(frozen=True)
class PaperFacts:
    """A paper as far as leads are made from it."""

    name: str
    year: str
    text: str
    """Its own words: abstract, or what its reader took from it."""
    problem: str | None
    method: str | None
    """The sentence that says what is done; ``None``: there is none that does."""
    limitation: str | None
    is_resource: bool = False
    """Whether it is a benchmark, a data set, a survey or a study: its limits are no method's."""


@dataclass(frozen=True)
class Fit:
    """A limitation and the mechanism that comes nearest, by their papers' places, and how near."""

    weak: int
    strong: int
    clause: str
    """The part of the limitation that is meant."""
    kind: Difficulty
    terms: tuple[str, ...]
    """Words in which both speak of that kind of difficulty; none where they share none."""
    to_problem: float
    to_method: float
    score: float


def paper_facts(
    engine: ExtractiveModel,
    title: str,
    year: str,
    text: str | None,
    problem: str | None = None,
    method: str | None = None,
    limitation: str | None = None,
) -> PaperFacts:
    """A paper for leads; what its reader has not told is picked from its text."""
    own = text or " ".join(filter(None, (problem, method, limitation)))
    name = short_paper_name(title, own)
    picked = engine.facets(own, FACETS) if text and not method else {}
    other = {picked.get(facet) for facet in FACETS if facet != "method"}
    said = texts.sentences(method) if method else [s for s in texts.sentences(own) if s not in other]
    parts = [strip_heading(sentence) for sentence in said]
    return PaperFacts(
        name=name,
        year=year,
        text=own,
        problem=problem or picked.get("problem"),
        method=_mechanism_sentence(parts, picked.get("method") or "", name),
        limitation=limitation or picked.get("limitation"),
        is_resource=bool(_RESOURCE.search(title) or _STUDIED.search(own)),
    )


def short_paper_name(title: str, text: str) -> str:
    """What a lead calls a paper: a short name of at most five words, else the first of its title."""
    said = [word for word in texts.short_name(title, text).split() if word != "…"]
    if len(said) <= MAX_NAME_WORDS + 1:
        return " ".join(said)
    said = said[:MAX_NAME_WORDS]
    while len(said) > 1 and said[-1].lower() in FUNCTION_WORDS:
        said.pop()
    return f"{' '.join(said)} …"


def _mechanism_sentence(parts: Sequence[str], picked: str, name: str) -> str | None:
    """The sentence that says what is done: the one that presents it, else the picked one, else the first."""
    done = [part for part in parts if describes_method(part)]
    presents = [part for part in done if _PRESENTS.search(part) or part.startswith(name)]
    chosen = next(iter([*presents, *(part for part in done if part in picked), *done]), None)
    return with_antecedent(chosen, parts) if chosen else None


def strip_heading(sentence: str) -> str:
    """The sentence without a heading of its section that a file's text has glued to it."""
    return _HEADING.sub("", sentence, count=1)


def with_antecedent(sentence: str, parts: Sequence[str]) -> str:
    """The sentence, with the one before it when it begins with a word that refers back to that."""
    place = parts.index(sentence) if sentence in parts else 0
    return f"{parts[place - 1]} {sentence}" if place and _REFERS_BACK.match(sentence) else sentence


def describes_method(sentence: str) -> bool:
    """Whether a sentence says what a system does: no result, no failure, no study, no benchmark."""
    said = texts.words(sentence)
    if set(said[:OPENING_WORDS]) & (_RESULTS | _STUDY_VERBS) or set(said[:4]) & _STUDY_SUBJECTS:
        return False
    if _COUNTED.search(sentence) or _COMPARED.search(sentence) or _is_past_tense(said):
        return False
    return texts.has_verb(sentence) and not _DEFINES.search(sentence)


def _is_past_tense(said: Sequence[str]) -> bool:
    """Whether the subject is followed by a past tense: what came out is told so, what is done is not."""
    pairs = itertools.pairwise(said[:4])
    return any(
        word.endswith("ed") and "-" not in word and before not in _BEFORE_ADJECTIVES for before, word in pairs
    )


_BEFORE_ADJECTIVES = frozenset(
    "a an the of with on in to from is are be and or as by for its their one each every".split()
)


def find_fits(
    engine: ExtractiveModel, topic: str, papers: Sequence[PaperFacts], weak: Sequence[int]
) -> list[Fit]:
    """Pairs that are good enough, best first; for each limitation the mechanisms that come nearest.

    Args:
        topic: what the leads are wanted for.
        papers: those whose mechanisms may be taken.
        weak: places of the papers whose limitations may be taken up.
    """
    methods = [paper.method or paper.name for paper in papers]
    near_topic = engine.similarity(topic, methods)
    about = frozenset(kind for kind in DIFFICULTIES if kind.found_in(topic))
    found: list[Fit] = []
    for place in weak:
        if papers[place].is_resource and not _RESOURCE.search(topic):
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
        found += _best_per_mechanism(
            [replace(fit, score=round(fit.score + lift, 4)) for fit in of_weak if fit]
        )
    return sorted(found, key=lambda fit: (-fit.score, fit.weak, fit.strong))


def _best_per_mechanism(found: Sequence[Fit]) -> list[Fit]:
    """The best pair with each mechanism, best first."""
    best: dict[int, Fit] = {}
    for fit in sorted(found, key=lambda fit: (-fit.score, fit.strong)):
        best.setdefault(fit.strong, fit)
    return list(best.values())[:MECHANISMS_PER_LIMITATION]


def _clause_similarities(
    engine: ExtractiveModel, papers: Sequence[PaperFacts], clause: str, methods: Sequence[str]
) -> tuple[list[float], list[float]]:
    """Cosines of a limitation to every paper's problem and to every method."""
    problems = [paper.problem or paper.name for paper in papers]
    return engine.similarity(clause, problems), engine.similarity(clause, methods)


def _fit_or_none(
    papers: Sequence[PaperFacts],
    pair: tuple[int, int],
    clause: str,
    about: frozenset[Difficulty],
    near: tuple[float, ...],
) -> Fit | None:
    """A pair if it is good enough.

    Args:
        papers: all of them.
        pair: the places of the paper with the limitation and of the one with the mechanism.
        clause: the part of the limitation that is looked at.
        about: kinds of difficulty that the topic itself speaks of: to share one says nothing.
        near: cosine of the clause to the problem and to the method, of the method to the topic and to
            what the paper with the limitation does itself, of one whole paper to the other.
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
    score -= 0.5 * max(0.0, to_own - 0.5)  # what the weak paper does already helps it little
    kind = shared[0] if shared else classify_difficulty(clause)
    terms = tuple(sorted(shared[1])) if shared else ()
    return Fit(*pair, clause, kind, terms, to_problem, to_method, round(score, 4))


def measure_pair(engine: ExtractiveModel, papers: Sequence[PaperFacts], weak: int, strong: int) -> Fit:
    """A pair as it measures, whether or not it is good enough to be offered."""
    limitation = papers[weak].limitation or papers[weak].problem or papers[weak].text or papers[weak].name
    clause = next(iter(limitation_clauses(limitation)), texts.without_stop(limitation))
    other = papers[strong]
    near = engine.similarity(clause, [other.problem or other.name, other.method or other.name])
    return Fit(weak, strong, clause, classify_difficulty(clause), (), near[0], near[1], 0.0)


def _is_near_enough(to_problem: float, to_method: float, shared: bool) -> bool:
    """A common difficulty allows for less nearness; without one, problem and method have to be near."""
    if shared:
        return to_problem >= MIN_PROBLEM_SIMILARITY and max(to_problem, to_method) >= FIT_SHARED
    return to_problem >= FIT and to_method >= FIT_SHARED


def limitation_clauses(limitation: str) -> list[str]:
    """The parts of a limitation that say what goes wrong, without those that say how far it was tested."""
    parts: list[str] = []
    for sentence in texts.sentences(limitation):
        for part in _CLAUSE_END.split(texts.without_stop(sentence)):
            if parts and len(part.split()) < 5:
                parts[-1] = f"{parts[-1]}, {part}"
            else:
                parts.append(re.sub(r"^(?:and|but|so|while|whereas|although) ", "", part))
    return [part for part in parts if not is_scope(part) and len(part.split()) > 3]


QUOTE_LENGTHS = ((28, 40, 18), (28, 32, 16), (24, 26, 12), (18, 20, 10), (14, 14, 8))
"""Words of each quote (limitation, mechanism, problem) at most: the first row with which a lead is short."""
MAX_LEAD_WORDS = 145
"""Words of a lead, without the names of what to read first."""


def shorten_quote(sentence: str, limit: int, about: str = "") -> str:
    """Words of a sentence, unchanged, at most ``limit`` of them: what is left out becomes ``…``.

    A sentence that is too long is cut at a comma where that leaves enough, else between words. With
    ``about``, a part of the sentence, the cut is such that this part stays.
    """
    said = texts.without_stop(sentence)
    if len(said.split()) <= limit:
        return said
    words, place = said.split(), said.find(about)
    end = len(said[: place + len(about)].split()) if about and place > 0 else 0
    if end > limit:
        after = " …" if end < len(words) else ""
        return f"… {' '.join(words[end - limit : end]).rstrip(',;:')}{after}"
    cut = " ".join(words[:limit])
    ends = [found.start() for found in _CLAUSE_END.finditer(cut)]
    if ends and len(cut[: ends[-1]].split()) >= max(limit // 2, end):
        cut = cut[: ends[-1]]
    return f"{cut.rstrip(',;:')} …"


NEAREST_ONLY = "No pair came near enough; this is merely the nearest."
"""Said of a pair that is offered because there is no good one."""


@dataclass(frozen=True)
class LeadText:
    """A lead in words; what is between quotation marks stands so in the papers."""

    title: str
    limitation: str
    """The sentence."""
    mechanism: str
    """The sentence."""
    motivation: str
    method: str
    novelty: str
    test: str

    @property
    def length(self) -> int:
        """Words of all that is shown of the lead."""
        shown = (self.title, self.motivation, self.method, self.novelty, self.test)
        return sum(len(part.split()) for part in shown)


def write_lead(fit: Fit, weak: PaperFacts, strong: PaperFacts, place: str) -> LeadText:
    """A pair in words.

    Args:
        place: a sentence on where the two papers stand to each other; empty where nothing is known.
    """
    made = [_write_with(fit, weak, strong, place, quoted) for quoted in QUOTE_LENGTHS]
    return next((lead for lead in made if lead.length <= MAX_LEAD_WORDS), made[-1])


def _write_with(
    fit: Fit, weak: PaperFacts, strong: PaperFacts, place: str, quoted: tuple[int, int, int]
) -> LeadText:
    limitation = _sentence_containing(fit.clause, weak.limitation or fit.clause)
    mechanism = strong.method or strong.text or strong.name
    parts = _CLAUSE_END.split(strong.problem or "")
    said = next((part for part in parts if set(texts.words(part)) & set(fit.terms)), "")
    problem = shorten_quote(strong.problem, quoted[2], texts.without_stop(said)) if strong.problem else ""
    parts = _CLAUSE_END.split(mechanism)
    to_point = texts.without_stop(next((part for part in parts if fit.kind.found_in(part)), ""))
    against = "a limit of" if fit.kind is GENERAL else f"{fit.kind.name} in"
    return LeadText(
        title=f"{strong.name} against {against} {weak.name}",
        limitation=limitation,
        mechanism=mechanism,
        motivation=f"{weak.name} ({weak.year}): “{shorten_quote(limitation, quoted[0], fit.clause)}”",
        method=f"{strong.name} ({strong.year}): “{shorten_quote(mechanism, quoted[1], to_point)}”",
        novelty=" ".join(
            filter(None, (NEAREST_ONLY if not fit.score else "", _explain(fit, strong.name, problem), place))
        ),
        test=fit.kind.cheap_test(weak.name, strong.name, _data_set(weak.text)),
    )


def _explain(fit: Fit, strong: str, problem: str) -> str:
    """Why the two may fit, as measured."""
    terms = f"; both speak of {fit.kind.name}: {', '.join(fit.terms[:4])}" if fit.terms else ""
    if not problem:
        return f"The mechanism comes near to the limitation (similarity {fit.to_method:.2f}{terms})."
    return f"{strong} set out from “{problem}” (similarity to the limitation {fit.to_problem:.2f}{terms})."


def _sentence_containing(clause: str, limitation: str) -> str:
    """The sentence of a limitation that has the clause."""
    found = (sentence for sentence in texts.sentences(limitation) if clause in sentence)
    return next(found, limitation)


def _data_set(text: str) -> str | None:
    return next((name.name for name in texts.names(text) if name.kind == "dataset"), None)
