"""Find experimental results in English text by patterns.

An idea extracted from a published paper competes with untested ideas, so it must not contain its results
(Chain of Ideas, arXiv 2410.13185, Table 22). Figures of a setup ("mask 15 % of the tokens") and planned
comparisons ("whether it outperforms") are not results. The patterns find figures and comparisons, but often
miss results in plain words; bench/outcomes.py measures both.
"""

from __future__ import annotations

import re

from ideagora.models.offline.text import sentences

_FIGURE = r"\d+(?:[.,]\d+)?\s*(?:%|per ?cent|percentage points?|points?\b|x\b|×|times\b|-?fold\b)"
_CHANGE_VERB = (
    r"\b(?:improv|increas|reduc|decreas|rais|rose|reach|achiev|attain|gain|scor|solv|lower|lift|boost|drop|fell|"
    r"won|win|match|complet|answer|pass)\w*+"
)
_DEGREE = r"(?:clear|large|big|strong|further|consistent|substantial|significant|notable|marked|considerable)"
_PATTERNS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"\b(?:out-?perform|surpass|exceed|excel)(?:s|ed|led|ing)?\b[^.;]{0,60}",
        r"\b(?:beats?|lagg?(?:s|ed)? (?:far )?behind|on par with|agree[ds]? better with)\b[^.;]{0,40}",
        r"\b(?:new )?state[- ]of[- ]the[- ]art (?:results?|performance|accuracy|scores?)",
        rf"{_CHANGE_VERB}[^.;]{{0,60}}?(?<![\w.]){_FIGURE}",
        rf"{_CHANGE_VERB}[^;]{{0,60}}?(?<![\w.-])\d+\.\d+(?![\w-])(?!\.\d)",
        rf"\b(?:gave|averaged|went from|was|were|had)\b[^.;]{{0,40}}?(?<![\w.]){_FIGURE}",
        rf"(?<![\w.]){_FIGURE}\s*"
        r"(?:better|higher|lower|fewer|faster|gains?|improvements?|accuracy|reduction|increase)",
        r"\b(?:accuracy|score|bleu|f1|rouge|exact match|pass@\d+|elo|fid)\b "
        r"(?:of|was|is|to|from|rose|fell|by)\b[^.;]{0,20}?(?<![\w.])\d",
        rf"\b{_DEGREE}(?:ly)? "
        r"(?:gains?|improvements?|advantages?|drops?|better|higher|worse|more|fewer|improv\w+|reduce[sd])\b",
        r"\b(?:rated|judged|ranked|preferred) (?:\w+ly )?"
        r"(?:more|less|higher|lower|better|worse|as|over|to)\b",
        r"\b(?:results?|experiments?|evaluations?|ablations?) "
        r"(?:show|indicate|demonstrate|confirm|reveal|suggest)\w*\b",
        r"\bwe (?:find|found|show|showed|observe|observed|demonstrate|demonstrated)\b",
        r"\b(?:matched|improved|helped|raised|rivall?ed|came near|fell short|failed) "
        r"(?:or passed |on |over |to |upon )",
    )
)
_PLANNED = re.compile(
    r"\b(?:whether|if|should|would|could|expect|hypothes|to (?:test|check|see|find out|measure)|"
    r"refuted?|unless|how (?:much|often|many|far))",
    re.I,
)
"""Words that mark a following outcome as not yet known."""


def find_outcomes(text: str) -> list[str]:
    """Return the first reported outcome of each sentence that has one, in order."""
    matches = [_find_outcome(sentence) for sentence in sentences(text)]
    return [words for words in matches if words]


def remove_outcomes(text: str) -> str:
    """Return the text without sentences that report an outcome."""
    return " ".join(sentence for sentence in sentences(text) if not _find_outcome(sentence))


def _find_outcome(sentence: str) -> str | None:
    """Return the first reported outcome of a sentence, ignoring planned ones."""
    for pattern in _PATTERNS:
        found = pattern.search(sentence)
        if found and not _PLANNED.search(sentence[: found.start()]):
            return found.group().strip()
    return None
