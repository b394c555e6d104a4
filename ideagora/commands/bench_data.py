"""``ideagora bench fetch`` and ``build``: data sets of benchmarks, published and your own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn
from rich.text import Text

from ideagora.commands.shared.interrupts import run_async
from ideagora.commands.shared.judging import result_or_exit_code
from ideagora.config import SettingOverrides, load_settings
from ideagora.errors import UsageError
from ideagora.report.console import plain

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.benchmarks.ideabench.build_run import FilteredFields


@dataclass(frozen=True)
class FetchRequest:
    """Arguments of ``fetch``."""

    benchmark: str
    folder: Path | None = None
    papers: bool = False
    repository: str | None = None
    endpoint: str | None = None
    revision: str = "main"
    yes: bool = False
    quiet: bool = False


def fetch(request: FetchRequest, settings: SettingOverrides) -> int:
    """Download a published data set after saying size and licence; returns the exit code."""
    from ideagora.benchmarks.fetch.download import fetch
    from ideagora.benchmarks.fetch.listing import look_up, published_data

    def run(errors: Console) -> int:
        data = published_data(request.benchmark)
        listing = look_up(
            data,
            papers=request.papers,
            repository=request.repository,
            endpoint=request.endpoint,
            revision=request.revision,
        )
        folder = request.folder or load_settings(**settings).home / "data" / request.benchmark
        errors.print(Text(f"{plain(str(listing))} Folder: {folder}"), soft_wrap=True)
        if not request.yes and not _confirm(errors):
            errors.print("Nothing was downloaded.")
            return 1
        with _download_progress(errors, request.quiet, listing.size) as show:
            fetch(listing, folder, show)
        Console().print(
            Text(f"Use it: ideagora bench {request.benchmark} AGENTS --data {folder}"), soft_wrap=True
        )
        return 0

    return _exit_code(run)


@contextmanager
def _download_progress(errors: Console, quiet: bool, size: int) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar, and the function that updates it: file, bytes of the whole download so far, total."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    with Progress(*columns, TransferSpeedColumn(), console=errors, disable=quiet, transient=True) as progress:
        task = progress.add_task("", total=size)
        yield lambda file, done, total: progress.update(task, description=plain(file), completed=done)


def _confirm(errors: Console) -> bool:
    """Whether the user agrees; a command without a terminal has to say --yes."""
    if not sys.stdin.isatty():
        raise UsageError("This needs a confirmation, and there is no terminal: add --yes.")
    errors.print("Download? [y/N] ", end="", markup=False)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def build(
    benchmark: str,
    data: Path,
    settings: SettingOverrides,
    as_json: bool,
    quiet: bool,
    chats: Mapping[str, BaseChatModel] | None = None,
) -> int:
    """Filter the references of new targets; returns the exit code."""
    from ideagora.benchmarks.ideabench.build_run import build_references

    def run(errors: Console) -> int:
        if benchmark != "ideabench":
            raise UsageError(f"There is nothing to build for {benchmark!r}. Use ideabench.")
        found = run_async(build_references(data, load_settings(**settings), chats))
        for problem in found["problems"]:
            errors.print(Text(f"not used: {plain(problem)}", style="yellow"), soft_wrap=True)
        if as_json:
            print(json.dumps(found, ensure_ascii=False))
            return 0
        _print_filtered(found)
        return 0

    return _exit_code(run)


def _print_filtered(found: FilteredFields) -> None:
    console = Console()
    console.print(f"{found['kept']} references kept, {sum(found['dropped'].values())} dropped.")
    for reason, number in found["dropped"].items():
        console.print(Text(f"  {number} {plain(reason)}"))
    if left := found["targets_left_out"]:
        console.print(Text(f"Targets with too few references: {plain(', '.join(left))}."))
    console.print(Text(f"Written: {found['file']}"), soft_wrap=True)


def _exit_code(work: Callable[[Console], int]) -> int:
    """The exit code of a command; an expected error is one line."""
    errors = Console(stderr=True)
    return result_or_exit_code(errors, partial(work, errors), stopped="Stopped. The same command continues.")
