"""Convert an idea's text to plain sentences without Markdown, headings, lists and scores.

The conversion is deterministic and keeps the words. It removes markup, section labels, link targets and
statements about the author. markdown-it does the parsing, since only CommonMark's rules distinguish
emphasis from a multiplication sign.
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
    r"(?:\s*+(?:/|out of)\s*+\d++)?"
)
_SCORES = re.compile(rf"\s*+{_SCORE}(?:[\s,;|]*+{_SCORE})*[\s.,;]*+", re.I)
_SCORES_IN_BRACKETS = re.compile(rf" ?[(\[]{_SCORE}(?:\s*+[,;|]\s*+{_SCORE})*[)\]]", re.I)
_AUTHORSHIP = re.compile(
    r"\b(?:(?:this|the) (?:idea|proposal|hypothesis|plan|text) (?:was|is|has been) "
    r"(?:generated|written|produced|proposed|created|made) by\b|"
    r"(?:generated|written|produced|created) by (?:the )?(?:AI\b|GPT|ChatGPT|Claude|Gemini|Llama|"
    r"an? (?:AI|LLM|language model|agent))|as an ai\b)",
    re.I,
)
_FORMULA = re.compile(r"(?s:\$\$[^$].*?\$\$)|(?<![\\$])\$(?=[^\s$])[^$\n]*+(?<=[^\s\\])\$(?!\d)")
"""Text between dollar signs, where backslashes and underscores are not Markdown; not text between prices."""
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_MULTIPLICATION = re.compile(r"(?<=[\w)\]])(?<!\*)\*(?!\*)(?=[\w(\[])")
_TAG = re.compile(
    r"</?(?:a|b|br|code|div|em|h[1-6]|hr|i|img|li|ol|p|pre|span|strong|sub|sup|table|t[dhr]|u|ul)\b[^<>]*+>"
    r"|<!--(?:(?!<!--)[\s\S])*?-->",
    re.I,
)
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "\u00a0": " ", "\u200b": ""})
_SENTENCE_ENDS = (".", "!", "?", ":", ";", ",")


def strip_formatting(text: str) -> str:
    """Return the text as sentences in one paragraph; empty if it holds only markup.

    Each block and list item becomes a sentence. Section labels ("Abstract:"), scores ("Novelty: 8/10") and
    sentences about who wrote the text are removed.
    """
    parts = [_strip_label(_strip_scores(_normalize(part))) for part in _blocks(_prepare(text))]
    return _strip_authorship(" ".join(_as_sentence(part) for part in parts if re.search(r"\w", part)))


def strip_title(text: str) -> str:
    """Return a title on one line, without label, quotation marks, markup and final full stop."""
    return strip_formatting(text).strip(" \"'").rstrip(".:;,").strip(" \"'")


def strip_item(text: str) -> str:
    """Return a list entry without number, bullet, markup and added full stop."""
    stripped = strip_formatting(text)
    return stripped if text.rstrip(" *_`").endswith((".", "!", "?")) else stripped.removesuffix(".")


def _prepare(text: str) -> str:
    """Remove lines that only hold scores; escape formulas and multiplication signs."""
    lines = [line for line in text.split("\n") if not _SCORES.fullmatch(re.sub(r"[*_#>|]", "", line))]
    literal = _FORMULA.sub(lambda found: _PUNCTUATION.sub(r"\\\1", found[0]), "\n".join(lines))
    return _MULTIPLICATION.sub(r"\\*", literal)


def _blocks(text: str) -> list[str]:
    """Return the text of each paragraph, heading, list item, table row and code block."""
    blocks: list[str] = []
    row: list[str] | None = None
    for token in _parser().parse(text):
        if token.type == "tr_open":
            row = []
        elif token.type == "tr_close":
            blocks.append(", ".join(row or []))
            row = None
        elif token.type in ("fence", "code_block", "html_block"):
            blocks.append(_TAG.sub(" ", token.content))
        elif token.type == "inline":
            text = _inline_text(token)
            blocks.append(text) if row is None else row.append(text)
    return blocks


def _inline_text(token: Token) -> str:
    """Return a line's words without markup and link targets, with breaks as spaces."""
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
    stripped = re.sub(r"^\s*+[•–▪◦-]\s+", "", text).strip()
    is_complete = stripped.endswith(_SENTENCE_ENDS) or stripped[-2:] in ('."', ".'", ".)")
    return stripped if is_complete else f"{stripped}."


def _normalize(text: str) -> str:
    without_symbols = "".join(c for c in text.translate(_QUOTES) if unicodedata.category(c) != "So")
    return " ".join(without_symbols.split())


def _strip_authorship(text: str) -> str:
    if not _AUTHORSHIP.search(text):
        return text
    from ideagora.models.offline.text import sentences

    return " ".join(sentence for sentence in sentences(text) if not _AUTHORSHIP.search(sentence))
