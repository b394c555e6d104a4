"""Every reader of what strangers write, on damaged samples: named errors only, and the rest survives."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ideagora.errors import IdeagoraError, UsageError
from ideagora.graphs.generate import read_topics
from ideagora.importing import read_ideas
from ideagora.models.embeddings.embedder import load_embedder
from ideagora.retrieval.clients.web_access import CLIENT_FACTORIES
from ideagora.retrieval.ingest.add_papers import PaperIngest
from ideagora.retrieval.ingest.documents import Document
from ideagora.retrieval.ingest.read_file import read_file
from ideagora.retrieval.store.fulltext import FullTextStore
from ideagora.retrieval.store.store import Store
from tests.support import idea_files
from tests.support.literature_server import LiteratureServer
from tests.support.local_files import article
from tests.support.mutations import as_json, damaged, rewritten
from tests.support.services import (
    SOURCES,
    WORKS,
    bodies,
    check_storable,
    clear,
    damaged_bodies,
    fixed_body_client,
    reading_errors,
    samples,
)


@pytest.mark.parametrize("name", SOURCES)
async def test_answers_of_services(name: str, tmp_path: Path) -> None:
    for kind, sample in samples(name).items():
        for number, changed in enumerate(damaged_bodies(name, sample, 1, 25)):
            assert not await reading_errors(name, kind, changed, tmp_path / f"{kind} {number}")


@pytest.mark.parametrize("name", ["semantic-scholar", "openalex"])
async def test_one_bad_record_leaves_the_others(name: str, tmp_path: Path) -> None:
    with LiteratureServer(WORKS) as server:
        whole = json.loads(bodies(server, name)["search"])
    records = whole["data"] if name == "semantic-scholar" else whole["results"]
    good, bad = records[0], records[1]
    client, cache = fixed_body_client(name, tmp_path)
    for text in rewritten(bad, 3, 40):
        records[:] = [good, "the bad one"]
        client.sender.body = as_json(whole).replace('"the bad one"', text).encode()
        papers = check_storable(await SOURCES[name](client).search("thought", 5))
        assert good["title"] in [paper.title for paper in papers]
        clear(cache)
    await client.disconnect()
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
    records = list(read_file(file))
    for one in records:
        one.model_dump_json().encode("utf-8")
        assert "\n" not in str(one) or isinstance(one, Document)
    return [one.paper.title for one in records if isinstance(one, Document)]


def test_local_json(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    for kind, sample in (("jsonl", RECORDS), ("csl", CSL)):
        for text in rewritten(sample[1], 4, 40):
            parts = [json.dumps(sample[0]), text, json.dumps(sample[2])]
            file = tmp_path / ("a.jsonl" if kind == "jsonl" else "a.json")
            file.write_text("\n".join(parts) if kind == "jsonl" else f"[{','.join(parts)}]", encoding="utf-8")
            assert {sample[0]["title"], sample[2]["title"]} <= set(titles(file)), text[:300]


@pytest.mark.parametrize("form", [BIBTEX, RIS])
def test_local_bibliographies(form: str, tmp_path: Path) -> None:
    file = tmp_path / ("a.ris" if form is RIS else "a.bib")
    for content in damaged(form.format("second").encode(), 5, 40):
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
        for content in damaged(sample, 6, 12 if name == "a.pdf" else 30):
            (tmp_path / name).write_bytes(content)
            titles(tmp_path / name)


def test_what_is_read_can_be_stored(tmp_path: Path) -> None:
    lines = [json.dumps(RECORDS[0]), *rewritten(RECORDS[1], 7, 30), json.dumps(RECORDS[2])]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    embedder = load_embedder("hash", tmp_path)
    with Store.open(tmp_path / "store", embedder) as store:
        summary = PaperIngest(store, FullTextStore(store.folder), embedder).add([tmp_path / "a.jsonl"])
        stored_titles = {one.title for one in store.identities()}
    assert {RECORDS[0]["title"], RECORDS[2]["title"]} <= stored_titles
    summary.model_dump_json().encode("utf-8")


def mutants(sample: Any, seed: int) -> list[str]:
    """Texts of a JSON value with other values in it, and with damaged bytes."""
    changed = damaged(json.dumps(sample).encode(), seed, 20)
    return [*rewritten(sample, seed, 20), *(one.decode("utf-8", "replace") for one in changed)]


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
        for text in rewritten(sample, 10, 30):
            file = tmp_path / "ideas.jsonl"
            file.write_text(f"{json.dumps(first)}\n{text}\n{json.dumps(last)}\n", encoding="utf-8")
            ideas = read_ideas(file, agent="a", topic="t").ideas
            assert {"The first", "The last"} <= {idea.title for idea in ideas}, text[:300]
            assert all(idea.model_dump_json().encode("utf-8") for idea in ideas)


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
    assert set(SOURCES) == set(CLIENT_FACTORIES)
