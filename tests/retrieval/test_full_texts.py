"""Full texts: kept by section, fitted to a number of tokens, and held back where a topic forbids them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ideagora.errors import LibraryError, StoreCorrupted
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.library import Library
from ideagora.retrieval.store.fulltext import CitedWork, FullText, FullTextStore, Section, SectionKind
from ideagora.retrieval.store.source import StoreSource
from ideagora.retrieval.store.store import Store
from ideagora.retrieval.texts.reader import FullTexts
from ideagora.retrieval.texts.section_selection import estimate_tokens, select_sections
from ideagora.schema import Paper, Topic
from tests.support.each import each_case

EMBEDDER = HashEmbedder()
PAPER = Paper(id="own:1", title="A paper of ours", abstract="In short.", date="2021-03")


def section(kind: SectionKind, sentences: int, heading: str = "") -> Section:
    text = " ".join(f"Sentence {n} of {kind}." for n in range(sentences))
    return Section(kind=kind, heading=heading or kind.title(), text=text)


WHOLE = [
    section("introduction", 100),
    section("related", 100),
    section("method", 200),
    section("experiment", 10),
    section("limitation", 3),
    section("appendix", 300),
]


# --- fitting ------------------------------------------------------------------------------------


def test_sections_that_fit_are_complete_and_in_order() -> None:
    selected = select_sections(WHOLE, 100_000)
    assert selected == "\n\n".join(f"{one.heading}\n{one.text}" for one in WHOLE)


@each_case("tokens", [200, 333, 1000, 2500, 4000])
def test_the_limit_holds(tokens: int) -> None:
    selected = select_sections(WHOLE, tokens)
    assert selected
    assert estimate_tokens(selected) <= tokens


def test_short_sections_are_whole_and_long_ones_share_the_rest() -> None:
    selected = select_sections(WHOLE, 1000)
    assert all(one.text in selected for one in WHOLE if one.kind in ("experiment", "limitation"))
    assert "Introduction\nSentence 0 of introduction." in selected
    assert "Method\nSentence 0 of method." in selected
    assert selected.count(" […]") == 2
    assert "related" not in selected
    assert "appendix" not in selected


def test_the_appendix_comes_after_everything_else() -> None:
    selected = select_sections(WHOLE, 5000)
    assert WHOLE[1].text in selected
    assert "Sentence 0 of appendix." in selected
    assert WHOLE[5].text not in selected


def test_a_cut_ends_with_a_sentence() -> None:
    selected = select_sections([section("method", 100)], 100)
    assert selected.endswith(" of method. […]")


def test_no_room_no_text() -> None:
    assert select_sections(WHOLE, 0) == select_sections([], 1000) == ""


def test_other_scripts_count_too() -> None:
    text = Section(kind="method", heading="方法", text="这是一个方法。" * 500)
    assert estimate_tokens(select_sections([text], 300)) <= 300


# --- what is kept -------------------------------------------------------------------------------


def test_texts_lists_and_files_come_back(tmp_path: Path) -> None:
    texts = FullTextStore(tmp_path)
    assert (texts.get("own:1"), list(texts.cited_works()), texts.file_outcome("h", "1"), texts.count()) == (
        None,
        [],
        None,
        0,
    )
    assert not list(tmp_path.iterdir())
    full = FullText(sections=(section("method", 2),), as_of="2020-05")
    texts.put([("own:1", full)])
    texts.put_cited([("own:1", [CitedWork(text="One", year="2019"), CitedWork(doi="10.1/x")])])
    texts.put_file("h", "1", "{}")
    again = FullTextStore(tmp_path)
    assert again.get("own:1") == full
    assert list(again.cited_works()) == [
        ("own:1", CitedWork(text="One", year="2019")),
        ("own:1", CitedWork(doi="10.1/x")),
    ]
    assert (again.file_outcome("h", "1"), again.file_outcome("h", "2"), again.count()) == ("{}", None, 1)
    again.put_cited([("own:1", [])])
    assert list(again.cited_works()) == []


def test_a_file_of_a_later_version_is_named(tmp_path: Path) -> None:
    FullTextStore(tmp_path).put([])
    with closing(sqlite3.connect(tmp_path / "texts.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(LibraryError, match=r"texts\.sqlite has version 99, .*IDEAGORA_STORE"):
        FullTextStore(tmp_path).get("own:1")


def test_damage_is_named_with_a_next_step(tmp_path: Path) -> None:
    (tmp_path / "texts.sqlite").write_bytes(b"no database " * 1000)
    with pytest.raises(StoreCorrupted, match=r"texts\.sqlite cannot be read .*ideagora library add PATH"):
        FullTextStore(tmp_path).get("own:1")


# --- through the library ------------------------------------------------------------------------


@pytest.fixture
def library(tmp_path: Path) -> Library:
    store = Store.open(tmp_path / "store", EMBEDDER)
    store.add([PAPER, PAPER.model_copy(update={"id": "own:2"})])
    texts = FullTextStore(store.folder)
    named = Section(kind="related", heading="Related", text="As Smith’s “The Banned Paper\nof Ours” has it.")
    texts.put([(PAPER.id, FullText(sections=(section("method", 2), named), as_of="2021-04-02"))])
    return Library(StoreSource(store, EMBEDDER), EMBEDDER, texts=FullTexts(texts), on_close=store.close)


async def test_the_reader_gets_the_full_text_where_there_is_one(library: Library) -> None:
    with library:
        text, kind = await library.text(PAPER)
        assert (text.split("\n")[0], kind) == ("Method", "full text")
        assert await library.text(PAPER, tokens=0) == ("In short.", "abstract")
        other = PAPER.model_copy(update={"id": "own:2"})
        assert await library.text(other) == ("In short.", "abstract")


@pytest.mark.parametrize(
    ("before", "kind"), [("2021-04-02", "abstract"), ("2021-04-03", "full text"), ("2021-04", "abstract")]
)
async def test_a_version_after_the_cut_off_is_withheld(library: Library, before: str, kind: str) -> None:
    with library:
        restricted = library.for_topic(Topic(text="x", before=before))
        assert (await restricted.text(PAPER))[1] == kind
        reasons = [one.why for one in restricted.held_back]
        assert len(reasons) == (kind == "abstract")
        assert all(why.startswith("its full text is of 2021-04-02") for why in reasons)


async def test_a_version_without_a_date_is_withheld(library: Library) -> None:
    with library:
        assert library._texts.stored
        library._texts.stored.put([(PAPER.id, FullText(sections=(section("method", 2),)))])
        assert (await library.for_topic(Topic(text="x", before="2025")).text(PAPER))[1] == "abstract"
        assert (await library.for_topic(Topic(text="x")).text(PAPER))[1] == "full text"


async def test_sections_that_name_a_banned_title_are_left_out(library: Library) -> None:
    with library:
        restricted = library.for_topic(Topic(text="x", excluded=("The banned paper of ours!",)))
        text, kind = await restricted.text(PAPER)
        assert ("Method" in text, "Smith" in text, kind) == (True, False, "full text")
