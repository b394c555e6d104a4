"""Cut-off and bans on every path that leads from a source to an agent, and what is told of it.

The methods of ``Library`` are listed by name: a new one fails here until its path is walked.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ideagora.commands.generate import Request, run
from ideagora.errors import LibraryError
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.ingest.add_papers import PaperIngest
from ideagora.retrieval.library import Library
from ideagora.retrieval.store.fulltext import FullTextStore
from ideagora.retrieval.store.store import Store
from ideagora.schema import Paper, Topic
from tests.support.literature_server import File, LiteratureServer, Work, hurry, open_at, settings_for
from tests.support.local_files import article, pdf, write_file

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PATHS = {
    "search",
    "similar",
    "paper",
    "references",
    "citations",
    "recommended",
    "citations_per_year",
    "text",
    "read",
}
NO_PATHS = {
    "begin_run", "end_run", "resolve_exclusions", "close", "disconnect", "embedder", "held_back", "notes",
    "nearest_spelling", "outages", "for_topic", "for_sample", "given_ids", "size", "prefetch",
    "fetches_texts", "hidden_near",  # which compares finished ideas, and which no agent sees
}  # fmt: skip
LATE, UNDATED, TARGET = "Ideas of late research", "Ideas without any date", "Chain of Ideas revolution"
OLD, YOUNG = "Ideas of old research", "Ideas of young research"


def works(base: str) -> list[Work]:
    """Every one cites the old one, and the old one recommends every one."""
    late = base + "/late.pdf"
    return [
        Work(
            "old", OLD, "Old ideas.", "2019-01-10", "1901.00001",
            recommends=("late", "undated", "target", "young"), pdf=late,
            per_year=((2019, 2), (2022, 5), (2023, 7), (2024, 9)), cited=23,
        ),
        Work("late", LATE, "Late ideas.", "2024-06-01", "2406.00001", cites=("old",)),
        Work("undated", UNDATED, "Ideas.", None, cites=("old",)),
        Work("target", TARGET, "Ideas.", "2020-12-01", doi="10.1234/TARGET", cites=("old",)),
        Work("young", YOUNG, "Young ideas.", "2021-01-01", cites=("old", "target", "late"), pdf=late),
    ]  # fmt: skip


LATE_PDF = article(title=YOUNG).replace(b"D:2022051712", b"D:2024051712")
OLD_PDF = article(title=OLD, head=[(9.0, "arXiv:1901.00001v1 [cs.CL] 10 Jan 2019")])
TOPICS = {
    "cut-off": (Topic(text="ideas", before="2023"), {LATE, UNDATED}),
    "banned title": (Topic(text="ideas", excluded=("chain of ideas: REVOLUTION",)), {TARGET}),
    "banned id": (Topic(text="ideas", excluded=("https://doi.org/10.1234/target",)), {TARGET}),
    "both": (Topic(text="ideas", before="2023", excluded=("arxiv:1901.00001",)), {LATE, UNDATED, OLD}),
}
Open = Callable[[str], Library]


@pytest.fixture
def server() -> Iterator[LiteratureServer]:
    with LiteratureServer([]) as running:
        running.works = works(running.url("files"))
        running.files = {"/files/late.pdf": File(LATE_PDF)}
        yield running


@pytest.fixture(scope="module")
def own_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same papers as files of the user's, each citing the old one."""
    home = tmp_path_factory.mktemp("own")
    stamp = {OLD: "arXiv:1901.00001v1 [cs.CL] 10 Jan 2019", TARGET: "https://doi.org/10.1234/TARGET"}
    days = {OLD: "20190110", LATE: "20240601", TARGET: "20201201", YOUNG: "20210101"}
    for number, (title, day) in enumerate(days.items()):
        references = [f"A. Author. {OLD}. Journal, 2019."] if number else []
        head = [(9.0, stamp[title])] if title in stamp else []
        made = article(title, references, head).replace(b"D:20220517", f"D:{day}".encode())
        write_file(home, f"files/{number}.pdf", made)
    write_file(home, "files/undated.bib", f"@misc{{u, title = {{{UNDATED}}}, abstract = {{Ideas.}}}}\n")
    with Store.open(home / "store", HashEmbedder()) as store:
        PaperIngest(store, FullTextStore(store.folder), HashEmbedder()).add([home / "files"])
    return home / "store"


@pytest.fixture
async def opened(server: LiteratureServer, tmp_path: Path, own_store: Path) -> AsyncIterator[Open]:
    made: list[Library] = []

    def opener(source: str) -> Library:
        if "local" in source:
            shutil.copytree(own_store, tmp_path / "store", dirs_exist_ok=True)
        made.append(open_at(NOW, settings_for(server, tmp_path, source)))
        return made[-1]

    yield opener
    for library in made:
        await library.disconnect()
        library.close()


