"""The library over sources on the network: joined, written through, restricted, told of in the notes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Unpack

import pytest

from ideagora.commands.generate import Request, run
from ideagora.config import SettingOverrides, Settings, load_settings
from ideagora.errors import LibraryError, SettingsError, SourceUnavailable
from ideagora.graphs.event_log import read_events
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.factory import open_library
from ideagora.retrieval.library import Library
from ideagora.retrieval.store.store import Store
from ideagora.schema import Paper, Topic
from tests.support import standin
from tests.support.literature_server import (
    SERVICES,
    Fault,
    LiteratureServer,
    Work,
    hurry,
    open_at,
    settings_for,
)
from tests.support.loopback import Loopback

ALL = ",".join(SERVICES)
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def a_work(name: str, title: str, date: str | None, **fields: Any) -> Work:
    return Work(name, title, fields.pop("abstract", f"Research on {title}."), date, **fields)


OLD = a_work("old", "Ideas of old research", "2019-01-10", arxiv="1901.00001")
TARGET = a_work("target", "Chain of Ideas revolution", "2022-12-01", doi="10.1/TARGET", cites=("old",))
LATE = a_work("late", "Ideas of late research", "2024-06-01", arxiv="2406.00001", cites=("old", "target"))
UNDATED = a_work("undated", "Ideas research without date", None, cites=("old",))
THIN = a_work("thin", "Ideas research without abstract", "2020-01-01", abstract=None, cites=("old",))
FOLLOWER = a_work("follower", "Ideas research that follows", "2023-03-01", cites=("target", "thin", "old"))
WORKS = (OLD, TARGET, LATE, UNDATED, THIN, FOLLOWER)


@pytest.fixture
def server() -> Iterator[LiteratureServer]:
    with LiteratureServer(WORKS) as running:
        yield running


Open = Callable[..., Library]


@pytest.fixture
async def opened(server: LiteratureServer, tmp_path: Path) -> AsyncIterator[Open]:
    """Opens libraries of one home; closes them in the end."""
    made: list[Library] = []

    def opener(source: str = ALL, later: timedelta = timedelta()) -> Library:
        made.append(open_at(NOW + later, settings_for(server, tmp_path, source)))
        return made[-1]

    yield opener
    for library in made:
        await library.disconnect()
        library.close()


def titles(papers: list[Paper]) -> set[str]:
    return {paper.title for paper in papers}


async def walk(library: Library) -> list[list[Paper]]:
    """Every path that leads to papers."""
    papers_found = [scored.paper for scored in await library.search("ideas research revolution", 20)]
    lists = [papers_found]
    for paper in papers_found:
        lists += [await library.references(paper), await library.citations(paper)]
        known = await library.paper(paper.id)
        lists.append([known] if known else [])
    return lists


# --- joined -------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["semantic-scholar", "openalex", "openalex,semantic-scholar", ALL])
async def test_one_paper_is_one_paper_whatever_the_sources(opened: Open, source: str) -> None:
    library = opened(source)
    results = await library.search("ideas research revolution", 20)
    assert sorted(scored.paper.title for scored in results) == sorted(str(work.title) for work in WORKS)
    assert [scored.similarity for scored in results] == sorted((s.similarity for s in results), reverse=True)
    by_title = {scored.paper.title: scored.paper for scored in results}
    old = by_title["Ideas of old research"]
    assert old.id == "arxiv:1901.00001"
    citing = await library.citations(old)
    assert [paper.title for paper in citing][-1] == UNDATED.title
    assert titles(citing) == {str(work.title) for work in WORKS if "old" in work.cites}
    follower = by_title["Ideas research that follows"]
    assert titles(await library.references(follower)) == {TARGET.title, THIN.title, OLD.title}


async def test_the_starter_corpus_can_stand_beside_the_network(opened: Open) -> None:
    library = opened("starter,semantic-scholar")
    sources_found = {scored.paper.source for scored in await library.search("ideas research", 20)}
    assert sources_found == {"starter", "semantic-scholar"}


async def test_a_source_that_is_down_is_skipped_and_reported(server: LiteratureServer, opened: Open) -> None:
    library = opened()
    server.faults.append(Fault(503, service="openalex", forever=True))
    assert titles([one.paper for one in await library.search("ideas research", 20)]) >= {OLD.title}
    [note] = [note for note in library.notes if "down" in note]
    assert note.startswith("Source down: openalex, 1 request failed (openalex did not respond")
    server.faults.append(Fault(503, forever=True))
    with pytest.raises(SourceUnavailable, match=r"semantic-scholar.*openalex.*arxiv"):
        await library.search("another question", 5)


async def test_nothing_found_and_no_abstract_are_distinguished(opened: Open) -> None:
    library = opened()
    assert await library.search("quantum chromodynamics", 5) == []
    assert library.notes == ["Nothing found for “quantum chromodynamics”."]
    restricted = library.for_topic(Topic(text="ideas"))
    await restricted.search("ideas research abstract", 20)
    assert restricted.notes == [
        "No source has an abstract for 1 paper (Ideas research without abstract). "
        "Only their titles could be judged."
    ]


# --- written through ----------------------------------------------------------------------------


async def test_the_same_again_asks_the_network_nothing(server: LiteratureServer, opened: Open) -> None:
    first = await walk(opened())
    asked = len(server.requests)
    assert asked > 10
    assert await walk(opened()) == first
    assert len(server.requests) == asked


async def test_the_store_answers_when_the_cached_answers_are_gone(
    server: LiteratureServer, opened: Open, tmp_path: Path
) -> None:
    library = opened()
    [old] = [s.paper for s in await library.search("ideas old", 20) if s.paper.title == OLD.title]
    citing, cited = await library.citations(old), await library.references(old)
    library.close()
    for file in (tmp_path / "cache").glob("literature.sqlite*"):
        file.unlink()
    asked = len(server.requests)
    again = opened()
    assert await again.paper(old.id) == old.model_copy(update={"references": ()})
    assert (await again.citations(old), await again.references(old)) == (citing, cited)
    assert len(server.requests) == asked
    later = opened(later=timedelta(days=31))
    assert await later.citations(old) == [
        paper.model_copy(update={"citations_as_of": "2026-04-01"}) if paper.citations_as_of else paper
        for paper in citing
    ]
    assert len(server.requests) > asked


async def test_with_all_sources_down_the_store_tells_how_old_it_is(
    server: LiteratureServer, opened: Open
) -> None:
    first = opened()
    [old] = [s.paper for s in await first.search("ideas old", 20) if s.paper.title == OLD.title]
    citing = await first.citations(old)
    server.faults.append(Fault(503, forever=True))
    later = opened(later=timedelta(days=31))
    assert titles(await later.citations(old)) == titles(citing)
    assert f"{old.id}: citations from the store, as of 2026-03-01." in later.notes
    with pytest.raises(SourceUnavailable):
        await later.references(old)


async def test_a_list_that_a_source_missed_is_asked_for_again(server: LiteratureServer, opened: Open) -> None:
    server.faults.append(Fault(503, service="openalex", forever=True))
    first = opened()
    [old] = [s.paper for s in await first.search("ideas old", 20) if s.paper.title == OLD.title]
    await first.citations(old)
    server.faults.clear()
    asked = len(server.requests_to("openalex"))
    again = opened()
    await again.citations(old)
    assert len(server.requests_to("openalex")) > asked
    assert again.notes == [note for note in again.notes if "down" not in note]


async def test_what_was_met_is_in_the_store(opened: Open, tmp_path: Path) -> None:
    library = opened("semantic-scholar")
    await walk(library)
    library.close()
    with Store.open(tmp_path / "store", HashEmbedder()) as store:
        assert store.count() == len(WORKS)
        assert store.stats().citations == sum(len(work.cites) for work in WORKS)
        results = store.search(HashEmbedder().encode([f"{OLD.title}\n{OLD.abstract}"])[0], 1)
        assert results[0].paper.title == OLD.title


async def test_a_step_along_citations_is_one_request(server: LiteratureServer, opened: Open) -> None:
    library = opened("semantic-scholar")
    [old] = [s.paper for s in await library.search("ideas old", 20) if s.paper.title == OLD.title]
    asked = len(server.requests)
    await library.citations(old)
    assert len(server.requests) == asked + 1


# --- cut-off and bans ---------------------------------------------------------------------------


@pytest.mark.parametrize("source", [*SERVICES[:2], ALL])
@pytest.mark.parametrize(
    ("topic", "hidden"),
    [
        (Topic(text="ideas", before="2023"), {LATE.title, UNDATED.title, FOLLOWER.title}),
        (Topic(text="ideas", excluded=("chain of ideas: REVOLUTION",)), {TARGET.title}),
        (Topic(text="ideas", excluded=("https://doi.org/10.1/target",)), {TARGET.title}),
        (Topic(text="ideas", before="2023", excluded=("arxiv:1901.00001",)), {LATE.title, OLD.title}),
    ],
)
async def test_excluded_papers_are_withheld_on_every_path(
    opened: Open, source: str, topic: Topic, hidden: set[str]
) -> None:
    origin = opened(source)
    every = [paper for some in await walk(origin) for paper in some]
    assert hidden <= titles(every)
    restricted = origin.for_topic(topic)
    shown = [paper for some in await walk(restricted) for paper in some]
    shown += [scored.paper for scored in await restricted.similar(every, "ideas")]
    for paper in every:
        shown += [*await restricted.references(paper), *await restricted.citations(paper)]
        known = await restricted.paper(paper.id)
        shown += [known] if known else []
        if paper.title in hidden:
            with pytest.raises(LibraryError, match="withheld"):
                await restricted.text(paper)
    assert shown
    assert not titles(shown) & hidden
    assert {paper.references for paper in shown} == {None}
    assert hidden <= {withheld.title for withheld in restricted.held_back}


async def test_the_cut_off_holds_for_the_starter_corpus_beside_the_network(opened: Open) -> None:
    restricted = opened("starter,semantic-scholar").for_topic(Topic(text="ideas", before="2023"))
    shown = [scored.paper for scored in await restricted.search("ideas research revolution", 20)]
    shown += [other for paper in shown for other in await restricted.citations(paper)]
    assert {paper.source for paper in shown} == {"starter", "semantic-scholar"}
    assert max(paper.date or "9" for paper in shown) < "2023"


# --- settings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["scholar", "starter,scholar", ",", ""])
def test_an_unknown_source_is_refused_with_the_known_ones(tmp_path: Path, source: str) -> None:
    with pytest.raises(
        SettingsError, match=r"IDEAGORA_SOURCE.*starter, local, semantic-scholar, openalex, arxiv"
    ):
        open_library(Settings(home=tmp_path, source=source, embedder="hash"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["SEMANTIC_SCHOLAR_URL", "OPENALEX_URL", "ARXIV_URL"])
def test_a_url_that_is_none_is_named(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"IDEAGORA_{name}", "nowhere")
    with pytest.raises(SettingsError, match=f"IDEAGORA_{name}"):
        open_library(load_settings(home=tmp_path, source=ALL, embedder="hash"))


@pytest.mark.parametrize("name", ["SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY"])
async def test_the_key_comes_from_the_environment(
    server: LiteratureServer, opened: Open, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "a-key-of-mine")
    monkeypatch.setenv("OPENALEX_API_KEY", "another-key")
    library = opened()
    await library.search("ideas", 5)
    await library.disconnect()
    library.close()
    keys = {
        service: {(request.headers.get("x-api-key"), request.query.get("api_key")) for request in requests}
        for service in SERVICES
        if (requests := server.requests_to(service))
    }
    assert keys == {
        "semantic-scholar": {("a-key-of-mine", None)},
        "openalex": {(None, "another-key")},
        "arxiv": {(None, None)},
    }
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"a-key-of-mine" in file or b"another-key" in file for file in files)


# --- a whole run --------------------------------------------------------------------------------

SUBJECTS = ("planning", "memory", "feedback", "tools", "dialogue", "retrieval", "evaluation", "curricula")


def a_field() -> list[Work]:
    """Papers on language model agents, each building on those before it."""
    return [
        Work(
            f"p{n}",
            f"Language model agents with {subject}",
            f"Language model agents fail at long tasks. We propose an agent with {subject}, which keeps what "
            f"helped. It solves {40 + n} percent of the tasks of the AgentBench data set. However, "
            f"the agent with {subject} is slow and needs many calls.",
            f"202{n // 2}-0{n + 1}-01",
            arxiv=f"2{n // 2}0{n + 1}.0000{n}",
            cited=100 - n,
            cites=tuple(f"p{earlier}" for earlier in range(n)),
        )
        for n, subject in enumerate(SUBJECTS)
    ]


@pytest.fixture
def fast_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line's clock: as the real one, but waiting takes no time."""
    hurry(monkeypatch, NOW)


