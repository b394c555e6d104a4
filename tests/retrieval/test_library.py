"""The library: what a topic forbids is held back on every path, and nothing else is."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ideagora.config import Settings
from ideagora.errors import LibraryError, SettingsError, SourceUnavailable, StoreCorrupted
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.factory import open_library
from ideagora.retrieval.library import Library
from ideagora.retrieval.protocols import Source
from ideagora.retrieval.restrictions.cutoff import LiteratureFilter, first_day, title_key
from ideagora.retrieval.store.embedded.backend import EmbeddedBackend
from ideagora.retrieval.store.source import StoreSource
from ideagora.retrieval.store.store import Store
from ideagora.schema import Paper, ScoredPaper, Topic, last_day
from tests.support.each import each_case
from tests.support.script import Script

EMBEDDER = HashEmbedder()
TARGET = "Chain of Ideas: Revolutionizing Research"


def paper(name: str, title: str, date: str | None, cites: tuple[str, ...] = (), **fields: object) -> Paper:
    record = {"id": name, "title": title, "date": date, "references": cites, "abstract": f"About {title}."}
    return Paper.model_validate({**record, **fields})


OLD = paper("arxiv:1901.00001", "Old research on ideas", "2019-01")
MONTH_BEFORE = paper("arxiv:2305.00001", "Research ideas of May", "2023-05", (OLD.id,))
MONTH_OF = paper("arxiv:2306.00001", "Research ideas of June", "2023-06", (OLD.id, MONTH_BEFORE.id))
YEAR_ONLY = paper("doi:10.1/year", "Research ideas of some month", "2023", (OLD.id,))
UNDATED = paper("own:1", "Research ideas of some year", None, (OLD.id,))
TARGET_PAPER = paper("arxiv:2212.12345", TARGET, "2022-12", (OLD.id,), arxiv_id="2212.12345")
TWIN = paper("doi:10.1/twin", "Chain-of-ideas — revolutionizing research", "2022-11", (OLD.id,))
FOLLOWER = paper("arxiv:2303.00001", "Research after chains", "2023-03", (TARGET_PAPER.id, TWIN.id, OLD.id))
ALL = [OLD, MONTH_BEFORE, MONTH_OF, YEAR_ONLY, UNDATED, TARGET_PAPER, TWIN, FOLLOWER]
CUTOFF = Topic(text="ideas", before="2023-06")
WITHOUT_TARGET = Topic(text="ideas", excluded=(TARGET,))
TOO_LATE = {MONTH_OF, YEAR_ONLY, UNDATED}
TWINS = {TARGET_PAPER, TWIN}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("library") / "store", EMBEDDER) as opened:
        opened.add(ALL)
        yield opened


@pytest.fixture
def library(store: Store) -> Library:
    return Library(StoreSource(store, EMBEDDER), EMBEDDER)


def ids(papers: list[Paper]) -> set[str]:
    return {one.id for one in papers}


# --- without restrictions -----------------------------------------------------------------------


async def test_every_path_of_an_open_library(library: Library) -> None:
    results = await library.search("Research after chains", 3)
    assert (results[0].paper, len(results)) == (FOLLOWER, 3)
    assert [one.similarity for one in results] == sorted((one.similarity for one in results), reverse=True)
    assert await library.search("x", 0) == []
    assert {one.paper.id for one in await library.search("x", 100)} == ids(ALL)
    assert await library.paper(TARGET_PAPER.id) == TARGET_PAPER
    assert await library.paper("arxiv:0000.00000") is None
    assert await library.references(FOLLOWER) == [TARGET_PAPER, TWIN, OLD]
    assert await library.citations(TARGET_PAPER) == [FOLLOWER]
    assert await library.text(OLD) == ("About Old research on ideas.", "abstract")
    assert library.held_back == []
    assert library.for_topic(CUTOFF).embedder is library.embedder is EMBEDDER


async def test_search_and_similar_measure_alike(library: Library) -> None:
    results = await library.search("ideas of research", 100)
    assert await library.similar([*reversed(ALL), OLD], "ideas of research") == results
    assert all(round(one.similarity, 4) == one.similarity for one in results)
    assert await library.similar([], "ideas") == []


async def test_ties_are_ordered_by_id(library: Library) -> None:
    same = [paper(name, "Same words", None) for name in ("own:c", "own:a", "own:b")]
    assert [one.paper.id for one in await library.similar(same, "words")] == ["own:a", "own:b", "own:c"]


async def test_text_is_the_longest_there_is(library: Library) -> None:
    assert await library.text(OLD.model_copy(update={"abstract": None})) == (OLD.abstract, "abstract")
    unknown = paper("own:new", "Only a title", None, abstract=None)
    assert await library.text(unknown) == ("Only a title", "title")


# --- cut-off and bans, path by path -------------------------------------------------------------


async def seen_by_search(library: Library) -> set[str]:
    return {one.paper.id for one in await library.search("research ideas", 100)}


async def seen_by_similar(library: Library) -> set[str]:
    return {one.paper.id for one in await library.similar(ALL, "research ideas")}


async def seen_by_paper(library: Library) -> set[str]:
    return ids([one for one in [await library.paper(known.id) for known in ALL] if one])


async def seen_as_neighbours(library: Library) -> set[str]:
    lists = [await library.references(one) for one in ALL] + [await library.citations(one) for one in ALL]
    return ids([one for some in lists for one in some])


async def seen_by_text(library: Library) -> set[str]:
    seen = set()
    for one in ALL:
        with suppress(LibraryError):
            await library.text(one)
            seen.add(one.id)
    return seen


PATHS = [seen_by_search, seen_by_similar, seen_by_paper, seen_as_neighbours, seen_by_text]
See = Callable[[Library], Awaitable[set[str]]]


@pytest.mark.parametrize("see", PATHS)
@pytest.mark.parametrize(
    ("topic", "hidden"),
    [
        (CUTOFF, TOO_LATE),
        (WITHOUT_TARGET, TWINS),
        (Topic(text="ideas", excluded=(TARGET_PAPER.id,)), TWINS),
        (Topic(text="ideas", excluded=("https://arxiv.org/abs/2212.12345v3",)), TWINS),
        (Topic(text="ideas", excluded=("  CHAIN OF IDEAS revolutionizing research!",)), TWINS),
        (Topic(text="ideas", before="2023-06-01", excluded=(TARGET,)), TOO_LATE | TWINS),
        (Topic(text="ideas", before="2000"), set(ALL)),
        (Topic(text="ideas", excluded=("?!", "Chain of Ideas", "2212")), set()),
    ],
)
async def test_excluded_papers_are_withheld_on_every_path(
    library: Library, see: See, topic: Topic, hidden: set[Paper]
) -> None:
    restricted = library.for_topic(topic)
    assert await see(restricted) == ids(ALL) - ids(list(hidden))
    assert {one.paper_id for one in restricted.held_back} == ids(list(hidden))
    assert await see(library) == ids(ALL)
    assert library.held_back == []


async def test_withheld_papers_are_reported_once_with_the_reason(library: Library) -> None:
    restricted = library.for_topic(Topic(text="ideas", before="2023-06", excluded=(TARGET,)))
    for _ in range(2):
        await restricted.search("research ideas", 100)
    assert restricted.held_back == [
        (TARGET_PAPER.id, TARGET, "excluded"),
        (MONTH_OF.id, MONTH_OF.title, "its date 2023-06 is not before the cut-off 2023-06-01"),
        (TWIN.id, TWIN.title, "excluded"),
        (YEAR_ONLY.id, YEAR_ONLY.title, "its date 2023 is not before the cut-off 2023-06-01"),
        (UNDATED.id, UNDATED.title, "its date is unknown and the cut-off is 2023-06-01"),
    ]


async def test_search_still_gives_as_many_as_were_asked_for(library: Library) -> None:
    restricted = library.for_topic(Topic(text="ideas", before="2020"))
    assert [one.paper.id for one in await restricted.search("research ideas of June", 1)] == [OLD.id]
    few = library.for_topic(CUTOFF)
    assert len(await few.search("research ideas", 3)) == 3
    assert len(await few.search("research ideas", 100)) == len(ALL) - len(TOO_LATE)


async def test_only_what_stood_before_the_last_shown_is_noted(library: Library) -> None:
    restricted = library.for_topic(WITHOUT_TARGET)
    await restricted.search(MONTH_BEFORE.title, 1)
    assert restricted.held_back == []
    await restricted.search(TARGET, 1)
    assert {one.paper_id for one in restricted.held_back} == ids(list(TWINS))


async def test_lists_of_references_do_not_come_out_of_a_restricted_library(library: Library) -> None:
    restricted = library.for_topic(WITHOUT_TARGET)
    shown = [one.paper for one in await restricted.search("research", 100)]
    shown += [one.paper for one in await restricted.similar(ALL, "research")]
    shown += await restricted.citations(OLD)
    shown += await restricted.references(FOLLOWER)
    shown += [one for one in [await restricted.paper(FOLLOWER.id)] if one]
    assert FOLLOWER.id in ids(shown)
    assert {one.references for one in shown} == {None}


async def test_a_forged_record_opens_nothing(library: Library) -> None:
    restricted = library.for_topic(Topic(text="ideas", before="2023-06", excluded=(TARGET,)))
    for hidden in (MONTH_OF, TARGET_PAPER):
        forged = paper(hidden.id, "Harmless", "1999", abstract=None)
        assert await restricted.references(forged) == []
        assert await restricted.citations(forged) == []
        assert await restricted.similar([forged], "ideas") == []
        with pytest.raises(LibraryError, match="withheld"):
            await restricted.text(forged)


async def test_a_paper_that_the_library_does_not_know_goes_by_its_own_record(library: Library) -> None:
    restricted = library.for_topic(CUTOFF)
    early, late = paper("own:e", "Early", "2020"), paper("own:l", "Late", "2024")
    assert [one.paper.id for one in await restricted.similar([early, late], "x")] == [early.id]
    assert await restricted.text(early) == ("About Early.", "abstract")


async def test_restrictions_add_up(library: Library) -> None:
    twice = library.for_topic(WITHOUT_TARGET).for_topic(Topic(text="ideas", before="2023-06"))
    assert await seen_by_search(twice) == ids(ALL) - ids(list(TOO_LATE | TWINS))
    later = library.for_topic(CUTOFF).for_topic(Topic(text="ideas", before="2030"))
    assert await seen_by_search(later) == ids(ALL) - ids(list(TOO_LATE))


async def test_many_coroutines_share_a_library(library: Library) -> None:
    restricted = library.for_topic(WITHOUT_TARGET)
    seen = await asyncio.gather(*(see(restricted) for see in PATHS * 4))
    assert all(not result_ids & ids(list(TWINS)) for result_ids in seen)


def test_closing_a_restricted_library_leaves_the_store_open(store: Store) -> None:
    closed: list[str] = []
    origin = Library(StoreSource(store, EMBEDDER), EMBEDDER, on_close=lambda: closed.append("store"))
    with origin:
        origin.for_topic(WITHOUT_TARGET).close()
        assert closed == []
    assert closed == ["store"]


# --- the guard by itself ------------------------------------------------------------------------

DAYS = st.dates()
PARTIAL = DAYS.flatmap(lambda day: st.sampled_from([day.isoformat()[:length] for length in (4, 7, 10)]))


@given(date=PARTIAL, before=PARTIAL)
def test_a_paper_is_seen_only_when_every_day_it_can_mean_is_before_every_day_of_the_cutoff(
    date: str, before: str
) -> None:
    why = LiteratureFilter().narrow(before, ()).reason(paper("own:1", "A title", date))
    assert (why is None) == (last_day(date) < first_day(before))
    assert first_day(before).startswith(before)
    assert first_day(before) <= last_day(before)


@given(st.text(min_size=1))
def test_a_title_is_banned_in_every_spelling(title: str) -> None:
    literature_filter = LiteratureFilter().narrow(None, [f"  {title.upper()}. "])
    same = paper("own:1", title, None)
    upper = paper("own:2", f"-{title.upper()}-", None)
    if title_key(title) == title_key(title.upper()) != "":
        assert literature_filter.reason(same) == literature_filter.reason(upper) == "excluded"


@each_case(
    "exclusion",
    [
        "arxiv:2212.12345",
        "arXiv:2212.12345v2",
        "2212.12345",
        "https://arxiv.org/pdf/2212.12345.pdf",
        "https://doi.org/10.48550/arXiv.2212.12345",
        "10.48550/ARXIV.2212.12345",
    ],
)
def test_an_arxiv_paper_is_banned_by_every_form_of_its_id(exclusion: str) -> None:
    literature_filter = LiteratureFilter().narrow(None, [exclusion])
    assert literature_filter.reason(TARGET_PAPER) == "excluded"
    assert (
        literature_filter.reason(paper("s2:77", "Other", None, doi="10.48550/arXiv.2212.12345")) == "excluded"
    )
    assert literature_filter.reason(FOLLOWER) is None
    assert not literature_filter.allows_all


def test_an_empty_ban_bans_nothing() -> None:
    assert LiteratureFilter().narrow(None, ["", " ", "…"]).reason(paper("own:1", "…", None)) is None


# --- sources ------------------------------------------------------------------------------------


class Down:
    name = "down"

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        raise SourceUnavailable("down did not respond. Try again later.")

    async def paper(self, paper_id: str) -> Paper | None:
        raise SourceUnavailable("down did not respond. Try again later.")

    async def references(self, paper_id: str) -> list[Paper]:
        raise SourceUnavailable("down did not respond. Try again later.")

    async def citations(self, paper_id: str) -> list[Paper]:
        raise SourceUnavailable("down did not respond. Try again later.")

    async def disconnect(self) -> None:
        raise AssertionError("nobody asked for that")


async def test_a_source_that_is_down_is_not_an_empty_answer() -> None:
    source: Source = Down()
    library = Library(source, EMBEDDER).for_topic(WITHOUT_TARGET)
    for answer in (
        library.search("x"),
        library.paper("own:1"),
        library.references(OLD),
        library.citations(OLD),
        library.text(OLD),
    ):
        with pytest.raises(SourceUnavailable):
            await answer


# --- opening ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def filled_home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        open_library(Settings(home=Path(folder), embedder="hash")).close()
        yield Path(folder)


@pytest.fixture
async def starter(filled_home: Path) -> AsyncIterator[Library]:
    with open_library(Settings(home=filled_home, embedder="hash")) as opened:
        yield opened


async def test_the_starter_corpus_is_loaded_once(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, embedder="hash")
    progress: list[tuple[int, int]] = []
    total = len(starter_corpus().papers)
    with open_library(settings, on_progress=lambda done, of: progress.append((done, of))) as first:
        assert progress[-1] == (total, total)
        assert [done for done, _ in progress] == sorted({done for done, _ in progress})
        results = await first.search("language models as judges", 5)
    progress.clear()
    with open_library(settings, on_progress=lambda done, of: progress.append((done, of))) as again:
        assert progress == []
        assert await again.search("language models as judges", 5) == results


async def test_the_starter_corpus_has_citations_to_follow(starter: Library) -> None:
    anchor = await starter.paper("arxiv:2201.11903")
    assert anchor is not None
    citing = await starter.citations(anchor)
    assert len(citing) >= 5
    dates = [one.date or "" for one in citing]
    assert dates == sorted(dates)
    for one in citing:
        assert anchor in await starter.references(one)
    text, kind = await starter.text(anchor)
    assert (text, kind) == (anchor.abstract, "abstract")


async def test_a_changed_corpus_is_loaded_again(filled_home: Path, tmp_path: Path) -> None:
    settings = Settings(home=filled_home, embedder="hash")
    with Store.open(settings.store_folder, EMBEDDER) as store:
        store.set_metadata("starter corpus", "of an older version")
    progress: list[tuple[int, int]] = []
    open_library(settings, on_progress=lambda done, of: progress.append((done, of))).close()
    open_library(settings, on_progress=lambda done, of: progress.append((done, of))).close()
    assert progress == []  # every paper was there, so nothing was embedded
    with Store.open(settings.store_folder, EMBEDDER) as store:
        assert store.get_metadata("starter corpus") == starter_corpus().fingerprint


OPEN = """
import sys
from pathlib import Path
from ideagora.config import Settings
from ideagora.retrieval.factory import open_library
filled = []
with open_library(Settings(home=Path(sys.argv[1]), embedder="hash"), on_progress=lambda *p: filled.append(p)):
    print(len(filled))
"""


def test_of_processes_that_open_a_new_store_at_once_one_fills_it(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        runs = [stack.enter_context(Script(OPEN, tmp_path)) for _ in range(3)]
        ends = [run.end() for run in runs]
    assert [code for code, _ in ends] == [0, 0, 0]
    fillings = sorted(int(said) for _, said in ends)
    assert fillings[:2] == [0, 0]
    assert fillings[2] > 0
    with Store.open(tmp_path / "store", EMBEDDER) as store:
        assert store.count() == len(starter_corpus().papers)


def test_an_unknown_source_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"'scholar'.*IDEAGORA_SOURCE.*starter"):
        open_library(Settings(home=tmp_path, source="scholar"))
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_cannot_be_opened_is_let_go(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, embedder="hash")
    open_library(settings).close()
    with Store.open(settings.store_folder, EMBEDDER) as store:
        store.set_metadata("starter corpus", "other")
        assert isinstance(store.backend, EmbeddedBackend)
        with store.backend._records._database.use() as connection:
            connection.execute("UPDATE papers SET record = '{}'")
    with pytest.raises(StoreCorrupted):
        open_library(settings)
    with Store.open(settings.store_folder, EMBEDDER, timeout=0) as store, store.write_lock():
        assert store.count() > 0
