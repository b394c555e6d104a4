"""One's own papers as a source: alone, beside the starter corpus, beside the network."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ideagora.config import Settings
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.corpus import collection as collection_module
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.factory import open_library
from ideagora.retrieval.http.clock import Clock
from ideagora.retrieval.ingest.add_papers import PaperIngest
from ideagora.retrieval.library import Library
from ideagora.retrieval.store.fulltext import TEXTS_FILE, FullTextStore
from ideagora.retrieval.store.store import Store
from ideagora.schema import Paper
from tests.support.command import run
from tests.support.literature_server import FakeTime, LiteratureServer, Work
from tests.support.local_files import pdf, wrap_lines, write_file

EMBEDDER = HashEmbedder()
TITLES = (
    "Widening Narrow Bridges at Night",
    "Measuring the Width of Bridges by Sound",
    "Oak Planks that Bend before They Break",
    "Narrow Bridges Widened by Swarms of Beavers",
)
FETCHED = Paper(id="s2:1", title="Bridges that a run met", abstract="Bridges.", source="semantic-scholar")
STARTER_PAPER = next(paper for paper in starter_corpus().papers if paper.id == "arxiv:2201.11903")


def own_pdf(number: int) -> bytes:
    """A paper that cites the ones before it, and a paper of the starter corpus."""
    title = TITLES[number]
    abstract = (
        f"Narrow bridges hold traffic up wherever roads meet a river. We propose {title.lower()}, which "
        f"keeps the carts moving. It shortens the queue by {20 + number} percent. However, stone was not."
    )
    cited = [f"A. Planke. {TITLES[n]}. Journal of Bridges, {2015 + n}." for n in range(number)]
    cited.append(f"J. Wei. {STARTER_PAPER.title}. arXiv:{STARTER_PAPER.arxiv_id}, 2022.")
    lines = [*((18.0, line) for _, line in wrap_lines(title, 30)), (12.0, "Abstract"), *wrap_lines(abstract)]
    lines += [(12, "1 Introduction"), *wrap_lines("Bridges were wide once. " * 6)]
    lines += [(12, "2 Method"), *wrap_lines("Each plank is laid by hand, step by step. " * 6)]
    lines += [(12, "Limitations"), *wrap_lines("Stone bridges were not tried. " * 6), (12, "References")]
    for place, entry in enumerate(cited, start=1):
        lines += wrap_lines(f"[{place}] {entry}")
    return pdf([lines], f"/CreationDate (D:{2015 + number}0517120000Z)")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose store has the starter corpus, own papers, and a paper that a run met."""
    home = tmp_path_factory.mktemp("own")
    open_library(Settings(home=home, embedder="hash", source="starter")).close()
    for number in range(len(TITLES)):
        write_file(home, f"papers/{number}.pdf", own_pdf(number))
    write_file(
        home, "papers/more.bib", "@misc{s, title = {Bridges of Stone and Never Widened}, year = 2016}\n"
    )
    with Store.open(home / "store", EMBEDDER) as store:
        PaperIngest(store, FullTextStore(store.folder), EMBEDDER).add([home / "papers"])
        store.add([FETCHED])
    return home


@pytest.fixture
def home(filled: Path, tmp_path: Path) -> Path:
    shutil.copytree(filled, tmp_path / "home")
    return tmp_path / "home"


Open = Callable[[str], Library]


@pytest.fixture
async def opened(home: Path) -> AsyncIterator[Open]:
    made: list[Library] = []

    def opener(source: str) -> Library:
        made.append(open_library(Settings(home=home, embedder="hash", source=source)))
        return made[-1]

    yield opener
    for library in made:
        library.close()


async def everything(library: Library) -> list[Paper]:
    return [scored.paper for scored in await library.search("bridges", 1_000)]


OWN = {*TITLES, "Bridges of Stone and Never Widened"}
STARTER = {paper.title for paper in starter_corpus().papers}


@pytest.mark.parametrize(
    ("source", "titles"), [("local", OWN), ("starter", STARTER), ("starter,local", OWN | STARTER)]
)
async def test_each_name_means_its_papers(opened: Open, source: str, titles: set[str]) -> None:
    library = opened(source)
    assert {paper.title for paper in await everything(library)} == titles
    assert await library.paper(FETCHED.id) is None
    for name, title in ((STARTER_PAPER.id, STARTER_PAPER.title),):
        result = await library.paper(name)
        assert (result.title if result else None) == (title if title in titles else None)


async def test_search_measures_as_the_store_does(opened: Open, home: Path) -> None:
    results = await opened("starter,local").search("narrow bridges at night", 20)
    with Store.open(home / "store", EMBEDDER) as store:
        stored = store.search(EMBEDDER.encode(["narrow bridges at night"])[0], 21)
    assert [(one.paper.id, one.similarity) for one in results] == [
        (one.paper.id, one.similarity) for one in stored if one.paper.id != FETCHED.id
    ][:20]


