"""Every public parser of foreign text, as a function of one text."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pydantic import Field

from ideagora.agents.text import faithfulness, outcomes, plain_text, quotes
from ideagora.evaluators.arena.entries import prompt_injection
from ideagora.importing import fields, sections
from ideagora.models import redact
from ideagora.models.call import Answer, FreeText
from ideagora.models.offline import text as words
from ideagora.models.parsing.structured_output import UnreadableReply, parse_answer
from ideagora.prompts.loader import Prompt
from ideagora.report import text_cleaning as shown
from ideagora.retrieval.ingest import file_types, identifiers
from ideagora.retrieval.ingest.formats import bibtex, csl, pdf_layout, ris

MESSAGE = Prompt("sample", "You judge.", "{{ text | fence }}")


class Sample(Answer):
    """A typed answer with a field of each kind."""

    label: str
    score: int = Field(ge=0, le=10)
    share: float | None = Field(default=None, ge=0, le=1)
    names: tuple[str, ...] = ()


def answer(text: str) -> None:
    with suppress(UnreadableReply):
        parse_answer(text, Sample)


def free_text(text: str) -> None:
    with suppress(UnreadableReply):
        parse_answer(text, FreeText)


def in_fields(text: str) -> None:
    """The text as the value of each field."""
    with suppress(UnreadableReply):
        parse_answer(json.dumps(dict.fromkeys(("label", "score", "share", "names"), text)), Sample)


def page(text: str) -> list[Any]:
    return [
        pdf_layout.extract_abstract(text),
        pdf_layout.extract_sections(text),
        pdf_layout.extract_references(f"References\n{text}"),
    ]


PARSERS: dict[str, Callable[[str], object]] = {
    "answer": answer,
    "free text": free_text,
    "fields of an answer": in_fields,
    "fence": lambda text: MESSAGE.render({"text": text}),
    "file kinds": lambda text: file_types.looks_like_html(text.encode()),
    "pages of a PDF": page,
    "flowing text": pdf_layout.reflow,
    "identifiers": lambda text: [identifiers.find_identifiers(text, text, text), identifiers.find_year(text)],
    "BibTeX": lambda text: list(bibtex.read_bibtex("a.bib", f"@article{{a, title = {{{text}}}}}")),
    "BibTeX file": lambda text: list(bibtex.read_bibtex("a.bib", text)),
    "RIS": lambda text: list(ris.read_ris("a.ris", text)),
    "CSL-JSON": lambda text: list(csl.read_csl("a.json", text)),
    "sections of an idea": sections.split_sections,
    "title of an idea": sections.title_from_text,
    "steps of a plan": fields.parse_steps,
    "sentences": words.sentences,
    "clauses": words.clauses,
    "names": words.names,
    "phrases": words.phrases,
    "steps of a method": words.method_steps,
    "short name": lambda text: words.short_name(text, text),
    "plain text": plain_text.strip_formatting,
    "strangers": lambda text: faithfulness.find_unsupported(text, text),
    "outcomes": outcomes.find_outcomes,
    "flags": lambda text: prompt_injection.injection_flags([text]),
    "blocks of a report": shown.split_blocks,
    "Markdown of a report": shown.escape_markdown,
    "quotes": lambda text: quotes.is_quoted("…".join(text.split()), text),
    "messages": redact.one_line,
}

BODIES = (
    *" \n\t",
    *"Aa1-_.<([{\"'*`#$&,:|>\\%",
    *("<!--", "<!---->", "‹!--", "<think>", "<think>\n", "</a", "<b>", "&#1"),
    *("Aa", "A-", "A. ", "a, ", "x and ", "e.g. A ", "1.1% ", "Novelty: 8, ", "sk-", "http://a "),
    *("{/**/", "{a:", "[1,", "[a](", "{}", "{}\n", '{"a":1}', '"a",'),
    *("\n\n", "\n# A\n", "1. A\n", "- a\n", "[1] a. 2020.\n", "a-\n", "Abstract\n", "Step 1: a\n"),
    *("@a{b,\n", "$a", "TY  - \n", "10.1234/a ", "arXiv:"),
)
"""What is said again and again."""
