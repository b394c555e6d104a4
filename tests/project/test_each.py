"""The tables of cases that are one test each: no case is skipped, and a failure names its case."""

from __future__ import annotations

import pytest

from tests.support.each import CasesFailed, each_case


def test_all_cases_run_and_the_failure_names_those_that_failed() -> None:
    seen = []

    @each_case("number, text", [(1, "a"), (2, "b"), (3, "c")])
    def check(number: int, text: str) -> None:
        seen.append(text)
        assert number != 2
        if number == 3:
            pytest.fail("three")

    with pytest.raises(CasesFailed, match="2 of 3 cases failed: 2-b, 3-c"):
        check()
    assert seen == ["a", "b", "c"]


def test_a_table_without_rows_fails() -> None:
    @each_case("number", [])
    def check(number: int) -> None:
        """Never called."""

    with pytest.raises(AssertionError, match="no cases"):
        check()


@each_case("sign", "+-")
@each_case("number", [1, 2], ids=["one", "two"])
async def test_tables_multiply_and_share_fixtures(
    sign: str, number: int, request: pytest.FixtureRequest
) -> None:
    assert sign in "+-"
    assert number in (1, 2)
    assert request.node.name == "test_tables_multiply_and_share_fixtures"
