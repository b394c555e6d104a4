"""Text functions of the offline model that need no embeddings: sentences, phrases, names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ideagora.models.offline.word_lists import (
    AMBIGUOUS_VERBS,
    DATASET_WORDS,
    FUNCTION_WORDS,
    GENERIC_WORDS,
    GERUND_NOUNS,
    KNOWN_DATASETS,
    METRIC_NAMES,
    METRIC_WORDS,
    MODEL_FAMILIES,
    MODEL_WORDS,
    NOT_NAMES,
)

_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|et al|vs|cf|Fig|Eq|Sec|No|approx|resp|Dr|St)\.$", re.IGNORECASE)
_MAX_ABBREVIATION = 9
"""Characters, including the one before it."""
_BOUNDARY = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[a-z]{0,4}[A-Z0-9])")
_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9'’+/-]*|[.,;:!?()\"]")
_NAME = re.compile(
    r"\b(?:"
    r"MS MARCO"
    r"|[A-Z]{2,5}-[Bb]ench"  # SWE-bench
    r"|[A-Z][A-Za-z0-9]*+(?:-[A-Z0-9][A-Za-z0-9]*+\b)+"  # Tune-A-Video, GPT-4
    r"|[A-Z]{2}[A-Za-z0-9]*+"  # RAG, GSM8K, LLaMA
    r"|[A-Z][a-z0-9]++[A-Z][A-Za-z0-9]*+"  # ImageNet, ReAct
    r"|[A-Za-z]++\d[A-Za-z0-9]*+(?:\.\d++\b)?(?:-[A-Za-z0-9.]+\b)*"  # s1, F1, Qwen2.5-Math
    r")\b"
)
_DATASET_NAME = re.compile(r"[Bb]ench\b")
_COMMON = re.compile(r"(?:GPT|LLM|BERT|BM25|AI\b|API|NLP)")


def sentences(text: str) -> list[str]:
    """Split a text into sentences; the full stop of an abbreviation does not end a sentence."""
    parts: list[list[str]] = []
    for piece in _BOUNDARY.split(" ".join(text.split())):
        if parts and _ABBREVIATION.search(parts[-1][-1][-_MAX_ABBREVIATION:]):
            parts[-1].append(piece)
        elif piece:
            parts.append([piece])
    return [" ".join(part) for part in parts]


_CLAUSE = re.compile(
    r"[;,:] (?:and |or |but |so |then |while |whereas |which |although )?"
    r"| (?:and|but|while|whereas|so that) "
)
"""Separates the clauses of a sentence with single spaces."""


def clauses(text: str) -> list[str]:
    """Clauses of at least three words; the text itself if there are none."""
    parts = [part.strip().rstrip(".") for sentence in sentences(text) for part in _CLAUSE.split(sentence)]
    return [part for part in parts if len(part.split()) >= 3] or [without_stop(text)]


def words(text: str) -> list[str]:
    """Lower-case words, hyphens kept, without punctuation."""
    return [token.lower() for token in _TOKEN.findall(text) if token[0].isalnum()]


def phrases(text: str, max_words: int = 4) -> list[str]:
    """Noun-phrase-like runs of words in order, without duplicates (case-insensitive).

    A run ends at punctuation, function words and verbs. Short single words are excluded. The first word of a
    sentence is lower-cased unless it is a name.
    """
    found: dict[str, str] = {}
    for sentence in sentences(text):
        run: list[str] = []
        for token in [*_TOKEN.findall(lower_first(sentence)), "."]:
            if _continues_run(token, bool(run)):
                run.append(token)
                continue
            for phrase in _trim(run, max_words):
                found.setdefault(phrase.lower(), phrase)
            run = []
    return list(found.values())


def _continues_run(token: str, inside: bool) -> bool:
    """Whether a token belongs to a run; words in -ed and -ing may only start one (as adjectives)."""
    lower = token.lower()
    if _NAME.fullmatch(token):
        return True
    if not token[0].isalnum() or lower in FUNCTION_WORDS or _is_verb(lower):
        return False
    if lower.endswith("ly") and len(lower) > 4:
        return False
    return not (inside and _is_participle(lower))


def load_dictionary() -> None:
    """Read lemminflect's dictionary, which otherwise the first word does; takes 0.3 s."""
    _is_verb("walks")


