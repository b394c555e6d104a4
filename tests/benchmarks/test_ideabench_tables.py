"""The published tables of IdeaBench agree with each other, and with what the paper says about them."""

from __future__ import annotations

import pytest

from tests.support import ideabench_tables as published
from tests.support.ideabench_tables import GROUPS, TABLE_4, Row

SIZES = {group: sum(published.DOMAINS[name] for name in names) for group, names in GROUPS.items()}


def row(category: str, model: str, resource: str) -> Row:
    (matching,) = (one for one in TABLE_4 if one[:3] == (category, model, resource))
    return matching


def test_the_sizes_agree() -> None:
    assert sum(published.DOMAINS.values()) == published.TARGETS
    assert SIZES == {"life": 1_901, "physical": 178, "technology": 295}
    for mean, references in (
        (published.MEAN_FILTERED, published.FILTERED_REFERENCES),
        (published.MEAN_RAW, published.RAW_REFERENCES),
    ):
        assert mean == pytest.approx(references / published.TARGETS, abs=5e-4)


def test_what_the_paper_concludes_from_table_4() -> None:
    assert len(TABLE_4) * 4 == 168
    assert max(one.feasibility for one in TABLE_4) == 0.408
    for group in GROUPS:
        rows = [one for one in TABLE_4 if one.category == group]
        assert max(rows, key=lambda one: one.novelty)[1:3] == ("GPT-4o", "high"), group
        for low in (one for one in rows if one.resource == "low"):
            high = row(group, low.model, "high")
            assert (high.similarity, high.overlap) > (low.similarity, low.overlap), low
            assert high.overlap > low.overlap, low


def test_one_conclusion_does_not_hold_for_one_model() -> None:
    """Feasibility is said to be consistently below novelty (section 4.2.3)."""
    exceptions = {one[:3] for one in TABLE_4 if one.feasibility >= one.novelty}
    assert exceptions == {(group, "GPT-3.5 Turbo", "high") for group in GROUPS}
