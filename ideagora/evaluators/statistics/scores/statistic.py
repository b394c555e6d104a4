"""Names of the statistics of ``sample_statistics``, for records that must not wait for numpy."""

from __future__ import annotations

from typing import Literal

Statistic = Literal["mean", "p30"]
"""``p30``: the 30th percentile, by linear interpolation between the scores."""