@lru_cache(maxsize=50_000)
def _is_verb(lower: str) -> bool:
    """Whether a word is a verb, by lemminflect's dictionary or ``AMBIGUOUS_VERBS``."""
    from lemminflect import getAllLemmas

    if lower in AMBIGUOUS_VERBS:
        return True
    if "-" in lower or lower in GERUND_NOUNS or lower.endswith(("ed", "ing")):
        return False
    known = getAllLemmas(lower)
    return "VERB" in known and not known.keys() & {"NOUN", "ADJ", "PROPN"}


def _is_participle(word: str) -> bool:
    lower = word.lower()
    return lower.endswith(("ed", "ing")) and "-" not in lower and lower not in GERUND_NOUNS


def _trim(run: list[str], max_words: int) -> list[str]:
    run = run[-max_words:]
    while run and (run[0].isdigit() or (len(run) == 1 and _is_participle(run[0]))):
        run = run[1:]
    if not run or (len(run) == 1 and len(run[0]) < 4 and not _NAME.fullmatch(run[0])):
        return []
    return [" ".join(run).removesuffix("'s").removesuffix("’s")]


NameKind = Literal["model", "dataset", "metric", "technique"]


@dataclass(frozen=True)
class Name:
    """A named entity, the first sentence that has it, and its probable kind."""

    name: str
    sentence: str
    kind: NameKind


def names(text: str) -> list[Name]:
    """Named entities (systems, data sets, metrics) in order of appearance."""
    found: dict[str, Name] = {}
    parts = sentences(text)
    for sentence in parts:
        for match in _NAME.finditer(sentence):
            name = match.group()
            lower = name.lower()
            if lower not in found and lower not in FUNCTION_WORDS and lower not in NOT_NAMES:
                found[lower] = Name(name, sentence, _kind(name, sentence, match.end(), parts))
    return list(found.values())


def _kind(name: str, sentence: str, end: int, parts: Sequence[str]) -> NameKind:
    """The kind of a name; a data set only if it is a known one or the next words say so."""
    after = words(sentence[end : end + 40])[:2]
    lower = name.lower()
    if lower in KNOWN_DATASETS or _DATASET_NAME.search(name) or _is_data_set(after):
        return "dataset"
    if lower in METRIC_NAMES or set(after[:1]) & METRIC_WORDS:
        return "metric"
    is_subject = any(part.startswith(f"{name} ") for part in parts)
    is_model = is_subject or lower.startswith(MODEL_FAMILIES) or set(after) & MODEL_WORDS
    return "model" if is_model else "technique"


def _is_data_set(after: list[str]) -> bool:
    return " ".join(after[:2]) in ("data set", "data sets") or bool(set(after[:1]) & DATASET_WORDS)


def short_name(title: str, text: str = "") -> str:
    """A short name of a paper: its system's name, or else the head of its title.

    A system's name is one that the text repeats, or words of the title that begin a sentence.

    >>> short_name("ReAct: Synergizing Reasoning and Acting in Language Models")
    'ReAct'
    """
    head = re.split(r"[:?]\s", title)[0].strip()
    if head != title and len(head.split()) <= 4 and not title[len(head) :].startswith("?"):
        return head
    found = names(text)
    often = (n.name for n in found if n.sentence.startswith(n.name) and text.count(n.name) > 1)
    subject = next((name for name in often if name not in title), None)
    subject = subject or _subject(title, text) or _repeated(found, text)
    if subject:
        return subject
    return head if len(head.split()) <= 7 else " ".join(head.split()[:6]) + " …"


