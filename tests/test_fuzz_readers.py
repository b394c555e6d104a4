"""Every reader of what strangers write, on damaged samples: named errors only, and the rest survives."""

from __future__ import annotations

import json
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from ideagora.errors import IdeagoraError, SourceDown, UsageError
from ideagora.graphs.generate import read_topics
from ideagora.importing import read_ideas
from ideagora.models.embeddings import load_embedder
from ideagora.retrieval import arxiv, opening
from ideagora.retrieval.arxiv import Arxiv
from ideagora.retrieval.http import HttpDoor, Manners, Question, Time
from ideagora.retrieval.http_cache import HttpCache
from ideagora.retrieval.local.adding import Adding
from ideagora.retrieval.local.found import Document
from ideagora.retrieval.local.reading import read
from ideagora.retrieval.openalex import OpenAlex
from ideagora.retrieval.remote import Remote
from ideagora.retrieval.semantic_scholar import SemanticScholar
from ideagora.retrieval.store import Store
from ideagora.retrieval.texts import Texts
from ideagora.retrieval.untrusted import pruned_json
from ideagora.schema import Paper
from tests import idea_files
from tests.literature_server import Asked, FakeTime, LiteratureServer, Work
from tests.local_files import article
from tests.mutations import as_json, damaged, rewritten

WORKS = (
    Work("w1", "Chain of thought", "Thoughts help.", "2022-01-28", "2201.11903", "10.1/abc", 9, ("w2",)),
    Work("w2", "Trees of thought", "Thoughts branch.", "2023-05-17", "2305.10601", None, 7, ("w1",)),
)
SOURCES: dict[str, Callable[[HttpDoor], Remote]] = {
    "semantic-scholar": SemanticScholar, "openalex": OpenAlex, "arxiv": Arxiv,
}  # fmt: skip


class Recited(HttpDoor):
    """A way to a source that recites one body to every question."""

    body = b""

    async def _sent_in_time(self, question: Question, client: httpx.AsyncClient) -> tuple[int, bytes]:
        return 200, self.body


def recited(name: str, folder: Path) -> tuple[Recited, HttpCache]:
    fake = FakeTime()
    time = Time(fake.clock, fake.sleep)
    cache = HttpCache(folder / "literature.sqlite", 30, lambda: time.now().date())
    manners = Manners(0.0, retries=0, rest=0.0, largest=2**24)
    return Recited(name, "http://127.0.0.1:9", manners, cache, time), cache


def demand_storable(value: Any) -> list[Paper]:
    """The papers in an answer, each of which can be written down as UTF-8."""
    papers = value if isinstance(value, list) else list(getattr(value, "papers", ())) or [value]
    for paper in papers:
        if isinstance(paper, BaseModel):
            paper.model_dump_json().encode("utf-8")
    return [paper for paper in papers if isinstance(paper, Paper)]


def bodies(server: LiteratureServer, name: str) -> dict[str, bytes]:
    """An answer of each kind that a service gives."""
    graph, offset, page = "/graph/v1/paper", {"offset": "0", "limit": "9"}, {"cursor": "*", "per-page": "9"}
    asked: dict[str, dict[str, tuple[str, dict[str, str]]]] = {
        "semantic-scholar": {
            "search": (f"{graph}/search", {"query": "thought", **offset}),
            "paper": (f"{graph}/w1", {}),
            "citations": (f"{graph}/w1/citations", offset),
        },
        "openalex": {
            "search": ("/works", {"search": "thought", **page}),
            "paper": ("/works/w1", {}),
            "citations": ("/works", {"filter": "cites:w1", **page}),
        },
        "arxiv": {"search": ("/api/query", {"search_query": "all:thought", "max_results": "9"})},
    }
    return {
        kind: server.answer(Asked(name, path, query, {}, None))[1]
        for kind, (path, query) in asked[name].items()
    }


def questions(source: Remote) -> dict[str, Callable[[], Awaitable[Any]]]:
    known = {"semantic-scholar": "s2:w1", "openalex": "openalex:w1", "arxiv": "arxiv:2201.11903"}[source.name]
    return {
        "search": lambda: source.search("thought", 5),
        "paper": lambda: source.paper(known),
        "citations": lambda: source.citations(known),
    }


