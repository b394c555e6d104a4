"""Flags text in an idea that addresses its judge. Flagged ideas are judged and reported.

The fence in the prompt protects the judge; the flags inform the reader. Patterns are narrow: an idea about
judges that prefer the first answer is not an attempt to be preferred.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_INVISIBLE = re.compile(
    r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]"
)
_HIDING = re.compile(
    r"[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]|(?:[\u200b\u2060-\u2064\ufeff].*?){3}", re.S
)

_SPACES = re.compile(r"\s+")

_WHO = r"(?:judges?|reviewers?|evaluators?|graders?|raters?|assessors?|assistant|language model|llm|ai)"
_MINE = r"(?:this|my|our|the (?:first|second|above|present)|(?:idea|proposal|plan) (?:1|2|a|b|one|two))"
_PRAISE = (
    r"(?:better|best|winn(?:er|ing)|superior|preferred|highest|top|first|novel|first place|10/10|full marks)"
)

PATTERNS: dict[str, tuple[str, ...]] = {
    "asks to ignore instructions": (
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,40}\b(?:previous|prior|above|earlier|"
        r"preceding|all|any|your|system|other)\b[^.!?\n]{0,30}\b(?:instructions?|prompts?|rules|criteria|"
        r"directions|guidelines)\b",
        r"\b(?:ignore|disregard|forget)\b (?:the |all |any )*(?:instructions?|criteria|rules)\b",
        r"\b(?:new|updated|revised|real) instructions? (?:for you )?(?:follow|below|:)",
        r"\byou are now\b|\bfrom now on,? you\b",
    ),
    "asks for the verdict": (
        r"(?:^|(?<=[.!?:;,\n])|(?<=[.!?:;,\n] )|"
        r"\bplease |\bmust |\byou (?:must|should|have to|will|need to) )"
        rf"(?:choose|pick|select|prefer|favou?r|vote for|declare|rate|rank|score|judge|mark)\s{_MINE}\b"
        r"(?:\s(?:idea|proposal|plan|one|option))?"
        r"(?=\s?(?:$|[.!;,\n]|(?:first|as|to be|over|higher|highest)\b|(?:on|for) (?:all|every|each)\b))",
        rf"\b{_MINE}(?:\s(?:idea|proposal|plan|one))?\s(?:should|must|has to|needs to|is to) "
        r"(?:be (?:chosen|judged|rated|ranked|scored|preferred|declared|selected|marked)|win)\b",
        r"\b(?:answer|respond|reply|output|return|say)\b[^.!?\n]{0,30}[\"'“‘]?\b(?:first|second|tie)\b[\"'”’]?\s"
        r"(?:for|on|to) (?:all|every|each)\b",
        rf"\b(?:give|assign|award)\s(?:it|{_MINE})\b[^.!?\n]{{0,40}}\b{_PRAISE}\b",
    ),
    "addresses the judge": (
        rf"\b(?:dear|hey|hello|attention|note to|message (?:to|for)|instructions? (?:to|for)|memo to)[,:]?\s"
        rf"(?:the |all |any )?{_WHO}\b(?=\s?(?:$|[:,!.\n—-]))",
        rf"\b(?:as|if you are|you are) (?:a|an|the) (?:fair |careful |helpful |impartial |ai )?{_WHO}\b,? "
        r"(?:you|please|choose|pick)",
        rf"\b{_WHO}[:,]\s?(?:please|you (?:must|should)|choose|pick|prefer|ignore|select)\b",
    ),
    "imitates a role or a prompt": (
        r"<\|[a-z_]+\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|user|human|instructions?|prompt)>",
        r"(?:^|\n)\s?(?:#{1,4}\s?)?(?:system|assistant|human)\s?(?:prompt|message)?\s?:",
        r"(?:^|\n)\s?#\s?(?:system|user)\s?(?:\n|$)",
        r"<\s?/?\s?materials?\b",
    ),
    "imitates a verdict": (
        r"[\"']?(?:novelty|significance|clarity|feasibility|effectiveness|technical_quality)[\"']?\s?[:=]\s?"
        r"[\"'](?:first|second|tie)[\"']",
    ),
}
"""Kind of attempt -> patterns, matched case-insensitively on NFKC text without invisible characters and with
runs of white space collapsed to one space or line break."""

HIDDEN = "hides characters"
_COMPILED = {kind: [re.compile(one, re.IGNORECASE) for one in some] for kind, some in PATTERNS.items()}


def injection_flags(texts: Iterable[str]) -> tuple[str, ...]:
    """The kinds of attempt found in the texts of one idea, in a fixed order."""
    whole = "\n".join(texts)
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", whole))
    seen = _SPACES.sub(lambda run: "\n" if "\n" in run[0] else " ", plain)
    found = [kind for kind, patterns in _COMPILED.items() if any(one.search(seen) for one in patterns)]
    return (*found, HIDDEN) if _HIDING.search(whole) else tuple(found)
