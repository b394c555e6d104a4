"""Semantic Scholar, OpenAlex and arXiv: every field that can be missing, all pages, batches."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ideagora.errors import SourceUnavailable
from ideagora.retrieval.clients import arxiv, openalex, semantic_scholar
from ideagora.retrieval.clients.normalize import (
    RawPaper,
    build_paper,
    parse_arxiv_id,
    parse_date,
    parse_doi,
    query_words,
)
from ideagora.retrieval.http.client import HttpClient
from ideagora.retrieval.http.clock import Clock
from ideagora.retrieval.http.service import RateLimitPolicy, Service
from ideagora.retrieval.protocols import RemoteSource
from ideagora.retrieval.untrusted_json import clean_text
from ideagora.schema import Paper
from tests.support.each import each_case
from tests.support.literature_server import FakeTime, Fault, LiteratureServer, Work

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "data" / "semantic_scholar"
MAKERS: dict[str, Callable[..., RemoteSource]] = {
    "semantic-scholar": semantic_scholar.SemanticScholar,
    "openalex": openalex.OpenAlex,
    "arxiv": arxiv.Arxiv,
}
ROOT = Work(
    "w1", "Chains of thought", "We chain thoughts & <ideas>.", "2022-01-28", "2201.11903", None, 4_000
)
NOTHING_KNOWN = Work("w2", None, None, None, None, None, None, ("w1",))
JOURNAL = Work(
    "w3", "Trees of thought", "Thoughts branch.", "2023-05-17", "2305.10601", "10.1/ABC", 7, ("w1", "w2")
)
NO_ID = Work("noid1", "Thoughts without an id", None, "2019", None, None, 3, ("w1",))
WORKS = (ROOT, NOTHING_KNOWN, JOURNAL, NO_ID)


@pytest.fixture
def server() -> Iterator[LiteratureServer]:
    with LiteratureServer(WORKS) as running:
        yield running


def a_source(server: LiteratureServer, name: str) -> RemoteSource:
    fake = FakeTime()
    time = Clock(fake.clock, fake.sleep, lambda: datetime(2026, 3, 1, tzinfo=UTC))
    return MAKERS[name](
        HttpClient(Service(name, server.url(name), RateLimitPolicy(1.0, retries=1)), None, time)
    )


@pytest.fixture(params=MAKERS)
async def source(server: LiteratureServer, request: pytest.FixtureRequest) -> AsyncIterator[RemoteSource]:
    made = a_source(server, request.param)
    yield made
    await made.disconnect()


@pytest.fixture
async def scholar(server: LiteratureServer) -> AsyncIterator[RemoteSource]:
    made = a_source(server, "semantic-scholar")
    yield made
    await made.disconnect()


# --- what holds for each ------------------------------------------------------------------------


async def test_a_paper_by_the_ids_that_the_source_has_for_it(source: RemoteSource) -> None:
    result = await source.paper("arxiv:2305.10601")
    assert result is not None
    assert (result.id, result.arxiv_id, result.doi) == ("arxiv:2305.10601", "2305.10601", "10.1/abc")
    assert (result.title, result.abstract, result.date) == (
        "Trees of thought",
        "Thoughts branch.",
        "2023-05-17",
    )
    assert len(result.authors) == 1
    for name in (*result.other_ids, "doi:10.1/abc"):
        if name.startswith(source.prefixes):
            assert await source.paper(name) == result
    if source.name == "arxiv":
        assert (result.citation_count, result.citations_as_of) == (None, None)
    else:
        assert (result.citation_count, result.citations_as_of) == (7, "2026-03-01")


async def test_no_results_are_no_failure(source: RemoteSource) -> None:
    assert await source.search("quantum chromodynamics", 10) == []
    assert await source.search("?!", 10) == []
    assert await source.paper("arxiv:0000.00000") is None
    assert await source.batch([]) == {}
    assert await source.references("arxiv:0000.00000") == ([], False)
    assert await source.citations("arxiv:0000.00000") == ([], False)


async def test_search_gives_no_more_than_was_asked_for(source: RemoteSource) -> None:
    assert [one.title for one in await source.search("the chains of thought", 1)] == ["Chains of thought"]
    assert len(await source.search("thought branch", 10)) == 2


async def test_a_batch_is_one_request_and_leaves_out_what_is_unknown(
    server: LiteratureServer, source: RemoteSource
) -> None:
    results = await source.batch(["arxiv:2201.11903", "arxiv:0000.00000", "arxiv:2305.10601"])
    assert {name: one.title for name, one in results.items()} == {
        "arxiv:2201.11903": "Chains of thought",
        "arxiv:2305.10601": "Trees of thought",
    }
    assert len(server.requests) == 1


async def test_a_source_that_is_down_says_so_on_every_path(
    server: LiteratureServer, source: RemoteSource
) -> None:
    server.faults.append(Fault(503, forever=True))
    asks: list[Awaitable[object]] = [
        source.search("thought", 1),
        source.paper("arxiv:2201.11903"),
        source.batch(["arxiv:2201.11903"]),
    ]
    if source.has_citations:
        asks += [source.references("arxiv:2201.11903"), source.citations("arxiv:2201.11903")]
    for ask in asks:
        with pytest.raises(SourceUnavailable, match=source.name):
            await ask


# --- neighbours ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["semantic-scholar", "openalex"])
@pytest.mark.parametrize("page", [None, 1, 2])
async def test_all_pages_of_neighbours(server: LiteratureServer, name: str, page: int | None) -> None:
    server.page = page
    source = a_source(server, name)
    citing, cut = await source.citations("arxiv:2201.11903")
    titles = {one.title for one in citing}
    assert {"Trees of thought", "Thoughts without an id"} <= titles
    assert not cut
    references = await source.references("doi:10.1/abc")
    assert "Chains of thought" in {one.title for one in references.papers}
    assert not references.truncated
    await source.disconnect()


@each_case("name", ["semantic-scholar", "openalex"])
async def test_the_limit_on_neighbours_is_reported(name: str) -> None:
    many = [Work(f"c{n}", f"Paper {n}", "x", "2023-01-01", cites=("w1",)) for n in range(5)]
    fake = FakeTime()
    with LiteratureServer([ROOT, *many], page=2) as server:
        client = HttpClient(
            Service(name, server.url(name), RateLimitPolicy(1.0)), None, Clock(fake.clock, fake.sleep)
        )
        for most, cut in ((3, True), (5, False)):
            source = MAKERS[name](client, most)
            citing = await source.citations("arxiv:2201.11903")
            assert len(citing.papers) == min(5, most)
            assert citing.truncated or not cut
        await client.disconnect()


async def test_one_request_tells_all_citations(server: LiteratureServer, scholar: RemoteSource) -> None:
    await scholar.citations("arxiv:2201.11903")
    assert len(server.requests) == 1


async def test_a_citing_paper_without_an_id_goes_by_its_title(scholar: RemoteSource) -> None:
    citing = (await scholar.citations("arxiv:2201.11903")).papers
    [nameless] = [one for one in citing if one.title == "Thoughts without an id"]
    assert nameless.id.startswith("title:")
    assert (nameless.date, nameless.abstract, nameless.citation_count) == ("2019", None, 3)


# --- records ------------------------------------------------------------------------------------


@pytest.mark.parametrize("read", [semantic_scholar.raw_paper, openalex.raw_paper])
@given(
    record=st.recursive(
        st.none() | st.booleans() | st.integers(-9_999, 9_999) | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    "paperId externalIds title abstract year publicationDate authors name id doi DOI ArXiv "
                    "authorships author locations primary_location abstract_inverted_index cited_by_count "
                    "citationCount venue source display_name publication_year publication_date".split()
                ),
                inner,
                max_size=8,
            )
        ),
        max_leaves=25,
    )
)
def test_a_record_of_any_shape_is_read(read: Callable[[Any], RawPaper], record: Any) -> None:
    paper = build_paper(read(record), "2026-03-01")
    assert paper.id
    assert Paper.model_validate_json(paper.model_dump_json()) == paper


def test_the_abstract_is_put_together_from_its_index() -> None:
    assert openalex.restore_abstract({"ideas": [1, 3], "Old": [0], "beget": [2]}) == "Old ideas beget ideas"
    assert openalex.restore_abstract({"far": [10**9], "a": None, "b": ["c"]}) is None
    assert openalex.restore_abstract(None) is None


@each_case(
    "said, expected",
    [
        (2023, "2023"),
        ("2023", "2023"),
        ("2023-05", "2023-05"),
        ("2023-05-17T10:00:00Z", "2023-05-17"),
        ("2023-02-31", "2023-02"),
        ("2023-00-00", "2023"),
        (0, None),
        ("", None),
        (None, None),
        ("soon", None),
    ],
)
def test_dates_keep_what_can_be_believed(said: object, expected: str | None) -> None:
    assert parse_date(said) == expected


def test_ids_in_all_their_forms() -> None:
    for form in ("2201.11903", "arXiv:2201.11903v6", "http://arxiv.org/abs/2201.11903v1"):
        assert parse_arxiv_id(form) == "2201.11903"
    assert parse_arxiv_id("https://arxiv.org/pdf/hep-th/9901001v2.pdf") == "hep-th/9901001"
    assert parse_arxiv_id("https://example.org/2201.11903") is parse_arxiv_id(None) is None
    assert parse_doi("https://doi.org/10.1093/MIND/LIX.236.433") == "10.1093/mind/lix.236.433"
    assert parse_doi("none") is parse_doi(7) is None


def test_queries_keep_the_words_that_mean_something() -> None:
    assert query_words("How do the chain-of-thought prompts work?") == ["chain", "thought", "prompts", "work"]
    assert len(query_words(" ".join(f"word{n}" for n in range(50)))) == 12
    assert query_words("what is it") == ["what", "is", "it"]


@each_case(
    "body",
    [
        b"<html><body>Too many requests</body></html>",
        b'<feed xmlns="http://www.w3.org/2005/Atom"><entry>',
        b'<!DOCTYPE x [<!ENTITY a "b">]><feed xmlns="http://www.w3.org/2005/Atom">&a;</feed>',
        b"",
    ],
)
def test_a_feed_that_is_broken_or_harmful_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        arxiv.parse_feed(body)


async def test_arxiv_tells_errors_as_an_entry(server: LiteratureServer) -> None:
    body = (
        b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/api/errors#bad</id>'
        b"<title>Error</title><summary>incorrect id format</summary></entry></feed>"
    )
    server.faults.append(Fault(200, body=body))
    source = a_source(server, "arxiv")
    with pytest.raises(SourceUnavailable, match="incorrect id format"):
        await source.search("thought", 3)
    await source.disconnect()


# --- real answers, as others recorded them ------------------------------------------------------

needs_recordings = pytest.mark.skipif(not RECORDED.is_dir(), reason="no recorded answers on this machine")


def recorded_bodies() -> list[Any]:
    bodies: list[Any] = [json.loads(path.read_text()) for path in sorted(RECORDED.glob("*.json"))]
    for path in sorted(RECORDED.glob("*.yaml")):
        for exchange in yaml.safe_load(path.read_text())["interactions"]:
            response = exchange["response"]
            text = response["content"] if "content" in response else response["body"]["string"]
            bodies.append(json.loads(text))
    return bodies


def papers_in(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in an answer that is a paper."""
    if isinstance(value, dict):
        if "paperId" in value:
            yield value
        for inner in value.values():
            yield from papers_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from papers_in(inner)