@pytest.mark.usefixtures("fast_time")
def test_a_run_without_a_lead_says_so_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings: SettingOverrides = {"source": "semantic-scholar", "embedder": "hash", "home": tmp_path}
    with LiteratureServer(a_field()) as server:
        monkeypatch.setenv("IDEAGORA_SEMANTIC_SCHOLAR_URL", server.url("semantic-scholar"))
        for as_json in (False, False, True):
            asked = Request(
                topic="language model agents",
                settings=settings,
                options={"allow_thin": True},
                as_json=as_json,
                quiet=True,
            )
            assert run(asked) == 1
            output = capsys.readouterr()
            assert "error: 0 leads;" in output.err
            assert "--model" in output.err
            assert (json.loads(output.out)["ideas"] if as_json else output.out.strip()) in ([], "")


@pytest.mark.usefixtures("fast_time")
def test_a_run_on_semantic_scholar_and_the_same_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with LiteratureServer(a_field()) as server, Loopback(standin.Model()) as model:
        monkeypatch.setenv("IDEAGORA_SEMANTIC_SCHOLAR_URL", server.url("semantic-scholar"))
        asked = Request(
            topic="language model agents",
            settings={
                "source": "semantic-scholar",
                "embedder": "hash",
                "home": tmp_path,
                "model": "openai/standin",
                "api_base": model.base,
            },
            options={"allow_thin": True},
            as_json=True,
            fresh=True,
            quiet=True,
        )
        assert run(asked) == 0
        first = json.loads(capsys.readouterr().out)
        requests = len(server.requests)
        assert requests > 5
        assert run(asked) == 0
        again = json.loads(capsys.readouterr().out)
        assert len(server.requests) == requests
    assert max(len(idea["chain"]["links"]) for idea in first["ideas"]) >= 3
    assert without_times(again) == without_times(first)
    record = json.loads((Path(first["run"]) / "run.json").read_text())
    assert record["status"] == "done"
    assert not [note for note in record["notes"] if "starter" in note or "down" in note]