def test_the_list_of_paths_is_whole() -> None:
    public = {name for name in vars(Library) if not name.startswith("_")}
    assert public == PATHS | NO_PATHS


async def every_path(library: Library, held: list[Paper]) -> list[Paper]:
    """All papers that any path gives, also when it is asked about papers that an agent should not hold."""
    found = [scored.paper for scored in await library.search("ideas research", 50)]
    found += [scored.paper for scored in await library.similar(held, "ideas")]
    for paper in held:
        known = await library.paper(paper.id)
        found += [known] if known else []
        for other_id in (*paper.other_ids, f"doi:{paper.doi}", f"arxiv:{paper.arxiv_id}"):
            known = await library.paper(other_id)
            found += [known] if known else []
        found += await library.references(paper)
        found += await library.citations(paper)
        found += await library.recommended(paper, 50) or []
    return found


JOINED = "local,semantic-scholar,openalex"
WALKED = [
    *(("local", case) for case in TOPICS),
    *((JOINED, case) for case in TOPICS),
    ("semantic-scholar", "both"),
    ("openalex", "both"),
]


@pytest.mark.parametrize(("source", "case"), WALKED)
async def test_nothing_forbidden_comes_by_any_path(opened: Open, source: str, case: str) -> None:
    topic, hidden = TOPICS[case]
    origin = opened(source)
    held = [scored.paper for scored in await origin.search("ideas research", 50)]
    everything = await every_path(origin, held)
    assert hidden <= {paper.title for paper in everything}
    restricted = origin.for_topic(topic)
    shown = await every_path(restricted, everything)
    assert shown
    assert not {paper.title for paper in shown} & hidden
    assert {paper.references for paper in shown} == {None}
    for paper in everything:
        if paper.title in hidden:
            assert await restricted.citations_per_year(paper) is None
            for path in (restricted.text, restricted.read):
                with pytest.raises(LibraryError, match="withheld"):
                    await path(paper)
        else:
            text, _ = await restricted.read(paper)
            assert not any(title in text for title in hidden - {UNDATED})
    assert hidden <= {one.title for one in restricted.held_back}


@pytest.mark.parametrize("source", ["semantic-scholar", "openalex"])
async def test_counts_from_after_the_cut_off_are_hidden(opened: Open, source: str) -> None:
    origin = opened(source)
    [old] = [s.paper for s in await origin.search("ideas old", 50) if s.paper.title == OLD]
    told = await origin.citations_per_year(old)
    assert told == ({2019: 2, 2022: 5, 2023: 7, 2024: 9} if source == "openalex" else None)
    for before, years in (("2023", {2019: 2, 2022: 5}), ("2023-12-31", {2019: 2, 2022: 5})):
        restricted = origin.for_topic(Topic(text="ideas", before=before))
        assert await restricted.citations_per_year(old) == (years if told else None)
        [shown] = [s.paper for s in await restricted.search("ideas old", 50) if s.paper.title == OLD]
        assert (shown.citation_count, shown.citations_as_of) == (None, None)


async def test_recommendations_are_none_where_nobody_recommends(opened: Open) -> None:
    origin = opened(JOINED)
    papers = {s.paper.title: s.paper for s in await origin.search("ideas research", 50)}
    told = await origin.recommended(papers[OLD], 2)
    assert [paper.title for paper in told or ()] == [LATE, UNDATED]
    assert await origin.recommended(papers[LATE]) is None
    cut = origin.for_topic(Topic(text="ideas", before="2023", excluded=(TARGET,)))
    assert [paper.title for paper in await cut.recommended(papers[OLD]) or ()] == [YOUNG]


async def test_own_papers_are_recommended_by_nobody(opened: Open) -> None:
    local = opened("local")
    [old] = [s.paper for s in await local.search("ideas research", 50) if s.paper.title == OLD]
    assert await local.recommended(old) is None
    assert await local.citations_per_year(old) is None


# --- full texts ---------------------------------------------------------------------------------


async def by_title(library: Library, title: str) -> Paper:
    [found] = [s.paper for s in await library.search("ideas research", 50) if s.paper.title == title]
    return found


async def test_the_reader_gets_the_open_pdf_and_only_once(server: LiteratureServer, opened: Open) -> None:
    server.files["/arxiv/pdf/1901.00001"] = File(OLD_PDF)
    library = opened("semantic-scholar")
    old = await by_title(library, OLD)
    assert (await library.text(old))[1] == "abstract"
    text, kind = await library.read(old)
    assert (kind, text.split("\n")[0]) == ("full text", "Introduction")
    assert len((await library.read(old, tokens=60))[0]) < 60 * 4 < len(text)
    assert (await library.text(old))[1] == "abstract"  # what other branches read changes nothing
    again = opened("semantic-scholar")
    assert (await again.read(old))[0] == text
    fetched = [one for one in server.requests if one.path.startswith("/pdf/")]
    assert [one.path for one in fetched] == ["/pdf/1901.00001"]
    assert library.notes == []


