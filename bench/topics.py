"""Labelled topics inside and outside the starter corpus, written before any of their scores were known.

``bench/topic_lists/covered.tsv``: threads, topic; at least three papers of the corpus are on the topic.
``bench/topic_lists/uncovered.tsv``: field, topic. Both are for calibration. The lists ending in ``_test``
were written before the current rule and serve only to measure it.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent / "topic_lists"


class Labelled(NamedTuple):
    """A topic with its threads or field."""

    text: str
    labels: tuple[str, ...]


def covered(*, test: bool = False) -> list[Labelled]:
    """Return the covered calibration or test topics, with their threads."""
    return _read("covered_test.tsv" if test else "covered.tsv")


def uncovered(*, test: bool = False) -> list[Labelled]:
    """Return the uncovered calibration or test topics, with their fields."""
    return _read("uncovered_test.tsv" if test else "uncovered.tsv")


def _read(name: str) -> list[Labelled]:
    with (_FOLDER / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [Labelled(topic, tuple(label.split(","))) for label, topic in rows]
