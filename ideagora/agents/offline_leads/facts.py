"""The facts of a paper that leads use: its name, problem, method and limitation, as sentences of its own."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ideagora.agents.views import PaperBrief
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts
from ideagora.models.offline.word_lists import FUNCTION_WORDS

FACETS = ("problem", "method", "finding", "limitation")
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
_BEFORE_ADJECTIVES = frozenset(
    "a an the of with on in to from is are be and or as by for its their one each every".split()
)
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
class Reported:
    """What a reader reports of a paper."""

    problem: str | None = None
    method: str | None = None
    limitation: str | None = None

    @property
    def text(self) -> str:
        """All parts as one text."""
        return " ".join(filter(None, (self.problem, self.method, self.limitation)))


NOT_READ = Reported()
"""Nothing: only a text of the paper is known."""


def facts_of_abstracts(engine: ExtractiveModel, papers: Iterable[PaperBrief]) -> list[PaperFacts]:
    """Return the facts of papers of which only the abstract is known."""
    return [paper_facts(engine, paper.title, paper.year, paper.abstract) for paper in papers]


def paper_facts(
    engine: ExtractiveModel, title: str, year: str, text: str | None, reported: Reported = NOT_READ
) -> PaperFacts:
    """Return a paper's facts; those that the reader did not report are extracted from the text."""
    own, method = text or reported.text, reported.method
    name = short_paper_name(title, own)
    extracted = engine.facets(own, FACETS) if text and not method else {}
    other = {extracted.get(facet) for facet in FACETS if facet != "method"}
    candidates = texts.sentences(method) if method else [s for s in texts.sentences(own) if s not in other]
    parts = [strip_heading(sentence) for sentence in candidates]
    return PaperFacts(
        name=name,
        year=year,
        text=own,
        problem=reported.problem or extracted.get("problem"),
        method=_mechanism_sentence(parts, extracted.get("method") or "", name),
        limitation=reported.limitation or extracted.get("limitation"),
        is_resource=is_resource(title, own),
    )


def is_resource(title: str, text: str) -> bool:
    """Return whether a paper is a benchmark, data set, survey or study rather than a method."""
    return mentions_resource(title) or bool(_STUDIED.search(text))


def mentions_resource(text: str) -> bool:
    """Return whether a title or topic names a benchmark, data set, survey or study."""
    return bool(_RESOURCE.search(text))


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
