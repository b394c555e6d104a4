"""Runs ``ideagora library``: adds papers to the store, searches it, and copies it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ideagora.config import SettingOverrides, Settings, load_settings
from ideagora.errors import IdeagoraError, LibraryError, SettingsError, UsageError
from ideagora.report.console import cell, plain, print_error
from ideagora.report.figure_table import FigureTable
from ideagora.schema import ScoredPaper, Topic

if TYPE_CHECKING:
    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.retrieval.ingest.add_papers import IngestSummary
    from ideagora.retrieval.store.migration import MigrationSummary
    from ideagora.retrieval.store.store import Store

_MOST_PROBLEMS = 50
"""Maximum lines on the screen; ``--json`` lists all."""


def add(paths: Sequence[Path], flags: SettingOverrides, as_json: bool, quiet: bool) -> int:
    """Add papers from files and folders to the store; return 1 if nothing could be read."""
    return _exit_code(lambda errors: _add(paths, load_settings(**flags), as_json, quiet, errors))


def stats(flags: SettingOverrides, as_json: bool) -> int:
    """Print the contents of the store."""
    return _exit_code(lambda errors: _stats(load_settings(**flags), as_json, errors))


def search(query: str, k: int, before: str | None, flags: SettingOverrides, as_json: bool) -> int:
    """Print the papers of the store that are most similar to a query."""
    return _exit_code(lambda errors: _search(query, k, before, load_settings(**flags), as_json, errors))


def migrate(target: str, source: str | None, flags: SettingOverrides, as_json: bool, quiet: bool) -> int:
    """Copy all papers of one store to another, which may be a folder or a server."""
    return _exit_code(lambda errors: _migrate(target, source, load_settings(**flags), as_json, quiet, errors))


def _exit_code(work: Callable[[Console], int]) -> int:
    errors = Console(stderr=True)
    logging.getLogger("ideagora").setLevel(logging.WARNING)
    try:
        return work(errors)
    except KeyboardInterrupt:
        errors.print("\nStopped. Run the same command again to resume; papers added so far are saved.")
        return 130
    except IdeagoraError as error:
        print_error(errors, str(error))
        return error.exit_code


@contextmanager
def _open_store(
    settings: Settings, say: Callable[[str], None], *, fill: bool, copy_if_read_only: bool = True
) -> Iterator[tuple[Store, Embedder]]:
    """Open the store of the settings.

    Args:
        settings: the settings, which name the store.
        say: receives status messages.
        fill: add the starter corpus first, so that later papers are matched against it.
        copy_if_read_only: use a temporary copy if the store is read-only.
    """
    from ideagora.graphs.files import make_private
    from ideagora.models.embeddings.embedder import load_embedder
    from ideagora.retrieval.factory import add_starter_corpus
    from ideagora.retrieval.store.store import Store

    if not copy_if_read_only:
        make_private(settings.home)
    embedder = load_embedder(settings.embedder, settings.home / "cache")
    with Store.from_settings(settings, embedder, say, copy_if_read_only=copy_if_read_only) as store:
        if fill and "starter" in settings.source:
            add_starter_corpus(store, lambda done, total: say(f"filling the store: {done} of {total} papers"))
        yield store, embedder


def _add(paths: Sequence[Path], settings: Settings, as_json: bool, quiet: bool, errors: Console) -> int:
    from ideagora.retrieval.ingest.add_papers import PaperIngest
    from ideagora.retrieval.store.fulltext import FullTextStore

    with _progress_bar(errors, quiet) as bar:
        task = bar.add_task("opening the store", total=1.0)

        def tell(file: str, part: float, papers: int) -> None:
            bar.update(task, completed=part, description=f"{papers} papers, {_short_name(file)}")

        say = lambda text: bar.update(task, description=plain(text))  # noqa: E731
        with _open_store(settings, say, fill=True, copy_if_read_only=False) as (store, embedder):
            summary = PaperIngest(store, FullTextStore(store.folder), embedder, tell).add(paths)
    if as_json:
        print(json.dumps(summary.model_dump(), ensure_ascii=False))
    else:
        _print_summary(summary, settings, Console(), errors)
    return 1 if summary.is_failure else 0


def _progress_bar(errors: Console, quiet: bool) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=errors,
        transient=True,
        disable=quiet or not errors.is_terminal,
    )


def _short_name(file: str) -> str:
    return plain(Path(file).name)[:40]


def _print_summary(summary: IngestSummary, settings: Settings, console: Console, errors: Console) -> None:
    for text in (*map(str, summary.problems[:_MOST_PROBLEMS]), *summary.notes):
        errors.print(Text(plain(text)), soft_wrap=True)
    if len(summary.problems) > _MOST_PROBLEMS:
        errors.print(f"… and {len(summary.problems) - _MOST_PROBLEMS} more; --json lists all.")
    parts = [f"{summary.added} added", f"{summary.updated} updated", f"{summary.same} unchanged"]
    if summary.full_texts:
        parts.append(f"{summary.full_texts} with full text")
    if summary.citations:
        parts.append(f"{summary.citations} new citations between papers")
    console.print(Text(f"Papers: {', '.join(parts)}."), soft_wrap=True)
    console.print(Text(f"Store: {plain(settings.store_url or str(settings.store_folder))}"), soft_wrap=True)
    files = [f"{summary.read} read", f"{summary.skipped} read before"]
    unread = summary.files - summary.read - summary.skipped
    files += [f"{unread} without a paper"] if unread else []
    files += [f"{summary.ignored} of other types ignored"] if summary.ignored else []
    console.print(Text(f"Files: {', '.join(files)}."), soft_wrap=True)
    if summary.problems:
        number = len(summary.problems)
        errors.print(
            f"{number} {'entry' if number == 1 else 'entries'} could not be read, see above.", highlight=False
        )


def _stats(settings: Settings, as_json: bool, errors: Console) -> int:
    from ideagora.retrieval.store.embedded.sqlite_records import RECORDS_FILE
    from ideagora.retrieval.store.fulltext import FullTextStore

    folder = settings.store_folder
    if settings.store_url is None and not (folder / RECORDS_FILE).exists():
        raise LibraryError(
            f"there is no store in {folder} yet. The first run creates it, or: ideagora library add PATH."
        )
    with _open_store(settings, lambda text: errors.print(plain(text)), fill=False) as (store, _):
        figures = store.stats().model_dump()
        texts = FullTextStore(store.folder)
        figures |= {
            "own_papers": len(texts.own_papers()),
            "full_texts": texts.count(),
            "sources": figures.pop("sources"),
        }
    if as_json:
        print(json.dumps(figures, ensure_ascii=False))
        return 0
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    figures["sources"] = ", ".join(f"{name} {number}" for name, number in figures["sources"].items())
    size = figures.pop("size_bytes")
    figures["size"] = None if size is None else f"{size / 1e6:,.1f} MB"
    for name, value in figures.items():
        shown = "unknown" if value is None else plain(f"{value:,}" if isinstance(value, int) else str(value))
        table.add_row(name.replace("_", " "), Text(shown, overflow="fold"))
    Console().print(table)
    return 0


def _search(
    query: str, k: int, before: str | None, settings: Settings, as_json: bool, errors: Console
) -> int:
    from ideagora.retrieval.library import Library
    from ideagora.retrieval.store.source import StoreSource

    if not query.strip():
        raise UsageError("The query is empty. Describe the papers in a few words.")
    try:
        topic = Topic(text=query, before=before)
    except ValidationError:
        raise SettingsError(f"--before is {before!r}: write YYYY, YYYY-MM or YYYY-MM-DD.") from None
    with _open_store(settings, lambda text: errors.print(plain(text)), fill=True) as (store, embedder):
        store.embed_pending(
            lambda done, total: errors.print(f"embedding papers that runs stored: {done} of {total}")
        )
        library = Library(StoreSource(store, embedder), embedder).for_topic(topic)
        papers = asyncio.run(library.search(query, k))
    if as_json:
        print(json.dumps([scored.model_dump(mode="json") for scored in papers], ensure_ascii=False))
    else:
        _print_papers(papers)
    return 0


def _print_papers(papers: Sequence[ScoredPaper]) -> None:
    console = Console()
    if not papers:
        console.print("No papers found. Add some with: ideagora library add PATH.", highlight=False)
        return
    rows = [
        [cell(one.paper.title), cell(one.paper.id), cell(one.paper.year), f"{one.similarity:.3f}"]
        for one in papers
    ]
    console.print(FigureTable(["title", "id", "year", "similarity"], rows, names=2))


def _migrate(
    target: str, source: str | None, settings: Settings, as_json: bool, quiet: bool, errors: Console
) -> int:
    from ideagora.models.embeddings.embedder import load_embedder
    from ideagora.retrieval.store.migration import StoreLocation, migrate

    def place(text: str | None) -> StoreLocation:
        named = settings if text is None else settings.model_copy(update={"store": text})
        return StoreLocation(named.store_url, named.store_folder)

    embedder = load_embedder(settings.embedder, settings.home / "cache")
    with _progress_bar(errors, quiet) as bar:
        task = bar.add_task("opening the stores", total=1.0)

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, description=f"{done} of {total} papers")

        say = lambda text: bar.update(task, description=plain(text))  # noqa: E731
        moved = migrate(place(source), place(target), embedder, tell, say)
    if as_json:
        print(json.dumps(moved.model_dump(), ensure_ascii=False))
    else:
        _print_migration(moved, Console())
    return 0


def _print_migration(moved: MigrationSummary, console: Console) -> None:
    lines = [
        f"Papers: all {moved.papers:,} of {moved.source} are in {moved.target}.",
        f"Sent now: {moved.sent:,}, already there: {moved.papers - moved.sent:,}.",
        f"Citations beyond the papers' own references: {moved.citations:,}, all copied.",
    ]
    if moved.embedded:
        lines.append(f"Embedded again: {moved.embedded:,}.")
    if moved.files:
        lines.append(f"Merged: {', '.join(moved.files)}.")
    lines.append(
        f"{moved.source} is unchanged. To use the copy, set --store {moved.target} or IDEAGORA_STORE."
    )
    for line in lines:
        console.print(Text(plain(line)), soft_wrap=True)
