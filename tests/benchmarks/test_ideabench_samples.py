"""Samples of IdeaBench: the shipped data set, the published form, and rows that cannot be used."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ideagora.benchmarks.ideabench.benchmark import IdeaBench
from ideagora.benchmarks.ideabench.questions import FEASIBILITY, NOVELTY, Indicator, parse_indicator
from ideagora.benchmarks.ideabench.samples import CLUSTERS, FILTERED, RAW, TARGETS, read_samples
from ideagora.benchmarks.registry import find_benchmark
from ideagora.errors import IdeasFileError, UsageError
from ideagora.retrieval.corpus.starter import starter_corpus

REAL_ROWS = Path(__file__).parents[3] / "shared" / "data" / "ideabench" / "target_papers_sample.csv"
ABSTRACT = "Bridges sway in strong wind, and nobody knows at which speed they start."
TARGET: dict[str, Any] = {
    "Unnamed: 0": "0",
    "paperId": "aa11",
    "title": "Swaying bridges",
    "abstract": ABSTRACT,
    "year": "2024",
    "venue": "Science",
    "citationCount": "24",
    "publicationTypes": "['JournalArticle']",
    "externalIds": "{'DOI': '10.1126/X.1', 'CorpusId': 267720561}",
    "strategy": "1",
    "abstract_summary": "Given that bridges sway, we propose dampers.",
}
CITED: dict[str, Any] = {
    "targetPaperId": "aa11",
    "contexts": "['Wind [3] moves bridges.']",
    "intents": "['background']",
    "isInfluential": "False",
    "paperId": "bb22",
    "externalIds": "{'ArXiv': '2201.00001', 'DOI': '10.1/y'}",
    "title": "Wind",
    "abstract": ABSTRACT,
    "venue": "",
    "year": "2022.0",
    "citationCount": "44.0",
    "publicationTypes": "['JournalArticle', 'Study']",
}


def write_rows(file: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)
    return file


def folder_with(
    folder: Path, targets: Sequence[Mapping[str, Any]], cited: Sequence[Mapping[str, Any]]
) -> Path:
    write_rows(folder / TARGETS, targets)
    write_rows(folder / FILTERED, cited)
    return folder


def cited(number: int, **fields: Any) -> dict[str, Any]:
    return {**CITED, "paperId": f"r{number}", "externalIds": "", "title": f"Wind {number}", **fields}


def test_the_shipped_targets_cite_papers_of_the_starter_corpus() -> None:
    papers = {paper.id: paper for paper in starter_corpus().papers}
    low, high = (IdeaBench(resource).load(None) for resource in ("low", "high"))
    assert len(low.samples) >= 12
    assert list(low.samples) == list(high.samples)
    assert not low.problems
    assert not high.problems
    for key, sample in high.samples.items():
        target = papers[sample.target.paper_id]
        assert (sample.target.title, sample.target.abstract) == (target.title, target.abstract)
        assert sample.target.topic, target.title
        assert {one.paper_id for one in sample.references} == set(target.references or ())
        assert all(one.abstract == papers[one.paper_id].abstract for one in sample.references)
        few = low.samples[key].references
        assert len(few) == 5
        assert set(few) <= set(sample.references)


def test_the_task_has_the_references_as_inspirations_and_hides_the_target(tmp_path: Path) -> None:
    rows = [CITED, *(cited(number) for number in range(8))]
    folder_with(tmp_path, [TARGET], rows)
    write_rows(tmp_path / RAW, rows)
    (tmp_path / CLUSTERS).write_text(json.dumps({"Materials Science": ["aa11"]}), encoding="utf-8")
    low, high = IdeaBench(), IdeaBench("high", topic_from="title")
    few, all_of_them = (each.load(tmp_path).samples["aa11"] for each in (low, high))
    assert few.domain == "Materials Science"
    topic = low.topic(few)
    assert topic.inspirations == ("arxiv:2201.00001", "s2:r0", "s2:r1", "s2:r2", "s2:r3")
    assert topic.excluded == ("Swaying bridges", "doi:10.1126/x.1")
    assert topic.text == "Research that starts from: Wind; Wind 0; Wind 1; Wind 2; Wind 3"
    assert len(high.topic(all_of_them).inspirations) == 9
    assert high.topic(all_of_them).text == "Swaying bridges"
    supplied, _ = asyncio.run(low.papers(few, no_library, tmp_path))
    first = supplied.papers[0]
    assert (first.id, first.arxiv_id, first.date, first.citation_count) == (
        "arxiv:2201.00001", "2201.00001", "2022", 44,
    )  # fmt: skip


def test_the_cut_off_is_the_targets_date_or_later_if_a_reference_would_be_hidden(tmp_path: Path) -> None:
    cases = [
        ("2024", None, "2022.0", "2024"),
        ("2024", None, "2024.0", "2025-01-01"),
        ("2024", "2024-03", "2023.0", "2024-03"),
        ("2024", "2024-03-31", "2024.0", "2024-04-01"),
        ("", None, "2022.0", None),
    ]
    for year, stated, of_reference, before in cases:
        target = {**TARGET, "year": year, "publicationDate": stated or ""}
        folder_with(tmp_path, [target], [{**CITED, "year": of_reference}])
        (sample,) = read_samples(tmp_path).samples.values()
        assert IdeaBench().topic(sample).before == before, (year, stated, of_reference)


def test_a_row_that_cannot_be_used_is_named_by_file_row_and_field(tmp_path: Path) -> None:
    targets = [
        ({"paperId": ""}, "paperId", "empty"),
        ({"paperId": "t1", "title": ""}, "title", "empty"),
        ({"paperId": "t2", "abstract": "falls,"}, "abstract", "'falls,' is no abstract"),
        ({"paperId": "t3", "year": "soon"}, "year", "must be a whole number, got 'soon'"),
        ({"paperId": "t4", "citationCount": "-1"}, "citationCount", "must be a whole number"),
        ({"paperId": "t5", "publicationTypes": "{}"}, "publicationTypes", "must be a list of texts"),
        ({"paperId": "t6", "externalIds": "[1]"}, "externalIds", "must be an object"),
        ({"paperId": "t7", "externalIds": "open('x')"}, "externalIds", "not a literal"),
        ({"paperId": "t8", "publicationDate": "2024-13"}, "publicationDate", "is not a date"),
        ({}, "paperId", "aa11 occurs again"),
    ]
    references = [
        ({"targetPaperId": "zz"}, "targetPaperId", "zz is not among the targets"),
        ({"targetPaperId": ""}, "targetPaperId", "empty"),
        ({"abstract": ""}, "abstract", "empty"),
        ({"intents": "background"}, "intents", "not a literal"),
        ({"isInfluential": "maybe"}, "isInfluential", "must be True or False"),
        ({"externalIds": TARGET["externalIds"]}, "paperId", "the target itself"),
        ({}, "paperId", "arxiv:2201.00001 is listed twice"),
    ]
    folder_with(
        tmp_path,
        [TARGET, *({**TARGET, **change} for change, _, _ in targets), {**TARGET, "paperId": "lonely"}],
        [CITED, *({**CITED, **change} for change, _, _ in references)],
    )
    found = read_samples(tmp_path)
    assert list(found.samples) == ["aa11"]
    expected = [
        *((TARGETS, field, why) for _, field, why in targets),
        *((FILTERED, field, why) for _, field, why in references),
        (TARGETS, "paperId", "lonely has no usable reference"),
    ]
    assert len(found.problems) == len(expected)
    for problem, (file, field, why) in zip(found.problems, expected, strict=True):
        assert (problem.file, problem.field) == (file, field), problem
        assert problem.row, problem
        assert why in problem.why, problem
    (tmp_path / FILTERED).unlink()
    with pytest.raises(IdeasFileError, match=r"filtered_references.csv does not exist.*bench build"):
        read_samples(tmp_path)
    folder_with(tmp_path, [{**TARGET, "title": ""}], [CITED])
    with pytest.raises(
        IdeasFileError, match=r"no usable target. First problem: target_papers.csv, row 2, title"
    ):
        read_samples(tmp_path)


@pytest.mark.skipif(not REAL_ROWS.is_file(), reason="the published rows are not on this machine")
def test_published_rows_are_read(tmp_path: Path) -> None:
    with REAL_ROWS.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    folder_with(tmp_path, rows, [{**CITED, "targetPaperId": row["paperId"]} for row in rows])
    found = read_samples(tmp_path)
    assert not found.problems
    assert [sample.target.title for sample in found.samples.values()] == [row["title"] for row in rows]
    assert all(sample.target.paper_id.startswith("doi:") for sample in found.samples.values())
    assert all(sample.target.summary for sample in found.samples.values())


def test_a_user_words_an_indicator() -> None:
    assert parse_indicator("novelty") == NOVELTY
    assert parse_indicator("feasibility") == FEASIBILITY
    assert parse_indicator("clinical use = helps patients").measure == "insight_clinical_use"
    for wrong in ("surprise", "=x", "surprise=", "a/b=c", f"{'x' * 41}=y"):
        with pytest.raises(UsageError, match="indicator"):
            parse_indicator(wrong)


def test_the_command_configures_the_benchmark() -> None:
    options = ("resource=high", "indicator=surprise=how unexpected it is, a=b", "indicator=novelty")
    found = find_benchmark("ideabench", options)
    assert isinstance(found, IdeaBench)
    assert (found.resource, found.topic_from) == ("high", "references")
    assert found.indicators == (Indicator("surprise", "how unexpected it is, a=b"), NOVELTY)
    assert [measure.name for measure in found.measures][:2] == ["insight_surprise", "insight_novelty"]
    cases = [
        (("resource=some",), "use low or high"),
        (("ressource=high",), "unknown option; ideabench has indicator, resource"),
        (("bertscore",), "use a model or a folder"),
        (("indicator=a=b", "indicator=A=c"), "given twice"),
    ]
    for wrong, why in cases:
        with pytest.raises(UsageError, match=why):
            find_benchmark("ideabench", wrong)
    with pytest.raises(UsageError, match="ai-idea-bench has no options"):
        find_benchmark("ai-idea-bench", ("resource=high",))


def no_library() -> Any:
    """The library must not be opened: the data set has the abstracts."""
    raise AssertionError("the library was opened")
