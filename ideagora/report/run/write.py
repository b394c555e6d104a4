"""Writes ``report.md`` and ``report.html`` into a run's folder.

The same folder always gives the same bytes.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.errors import FolderUnusable
from ideagora.models.redact import redact_keys
from ideagora.report.drawings.geometry import pixels
from ideagora.report.run.load import load_run
from ideagora.report.run.page_records import Ref, Report
from ideagora.report.run.view import build_report
from ideagora.report.run.wording.provenance import OFFLINE_LEADS_NOTICE, OFFLINE_NOTICE, REAL_MODEL
from ideagora.report.text_cleaning import Item, escape_markdown, split_blocks

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

MARKDOWN_FILE = "report.md"
HTML_FILE = "report.html"


def write_report(folder: Path) -> tuple[Path, Path]:
    """Write the report of a run into its folder; each file is written atomically.

    Args:
        folder: a run's folder with ``run.json`` and, if there are ideas, ``ideas.jsonl``.

    Returns:
        The paths of ``report.md`` and ``report.html``.

    Raises:
        RunError: the folder is not the folder of a run.
        FolderUnusable: a file cannot be read or written.
    """
    report = build_report(load_run(folder))
    pages = {folder / MARKDOWN_FILE: as_markdown(report), folder / HTML_FILE: as_html(report)}
    for path, text in pages.items():
        write_file(path, text)
    return folder / MARKDOWN_FILE, folder / HTML_FILE


def as_html(report: Report) -> str:
    """Return the report as one self-contained HTML page without scripts."""
    return html_page("report.html", report=report)


def as_markdown(report: Report) -> str:
    """Return the report as Markdown."""
    return markdown_page("report.md", report=report)


def html_page(template: str, **values: Any) -> str:
    """Render a template as one self-contained HTML page; every value is escaped."""
    return _render(_html_environment(), template, values)


def markdown_page(template: str, **values: Any) -> str:
    """Render a template as Markdown without repeated empty lines; every value is escaped."""
    return re.sub(r"\n{3,}", "\n\n", _render(_markdown_environment(), template, values))


def load_templates(html: str, markdown: str) -> None:
    """Compile a template for HTML and one for Markdown, which takes longer than rendering them."""
    _html_environment().get_template(html)
    _markdown_environment().get_template(markdown)


def _render(environment: jinja2.Environment, name: str, values: dict[str, Any]) -> str:
    page = environment.get_template(name).render(
        **values, offline_words=OFFLINE_NOTICE, lead_words=OFFLINE_LEADS_NOTICE, real_model=REAL_MODEL
    )
    return f"{page.strip()}\n"


@cache
def _html_environment() -> jinja2.Environment:
    environment = _environment()
    environment.filters["blocks"] = split_blocks
    environment.filters["pixels"] = pixels
    return environment


@cache
def _markdown_environment() -> jinja2.Environment:
    """Return an environment that escapes every value for Markdown, unless a filter returned it."""
    from markupsafe import Markup

    environment = _environment(finalize=_markdown_value)
    environment.filters["prose"] = _markdown_prose
    environment.filters["paper"] = _markdown_paper
    environment.filters["name"] = _markdown_name
    environment.filters["verbatim"] = Markup
    return environment


def _environment(**options: Any) -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("ideagora.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **options,
    )


def _markdown_value(value: Any) -> Markup:
    from markupsafe import Markup

    return value if isinstance(value, Markup) else _safe(escape_markdown(str(value)))


def _safe(text: str) -> Markup:
    """Mark Markdown as safe, after external text in it was escaped."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704


def _markdown_prose(text: str) -> Markup:
    """Return paragraphs and lists as Markdown blocks, with their line breaks."""
    parts = []
    for block in split_blocks(text):
        if block.kind == "paragraph":
            parts.append("  \n".join(escape_markdown(line) for line in block.lines))
        else:
            parts.append("\n".join(_markdown_item(item) for item in block.items))
    return _safe("\n\n".join(parts))


def _markdown_item(item: Item) -> str:
    mark = "-" if item.number is None else f"{item.number}."
    return f"{mark} " + f"  \n{' ' * (len(mark) + 1)}".join(escape_markdown(line) for line in item.lines)


def _markdown_paper(ref: Ref) -> Markup:
    """Return a paper's title, linked if its URL is known, and its year."""
    return _markdown_link(ref.title, ref)


def _markdown_name(ref: Ref) -> Markup:
    """Return a paper's short name, linked if its URL is known, and its year."""
    return _markdown_link(ref.name, ref)


def _markdown_link(words: str, ref: Ref) -> Markup:
    linked = f"[{escape_markdown(words)}]({ref.url})" if ref.url else escape_markdown(words)
    return _safe(linked + (f" ({escape_markdown(ref.year)})" if ref.year else ""))


def write_file(path: Path, text: str) -> None:
    """Write a file atomically, with API keys removed."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(redact_keys(text), encoding="utf-8", newline="\n")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        why = f"{path} cannot be written ({error.strerror})"
        raise FolderUnusable(f"{why}: check the folder's permissions and the free space.") from None
