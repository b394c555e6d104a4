"""Runs ``ideagora bench fetch``: downloads the published data set of a benchmark."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from ideagora.config import load_settings
from ideagora.errors import IdeagoraError
from ideagora.report.console import plain, print_error

if TYPE_CHECKING:
    from ideagora.benchmarks.fetch.listing import Listing


def fetch(
    benchmark: str,
    flags: dict[str, Any],
    *,
    folder: Path | None = None,
    papers: bool = False,
    repository: str | None = None,
    endpoint: str | None = None,
    quiet: bool = False,
) -> int:
    """Download a benchmark's data set to a folder, by default ``<home>/data/<benchmark>``; print the folder.

    Args:
        benchmark: its name.
        flags: settings.
        folder: where to save it.
        papers: download the papers' PDFs as well.
        repository: ``owner/name`` of a copy.
        endpoint: address of the hub; ``None``: ``HF_ENDPOINT``, else the Hugging Face hub.
        quiet: show no progress.
    """
    from ideagora.benchmarks.fetch.listing import look_up, published_data

    errors = Console(stderr=True)
    logging.getLogger("ideagora").setLevel(logging.WARNING)
    try:
        data = published_data(benchmark)
        folder = folder or load_settings(**flags).home / "data" / benchmark
        listing = look_up(data, papers=papers, repository=repository, endpoint=endpoint)
        _print(errors, str(listing))
        if data.papers and not papers:
            _print(errors, "Without the papers' PDFs, which --pdfs downloads as well.")
        _download(listing, folder, errors, quiet)
    except KeyboardInterrupt:
        _print(errors, "\nStopped. What arrived is kept; run the same command again to continue.")
        return 130
    except IdeagoraError as error:
        print_error(errors, str(error))
        return error.exit_code
    _print(errors, f"Saved. To use it: ideagora bench {benchmark} --data {folder}")
    print(folder)
    return 0


def _download(listing: Listing, folder: Path, errors: Console, quiet: bool) -> None:
    from ideagora.benchmarks.fetch.download import fetch as download

    with _progress_bar(errors, quiet) as bar:
        task = bar.add_task("looking for what is there", total=listing.size)
        download(
            listing,
            folder,
            lambda file, done, total: bar.update(task, completed=done, description=plain(file)[-40:]),
        )


def _progress_bar(errors: Console, quiet: bool) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=errors,
        transient=True,
        disable=quiet or not errors.is_terminal,
    )


def _print(console: Console, text: str) -> None:
    console.print(Text(plain(text)), soft_wrap=True)
