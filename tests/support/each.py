"""A table of cases as one test, for cases that need no fixture of their own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest

FAILURES = (Exception, pytest.fail.Exception)


class CasesFailed(BaseExceptionGroup[BaseException]):
    """Some cases of a table failed; each is in here with its traceback."""


class Cases:
    """Collects the failures of a table's cases."""

    def __init__(self) -> None:
        self.count = 0
        self.failed: dict[str, BaseException] = {}

    @contextmanager
    def case(self, name: str) -> Iterator[None]:
        """Record a failure inside the block under the case's name, and go on."""
        self.count += 1
        try:
            yield
        except FAILURES as error:
            error.add_note(f"case: {name}")
            self.failed[name] = error

    def check(self) -> None:
        """Raise CasesFailed when a case failed."""
        assert self.count, "there are no cases"
        if self.failed:
            names = ", ".join(self.failed)
            summary = f"{len(self.failed)} of {self.count} cases failed: {names}"
            raise CasesFailed(summary, list(self.failed.values()))


def each_case(
    names: str, rows: Iterable[Any], ids: Iterable[str] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Run a test function for every row of a table, as one test.

    Like ``pytest.mark.parametrize``, but the cases share their fixtures. All cases run; the failure
    names each case that failed.

    Args:
        names: of the arguments that a row holds, separated by commas.
        rows: a tuple each, or single values for a single name.
        ids: names of the rows; without them the values are the name.
    """
    arguments = [name.strip() for name in names.split(",")]
    table = [row if len(arguments) > 1 else (row,) for row in rows]
    titles = list(ids) if ids is not None else ["-".join(map(str, row)) for row in table]
    cases = [
        (title, dict(zip(arguments, row, strict=True))) for title, row in zip(titles, table, strict=True)
    ]

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(test)
        def run(**fixtures: Any) -> None:
            done = Cases()
            for title, values in cases:
                with done.case(title):
                    test(**values, **fixtures)
            done.check()

        @wraps(test)
        async def run_async(**fixtures: Any) -> None:
            done = Cases()
            for title, values in cases:
                with done.case(title):
                    await test(**values, **fixtures)
            done.check()

        chosen: Any = run_async if inspect.iscoroutinefunction(test) else run
        signature = inspect.signature(test)
        left = [value for name, value in signature.parameters.items() if name not in arguments]
        chosen.__signature__ = signature.replace(parameters=left)
        return chosen  # type: ignore[no-any-return]

    return decorate
