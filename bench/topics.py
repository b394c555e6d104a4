"""Labelled topics inside and outside the starter corpus, written before any of their scores were known.

``bench/topic_lists/covered.tsv``: threads, topic; at least three papers of the corpus are on the topic.
``bench/topic_lists/uncovered.tsv``: field, topic. Both are for calibration. The lists ending in ``_test``
measured the earlier rules, and were looked at when the current one was chosen; those ending in ``_plain``,
short topics in the words of users, were written after that and only measure it.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Literal, NamedTuple

_FOLDER = Path(__file__).parent / "topic_lists"


class Labelled(NamedTuple):
    """A topic with its threads or field."""

    text: str
    labels: tuple[str, ...]


Which = Literal["calibration", "test", "plain"]
"""A pair of lists."""


def covered(which: Which = "calibration") -> list[Labelled]:
    """Return the covered topics of a list, with their threads."""
    return _read("covered", which)


def uncovered(which: Which = "calibration") -> list[Labelled]:
    """Return the uncovered topics of a list, with their fields."""
    return _read("uncovered", which)


def _read(name: str, which: Which) -> list[Labelled]:
    list_file = f"{name}.tsv" if which == "calibration" else f"{name}_{which}.tsv"
    with (_FOLDER / list_file).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [Labelled(topic, tuple(label.split(","))) for label, topic in rows]