@pytest.mark.parametrize("name", SOURCES)
async def test_answers_of_services(name: str, tmp_path: Path) -> None:
    with LiteratureServer(WORKS) as server:
        samples = bodies(server, name)
    for kind, sample in samples.items():
        mutants = list(damaged(sample, 1, 60))
        if name != "arxiv":
            mutants += [text.encode() for text in rewritten(json.loads(sample), 2, 60)]
        door, cache = recited(name, tmp_path / kind)
        source = SOURCES[name](door)
        for body in mutants:
            answers = []
            for recitation in (body, b"the cache answers"):
                door.body = recitation
                with suppress(SourceDown):
                    answers.append(await questions(source)[kind]())
            for one in answers:
                demand_storable(one)
            assert len(answers) != 2 or answers[0] == answers[1]
            assert all(map(is_readable, kept_bodies(cache))), "a body that cannot be read was kept"
            emptied(cache)
        await door.disconnect()
        cache.close()


def kept_bodies(cache: HttpCache) -> list[bytes]:
    rows = cache._do(lambda db: db.execute("SELECT body FROM pages").fetchall())
    return [zlib.decompress(row[0]) for row in rows]


def is_readable(body: bytes) -> bool:
    with suppress(ValueError):
        return bool(pruned_json(body)) or True
    with suppress(ValueError):
        return arxiv.parsed(body) is not None
    return False


def emptied(cache: HttpCache) -> None:
    cache._do(lambda db: db.execute("DELETE FROM pages").close())


@pytest.mark.parametrize("name", ["semantic-scholar", "openalex"])
async def test_one_bad_record_leaves_the_others(name: str, tmp_path: Path) -> None:
    with LiteratureServer(WORKS) as server:
        whole = json.loads(bodies(server, name)["search"])
    records = whole["data"] if name == "semantic-scholar" else whole["results"]
    good, bad = records[0], records[1]
    door, cache = recited(name, tmp_path)
    for text in rewritten(bad, 3, 80):
        records[:] = [good, "the bad one"]
        door.body = as_json(whole).replace('"the bad one"', text).encode()
        found = demand_storable(await SOURCES[name](door).search("thought", 5))
        assert good["title"] in [paper.title for paper in found]
        emptied(cache)
    await door.disconnect()
    cache.close()


SECOND: dict[str, Any] = {
    "title": "The second of three", "authors": ["A. Doe"], "date": "2020-02", "abstract": "Long.",
    "venue": "V", "arxiv_id": "2201.11903", "doi": "10.1234/x", "citation_count": 3,
    "references": ["doi:10.1/y"],
}  # fmt: skip
RECORDS = ({"title": "The first of three"}, SECOND, {"title": "The third of three"})
SECOND_ITEM: dict[str, Any] = {
    "title": "The second of three", "author": [{"family": "Doe", "given": "J."}], "DOI": "10.1234/x",
    "issued": {"date-parts": [[2020, 2]]}, "reference": [{"DOI": "10.1/y", "year": "2010"}],
}  # fmt: skip
CSL = ({"title": "The first of three"}, SECOND_ITEM, {"title": "The third of three"})
BIBTEX = (
    "@misc{{{0}, title = {{The {0} of three}}, author = {{Doe, J. and Roe, R.}}, year = 2020,\n"
    " doi = {{10.1/x}}}}\n"
)
RIS = "TY  - JOUR\nTI  - The {0} of three\nAU  - Doe, J.\nPY  - 2020/02/01\nDO  - 10.1/x\nER  - \n"
WORDS = ("first", "second", "third")


def titles(file: Path) -> list[str]:
    """Titles of what is read; everything found can be written down."""
    found = list(read(file))
    for one in found:
        one.model_dump_json().encode("utf-8")
        assert "\n" not in str(one) or isinstance(one, Document)
    return [one.paper.title for one in found if isinstance(one, Document)]


