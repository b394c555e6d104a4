"""The frame of all live terminal views, and the warnings printed above it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from ideagora.report.console import plain
from ideagora.retrieval.run_notes import warning_from
from ideagora.schema.events import Event


class WarningPrinter:
    """Prints each literature warning once, as it happens: a source that is down, an exclusion without effect.

    ``quiet`` drops what is only informative; warnings are always printed.
    """

    def __init__(self, console: Console, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._printed: set[tuple[str, str]] = set()

    def on_event(self, event: Event) -> None:
        """Print the warning that an event carries, if any."""
        if event["event"] != "literature" or event["kind"] == "begin":
            return
        line, key = warning_from(event), (event["kind"], event["about"])
        is_information = event["kind"] == "ban"
        if line is None or key in self._printed or (self._quiet and is_information):
            return
        self._printed.add(key)
        self._console.print(Text(plain(line), style="dim" if is_information else "yellow"), soft_wrap=True)


class LiveView(ABC):
    """A view that redraws itself while a command runs.

    Nothing is drawn if ``quiet`` is set or the console is not a terminal.
    """

    def __init__(self, console: Console, quiet: bool = False) -> None:
        self._warnings = WarningPrinter(console, quiet)
        self._start = time.monotonic()
        show = console.is_terminal and not quiet
        self._live = Live(self, console=console, refresh_per_second=6, transient=True) if show else None

    def __enter__(self) -> Self:
        if self._live:
            self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.__exit__(kind, error, trace)

    @property
    def seconds(self) -> int:
        """Whole seconds since the view was created."""
        return int(time.monotonic() - self._start)

    def on_event(self, event: Event) -> None:
        """Update the view from one event of the run, and print the warning that it carries."""
        self._warnings.on_event(event)
        self.update(event)

    @abstractmethod
    def update(self, event: Event) -> None:
        """Update the view from one event."""

    @abstractmethod
    def set_status(self, text: str) -> None:
        """Show what the command waits for, such as a lock or the store."""

    def on_store_filled(self, done: int, total: int) -> None:
        """Show how many papers of the starter corpus are in the store."""
        self.set_status(f"filling the store: {done} of {total} papers")

    @abstractmethod
    def __rich__(self) -> RenderableType:
        """Return what is on the screen now."""
