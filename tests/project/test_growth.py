"""The work of everything that reads foreign text grows in proportion to the text.

``tests/support/growth.py`` finds all patterns of the package, so a new one is measured as soon as it is
written. Only ratios are compared, of CPU time, and only where it is long enough to be measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest

from tests.support.each import each_case
from tests.support.growth import SIZES, SLOW, Used, applied, grows, long_text, patterns, worst_of
from tests.support.parsers import BODIES, PARSERS

BAD = {
    "names": (r"[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+_", "match"),
    "white space": (r"\s+and\s+", "search"),
    "numbers": (r"(?:-?\d[\d.eE+-]*)*x", "fullmatch"),
}
"""Patterns of the kinds that this test is there to find."""


@each_case("name", sorted(BAD))
def test_a_pattern_that_backtracks_is_found(name: str) -> None:
    text, method = BAD[name]
    with pytest.raises(AssertionError):
        check(Used(name, re.compile(text, re.S), (method,)), method)


def test_every_pattern_does_work_in_proportion_to_the_text() -> None:
    found = patterns()
    assert len(found) > 150
    for used in found:
        for method in used.methods:
            check(used, method)


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python 3.11.0 to 3.11.4 match such a group wrongly (python/cpython issue 106052)."""
    possessive = re.compile(r"\)(?:[*+?]|\{[\d,]+\})\+")
    assert possessive.search(r"(?:a+b)*+")
    assert [used.where for used in patterns() if possessive.search(used.pattern.pattern)] == []


def check(used: Used, method: str) -> None:
    _, parts = worst_of(used, method)

    def work(size: int) -> Callable[[], object]:
        return applied(used, method, long_text(*parts, size))

    assert not grows(work, SIZES, SLOW), (
        f"{used.where}, {method}: its work grows faster than the text {parts}"
    )


@each_case("name", sorted(PARSERS))
def test_every_parser_does_work_in_proportion_to_the_text(name: str) -> None:
    for body in BODIES:
        work = partial(_parsing, name, body)
        assert not grows(work, (3_000,), 0.008), f"{name}: its work grows faster than a row of {body!r}"


def _parsing(name: str, body: str, size: int) -> Callable[[], object]:
    text = long_text("", body, "!", size)
    return lambda: PARSERS[name](text)
