"""The starter corpus: whole, true to its own rules, and connected well enough to grow chains in."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from typing import Any

import pytest

from ideagora.errors import LibraryError
from ideagora.retrieval.corpus.starter import StarterCorpus, merge, starter_corpus
from ideagora.retrieval.restrictions.cutoff import title_key
from ideagora.schema import Paper
from tests.support.each import each_case

FOLDER = files("ideagora.retrieval.corpus") / "starter_papers"
NAMES = sorted(entry.name for entry in FOLDER.iterdir() if entry.name.endswith(".jsonl"))
KEYS = [
    "id",
    "arxiv_id",
    "title",
    "authors",
    "date",
    "venue",
    "citation_count",
    "citations_as_of",
    "references",
    "thread",
    "summary",
]
CHAIN = 5


def lines(name: str) -> list[dict[str, Any]]:
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.removesuffix("\n").split("\n")]


@cache
def by_id() -> dict[str, Paper]:
    return {paper.id: paper for paper in starter_corpus().papers}


def cites() -> dict[str, tuple[str, ...]]:
    return {paper.id: paper.references or () for paper in starter_corpus().papers}


# --- the files ----------------------------------------------------------------------------------


@each_case("name", NAMES)
def test_every_line_has_its_fields(name: str) -> None:
    for line in lines(name):
        assert list(line) == KEYS, line["id"]
        assert line["title"] == " ".join(line["title"].split())
        assert line["authors"], line["id"]
        assert all(author.strip() == author != "" for author in line["authors"])
        assert (line["citation_count"] is None) == (line["citations_as_of"] is None), line["id"]


@each_case("name", NAMES)
def test_ids_tell_the_month(name: str) -> None:
    for line in lines(name):
        if line["arxiv_id"] is not None:
            year_month = re.fullmatch(r"(\d\d)(\d\d)\.\d{4,5}", line["arxiv_id"])
            assert year_month, line["id"]
            assert line["id"] == f"arxiv:{line['arxiv_id']}"
            assert line["date"] == f"20{year_month[1]}-{year_month[2]}", line["id"]


@each_case("name", NAMES)
def test_summaries_are_of_one_length_and_plain(name: str) -> None:
    for line in lines(name):
        assert 60 <= len(line["summary"].split()) <= 120, line["id"]
        assert line["summary"].endswith("."), line["id"]
        assert line["summary"].isascii(), line["id"]
        assert not re.search(r"[$\\*_#`]|\n", line["summary"]), line["id"]


@each_case("name", NAMES)
def test_no_reference_leads_to_a_later_month(name: str) -> None:
    for line in lines(name):
        for cited in line["references"]:
            assert cited != line["id"]
            month = re.fullmatch(r"arxiv:(\d\d)(\d\d)\.\d{4,5}", cited)
            assert month, f"{line['id']} cites {cited}"
            assert f"20{month[1]}-{month[2]}" <= line["date"], f"{line['id']} cites {cited}"


@each_case("name", NAMES)
def test_a_file_has_one_thread_and_each_paper_once(name: str) -> None:
    rows = lines(name)
    assert len({row["thread"] for row in rows}) == 1
    assert len({row["id"] for row in rows}) == len(rows)


# --- the merged corpus --------------------------------------------------------------------------


def test_it_is_large_enough() -> None:
    corpus = starter_corpus()
    assert len(corpus.papers) >= 200
    assert len(corpus.threads) >= 5
    assert {i for ids in corpus.threads.values() for i in ids} == set(by_id())


def test_references_resolve_and_look_back() -> None:
    for paper in starter_corpus().papers:
        for cited in paper.references or ():
            assert cited in by_id()
            assert cited != paper.id
            assert (by_id()[cited].date or "9") <= (paper.date or ""), f"{paper.id} cites {cited}"


def test_no_title_is_there_twice() -> None:
    titles = Counter(title_key(paper.title) for paper in starter_corpus().papers)
    assert [title for title, count in titles.items() if count > 1] == []


def test_no_summary_is_there_twice() -> None:
    summaries = Counter(paper.abstract for paper in starter_corpus().papers)
    assert summaries.most_common(1)[0][1] == 1


@each_case("thread", starter_corpus().threads)
def test_a_thread_hangs_together(thread: str) -> None:
    members = set(starter_corpus().threads[thread])
    both_ways: dict[str, set[str]] = {member: set() for member in members}
    for citing, cited in cites().items():
        for other in cited:
            if citing in members and other in members:
                both_ways[citing].add(other)
                both_ways[other].add(citing)
    assert members - reached(both_ways, min(members)) == set()


def reached(neighbours: Mapping[str, Iterable[str]], start: str) -> set[str]:
    seen, rest = {start}, [start]
    while rest:
        new = set(neighbours[rest.pop()]) - seen
        seen |= new
        rest += new
    return seen


def test_chains_can_grow_through_many_anchors() -> None:
    """A chain through an anchor: the longest way back and the longest way forward along citations."""
    order = list(TopologicalSorter(cites()).static_order())  # cited first; raises on a circle
    back: dict[str, int] = {}
    for paper_id in order:
        back[paper_id] = 1 + max((back[cited] for cited in cites()[paper_id]), default=0)
    cited_by: dict[str, list[str]] = {paper_id: [] for paper_id in order}
    for citing, cited in cites().items():
        for other in cited:
            cited_by[other].append(citing)
    forward: dict[str, int] = {}
    for paper_id in reversed(order):
        forward[paper_id] = 1 + max((forward[citing] for citing in cited_by[paper_id]), default=0)
    anchors = [paper_id for paper_id in order if back[paper_id] + forward[paper_id] - 1 >= CHAIN]
    assert len(anchors) >= 40
    both_sides = [paper_id for paper_id in anchors if back[paper_id] > 1 and forward[paper_id] > 1]
    assert len(both_sides) >= 40


def test_it_is_read_once_and_its_fingerprint_tells_its_text() -> None:
    assert starter_corpus() is starter_corpus()
    texts = {name: (FOLDER / name).read_text(encoding="utf-8") for name in NAMES}
    assert merge(texts).fingerprint == starter_corpus().fingerprint
    texts[NAMES[0]] = texts[NAMES[0]].replace(".", "!", 1)
    assert merge(texts).fingerprint != starter_corpus().fingerprint


# --- merging ------------------------------------------------------------------------------------


def row(name: str, thread: str, references: list[str], date: str = "2020-05", **fields: object) -> str:
    record: dict[str, object] = {
        "id": name,
        "title": f"{name} of {thread}",
        "authors": [],
        "date": date,
        "venue": None,
    }
    return json.dumps({**record, "references": references, "thread": thread, "summary": "S.", **fields})


def corpus(**threads: list[str]) -> StarterCorpus:
    return merge({f"{name}.jsonl": "\n".join(rows) + "\n" for name, rows in threads.items()})


def test_a_paper_of_two_threads_is_one_with_the_references_of_both() -> None:
    merged = corpus(
        b=[row("x", "b", ["r2", "r1"]), row("r2", "b", [])],
        a=[row("r1", "a", []), row("r3", "a", []), row("x", "a", ["r3", "r1"])],
    )
    papers = {paper.id: paper for paper in merged.papers}
    assert list(papers) == ["r1", "r3", "x", "r2"]
    assert (papers["x"].title, papers["x"].thread) == ("x of a", "a")
    assert papers["x"].references == ("r3", "r1", "r2")
    assert merged.threads == {"a": ("r1", "r3", "x"), "b": ("x", "r2")}


def test_references_that_lead_nowhere_or_forward_are_dropped() -> None:
    rows = [
        row("old", "a", ["new", "same"], "2020-04"),
        row("same", "a", ["peer", "same", "nowhere", "old", "old"]),
        row("peer", "a", ["new"]),
        row("new", "a", [], "2020-06"),
    ]
    papers = {paper.id: paper.references for paper in corpus(a=rows).papers}
    assert papers == {"old": (), "same": ("peer", "old"), "peer": (), "new": ()}


def test_the_summary_becomes_the_abstract() -> None:
    (paper,) = corpus(a=[row("x", "a", [], venue="NeurIPS 2022", citation_count=5)]).papers
    assert (paper.abstract, paper.source, paper.thread) == ("S.", "starter", "a")
    assert (paper.venue, paper.citation_count, paper.date) == ("NeurIPS 2022", 5, "2020-05")


@each_case(
    "line, reason",
    [
        ("{", "JSONDecodeError"),
        ("[]", "TypeError: not an object"),
        ('{"id": "x", "title": "no summary"}', "KeyError: 'summary'"),
        (row("x", "a", [], date="May 2020"), "not a date"),
        (row("x", "a", [], summery="typo"), "summery"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(line: str, reason: str) -> None:
    with pytest.raises(LibraryError, match=rf"a\.jsonl, line 2: .*({reason})"):
        corpus(a=[row("y", "a", []), line])
