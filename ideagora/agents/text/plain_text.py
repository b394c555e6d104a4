"""Any idea's text in one plain form: sentences without Markdown, headings, lists and scores.

Deterministic, and words are kept: what goes is marks, the headings that every idea has, links behind
their words, and what a generator says of itself. markdown-it parses, since what is a mark and what a
multiplication sign is decided by CommonMark's rules, not by a pattern.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_PART = (
    r"title|abstract|summary|tl;?dr|motivation|background|problem(?: statement)?|novelty|"
    r"(?:proposed )?(?:method(?:ology)?|approach)|(?:final |research )?idea|(?:short )?hypothesis|"
    r"experiments?(?: plan| design)?|experimental (?:plan|design)|step-by-step experiment plan"
)
_LABEL = re.compile(rf"^\s*+(?:\d++[.)]\s*+)?(?:{_PART})\s*+(?::|–|—|\Z)\s*+", re.I)
_SCORE = (
    r"(?:interestingness|feasibility|novelty|overall|confidence|excitement|effectiveness|significance|"
    r"clarity|originality|score|rating)(?: score| rating)?\s*+[:=]\s*+\d++(?:\.\d++)?"
    r"(?:\s*+(?:/|out of)\s*+\d++)?+"
)
_SCORES = re.compile(rf"\s*+{_SCORE}(?:[\s,;|]*+{_SCORE})*+[\s.,;]*+", re.I)
_SCORES_IN_BRACKETS = re.compile(rf" ?[(\[]{_SCORE}(?:\s*+[,;|]\s*+{_SCORE})*+[)\]]", re.I)
_AUTHORSHIP = re.compile(
    r"\b(?:(?:this|the) (?:idea|proposal|hypothesis|plan|text) (?:was|is|has been) "
    r"(?:generated|written|produced|proposed|created|made) by\b|"
    r"(?:generated|written|produced|created) by (?:the )?(?:AI\b|GPT|ChatGPT|Claude|Gemini|Llama|"
    r"an? (?:AI|LLM|language model|agent))|as an ai\b)",
    re.I,
)
_FORMULA = re.compile(
    r"\$\$[^$]++(?:\$(?!\$)[^$]++)*+\$\$|(?<![\\$])\$(?=[^\s$])[^$\n]*+(?<=[^\s\\])\$(?!\d)"
)
"""Between dollars, where a backslash or an underscore is no Markdown; not the text between two prices."""
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_MULTIPLICATION = re.compile(r"(?<=[\w)\]])(?<!\*)\*(?!\*)(?=[\w(\[])")
_TAG = re.compile(
    r"</?(?:a|b|br|code|div|em|h[1-6]|hr|i|img|li|ol|p|pre|span|strong|sub|sup|table|t[dhr]|u|ul)\b[^<>]*+>"
    r"|<!--(?:[^-<]++|-(?!->)|<(?!!--))*+-->",
    re.I,
)
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "\u00a0": " ", "\u200b": ""})
_SENTENCE_ENDS = (".", "!", "?", ":", ";", ",")


def strip_formatting(text: str) -> str:
    """The text as sentences in one paragraph; empty when it held nothing but marks.

    Blocks and list items become sentences of their own. A word at a line's beginning that only names
    the part ("Abstract:") goes, as do scores ("Novelty: 8/10") and sentences on who made the text.
    """
    parts = [_strip_label(_strip_scores(_normalize(part))) for part in _blocks(_prepare(text))]
    return _strip_authorship(" ".join(_as_sentence(part) for part in parts if re.search(r"\w", part)))


def strip_title(text: str) -> str:
    """A title on one line, without label, quotes, marks and closing stop."""
    return strip_formatting(text).strip(" \"'").rstrip(".:;,").strip(" \"'")


def strip_item(text: str) -> str:
    """An entry of a list, without number, bullet, marks and closing stop that it did not have."""
    said = strip_formatting(text)
    return said if text.rstrip(" *_`").endswith((".", "!", "?")) else said.removesuffix(".")


def _prepare(text: str) -> str:
    """Without lines that only score, and with multiplication signs that are taken for no emphasis."""
    lines = [line for line in text.split("\n") if not _SCORES.fullmatch(re.sub(r"[*_#>|]", "", line))]
    literal = _FORMULA.sub(lambda found: _PUNCTUATION.sub(r"\\\1", found[0]), "\n".join(lines))
    return _MULTIPLICATION.sub(r"\\*", literal)


def _blocks(text: str) -> list[str]:
    """The text of each paragraph, heading, list item, table row and code block."""
    found: list[str] = []
    row: list[str] | None = None
    for token in _parser().parse(text):
        if token.type == "tr_open":
            row = []
        elif token.type == "tr_close":
            found.append(", ".join(row or []))
            row = None
        elif token.type in ("fence", "code_block", "html_block"):
            found.append(_TAG.sub(" ", token.content))
        elif token.type == "inline":
            said = _inline_text(token)
            found.append(said) if row is None else row.append(said)
    return found


def _inline_text(token: Token) -> str:
    """Words of a line: no marks, links by their words, breaks as spaces."""
    parts = []
    for child in token.children or []:
        if child.type in ("text", "code_inline", "image"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "html_inline":
            parts.append(_TAG.sub("", child.content))
    return "".join(parts)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def _strip_label(text: str) -> str:
    return _LABEL.sub("", text, count=1)


def _strip_scores(text: str) -> str:
    return "" if _SCORES.fullmatch(text) else _SCORES_IN_BRACKETS.sub("", text)


def _as_sentence(text: str) -> str:
    said = re.sub(r"^\s*+[•–▪◦-]\s+", "", text).strip()
    return said if said.endswith(_SENTENCE_ENDS) or said[-2:] in ('."', ".'", ".)") else f"{said}."


def _normalize(text: str) -> str:
    spoken = "".join(c for c in text.translate(_QUOTES) if unicodedata.category(c) != "So")
    return " ".join(spoken.split())


def _strip_authorship(text: str) -> str:
    if not _AUTHORSHIP.search(text):
        return text
    from ideagora.models.offline.text import sentences

    return " ".join(sentence for sentence in sentences(text) if not _AUTHORSHIP.search(sentence))
