"""Labelled topics inside and outside the starter corpus, written before any score of them was seen.

``bench/topic_lists/covered.tsv``: thread or threads, topic; at least three papers of the corpus are on it.
``bench/topic_lists/uncovered.tsv``: field, topic. Both are for calibration; the lists that end in ``_test``
were written before the rule in use and are for measuring it only.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent / "topic_lists"


class Labelled(NamedTuple):
    """A topic and what it is about (threads or a field)."""

    text: str
    labels: tuple[str, ...]


def covered(*, test: bool = False) -> list[Labelled]:
    """Topics that the starter corpus covers, with their threads: for calibration, or the test topics."""
    return _read("covered_test.tsv" if test else "covered.tsv")


def uncovered(*, test: bool = False) -> list[Labelled]:
    """Topics that it does not cover, with their fields: for calibration, or the test topics."""
    return _read("uncovered_test.tsv" if test else "uncovered.tsv")


def _read(name: str) -> list[Labelled]:
    with (_FOLDER / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [Labelled(topic, tuple(label.split(","))) for label, topic in rows]
