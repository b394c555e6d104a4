"""Exports of a benchmark's folder for other tools, one module for each value of ``--export``."""

from __future__ import annotations

import importlib.util

from ideagora.errors import UsageError

LIBRARIES = {"inspect": "inspect_ai", "hf": "pyarrow"}
"""Value of ``--export`` -> the library that it needs, which the extra of the same name installs."""


def require_library(name: str) -> None:
    """Check that an export can be written.

    Raises:
        UsageError: its library is not installed.
    """
    if importlib.util.find_spec(LIBRARIES[name]) is None:
        raise UsageError(f'--export {name} requires: pip install "ideagora[{name}]".')