def _subject(title: str, text: str) -> str | None:
    """The subject of a sentence after the first, if the title or the text repeats it."""
    again, parts = f"{title} {text}".lower(), sentences(text)
    for sentence in parts[1:]:
        words = sentence.split()
        for length in range(min(4, len(words) - 1), 0, -1):
            name = " ".join(words[:length])
            is_own = (
                "-" in name or any(letter.isupper() for letter in name[1:]) or name.lower() in title.lower()
            )
            is_common = length == 1 and f" {name.lower()} " in text  # a word that the text uses as any other
            if not is_own or is_common or again.count(name.lower()) < 2:
                continue
            if _is_subject(words[:length], words[length:]):
                return as_in(title, name)
    return None


def _is_subject(name: list[str], rest: list[str]) -> bool:
    """Whether words can be the subject of a sentence: no article, no punctuation, and a verb follows."""
    verbs = [word.lower() for word in rest[:2] if not word.endswith("ly") and word not in ("first", "then")]
    if name[0].lower() in FUNCTION_WORDS or any(word[-1] in ",;:" for word in name) or not verbs:
        return False
    return not is_generic(" ".join(name)) and (
        _is_verb(verbs[0]) or _has_verb_form(verbs[0]) or verbs[0] == "is"
    )


def as_in(title: str, name: str) -> str:
    """The name capitalised as in the title, if it occurs there."""
    place = title.lower().find(name.lower())
    return title[place : place + len(name)] if place >= 0 else name


def _repeated(found: list[Name], text: str) -> str | None:
    """The system that a text names most often, at least three times (not a data set or a metric)."""
    systems = [n.name for n in found if n.kind in ("model", "technique") and not _COMMON.match(n.name)]
    most = max(systems, key=text.count, default=None)
    return most if most and text.count(most) > 2 else None


def clip(text: str, limit: int) -> str:
    """Cut a text after ``limit`` words, with an ellipsis."""
    parts = text.split()
    return text.strip() if len(parts) <= limit else " ".join(parts[:limit]).rstrip(",;:") + " …"


def lower_first(text: str) -> str:
    """Lower-case the first letter, unless the first word is a name or an acronym."""
    first = text.split(" ", 1)[0] if text else ""
    keep = any(c.isupper() for c in first[1:]) or any(c.isdigit() for c in first) or first == "I"
    named = first.rstrip(".,;:") in re.findall(r"[A-Z][a-z]+", text[len(first) :])
    return text if keep or named or not text else text[0].lower() + text[1:]


def without_stop(text: str) -> str:
    """Remove the final full stop of a text."""
    return text.strip().rstrip(".").rstrip()


def title_case(text: str) -> str:
    """Capitalise as in a title; words with capitals are kept."""
    small = set("a an the of for in on to and or by with from as at into against that".split())
    parts = [w if w in small or any(c.isupper() for c in w) else w[:1].upper() + w[1:] for w in text.split()]
    return " ".join(parts)[:1].upper() + " ".join(parts)[1:]


def listed(items: tuple[str, ...] | list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def ends_in_noun(phrase: str) -> bool:
    """Whether the last word of a phrase can be a noun; an unknown word can."""
    from lemminflect import getAllLemmas

    kinds = getAllLemmas(phrase.split()[-1].lower())
    return not kinds or bool({"NOUN", "PROPN"} & kinds.keys())


def is_generic(phrase: str) -> bool:
    """Whether a phrase has only generic words (``language model``)."""
    return set(words(phrase)) <= GENERIC_WORDS


def method_steps(method: str) -> list[str]:
    """The lines of a method without their numbers; its sentences if it has one line only."""
    lines = [re.sub(r"^\s*+(?:\d++[.)]|[-*])\s++", "", line) for line in method.splitlines() if line.strip()]
    return lines if len(lines) > 1 else sentences(method)


def has_verb(sentence: str) -> bool:
    """Whether a word of a sentence, after the first, can be a verb."""
    return any(_is_verb(word) or _has_verb_form(word) for word in words(sentence)[1:])


@lru_cache(maxsize=50_000)
def _has_verb_form(lower: str) -> bool:
    from lemminflect import getAllLemmas

    return lower.endswith(("s", "ed")) and "VERB" in getAllLemmas(lower)