@pytest.mark.usefixtures("fast_time")
def test_what_was_missing_is_in_the_run_and_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with LiteratureServer(a_field(), faults=[Fault(503, service="openalex", forever=True)]) as server:
        for name in ("semantic-scholar", "openalex"):
            monkeypatch.setenv(f"IDEAGORA_{name.upper().replace('-', '_')}_URL", server.url(name))
        settings: SettingOverrides = {
            "source": "semantic-scholar,openalex",
            "embedder": "hash",
            "home": tmp_path,
        }
        asked = Request(
            topic="language model agents",
            settings=settings,
            options={"allow_thin": True, "branches": 1},
            as_json=True,
            quiet=True,
        )
        assert run(asked) == 4
    folder = Path(json.loads(capsys.readouterr().out)["run"])
    notes = json.loads((folder / "run.json").read_text())["notes"]
    assert any(note.startswith("Source down: openalex") for note in notes)
    assert "Source down: openalex" in (folder / "report.md").read_text()


@pytest.mark.usefixtures("fast_time")
def test_a_replay_gives_the_same_without_a_request_when_all_pages_are_too_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with LiteratureServer(a_field()) as server:
        address = server.url("semantic-scholar").replace("//", "//reader:s3cr3tvalue@")
        monkeypatch.setenv("IDEAGORA_SEMANTIC_SCHOLAR_URL", address)
        settings: SettingOverrides = {
            "source": "semantic-scholar",
            "embedder": "hash",
            "home": tmp_path / "home",
        }

        def made(name: str, **more: Unpack[SettingOverrides]) -> list[str]:
            asked = Request(
                topic="language model agents", settings={**settings, **more}, out=tmp_path / name,
                options={"allow_thin": True, "branches": 1}, as_json=True, quiet=True,
            )  # fmt: skip
            assert run(asked) == 1, "there is no lead in papers that all say the same"
            capsys.readouterr()
            events = read_events(tmp_path / name / "events.jsonl")
            return sorted({event["key"] for event in events if event["event"] == "call"})

        first = made("first")
        requests = len(server.requests)
        hurry(monkeypatch, NOW + timedelta(days=400))
        again = made("again", replay=True, literature_days=0)
        assert len(server.requests) == requests
    assert len(first) > 5
    assert again == first, "the same prompts, since the same literature"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path.name for path in files if b"s3cr3tvalue" in path.read_bytes()]


def without_times(answer: Any) -> Any:
    """An answer without what tells when and how long."""
    if isinstance(answer, dict):
        return {
            key: without_times(value)
            for key, value in answer.items()
            if key not in ("seconds", "created", "usage")
        }
    return [without_times(one) for one in answer] if isinstance(answer, list) else answer
