"""Errors in the code of a benchmark, which may be from outside, as one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ideagora.benchmarks.benchmark import Benchmark, Unscored
from ideagora.errors import IdeagoraError, UsageError
from ideagora.models.redact import one_line


@contextmanager
def errors_named(benchmark: Benchmark[Any], method: str, about: str = "") -> Iterator[None]:
    """Around a call of one of a benchmark's methods: the error says which one failed, and on what.

    Raises:
        UsageError: it raised an error that is none of ideagora's own.
    """
    try:
        yield
    except (IdeagoraError, Unscored):
        raise
    except Exception as error:
        what = one_line(f"{type(error).__name__}: {error}")
        where = f" on {about}" if about else ""
        raise UsageError(
            f"The benchmark {benchmark.name} failed{where} ({what}). Check its method {method}."
        ) from error
