"""``ideagora library``: what it prints, what it leaves, how it ends."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest

from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.store.store import Store
from tests.support.command import Done, run
from tests.support.each import each_case
from tests.support.local_files import FIRST_TITLE, article, pdf, wrap_lines, write_file

HASH = {"IDEAGORA_EMBEDDER": "hash"}
BIB = "@article{a, title = {Widths of Bridges}, year = 2019, doi = {10.1234/a}}\n@article{x, title = {Open\n"


def library(*arguments: str | Path) -> Done:
    return run(["library", *map(str, arguments)], HASH)


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    references = ["O. Steg. Widths of Bridges. 2019."]
    write_file(folder, "a.pdf", article(references=references))
    write_file(folder, "b.bib", BIB)
    write_file(folder, "c.pdf", "<html>log in</html>")
    return folder


def test_each_bad_file_is_named_with_what_to_do_and_the_rest_is_read(tmp_path: Path) -> None:
    from pypdf import PdfReader, PdfWriter

    folder = tmp_path / "papers"
    folder.mkdir()
    writer = PdfWriter(PdfReader(BytesIO(article())))
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(folder / "locked.pdf")
    write_file(folder, "web.pdf", "<!DOCTYPE html><html>log in</html>")
    about = [(18.0, "A very long report on bridges"), *wrap_lines("All about bridges. " * 20)]
    write_file(folder, "long.pdf", pdf([about, *([(10.0, f"Page {n}")] for n in range(2, 501))]))
    write_file(folder, "broken.bib", "@misc{a, title={One}, year=2001}\n\n@misc{b, title={Open\n\n" + BIB)
    write_file(folder, "unknown.jsonl", '{"title": "A line"}\n{"title": "B", "abstrct": "x"}\n')
    done = library("add", folder)
    assert done.code == 0
    for told in (
        "locked.pdf: it is password-protected. Save it without the password and add that.",
        "web.pdf: it has the suffix .pdf, but is a web page (HTML). Open it in a browser",
        "long.pdf: only the first 100 and the last of its 500 pages were read.",
        "broken.bib, line 3: the entry @misc{b cannot be read",
        "unknown.jsonl, line 2: unknown field 'abstrct', did you mean 'abstract'?",
    ):
        assert told in done.err
    assert "Papers: 4 added" in done.out


def test_add_search_and_stats(papers: Path, tmp_path: Path) -> None:
    done = library("add", papers)
    assert done.code == 0, done.err
    papers_line = "Papers: 2 added, 0 updated, 0 unchanged, 1 with full text, 1 new citations between papers."
    assert papers_line in done.out
    assert "Files: 2 read, 0 read before, 1 without a paper." in done.out
    assert f"{papers}/b.bib, line 2: " in done.err
    assert f"{papers}/c.pdf: it has the suffix .pdf, but is a web page (HTML)." in done.err
    assert "2 entries could not be read" in done.err

    again = library("add", papers, "--json")
    assert (again.code, again.err) == (0, "")
    summary = json.loads(again.out)
    assert [summary[name] for name in ("added", "updated", "same", "read", "skipped")] == [0, 0, 2, 0, 2]
    assert [one["place"] for one in summary["problems"]] == ["line 2", None]

    found = json.loads(library("search", "Widths of Bridges", "--k", "1", "--json").out)
    assert [one["paper"]["id"] for one in found] == ["doi:10.1234/a"]
    assert FIRST_TITLE.split()[0] in library("search", FIRST_TITLE, "--k", "3").out
    early = json.loads(library("search", FIRST_TITLE, "--before", "2022-05-17", "--json").out)
    assert FIRST_TITLE not in {one["paper"]["title"] for one in early}
    assert len(early) == 10

    figures = json.loads(library("stats", "--json").out)
    assert figures["papers"] == len(starter_corpus().papers) + 2
    assert (figures["full_texts"], figures["sources"]["pdf"], figures["sources"]["bibtex"]) == (1, 1, 1)
    assert "full texts" in library("stats").out


def test_nothing_to_read_is_a_failure(tmp_path: Path) -> None:
    done = library("add", tmp_path / "nothing")
    assert done.code == 1
    assert "there is no such file or folder" in done.err
    assert "Traceback" not in done.err


@each_case(
    "arguments, code, told",
    [
        (["add"], 2, "Usage: ideagora library add"),
        (["search", " "], 2, "The query is empty"),
        (["search", "x", "--before", "soon"], 2, "--before is 'soon'"),
        (["search", "x", "--k", "0"], 2, "--k"),
        (["stats"], 1, "there is no store in"),
        (["stats", "--json"], 1, "ideagora library add PATH"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], code: int, told: str) -> None:
    done = library(*arguments)
    assert (done.code, done.out) == (code, "")
    assert told in done.err
    assert "Traceback" not in done.err


def test_a_store_of_an_older_version_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    Store.open(folder, HashEmbedder()).close()
    with closing(sqlite3.connect(folder / "records.sqlite")) as connection, connection:
        connection.execute("UPDATE manifest SET value = '0' WHERE key = 'version'")
    done = library("add", write_file(tmp_path, "b.bib", BIB), "--store", folder)
    assert done.code == 1
    assert done.err.startswith("error: the store in ")
    assert "has version 0" in done.err


def test_a_store_without_texts_is_taken_as_it_is(tmp_path: Path) -> None:
    """Stores of before own papers have no ``texts.sqlite``; it is made when it is needed."""
    folder = tmp_path / "store"
    with Store.open(folder, HashEmbedder()) as store:
        store.add(starter_corpus().papers)
    assert not (folder / "texts.sqlite").exists()
    done = library("add", write_file(tmp_path, "b.bib", BIB), "--store", folder, "--json")
    assert json.loads(done.out)["added"] == 1
    assert (folder / "texts.sqlite").exists()


def test_pipes_and_devices_are_not_read(tmp_path: Path) -> None:
    """They could hold the command up for ever."""
    os.mkfifo(tmp_path / "endless.jsonl")
    done = library("add", tmp_path / "endless.jsonl", "/dev/zero")
    assert done.code == 1
    assert done.err.count("it is neither a file nor a folder") == 2


def test_control_characters_of_papers_do_not_reach_the_terminal(tmp_path: Path) -> None:
    record = json.dumps({"title": "Red \x1b[31m bridges of the world", "abstract": "x"})
    assert library("add", write_file(tmp_path, "a.jsonl", record)).code == 0
    assert "\x1b[31m" not in library("search", "Red bridges of the world", "--k", "2").out


def test_help_names_the_commands() -> None:
    done = library("--help")
    assert done.code == 0
    assert all(name in done.out for name in ("add", "stats", "search"))
