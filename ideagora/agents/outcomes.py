"""Which words of a text tell how experiments came out. Pure functions, patterns of English.

An idea taken from a published paper competes with ideas that nobody has tried, so it must not bring
its results along (Chain of Ideas, arXiv 2410.13185, Table 22). A figure that sets something up ("mask
15 % of the tokens") is no outcome, nor is what a plan would look at ("whether it outperforms").
"""

from __future__ import annotations

import re

from ideagora.models.offline.text import sentences

_FIGURE = r"\d+(?:[.,]\d+)?\s*(?:%|per ?cent|percentage points?|points?\b|x\b|×|times\b|-?fold\b)"
_ROSE = (
    r"\b(?:improv|increas|reduc|decreas|rais|rose|reach|achiev|attain|gain|scor|solv|lower|boost|drop|fell|"
    r"won|win|match)\w*"
)
_PATTERNS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"\b(?:out-?perform|surpass|exceed)(?:s|ed|ing)?\b[^.;]{0,60}",
        r"\bbeats?\b[^.;]{0,40}",
        r"\b(?:new )?state[- ]of[- ]the[- ]art (?:results?|performance|accuracy|scores?)",
        rf"{_ROSE}[^.;]{{0,60}}?(?<![\w.]){_FIGURE}",
        rf"(?<![\w.]){_FIGURE}\s*(?:better|higher|lower|fewer|faster|gains?|improvements?|accuracy|reduction|increase)",
        rf"{_ROSE}[^.;]{{0,40}}?\b(?:accuracy|score|bleu|f1|rouge|exact match|pass@\d+|elo)\b[^.;]{{0,20}}?\d",
        r"\b(?:results?|experiments?|evaluations?|ablations?) (?:show|indicate|demonstrate|confirm|reveal|suggest)\w*\b",
        r"\bwe (?:find|found|show|showed|observe|observed|demonstrate|demonstrated)\b",
        r"\b(?:significant(?:ly)?|substantial(?:ly)?|consistent(?:ly)?|markedly) "
        r"(?:better|higher|improve[sd]?|reduce[sd]?|outperform)\w*",
    )
)
_PLANNED = re.compile(
    r"\b(?:whether|if|should|would|could|can|may|might|expect|hypothes|to (?:test|check|see|find out|measure)|"
    r"refuted?|unless|aims?|in order to|so that|how (?:much|often|many|far))",
    re.I,
)


def outcomes(text: str) -> list[str]:
    """The words that tell an outcome, one for each sentence that does, in order."""
    found = [_outcome(sentence) for sentence in sentences(text)]
    return [words for words in found if words]


def without_outcomes(text: str) -> str:
    """The sentences that tell no outcome."""
    return " ".join(sentence for sentence in sentences(text) if not _outcome(sentence))


def _outcome(sentence: str) -> str | None:
    """The first words of a sentence that tell an outcome; a sentence on what is planned tells none."""
    if _PLANNED.search(sentence):
        return None
    matches = (pattern.search(sentence) for pattern in _PATTERNS)
    return next((match.group().strip() for match in matches if match), None)
