"""Build leads, which the offline model produces in place of ideas.

A lead pairs an open limitation of one paper with a mechanism of another, both quoted, and reports measures
of how well they fit. It is a starting point, not a plan.
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

_CLAUSE_END = re.compile(r"[;:,] ")
_RESULTS = frozenset(
    """cannot fails unable reached improved improves outperformed outperforms exceeded surpassed beat
    raised gained stayed lowered lagged hurt matched exposes lacks""".split()
)
_STUDY_SUBJECTS = frozenset(
    "study survey benchmark evaluation re-evaluation meta-analysis experiments crowdworkers experts".split()
)
"""Subjects of sentences about studies rather than systems."""
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
"""Matches definitions, which say what a thing is rather than what is done."""
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
"""Maximum words of a paper's name, which a lead repeats several times."""
OPENING_WORDS = 8
"""Leading words of a sentence that are searched for subject and verb."""


@dataclass(frozen=True)
class PaperFacts:
    """The facts of a paper that leads use."""

    name: str
    year: str
    text: str
    """The abstract, or the reader's report."""
    problem: str | None
    method: str | None
    """The sentence that says what is done, if there is one."""
    limitation: str | None
    is_resource: bool = False
    """Whether it is a benchmark, data set, survey or study, whose limitations no mechanism addresses."""


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


def paper_facts(
    engine: ExtractiveModel,
    title: str,
    year: str,
    text: str | None,
    problem: str | None = None,
    method: str | None = None,
    limitation: str | None = None,
) -> PaperFacts:
    """Return a paper's facts; those that the reader did not report are extracted from the text."""
    own = text or " ".join(filter(None, (problem, method, limitation)))
    name = short_paper_name(title, own)
    extracted = engine.facets(own, FACETS) if text and not method else {}
    other = {extracted.get(facet) for facet in FACETS if facet != "method"}
    candidates = texts.sentences(method) if method else [s for s in texts.sentences(own) if s not in other]
    parts = [strip_heading(sentence) for sentence in candidates]
    return PaperFacts(
        name=name,
        year=year,
        text=own,
        problem=problem or extracted.get("problem"),
        method=_mechanism_sentence(parts, extracted.get("method") or "", name),
        limitation=limitation or extracted.get("limitation"),
        is_resource=is_resource(title, own),
    )


def is_resource(title: str, text: str) -> bool:
    """Return whether a paper is a benchmark, data set, survey or study rather than a method."""
    return bool(_RESOURCE.search(title) or _STUDIED.search(text))


def short_paper_name(title: str, text: str) -> str:
    """Return a paper's short name of at most five words, or else the first words of its title, quoted."""
    words = [word for word in texts.short_name(title, text).split() if word != "…"]
    if len(words) <= MAX_NAME_WORDS + 1:
        name = " ".join(words)
        return f"“{name}”" if name.endswith("?") else name
    cut = words[:MAX_NAME_WORDS]
    while cut and cut[-1].lower() in FUNCTION_WORDS:
        cut.pop()
    return f"“{' '.join(cut if len(cut) > 2 else words[:MAX_NAME_WORDS])} …”"


def _mechanism_sentence(parts: Sequence[str], extracted: str, name: str) -> str | None:
    """Return the first sentence that presents a method, else an extracted one, else the first on a method."""
    methods = [part for part in parts if describes_method(part)]
    presented = [part for part in methods if _PRESENTS.search(part) or part.startswith(name)]
    chosen = next(iter([*presented, *(part for part in methods if part in extracted), *methods]), None)
    return with_antecedent(chosen, parts) if chosen else None


def strip_heading(sentence: str) -> str:
    """Return the sentence without a section heading that text extraction prepended."""
    return _HEADING.sub("", sentence, count=1)


def with_antecedent(sentence: str, parts: Sequence[str]) -> str:
    """Return the sentence, preceded by the one before it if it starts with a word that refers back."""
    place = parts.index(sentence) if sentence in parts else 0
    return f"{parts[place - 1]} {sentence}" if place and _REFERS_BACK.match(sentence) else sentence


def describes_method(sentence: str) -> bool:
    """Return whether a sentence says what a system does, not a result, failure, study or benchmark."""
    words = texts.words(sentence)
    if set(words[:OPENING_WORDS]) & (_RESULTS | _STUDY_VERBS) or set(words[:4]) & _STUDY_SUBJECTS:
        return False
    if _COUNTED.search(sentence) or _COMPARED.search(sentence) or _is_past_tense(words):
        return False
    return texts.has_verb(sentence) and not _DEFINES.search(sentence)


def _is_past_tense(words: Sequence[str]) -> bool:
    """Return whether a past tense follows the subject, which indicates a result."""
    pairs = itertools.pairwise(words[:4])
    return any(
        word.endswith("ed") and "-" not in word and before not in _BEFORE_ADJECTIVES for before, word in pairs
    )


_BEFORE_ADJECTIVES = frozenset(
    "a an the of with on in to from is are be and or as by for its their one each every".split()
)


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
        for part in _CLAUSE_END.split(texts.without_stop(sentence)):
            if parts and len(part.split()) < 5:
                parts[-1] = f"{parts[-1]}, {part}"
            else:
                parts.append(re.sub(r"^(?:and|but|so|while|whereas|although) ", "", part))
    return [part for part in parts if not is_scope(part) and len(part.split()) > 3]


