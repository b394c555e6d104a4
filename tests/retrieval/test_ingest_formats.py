"""Readers of one's own papers: what is in the files, and files that are not what they seem."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest

from ideagora.retrieval.ingest.bibliographic import partial_date
from ideagora.retrieval.ingest.documents import Document, Problem
from ideagora.retrieval.ingest.formats import jsonl as jsonl_reader
from ideagora.retrieval.ingest.formats import pdf as pdf_reader
from ideagora.retrieval.ingest.identifiers import arxiv_month, find_doi, find_identifiers, parse_arxiv_id
from ideagora.retrieval.ingest.read_file import read_file
from tests.support.each import each_case
from tests.support.local_files import ABSTRACT, FIRST_TITLE, Line, article, pdf, wrap_lines, write_file


def read_all(path: Path) -> tuple[list[Document], list[Problem]]:
    records = list(read_file(path))
    return [f for f in records if isinstance(f, Document)], [f for f in records if isinstance(f, Problem)]


def only(path: Path) -> Document:
    documents, problems = read_all(path)
    assert problems == []
    (document,) = documents
    return document


def problem_in(path: Path) -> str:
    documents, (problem,) = read_all(path)
    assert documents == []
    assert problem.path == str(path)
    assert "\n" not in str(problem)
    return str(problem)


# --- identifiers and dates ----------------------------------------------------------------------


@each_case(
    "text, doi",
    [
        ("see https://doi.org/10.1145/3292500.3330701.", "10.1145/3292500.3330701"),
        ("(doi:10.1016/S0140-6736(20)30183-5)", "10.1016/s0140-6736(20)30183-5"),
        ("10.48550/arXiv.2201.11903 and 10.1/x, 10.1234/Y", "10.1234/y"),
        ("version 10.4/5", None),
    ],
)
def test_dois_in_texts(text: str, doi: str | None) -> None:
    assert find_doi(text) == doi


@each_case(
    "name, arxiv_id",
    [
        ("2201.11903v2", "2201.11903"),
        ("arXiv: cs/0112017", "cs/0112017"),
        ("https://arxiv.org/pdf/2201.11903", "2201.11903"),
        ("2213.11903", None),
        ("PMC123", None),
    ],
)
def test_arxiv_ids(name: str, arxiv_id: str | None) -> None:
    assert parse_arxiv_id(name) == arxiv_id


def test_an_arxiv_doi_is_an_arxiv_id_and_an_id_tells_its_month() -> None:
    assert find_identifiers("10.48550/arXiv.2201.11903", None) == ("2201.11903", None)
    assert [arxiv_month(one) for one in ("2201.11903", "cs/9901001", "cs/0112017")] == [
        "2022-01",
        "1999-01",
        "2001-12",
    ]


def test_dates_are_as_full_as_what_is_known() -> None:
    assert partial_date("c2019", "Mar.", "5") == "2019-03-05"
    assert partial_date("2019", "3", "31-32") == "2019-03"
    assert partial_date("2019", "spring") == "2019"
    assert partial_date("in press") is None


# --- PDF ----------------------------------------------------------------------------------------


def test_a_pdf_gives_record_sections_and_references(tmp_path: Path) -> None:
    references = [
        "O. Steg. Measuring the Width of Bridges by Sound. Journal of Bridges, 2019.",
        "A. Planke. Oak in rivers. doi:10.1234/Oak.1, 2018.",
        "B. Birk. Birches that bend. arXiv:1801.01234v2.",
    ]
    document = only(write_file(tmp_path, "a.pdf", article(references=references)))
    paper, full = document.paper, document.full_text
    assert (paper.title, paper.abstract, paper.source) == (FIRST_TITLE, ABSTRACT, "pdf")
    assert (paper.date, paper.doi, paper.arxiv_id) == ("2022-05-17", None, None)
    assert full
    assert full.as_of == "2022-05-17"
    assert [(one.kind, one.heading) for one in full.sections] == [
        ("introduction", "Introduction"),
        ("method", "Method"),
        ("experiment", "Experiments"),
        ("limitation", "Limitations"),
        ("appendix", "Further Planks"),
    ]
    assert "the measured side" in full.sections[1].text
    assert not any("Birk" in one.text for one in full.sections)
    assert document.cited
    assert [one.text for one in document.cited] == references
    assert [one.doi for one in document.cited] == [None, "10.1234/oak.1", None]
    assert [one.arxiv_id for one in document.cited] == [None, None, "1801.01234"]
    assert [one.year for one in document.cited][:2] == ["2019", "2018"]


def test_the_stamp_and_the_first_page_tell_identifiers(tmp_path: Path) -> None:
    head: list[Line] = [(9, "arXiv:2205.01234v3 [cs.CL] 2 Jun 2023"), (9, "https://doi.org/10.1234/Bridge.5")]
    document = only(write_file(tmp_path, "a.pdf", article(head=head)))
    assert (document.paper.id, document.paper.doi) == ("arxiv:2205.01234", "10.1234/bridge.5")
    assert document.paper.date == "2022-05"
    assert document.full_text
    assert document.full_text.as_of == "2023-06-02"


def test_a_cited_arxiv_id_is_not_the_papers_own(tmp_path: Path) -> None:
    lines: list[Line] = [(18, FIRST_TITLE), *wrap_lines("We follow arXiv:1801.01234 in all things. " * 9)]
    document = only(write_file(tmp_path, "a.pdf", pdf([lines])))
    assert (document.paper.arxiv_id, document.paper.abstract, document.paper.date) == (None, None, None)
    assert document.full_text
    assert [one.kind for one in document.full_text.sections] == ["other"]
    assert document.cited is None


def test_metadata_gives_the_title_where_the_page_has_it(tmp_path: Path) -> None:
    lines: list[Line] = [
        (30, "The Journal of All Bridges"),
        (14, FIRST_TITLE),
        *wrap_lines("Words on bridges. " * 40),
    ]
    path = write_file(tmp_path, "a.pdf", pdf([lines], f"/Title ({FIRST_TITLE})"))
    assert only(path).paper.title == FIRST_TITLE
    path = write_file(tmp_path, "b.pdf", pdf([lines], "/Title (Microsoft Word - draft7.doc)"))
    assert only(path).paper.title == "The Journal of All Bridges"


def test_a_pdf_that_is_html_is_said_to_be_html(tmp_path: Path) -> None:
    html = "\n<!-- x --><!DOCTYPE html><html><body>Please log in</body></html>"
    assert "it has the suffix .pdf, but is a web page (HTML)" in problem_in(
        write_file(tmp_path, "a.pdf", html)
    )


def test_a_pdf_under_another_name_is_read(tmp_path: Path) -> None:
    assert only(write_file(tmp_path, "download.txt", b"\n\n" + article())).paper.title == FIRST_TITLE


def test_a_password_is_named_and_an_empty_one_is_none(tmp_path: Path) -> None:
    from pypdf import PdfReader, PdfWriter

    for password, name in (("secret", "a.pdf"), ("", "b.pdf")):
        writer = PdfWriter(PdfReader(BytesIO(article())))
        writer.encrypt(password, owner_password="owner", algorithm="RC4-128")
        writer.write(tmp_path / name)
    assert "password-protected. Save it without" in problem_in(tmp_path / "a.pdf")
    assert only(tmp_path / "b.pdf").paper.title == FIRST_TITLE


@pytest.mark.parametrize("algorithm", ["AES-128", "AES-256"])
def test_what_publishers_encrypt_is_read(tmp_path: Path, algorithm: str) -> None:
    pytest.importorskip("cryptography", reason="a dependency of ideagora; an older environment lacks it")
    from pypdf import PdfReader, PdfWriter

    for password, name in (("secret", "a.pdf"), ("", "b.pdf")):
        writer = PdfWriter(PdfReader(BytesIO(article())))
        writer.encrypt(password, owner_password="owner", algorithm=algorithm)
        writer.write(tmp_path / name)
    assert "password-protected. Save it without" in problem_in(tmp_path / "a.pdf")
    assert only(tmp_path / "b.pdf").paper.title == FIRST_TITLE


def test_a_scan_is_named(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.pdf", pdf([[(8, "Downloaded from a library")], [], []]))
    assert "it has no text: its pages are images (a scan). Run OCR" in problem_in(path)


def test_500_pages_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_reader, "MAX_PAGES", 20)
    pages = [
        [(18, FIRST_TITLE), *wrap_lines("First words. " * 30)],
        *([(10.0, f"Page {n} of many")] for n in range(499)),
    ]
    document = only(write_file(tmp_path, "a.pdf", pdf(pages)))
    assert document.note == "only the first 20 and the last of its 500 pages were read"
    assert document.full_text
    text = document.full_text.sections[0].text
    assert [f"Page {n} of many" in text for n in (18, 19, 300, 492, 493, 498)] == [
        True,
        False,
        False,
        False,
        True,
        True,
    ]


def test_huge_files_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_reader, "MAX_BYTES", 1000)
    assert "exceed the limit of 0 MB. Add a smaller version" in problem_in(
        write_file(tmp_path, "a.pdf", article())
    )


def test_what_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_reader, "MAX_SECONDS", 0.05)

    def endless(reader: object) -> list[object]:
        while True:
            pass

    monkeypatch.setattr(pdf_reader, "_pages", endless)
    assert "takes longer than 0.05 s" in problem_in(write_file(tmp_path, "a.pdf", article()))


def test_a_broken_cross_reference_table_is_repaired(tmp_path: Path) -> None:
    content = article().replace(b"startxref\n", b"startxref\n9")
    assert only(write_file(tmp_path, "a.pdf", content)).paper.title == FIRST_TITLE


@pytest.mark.parametrize("content", [b"%PDF-1.7\n", article()[:700], b"%PDF-1.4\n" + b"\xa5" * 5000])
def test_damaged_pdfs_are_named(tmp_path: Path, content: bytes) -> None:
    message = problem_in(write_file(tmp_path, "a.pdf", content))
    assert (
        "the PDF is damaged" in message or "its pages are images" in message or "none of its pages" in message
    )


def test_pypdf_says_nothing_on_its_own(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    list(read_file(write_file(tmp_path, "a.pdf", article()[:700])))
    assert caplog.records == []


# --- BibTeX -------------------------------------------------------------------------------------

BIBTEX = r"""% made by hand
@string{jb = "Journal of Bridges"}
@article{a, title = {The {BERT} of \"{U}nter \'et\'e: 50% \& more}, year = 2019,
  author = "Doe, John and {Oak and Sons} and others", month = mar, journal = jb,
  doi = {https://doi.org/10.1234/X}, abstract = {Gains 5% on $x_1$. All told.}}
@article{broken, title = {Never closed, year = 2020
@misc{b, title = "Planks", eprint = {2201.11903}, archivePrefix = {arXiv}, date = {2022-01-28/2022-02}}
@article{c title = {no comma}}
@article{d, title = {Twice}, title = {again}}
@article{a, title = {Another with the same key}, journal = {arXiv preprint arXiv:1706.03762v5}}
@article{e, title = {Keywords twice}, keywords = {x}, keywords = {y}, year = {2001}}
@article{f, year = {2001}}
"""


def test_bibtex_is_read_and_each_broken_entry_named_by_line(tmp_path: Path) -> None:
    documents, problems = read_all(write_file(tmp_path, "a.bib", BIBTEX))
    papers = [one.paper for one in documents]
    assert [paper.title for paper in papers] == [
        "The BERT of Ünter été: 50% & more",
        "Planks",
        "Another with the same key",
        "Keywords twice",
    ]
    assert papers[0].authors == ("John Doe", "Oak and Sons")
    assert (papers[0].id, papers[0].date, papers[0].venue) == (
        "doi:10.1234/x",
        "2019-03",
        "Journal of Bridges",
    )
    assert papers[0].abstract == "Gains 5% on $x_1$. All told."
    assert (papers[1].id, papers[1].date) == ("arxiv:2201.11903", "2022-01-28")
    assert papers[2].id == "arxiv:1706.03762"
    assert papers[3].date == "2001"
    assert [one.place for one in problems] == ["line 6", "line 8", "line 9", "line 12"]
    assert "@article{broken" in problems[0].what
    assert "title more than once" in problems[2].what
    assert "'f' has no title" in problems[3].what
    assert [one.done for one in documents] == sorted(one.done for one in documents)


def test_old_encodings_are_read(tmp_path: Path) -> None:
    text = "@article{a, title = {Über Brücken}}"
    for number, encoding in enumerate(("cp1252", "utf-8-sig", "utf-16")):
        assert (
            only(write_file(tmp_path, f"{number}.bib", text.encode(encoding))).paper.title == "Über Brücken"
        )


# --- RIS, CSL-JSON ------------------------------------------------------------------------------

RIS = """TY  - JOUR
AU  - Doe, John
AU  - Planke, Ada
TI  - A title
PY  - 2019/03/04/
DO  - 10.1234/ABC
JO  - Journal of Bridges
AB  - One line
 and another
ER  -

TY  - JOUR
TI  - no end
TY  - CONF
T1  - Third
Y1  - 2011///
UR  - https://arxiv.org/abs/1011.12345v2
ER  -
TY  - CONF
ER  -
"""


def test_ris_is_read_and_each_broken_record_named_by_line(tmp_path: Path) -> None:
    documents, problems = read_all(write_file(tmp_path, "a.ris", RIS))
    first, third = (one.paper for one in documents)
    assert (first.title, first.authors) == ("A title", ("John Doe", "Ada Planke"))
    assert (first.id, first.date, first.venue) == ("doi:10.1234/abc", "2019-03-04", "Journal of Bridges")
    assert first.abstract == "One line and another"
    assert (third.id, third.date) == ("arxiv:1011.12345", "2011")
    assert [one.place for one in problems] == ["line 12", "line 19"]


def test_csl_is_read_up_to_where_it_breaks(tmp_path: Path) -> None:
    item = {
        "title": "A <i>nice</i> title",
        "author": [{"family": "Doe", "given": "J."}, {"literal": "The Group"}],
        "issued": {"date-parts": [[2020, 2]]},
        "DOI": "10.1234/AB(1)2",
        "container-title": ["Journal of Bridges"],
        "abstract": "<jats:p>Abstract Wide.</jats:p>",
        "reference": [{"DOI": "10.1234/x", "year": "2010"}, {"unstructured": "Steg. Oak. 1999."}],
    }
    text = f'[\n{json.dumps(item)},\n5,\n{{"title": "", "id": 1}},\n{{"title": "C"'
    documents, problems = read_all(write_file(tmp_path, "a.json", text))
    (document,) = documents
    paper = document.paper
    assert (paper.id, paper.title, paper.date) == ("doi:10.1234/ab(1)2", "A nice title", "2020-02")
    assert (paper.authors, paper.venue) == (("J. Doe", "The Group"), "Journal of Bridges")
    assert paper.abstract == "Wide."
    assert document.cited
    assert [(one.doi, one.year) for one in document.cited] == [("10.1234/x", "2010"), (None, None)]
    assert [one.place for one in problems] == ["line 3", "line 4", "line 5"]
    assert "the rest of the file could not be read" in problems[2].what


def test_one_csl_item_alone_is_read(tmp_path: Path) -> None:
    assert (
        only(write_file(tmp_path, "a.json", '{"DOI": "10.1234/x", "title": ["Alone"]}')).paper.title
        == "Alone"
    )


# --- JSON lines ---------------------------------------------------------------------------------


def test_json_lines_name_line_and_field(tmp_path: Path) -> None:
    lines = [
        '{"id": "own:1", "title": "With an id", "references": ["own:2"], "date": "2020"}',
        '{"title": "Without", "arxiv_id": "2201.11903v1"}',
        '{"title": "Typo", "abstrct": "x"}',
        '{"title": "Date", "date": "last May"}',
        '{"id": "own:3"}',
        "[1, 2]",
        "",
        '{"title": "Cut',
        '{"title": "  "}',
        '{"title": "Last"}',
    ]
    documents, problems = read_all(write_file(tmp_path, "a.jsonl", "\n".join(lines)))
    assert [one.paper.id for one in documents][:2] == ["own:1", "arxiv:2201.11903"]
    assert documents[0].paper.references == ("own:2",)
    assert documents[2].paper.title == "Last"
    assert documents[2].done == 1.0
    assert [one.place for one in problems] == [f"line {n}" for n in (3, 4, 5, 6, 8, 9)]
    assert "unknown field 'abstrct', did you mean 'abstract'?" in problems[0].what
    assert "field 'date'" in problems[1].what
    assert "field 'title'" in problems[2].what


def test_an_unknown_field_gets_the_name_it_has_here(tmp_path: Path) -> None:
    _, problems = read_all(write_file(tmp_path, "a.jsonl", '{"title": "A title", "year": 2020}'))
    assert problems[0].what == "unknown field 'year', did you mean 'date'?"


def test_an_endless_line_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl_reader, "MAX_LINE_BYTES", 100)
    text = '{"title": "One"}\n{"title": "' + "x" * 1000 + '"}\n{"title": "Three"}\n'
    documents, problems = read_all(write_file(tmp_path, "a.jsonl", text))
    assert [one.paper.title for one in documents] == ["One", "Three"]
    assert [one.place for one in problems] == ["line 2"]


# --- kinds --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.bib", b"", "the file is empty"),
        ("a.bib", b"  \n", "the file is empty"),
        ("a.pdf", b"PK\x03\x04word", "an archive or an office document"),
        ("a.pdf", b"%!PS-Adobe", "PostScript"),
        ("a.pdf", b"just text", "but is not a PDF"),
        ("a.bib", b"just text", "it contains no BibTeX"),
        ("a.dat", b"\x01\x00\x02", "binary file"),
        ("a.txt", b"just text", "text in an unknown format"),
        ("a.html", b"<html>", "it is a web page (HTML)"),
    ],
)
def test_other_kinds_are_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    assert message in problem_in(write_file(tmp_path, name, content))


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("@misc{a, title={By content}}", "By content"),
        ("TY  - JOUR\nTI  - By content\nER  - \n", "By content"),
        ('[{"title": "By content"}]', "By content"),
        ('{"title": "By content"}\n{"title": "And more"}\n', "By content"),
    ],
)
def test_the_content_counts_and_not_the_suffix(tmp_path: Path, content: str, title: str) -> None:
    documents, problems = read_all(write_file(tmp_path, "a.pdf", content))
    assert (documents[0].paper.title, problems) == (title, [])
