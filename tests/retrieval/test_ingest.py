"""Own papers into the store: once each, resumable, linked by what they cite."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.corpus.dedup import update_record
from ideagora.retrieval.ingest import add_papers
from ideagora.retrieval.ingest.add_papers import IngestSummary, PaperIngest
from ideagora.retrieval.library import Library
from ideagora.retrieval.store.fulltext import FullTextStore
from ideagora.retrieval.store.source import StoreSource
from ideagora.retrieval.store.store import Store
from ideagora.retrieval.texts.reader import FullTexts
from ideagora.schema import Paper, Topic
from tests.support.local_files import FIRST_TITLE, SECOND_TITLE, article, write_file
from tests.support.script import Script

EMBEDDER = HashEmbedder()


class Counting(HashEmbedder):
    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.extend(texts)
        return super().encode(texts)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store", EMBEDDER) as opened:
        yield opened


def add(store: Store, *paths: Path) -> IngestSummary:
    return PaperIngest(store, FullTextStore(store.folder), EMBEDDER).add(paths)


def counts(summary: IngestSummary) -> tuple[int, int, int]:
    return summary.added, summary.updated, summary.same


def bib(key: str, title: str, **fields: str) -> str:
    rest = "".join(f", {name} = {{{value}}}" for name, value in fields.items())
    return f"@article{{{key}, title = {{{title}}}{rest}}}\n"


def records(tmp_path: Path, name: str, *values: dict[str, object]) -> Path:
    return write_file(tmp_path, name, "".join(json.dumps(value) + "\n" for value in values))


# --- folders and files --------------------------------------------------------------------------


def test_a_folder_with_everything_in_it(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    write_file(folder, "deep/a.pdf", article())
    write_file(folder, "deep/web.pdf", "<html>log in</html>")
    write_file(folder, "b.bib", bib("b", SECOND_TITLE, year="2019") + "@article{x, title = {Never closed")
    records(folder, "c.jsonl", {"title": "A third paper on bridges"}, {"title": "B", "yaer": 1})
    write_file(folder, "no suffix", '{"title": "A fourth paper"}\n{"title": "A fifth paper"}\n')
    write_file(folder, "notes.txt", "just notes")
    write_file(folder, ".hidden/d.bib", bib("d", "Hidden"))
    os.mkfifo(folder / "pipe.pdf")
    summary = add(store, folder, tmp_path / "nothing here", folder / "b.bib")
    assert counts(summary) == (5, 0, 0)
    assert (summary.files, summary.read, summary.skipped, summary.ignored) == (5, 4, 0, 1)
    assert (summary.full_texts, summary.is_failure) == (1, False)
    messages = [str(problem) for problem in summary.problems]
    assert [one.split(":")[0] for one in messages] == [
        str(tmp_path / "nothing here"),
        f"{folder}/b.bib, line 2",
        f"{folder}/c.jsonl, line 2",
        f"{folder}/deep/web.pdf",
    ]
    papers = store.identities()
    assert {store.get(one.id).source for one in papers} == {"pdf", "bibtex", "jsonl"}  # type: ignore[union-attr]


def test_adding_again_changes_nothing_and_tells_the_same_problems(store: Store, tmp_path: Path) -> None:
    path = write_file(tmp_path, "b.bib", bib("b", SECOND_TITLE, year="2019") + "@article{x}\n")
    first = add(store, path)
    again = add(store, path)
    assert (counts(first), counts(again)) == ((1, 0, 0), (0, 0, 1))
    assert (again.read, again.skipped) == (0, 1)
    assert first.problems == again.problems != ()
    moved = write_file(tmp_path, "other.bib", path.read_bytes())
    assert [problem.path for problem in add(store, moved).problems] == [str(moved)]


def test_nothing_that_can_be_read_is_a_failure(store: Store, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert add(store, tmp_path / "empty").is_failure
    summary = add(store, write_file(tmp_path, "a.pdf", "<html>"))
    assert summary.is_failure
    assert len(add(store, tmp_path / "a.pdf").problems) == 1


def test_a_changed_file_updates_its_papers(store: Store, tmp_path: Path) -> None:
    add(store, write_file(tmp_path, "b.bib", bib("b", SECOND_TITLE, year="2019")))
    changed = bib("b", SECOND_TITLE, year="2019", abstract="Now with an abstract.")
    assert counts(add(store, write_file(tmp_path, "b.bib", changed))) == (0, 1, 0)
    (paper_id,) = store.backend.ids()
    paper = store.get(paper_id)
    assert paper
    assert paper.abstract == "Now with an abstract."


def test_what_may_not_be_read_stops_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = write_file(tmp_path, "a.bib", bib("a", "Cannot be read"))
    good = write_file(tmp_path, "b.bib", bib("b", SECOND_TITLE))
    opened = Path.open

    def refusing(self: Path, *arguments: object, **options: object) -> object:
        if self == bad:
            raise PermissionError(13, "Permission denied")
        return opened(self, *arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refusing)
    summary = add(store, bad, good)
    assert counts(summary) == (1, 0, 0)
    assert "it cannot be read (Permission denied)" in str(summary.problems[0])


# --- one paper, one record ----------------------------------------------------------------------


def test_the_same_paper_from_three_files_is_one_record(store: Store, tmp_path: Path) -> None:
    head = [(9.0, "https://doi.org/10.1234/bridge.5")]
    entry = bib("b", FIRST_TITLE, year="2021", author="Planke, Ada", journal="Bridges")
    record = {"title": "Another title", "doi": "10.1234/BRIDGE.5", "citation_count": 7}
    paths = [
        write_file(tmp_path, "a.pdf", article(head=head)),
        write_file(tmp_path, "b.bib", entry),
        records(tmp_path, "c.jsonl", record),
    ]
    assert counts(add(store, *paths)) == (1, 0, 0)
    paper = store.get("doi:10.1234/bridge.5")
    assert paper
    assert (paper.title, paper.date, paper.venue) == ("Another title", "2021", "Bridges")
    assert (paper.authors, paper.citation_count) == (("Ada Planke",), 7)
    assert paper.abstract
    assert store.count() == 1


@pytest.mark.parametrize(
    ("one", "other", "papers"),
    [
        ({"date": "2020"}, {"date": "2021-05"}, 1),
        ({"date": "2020"}, {"date": "2022"}, 2),
        ({"date": "2020"}, {}, 1),
        ({"doi": "10.1234/a"}, {"doi": "10.1234/b"}, 2),
        ({"doi": "10.1234/a", "date": "2020"}, {"arxiv_id": "2001.00001", "date": "2020"}, 1),
        ({"arxiv_id": "2001.00001"}, {"arxiv_id": "2001.00001v2", "date": "2000"}, 1),
        ({"title": "Editorial"}, {"title": "Editorial", "date": "2020"}, 2),
        ({"title": "Editorial", "date": "2020"}, {"title": "EDITORIAL.", "date": "2020"}, 1),
    ],
)
def test_which_records_are_one_paper(
    store: Store, tmp_path: Path, one: dict[str, object], other: dict[str, object], papers: int
) -> None:
    title = {"title": "A title long enough to tell"}
    add(store, records(tmp_path, "a.jsonl", title | one))
    add(store, records(tmp_path, "b.jsonl", title | other))
    assert store.count() == papers


def test_what_is_worth_more_counts_and_gaps_are_filled() -> None:
    starter = Paper(id="arxiv:1", title="T", abstract="Ours.", source="starter", references=("a",))
    own = Paper(id="own:1", title="t", abstract="Theirs.", venue="V", source="bibtex", references=("b", "a"))
    both = update_record(starter, own)
    assert (both.id, both.abstract, both.venue, both.source) == ("arxiv:1", "Ours.", "V", "starter")
    assert both.references == ("a", "b")
    assert update_record(both, own) == both
    scan = own.model_copy(update={"source": "pdf", "abstract": "Read off."})
    assert update_record(scan, own).abstract == "Theirs."


# --- citations and texts ------------------------------------------------------------------------


def test_references_become_citations_also_when_the_cited_comes_later(store: Store, tmp_path: Path) -> None:
    references = [
        f"O. Steg. {SECOND_TITLE}. Journal of Bridges, 2019.",
        "A. Planke. Oak in rivers. doi:10.1234/oak, 2018.",
        "B. Birk. Birches that bend. arXiv:1801.01234.",
        "N. Obody. A paper that nobody has ever seen, 2001.",
    ]
    citing = write_file(tmp_path, "a.pdf", article(references=references))
    early = write_file(tmp_path, "b.bib", bib("b", "Oak", doi="10.1234/oak"))
    assert add(store, early, citing).citations == 1
    later = records(
        tmp_path,
        "c.jsonl",
        {"title": SECOND_TITLE, "date": "2020"},
        {"title": "Birches", "arxiv_id": "1801.01234", "references": ["doi:10.1234/OAK".lower()]},
    )
    assert add(store, later).citations == 3
    (first,) = [one for one in map(store.get, store.backend.ids()) if one and one.title == FIRST_TITLE]
    assert {one.title for one in store.references(first.id)} == {"Oak", SECOND_TITLE, "Birches"}
    assert add(store, citing, early, later).citations == 0


async def test_the_full_text_reaches_the_reader(store: Store, tmp_path: Path) -> None:
    add(store, write_file(tmp_path, "a.pdf", article(references=["X. A title that is cited here. 2001."])))
    library = Library(StoreSource(store, EMBEDDER), EMBEDDER, texts=FullTexts(FullTextStore(store.folder)))
    (result,) = await library.search("bridges", 5)
    text, kind = await library.text(result.paper)
    assert kind == "full text"
    assert text.startswith("Introduction\nBridges were wide once.")
    assert "that is cited here" not in text
    earlier = library.for_topic(Topic(text="x", before="2022-05-18"))
    assert (await earlier.text(result.paper))[1] == "full text"


# --- interrupted --------------------------------------------------------------------------------

ADD = """
import sys
from pathlib import Path
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.ingest import add_papers
from ideagora.retrieval.store.store import Store
from ideagora.retrieval.store.fulltext import FullTextStore
add_papers._BATCH = 4
def tell(file, part, papers):
    if papers == 9:
        print("now", flush=True)
        sys.stdin.readline()
