"""What the commands that judge ideas share: errors as exit codes, the expected cost, library and embedder."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console
from rich.text import Text

from ideagora.commands.shared.interrupts import INTERRUPTED
from ideagora.config import Settings
from ideagora.errors import BudgetExhausted, IdeagoraError
from ideagora.graphs.files import folder_error
from ideagora.graphs.generate import library_session
from ideagora.graphs.run_folder import RunFolder
from ideagora.report.arena.progress import ArenaProgress
from ideagora.report.console import plain, print_error

if TYPE_CHECKING:
    from ideagora.models.embeddings.embedder import Embedder

T = TypeVar("T")
RESUMES = "Stopped. Answers are saved; the same command resumes."


def result_or_exit_code(
    errors: Console,
    work: Callable[[], T],
    *,
    stopped: str = RESUMES,
    so_far: Callable[[], str | None] = lambda: None,
    folder: Path | None = None,
) -> T | int:
    """The result of a command's work, or the exit code after an error, which is printed as one line.

    Args:
        errors: stderr.
        work: what may fail.
        stopped: what is said after Ctrl-C.
        so_far: what is said after the error if the budget is spent, if anything.
        folder: named by an error of the file system that names no file.
    """
    logging.getLogger("ideagora").setLevel(logging.WARNING)
    try:
        return work()
    except KeyboardInterrupt:
        errors.print(f"\n{stopped}")
        return INTERRUPTED
    except BudgetExhausted as error:
        print_error(errors, str(error))
        if (line := so_far()) is not None:
            errors.print(Text(line), soft_wrap=True)
        return error.exit_code
    except IdeagoraError as error:
        print_error(errors, str(error))
        return error.exit_code
    except OSError as error:
        print_error(errors, str(folder_error(Path(error.filename or folder or "."), error)))
        return 1


@dataclass(frozen=True)
class Opened:
    """What generation and judging use of the command."""

    progress: ArenaProgress
    library: Callable[[], Any]
    """Opens the library on the first call."""
    embedder: Callable[[], Embedder]
    """Creates the embedder on the first call."""


@contextmanager
def open_resources(settings: Settings, errors: Console, quiet: bool) -> Iterator[Opened]:
    """The progress display, with a library and an embedder that are opened when they are needed."""
    with ExitStack() as stack:
        progress = stack.enter_context(ArenaProgress(errors, quiet))

        @cache
        def library() -> Any:
            return stack.enter_context(
                library_session(settings, progress.set_status, progress.on_store_filled)
            )

        @cache
        def embedder() -> Embedder:
            from ideagora.models.embeddings.embedder import load_embedder

            return load_embedder(settings.embedder, settings.home / "cache")

        yield Opened(progress, library, embedder)


def costs_nothing(
    settings: Settings, models: Collection[str], path: Path, fresh: bool, identity: str | None = None
) -> bool:
    """Whether no call that costs anything is left: all models are offline, or the folder's run is done.

    With an identity, only the run with this one counts: a folder may be judged again by another plan.
    """
    record = RunFolder(path, "").read() or {}
    is_done = record.get("status") == "done" and identity in (None, record.get("id"))
    return set(models) <= {"offline"} or settings.replay or (is_done and not fresh)


def print_expected_cost(
    errors: Console, bill: Sequence[tuple[str, int, float | None]], without_estimate: Sequence[str]
) -> None:
    """Print what a command is expected to cost.

    Args:
        errors: stderr.
        bill: model, calls, and their cost in USD or ``None`` if the price is unknown.
        without_estimate: names of the agents that do not estimate their calls.
    """
    known = [cost for _, _, cost in bill if cost is not None]
    total = f"about ${sum(known):.2f}" if len(known) == len(bill) else "price unknown"
    parts = ", ".join(f"{calls} to {plain(model)}" for model, calls, _ in bill)
    number = sum(calls for _, calls, _ in bill)
    errors.print(Text(f"Expected: at most about {number} calls ({parts}), {total}."), soft_wrap=True)
    if without_estimate:
        errors.print(Text(f"Not included: calls of {plain(', '.join(without_estimate))}."), soft_wrap=True)
