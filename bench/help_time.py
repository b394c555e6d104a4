"""Measures ``ideagora --help``: the median of seven runs. Target: at most 0.35 s."""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path

from bench.process import ideagora


def main() -> None:
    """Print every run and the median."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = [ideagora("--help", home=Path(folder)).seconds for _ in range(7)]
    median = statistics.median(seconds)
    print("  ".join(f"{value:.2f}" for value in seconds), f" median {median:.2f} s (target 0.35 s)")
    print(json.dumps({"benchmark": "help_time", "median_seconds": round(median, 3)}))