with Store.open(Path(sys.argv[1]), HashEmbedder()) as store:
    add_papers.PaperIngest(store, FullTextStore(store.folder), HashEmbedder(), tell).add([Path(sys.argv[2])])
"""


def test_a_killed_call_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "papers"
    write_file(folder, "a.bib", bib("a", "The first paper of all"))
    many: list[dict[str, object]] = [{"title": f"Paper number {n} of many"} for n in range(20)]
    records(folder, "b.jsonl", *many)
    with Script(ADD, tmp_path / "store", folder) as process:
        line = process.line()
    monkeypatch.setattr(add_papers, "_BATCH", 4)
    counting = Counting()
    with Store.open(tmp_path / "store", counting) as store:
        written_before = store.count()
        summary = PaperIngest(store, FullTextStore(store.folder), counting).add([folder])
        assert (line, written_before) == ("now\n", 9)
        assert store.count() == 21
    assert counts(summary) == (21 - written_before, 0, written_before)
    assert (summary.read, summary.skipped) == (1, 1)
    assert not {text for text in counting.asked if "first paper" in text}


def test_another_process_may_write_meanwhile(store: Store, tmp_path: Path) -> None:
    """What another process added after we looked is found before we write."""
    ours = PaperIngest(store, FullTextStore(store.folder), EMBEDDER)
    with Store.open(store.folder, EMBEDDER) as other:
        add(other, records(tmp_path, "a.jsonl", {"title": "A title long enough to tell", "doi": "10.1234/a"}))
    path = records(tmp_path, "b.jsonl", {"title": "A title long enough to tell", "venue": "V"})
    assert counts(ours.add([path])) == (0, 1, 0)
    paper = store.get("doi:10.1234/a")
    assert paper
    assert paper.venue == "V"


def test_a_record_of_ones_own_cannot_make_a_known_paper_another_one(store: Store, tmp_path: Path) -> None:
    known = Paper(
        id="arxiv:2201.11903", arxiv_id="2201.11903", title="Chain of thought prompting", citation_count=900,
        source="semantic-scholar",
    )  # fmt: skip
    store.add([known])
    lines = [
        {"arxiv_id": "2201.11903", "title": "Our miracle method"},
        {"id": "arxiv:2201.11903", "title": "Our miracle method"},
        {"title": "Another paper"},
        {
            "arxiv_id": "2201.11903",
            "title": "Chain-of-Thought Prompting elicits reasoning",
            "venue": "NeurIPS",
        },
    ]
    summary = add(store, write_file(tmp_path, "a.jsonl", "\n".join(map(json.dumps, lines))))
    assert [str(one).partition(": ")[2].partition(".")[0] for one in summary.problems] == [
        "“Our miracle method” has the id arxiv:2201"
    ] * 2
    assert "which is “Chain of thought prompting” in the store" in str(summary.problems[0])
    paper = store.get(known.id)
    assert paper
    assert (paper.title, paper.venue) == ("Chain-of-Thought Prompting elicits reasoning", "NeurIPS")
    assert paper.citation_count == 900
    assert counts(summary) == (1, 1, 0)