async def test_a_large_collection_asks_the_index_for_the_same(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = opened("local")
    compared = [await library.search("narrow bridges", k) for k in (1, 3, 50)]
    monkeypatch.setattr(collection_module, "_MAX_EXACT", 0)
    assert [await library.search("narrow bridges", k) for k in (1, 3, 50)] == compared


async def test_own_papers_and_the_starter_corpus_share_citations(opened: Open) -> None:
    both = opened("starter,local")
    last = next(paper for paper in await everything(both) if paper.title == TITLES[3])
    cited = {paper.title for paper in await both.references(last)}
    assert cited == {*TITLES[:3], STARTER_PAPER.title}
    citing = {paper.title for paper in await both.citations(STARTER_PAPER)}
    assert set(TITLES) <= citing
    local = opened("local")
    assert {paper.title for paper in await local.references(last)} == set(TITLES[:3])
    assert await local.citations(last) == []
    starter = opened("starter")
    assert {paper.title for paper in await starter.citations(STARTER_PAPER)} == citing - set(TITLES)


async def test_the_starter_corpus_stays_as_it_ships(home: Path, opened: Open) -> None:
    """Also when a run on the network has learned more of its papers."""
    with Store.open(home / "store", EMBEDDER) as store:
        store.add([STARTER_PAPER.model_copy(update={"abstract": "Theirs.", "references": ("s2:1",)})])
    library = opened("starter,local")
    assert await library.paper(STARTER_PAPER.id) == STARTER_PAPER
    known = {paper.id for paper in await library.references(STARTER_PAPER)}
    assert known == set(STARTER_PAPER.references or ())


def test_what_was_read_off_a_pdf_is_no_whole_list(home: Path) -> None:
    with Store.open(home / "store", EMBEDDER) as store:
        [last] = [store.get(one.id) for one in store.identities() if one.title == TITLES[3]]
        assert last is not None
        assert last.references is None
        assert len(store.references(last.id)) == 4
        citing = last.model_copy(update={"references": (FETCHED.id,)})
        store.add([citing])
        assert [paper.id for paper in store.references(last.id)] == [FETCHED.id]


def test_a_store_of_before_knows_its_own_papers(home: Path, opened: Open) -> None:
    path = home / "store" / TEXTS_FILE
    with closing(sqlite3.connect(path)) as texts, texts:
        texts.execute("DROP TABLE own")
        texts.execute("PRAGMA user_version = 1")
    assert len(FullTextStore(home / "store").own_papers()) == len(OWN)


# --- beside the network -------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[LiteratureServer]:
    works = [
        Work("known", TITLES[0], "The service's words on bridges.", "2015-06-01", doi="10.1234/one", cited=9),
        Work("citing", "Bridges cited elsewhere", "Bridges.", "2020-01-01", cites=("known",)),
    ]
    with LiteratureServer(works) as running:
        yield running


async def test_an_own_paper_and_the_service_ones_are_one(server: LiteratureServer, home: Path) -> None:
    settings = Settings(
        home=home,
        embedder="hash",
        source="local,semantic-scholar",
        semantic_scholar_url=server.url("semantic-scholar"),
    )
    fake = FakeTime()
    time = Clock(fake.clock, fake.sleep, lambda: datetime(2026, 3, 1, tzinfo=UTC))
    with open_library(settings, clock=time) as library:
        by_title = {one.paper.title: one.paper for one in await library.search("narrow bridges", 20)}
        first = by_title[TITLES[0]]
        assert (first.doi, first.citation_count) == ("10.1234/one", 9)
        assert (await library.text(first))[1] == "full text"
        citing = {paper.title for paper in await library.citations(first)}
        assert citing == {*TITLES[1:], "Bridges cited elsewhere"}
        await library.disconnect()
    with Store.open(home / "store", EMBEDDER) as store:
        assert [one.title for one in store.identities()].count(TITLES[0]) == 1


# --- as a user does it --------------------------------------------------------------------------


def test_from_pdfs_to_ideas_on_the_command_line(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    for number in range(len(TITLES)):
        write_file(folder, f"{number}.pdf", own_pdf(number))
    write_file(folder, "more.bib", "@misc{s, title = {Bridges of Stone and Never Widened}, year = 2016}\n")
    env = {"IDEAGORA_EMBEDDER": "hash", "IDEAGORA_HOME": str(tmp_path / "home")}
    generate = [
        "generate",
        "narrow bridges",
        "--source",
        "local",
        "--allow-off-topic",
        "--branches",
        "1",
        "-q",
    ]
    empty = run(generate, env)
    assert empty.code == 1
    assert "has none. Add some" in empty.err
    assert "ideagora library add PATH" in empty.err
    assert run(["library", "add", str(folder), "--quiet"], env).code == 0
    done = run([*generate, "--json"], env)
    assert done.code == 0, done.err
    output = json.loads(done.out)
    links = output["ideas"][0]["chain"]["links"]
    assert len(links) >= 2
    assert {link["paper"]["source"] for link in links} <= {"pdf", "bibtex"}
    assert "full text" in {link["reading"]["read_from"] for link in links}
    stats = json.loads(run(["library", "stats", "--json"], env).out)
    assert (stats["own_papers"], stats["full_texts"]) == (len(OWN), len(TITLES))
