"""Quotes: what stands in the text, and what a model made up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ideagora.agents.text.quotes import is_quoted, verify_quote
from tests.support.each import each_case

TEXT = "Self-consistency samples many chains (40 of them); the answer on which most agree wins: naïve, sound."


@each_case(
    "quote",
    [
        TEXT,
        "samples many chains",
        "SAMPLES MANY chains",
        "samples  many\nchains",
        '"samples many chains"',
        "Self consistency samples",
        "40 of them: the answer",
        "wins - naïve, sound",
        "samples many chains … the answer",
        "samples ... most agree wins",
        "samples many chains […] sound.",
        "… samples many chains …",
    ],
)
def test_a_passage_of_the_text_is_a_quote(quote: str) -> None:
    assert is_quoted(quote, TEXT)
    assert verify_quote(quote, TEXT) == quote


@each_case(
    "quote",
    [
        "samples few chains",
        "samples many chains and the answer",
        "amples many chains",
        "samples many chain",
        "consistency sample",
        "4 of them",
        "the answer … samples many chains",
        "samples … samples",
        "samples many chains … fails",
        "naive, sound",
    ],
)
def test_what_a_model_made_up_is_marked(quote: str) -> None:
    assert not is_quoted(quote, TEXT)
    assert verify_quote(quote, TEXT) == f"(not verbatim) {quote}"


@each_case("quote", ["", "  ", "…", "...", "—", '""', "[…] …"])
def test_an_empty_quote_is_not_a_quote(quote: str) -> None:
    assert not is_quoted(quote, TEXT)


def test_nothing_can_be_quoted_from_an_empty_text() -> None:
    assert not is_quoted("samples", "")


words = st.lists(st.sampled_from("tree search votes model of a the chains".split()), min_size=1, max_size=12)


@given(words, st.data())
def test_every_run_of_words_is_a_quote_whatever_stands_between(said: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(said) - 1))
    end = data.draw(st.integers(start + 1, len(said)))
    between = data.draw(st.sampled_from([" ", ", ", "\n", " -- ", "_"]))
    assert is_quoted(between.join(said[start:end]).upper(), " ".join(said))


@given(words, words)
def test_a_quote_with_an_omission_has_both_its_pieces_in_order(first: list[str], then: list[str]) -> None:
    text = f"{' '.join(first)} between {' '.join(then)}"
    assert is_quoted(f"{' '.join(first)} … {' '.join(then)}", text)
    assert not is_quoted(f"{' '.join(then)} … {' '.join(first)} between", text)
