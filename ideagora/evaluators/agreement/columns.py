"""Names of the columns in tables of scores, and numbers in their cells."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

IDEA_COLUMNS = ("idea", "idea_id", "id", "item")
REVIEWER_COLUMNS = ("reviewer", "reviewer_id", "reviewer_name", "rater", "annotator")
TOPIC_COLUMNS = ("topic", "topic_name", "topic_id")
_EXPLAINED = re.compile(r"([-+.\deE]++)\s*+[(:].*", re.DOTALL)


def find_column(names: Sequence[str], known: Iterable[str]) -> str | None:
    """The first of the known names that a table has."""
    return next((name for name in known if name in names), None)


def number_of(value: Any) -> float | None:
    """The finite number in a cell (``6``, ``"6.5"``, ``"6 (good)"``, ``"6: good"``), or ``None``."""
    if isinstance(value, bool) or value is None:
        return None
    text = str(value).strip()
    explained = _EXPLAINED.fullmatch(text)
    try:
        number = float(explained[1] if explained else text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
