"""Labelled topics inside and outside the starter corpus, written before any score of them was seen.

``bench/topic_lists/covered.tsv``: thread or threads, topic; at least three papers of the corpus are on it.
``bench/topic_lists/uncovered.tsv``: field, topic. Every other topic, from the first on, is for calibration;
the rest is held out.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent / "topic_lists"


class Labelled(NamedTuple):
    """A topic, what it is about (threads or a field), and whether it is held out from calibration."""

    text: str
    labels: tuple[str, ...]
    is_held_out: bool


def covered() -> list[Labelled]:
    """Topics that the starter corpus covers, with their threads."""
    return _read("covered.tsv")


def uncovered() -> list[Labelled]:
    """Topics that it does not cover, with their fields."""
    return _read("uncovered.tsv")


def _read(name: str) -> list[Labelled]:
    with (_FOLDER / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Labelled(topic, tuple(label.split(",")), bool(number % 2))
        for number, (label, topic) in enumerate(rows)
    ]