async def test_with_a_cut_off_the_first_version_is_read(server: LiteratureServer, opened: Open) -> None:
    server.files["/arxiv/pdf/1901.00001v1"] = File(OLD_PDF)
    library = opened("semantic-scholar").for_topic(Topic(text="ideas", before="2023"))
    assert (await library.read(await by_title(library, OLD)))[1] == "full text"
    assert [one.path for one in server.requests if "pdf" in one.path] == ["/pdf/1901.00001v1"]


async def test_a_pdf_from_after_the_cut_off_is_held_back_and_told(opened: Open) -> None:
    origin = opened("semantic-scholar")
    young = await by_title(origin, YOUNG)
    assert (await origin.read(young))[1] == "full text"
    restricted = origin.for_topic(Topic(text="ideas", before="2023"))
    assert await restricted.read(young) == ("Young ideas.", "abstract")
    [why] = [one.why for one in restricted.held_back if one.title == YOUNG]
    assert why == "its full text is of 2024-05-17, not before the cut-off 2023-01-01"


async def test_a_banned_paper_behind_another_ones_link_is_held_back(
    server: LiteratureServer, opened: Open
) -> None:
    server.files["/files/late.pdf"] = File(article(title=TARGET))
    restricted = opened("openalex").for_topic(Topic(text="ideas", excluded=(TARGET,)))
    young = await by_title(restricted, YOUNG)
    assert await restricted.read(young) == ("Young ideas.", "abstract")
    assert "its PDF is an excluded paper" in [one.why for one in restricted.held_back]


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (File(b"<html>"), "it is an HTML page, not a PDF"),
        (File(b"", 302, {"Location": "http://169.254.169.254/x"}), "private network"),
        (File(b"", 302, {"Location": "late.pdf"}), "redirects"),
        (File(b"%PDF-1.4", announced=2_000_000_000), "it has 2,000 MB"),
        (File(b"%PDF-1.4 rubbish"), "the PDF is damaged"),
        (File(pdf([[(10, "scan")]])), "its pages are images"),
        (File(b"", 500), "HTTP 500"),
    ],
)
async def test_what_cannot_be_had_is_noted_and_the_abstract_read(
    server: LiteratureServer, opened: Open, file: File, why: str
) -> None:
    server.files["/files/late.pdf"] = file
    library = opened("semantic-scholar")
    young = await by_title(library, YOUNG)
    for _ in range(2):
        assert await library.read(young) == ("Young ideas.", "abstract")
    [note] = library.notes
    assert note.startswith(f"No full text available, so only the abstract was read: {YOUNG} (")
    assert why in note
    asked_twice = file.status == 500
    round_trip = file.headers.get("Location") == "late.pdf"
    times = len([one for one in server.requests if one.service == "files"])
    assert times == (2 if asked_twice else 6 if round_trip else 1)


# --- a whole run --------------------------------------------------------------------------------


@pytest.mark.parametrize("full_text", [True, False])
def test_a_run_reads_full_texts_and_reports_what_was_held_back(
    server: LiteratureServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    full_text: bool,
) -> None:
    hurry(monkeypatch, NOW)
    for name in ("semantic-scholar", "arxiv"):
        monkeypatch.setenv(f"IDEAGORA_{name.upper().replace('-', '_')}_URL", server.url(name))
    server.files["/arxiv/pdf/1901.00001v1"] = File(OLD_PDF)
    asked = Request(
        topic="ideas of old research",
        settings={
            "source": "semantic-scholar", "embedder": "hash", "home": tmp_path, "full_text": full_text,
        },
        options={"allow_thin": True, "branches": 1, "length": 3},
        before="2023",
        excluded=(TARGET,),
        as_json=True,
        quiet=True,
    )  # fmt: skip
    assert run(asked) == 0
    told = json.loads(capsys.readouterr().out)
    record = json.loads((Path(told["run"]) / "run.json").read_text())
    held = {one["title"] for one in record["held_back"]}
    assert {LATE, UNDATED, TARGET} <= held
    report = (Path(told["run"]) / "report.md").read_text()
    assert all(title in report for title in (LATE, UNDATED, TARGET))
    links = told["ideas"][0]["chain"]["links"]
    read_from = {link["paper"]["title"]: link["reading"]["read_from"] for link in links}
    assert read_from[OLD] == ("full text" if full_text else "abstract")
    assert bool([one for one in server.requests if "pdf" in one.path]) is full_text
