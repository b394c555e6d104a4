"""The base of all records, dates and stable identifiers."""

from __future__ import annotations

import calendar
import hashlib
import re

from pydantic import BaseModel, ConfigDict

_PARTIAL_DATE = re.compile(r"^\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?\Z", re.ASCII)


class Record(BaseModel):
    """A frozen record; unknown fields are rejected, so that a typo is not ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def last_day(date: str) -> str:
    """The last day that a partial ISO date (YYYY, YYYY-MM or YYYY-MM-DD) can mean, as YYYY-MM-DD.

    Cut-offs use it: a paper of which only the year is known may have appeared on 31 December.
    """
    year, month, day = [*date.split("-"), None, None][:3]
    assert year is not None
    if month is None:
        return f"{year}-12-31"
    if day is None:
        return f"{year}-{month}-{calendar.monthrange(int(year), int(month))[1]:02d}"
    return date


def stable_id(*parts: str) -> str:
    """A short identifier (12 hex digits) that depends only on the parts."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:12]


def checked_date(value: str | None) -> str | None:
    """Return a partial ISO date, or ``None``; anything else raises ``ValueError``."""
    if value is not None and not _PARTIAL_DATE.match(value):
        raise ValueError("not a date; write YYYY, YYYY-MM or YYYY-MM-DD")
    return value
