"""Which words of a text tell how experiments came out. Pure functions, patterns of English.

An idea taken from a published paper competes with ideas that nobody has tried, so it must not bring
its results along (Chain of Ideas, arXiv 2410.13185, Table 22). A figure that sets something up ("mask
15 % of the tokens") is no outcome, nor is what a plan would look at ("whether it outperforms"). Figures
and comparisons are found, outcomes in plain words often not; bench/outcomes.py counts both.
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
"""Before the words, these say that the outcome is not known yet."""


def find_outcomes(text: str) -> list[str]:
    """The words that tell an outcome, one for each sentence that does, in order."""
    found = [_find_outcome(sentence) for sentence in sentences(text)]
    return [words for words in found if words]


def remove_outcomes(text: str) -> str:
    """The sentences that tell no outcome."""
    return " ".join(sentence for sentence in sentences(text) if not _find_outcome(sentence))


def _find_outcome(sentence: str) -> str | None:
    """The first words of a sentence that tell an outcome, unless it only asks for one."""
    for pattern in _PATTERNS:
        found = pattern.search(sentence)
        if found and not _PLANNED.search(sentence[: found.start()]):
            return found.group().strip()
    return None