QUOTE_LENGTHS = ((28, 40, 18), (28, 32, 16), (24, 26, 12), (18, 20, 10), (14, 14, 8), (12, 12, 6))
"""Maximum words of the quotes (limitation, mechanism, problem), in order of preference."""
MAX_LEAD_WORDS = 145
"""Maximum words of a lead, without the reading list."""


def shorten_quote(sentence: str, limit: int, about: str = "") -> str:
    """Return a sentence cut to ``limit`` words, with ``…`` for what is left out.

    The cut is at a clause boundary if that leaves enough words, else between words. The cut keeps ``about``,
    a part of the sentence.
    """
    quote = texts.without_stop(sentence)
    if len(quote.split()) <= limit:
        return quote
    words, place = quote.split(), quote.find(about)
    end = len(quote[: place + len(about)].split()) if about and place > 0 else 0
    if end > limit:
        after = " …" if end < len(words) else ""
        return f"… {' '.join(words[end - limit : end]).rstrip(',;:')}{after}"
    cut = " ".join(words[:limit])
    ends = [found.start() for found in _CLAUSE_END.finditer(cut)]
    if ends and len(cut[: ends[-1]].split()) >= max(limit // 2, end):
        cut = cut[: ends[-1]]
    return f"{cut.rstrip(',;:')} …"


NEAREST_ONLY = "No pair of papers is a good fit; this is the closest one."
"""Note on a pair that is offered because none fits."""


@dataclass(frozen=True)
class LeadText:
    """The text of a lead; text in quotation marks is verbatim from the papers."""

    title: str
    limitation: str
    """The whole sentence."""
    mechanism: str
    """The whole sentence."""
    motivation: str
    method: str
    novelty: str
    claim: str
    """What the pair amounts to, as a sentence that a test can refute."""
    doubt: str
    """Why the pair may not fit, by its measures."""
    test: str

    @property
    def length(self) -> int:
        """Number of words shown of the lead."""
        parts = (self.title, self.motivation, self.method, self.novelty, self.test)
        return sum(len(part.split()) for part in parts)


def write_lead(fit: Fit, weak: PaperFacts, strong: PaperFacts, place: str) -> LeadText:
    """Return a pair as a lead.

    Args:
        fit: the pair.
        weak: the paper with the limitation.
        strong: the paper with the mechanism.
        place: a sentence on how the papers relate to the chain and to each other; may be empty.
    """
    leads = [_write_with(fit, weak, strong, place, lengths) for lengths in QUOTE_LENGTHS]
    return next((lead for lead in leads if lead.length <= MAX_LEAD_WORDS), leads[-1])


def _write_with(
    fit: Fit, weak: PaperFacts, strong: PaperFacts, place: str, lengths: tuple[int, int, int]
) -> LeadText:
    limitation = _sentence_containing(fit.clause, weak.limitation or fit.clause)
    mechanism = strong.method or strong.text or strong.name
    parts = _CLAUSE_END.split(strong.problem or "")
    matching = next((part for part in parts if set(texts.words(part)) & set(fit.terms)), "")
    problem = (
        shorten_quote(strong.problem, lengths[2], texts.without_stop(matching)) if strong.problem else ""
    )
    parts = _CLAUSE_END.split(mechanism)
    relevant = texts.without_stop(next((part for part in parts if fit.kind.found_in(part)), ""))
    target = "a limitation of" if fit.kind is GENERAL else f"{fit.kind.name} in"
    return LeadText(
        title=f"Using {strong.name} to address {target} {weak.name}",
        limitation=limitation,
        mechanism=mechanism,
        motivation=f"{weak.name} ({weak.year}): “{shorten_quote(limitation, lengths[0], fit.clause)}”",
        method=f"{strong.name} ({strong.year}): “{shorten_quote(mechanism, lengths[1], relevant)}”",
        novelty=" ".join(
            filter(None, (NEAREST_ONLY if not fit.score else "", _explain(fit, strong.name, problem), place))
        ),
        claim=f"The mechanism of {strong.name} removes or lessens {target} {weak.name}.",
        doubt=_doubt(fit, strong.name),
        test=fit.kind.cheap_test(weak.name, strong.name, _data_set(weak.text)),
    )


def _explain(fit: Fit, strong: str, problem: str) -> str:
    """Return why the two may fit, with the measures."""
    terms = f"; both concern {fit.kind.name}: {', '.join(fit.terms[:4])}" if fit.terms else ""
    if not problem:
        return f"The mechanism resembles the limitation (similarity {fit.to_method:.2f}{terms})."
    measure = f"similarity to the limitation {fit.to_problem:.2f}{terms}"
    return f"{strong} addresses this problem: “{problem}” ({measure})."


def _doubt(fit: Fit, strong: str) -> str:
    """Return why a pair may not fit: what the measures do not show."""
    measures = f"similarity {fit.to_problem:.2f} to its problem and {fit.to_method:.2f} to its method"
    shared = f"the words {texts.listed(fit.terms[:3])}" if fit.terms else "similar wording"
    return (
        f"The pair rests on {shared} ({measures}); that {strong} works under the conditions of the "
        "limitation is not shown."
    )


def _sentence_containing(clause: str, limitation: str) -> str:
    """Return the sentence of a limitation that contains the clause."""
    sentences = (sentence for sentence in texts.sentences(limitation) if clause in sentence)
    return next(sentences, limitation)


def _data_set(text: str) -> str | None:
    return next((name.name for name in texts.names(text) if name.kind == "dataset"), None)