def test_local_json(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    for kind, sample in (("jsonl", RECORDS), ("csl", CSL)):
        for text in rewritten(sample[1], 4, 80):
            parts = [json.dumps(sample[0]), text, json.dumps(sample[2])]
            file = tmp_path / ("a.jsonl" if kind == "jsonl" else "a.json")
            file.write_text("\n".join(parts) if kind == "jsonl" else f"[{','.join(parts)}]", encoding="utf-8")
            assert {sample[0]["title"], sample[2]["title"]} <= set(titles(file)), text[:300]


@pytest.mark.parametrize("form", [BIBTEX, RIS])
def test_local_bibliographies(form: str, tmp_path: Path) -> None:
    file = tmp_path / ("a.ris" if form is RIS else "a.bib")
    for content in damaged(form.format("second").encode(), 5, 80):
        around = [form.format(word).encode() for word in ("first", "third")]
        file.write_bytes(around[0] + b"\n" + content + b"\n\n" + around[1])
        assert "The first of three" in titles(file), content
        assert "The third of three" in titles(file), content


def test_local_files_with_damaged_bytes(tmp_path: Path) -> None:
    samples = {
        "a.bib": "".join(BIBTEX.format(word) for word in WORDS).encode(),
        "a.ris": "".join(RIS.format(word) for word in WORDS).encode(),
        "a.json": json.dumps(CSL).encode(),
        "a.jsonl": "\n".join(map(json.dumps, RECORDS)).encode(),
        "a.pdf": article(),
    }
    for name, sample in samples.items():
        for content in damaged(sample, 6, 25 if name == "a.pdf" else 60):
            (tmp_path / name).write_bytes(content)
            titles(tmp_path / name)


def test_what_is_read_can_be_stored(tmp_path: Path) -> None:
    lines = [json.dumps(RECORDS[0]), *rewritten(RECORDS[1], 7, 60), json.dumps(RECORDS[2])]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    embedder = load_embedder("hash", tmp_path)
    with Store.open(tmp_path / "store", embedder) as store:
        summary = Adding(store, Texts(store.folder), embedder).add([tmp_path / "a.jsonl"])
        found = {one.title for one in store.names()}
    assert {RECORDS[0]["title"], RECORDS[2]["title"]} <= found
    summary.model_dump_json().encode("utf-8")


def mutants(sample: Any, seed: int) -> list[str]:
    """Texts of a JSON value with other values in it, and with damaged bytes."""
    changed = damaged(json.dumps(sample).encode(), seed, 40)
    return [*rewritten(sample, seed, 40), *(one.decode("utf-8", "replace") for one in changed)]


SAMPLES = {
    name: value
    for name, value in vars(idea_files).items()
    if name.isupper() and isinstance(value, dict) and value
}


@pytest.mark.parametrize("name", SAMPLES)
def test_forms_of_ideas(name: str, tmp_path: Path) -> None:
    file = tmp_path / "ideas.json"
    sample = SAMPLES[name]
    texts = mutants(sample, 8)
    for text in texts:
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
        with suppress(IdeagoraError):
            for idea in read_ideas(file, agent="a", topic="t").ideas:
                idea.model_dump_json().encode("utf-8")


def test_one_bad_idea_leaves_the_others(tmp_path: Path) -> None:
    own = {"id": "7", "topic": "t", "agent": "a", "title": "One", "method": "dig", "model": "m", "usage": {}}
    for sample in (idea_files.PLAIN, own):
        first, last = {**sample, "title": "The first"}, {**sample, "title": "The last"}
        for text in rewritten(sample, 10, 60):
            file = tmp_path / "ideas.jsonl"
            file.write_text(f"{json.dumps(first)}\n{text}\n{json.dumps(last)}\n", encoding="utf-8")
            found = read_ideas(file, agent="a", topic="t").ideas
            assert {"The first", "The last"} <= {idea.title for idea in found}, text[:300]
            assert all(idea.model_dump_json().encode("utf-8") for idea in found)


def test_files_of_topics(tmp_path: Path) -> None:
    sample = {"topic": "a topic", "before": "2020", "banned": ["x"], "inspirations": ["arxiv:2201.11903"]}
    file = tmp_path / "topics.jsonl"
    for text in mutants(sample, 11):
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
        with suppress(IdeagoraError):
            assert all(topic.model_dump_json().encode("utf-8") for topic in read_topics(file, False))
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError):
        read_topics(file, False)


def test_every_source_is_fuzzed() -> None:
    assert set(SOURCES) == set(opening.MAKERS)