@needs_recordings
def test_every_recorded_paper_is_read_without_loss() -> None:
    records = [record for body in recorded_bodies() for record in papers_in(body)]
    assert len(records) > 2_000
    for record in records:
        paper = build_paper(semantic_scholar.raw_paper(record), "2026-03-01")
        assert paper.title == " ".join(clean_text(record.get("title") or "").split())
        assert (paper.abstract or "") == " ".join(clean_text(record.get("abstract") or "").split())
        assert paper.citation_count == record.get("citationCount")
        assert [*paper.authors] == [clean_text(author["name"]) for author in record.get("authors") or ()]
        assert (paper.date or "").startswith(str(record.get("year") or ""))
        doi = (record.get("externalIds") or {}).get("DOI")
        assert paper.doi == (doi.lower() if doi else None)
        if record["paperId"]:
            assert f"s2:{record['paperId']}" in (paper.id, *paper.other_ids)


@needs_recordings
@pytest.mark.parametrize("which", ["citations", "references"])
async def test_recorded_pages_are_read_to_the_end(
    scholar: RemoteSource, server: LiteratureServer, which: str
) -> None:
    exchanges = yaml.safe_load((RECORDED / f"test_get_paper_{which}.yaml").read_text())["interactions"]
    bodies = []
    for exchange in exchanges:
        response = exchange["response"]
        bodies.append(response["content"] if "content" in response else response["body"]["string"])
    path = f"/graph/v1/paper/s2x/{which}?"
    server.recorded = {path + str(json.loads(body)["offset"]): body.encode() for body in bodies}
    source = semantic_scholar.SemanticScholar(scholar._client, 5_000)  # type: ignore[attr-defined]
    neighbours = await (source.citations("s2:s2x") if which == "citations" else source.references("s2:s2x"))
    wanted = [item for body in bodies for item in json.loads(body)["data"]]
    assert len(neighbours.papers) == len(wanted)
    assert not neighbours.truncated
    assert any(one.id.startswith("title:") for one in neighbours.papers)
