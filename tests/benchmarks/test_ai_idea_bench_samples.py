"""Samples of AI Idea Bench 2025: the shipped data set, the published form, and rows that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ideagora.benchmarks.ai_idea_bench.samples import (
    PUBLISHED_FILE,
    Inspiration,
    read_samples,
    shipped_samples,
)
from ideagora.errors import IdeasFileError
from ideagora.retrieval.corpus.starter import starter_corpus

TARGET: dict[str, Any] = {
    "index": 7,
    "summary": {
        "topic": "Bridges over rivers",
        "revised_topic": None,
        "motivation": "Bridges sway.",
        "method": {
            "targeted_designs_summary": "Damp them.",
            "targeted_designs_details": [
                {"design_name": "Dampers", "description": "Masses on springs.", "problems_solved": "Sway"}
            ],
            "datasets": ["Rivers", "Canals"],
            "metrics": "width",
        },
        "split_topic": [{"keyword": "bridges", "more": 1}],
    },
    "find_cite": {
        "top_references": [{"paper_local_path": "./papers_data/a.pdf", "title": "A", "cited_number": 3}]
    },
}


def changed(**fields: Any) -> dict[str, Any]:
    return {**TARGET, **fields}


def within(name: str, **fields: Any) -> dict[str, Any]:
    return changed(**{name: {**TARGET[name], **fields}})


def written(folder: Path, *targets: Any) -> Path:
    file = folder / PUBLISHED_FILE
    file.write_text(json.dumps(targets), encoding="utf-8")
    return file


def test_the_shipped_targets_are_real_papers_with_earlier_inspirations_and_do_not_name_their_method() -> None:
    samples = shipped_samples()
    papers = {paper.id: paper for paper in starter_corpus().papers}
    assert len(samples.samples) >= 24
    assert not samples.problems
    for sample in samples.samples:
        assert sample.paper_id
        target = papers[sample.paper_id]
        assert sample.title == target.title
        cited = {one.paper_id for one in sample.inspirations}
        assert len(cited) >= 5, sample.title
        assert cited <= set(target.references or ()), sample.title
        assert len(sample.motivation.split()) >= 40, sample.title
        assert len(sample.designs) >= 2, sample.title
        assert sample.keywords, sample.title
        name = target.title.partition(":")[0]
        if ":" in target.title:
            shown = f"{sample.topic} {sample.motivation} {sample.plan}"
            assert name not in shown, f"{name} is named in its own summary"


def test_the_published_form_is_read(tmp_path: Path) -> None:
    (sample,) = read_samples(written(tmp_path, TARGET)).samples
    assert (sample.id, sample.topic, sample.motivation) == ("7", "Bridges over rivers", "Bridges sway.")
    assert sample.plan == "Damp them.\nDampers: Masses on springs.\nData sets: Rivers, Canals\nMetrics: width"
    assert sample.inspirations == (Inspiration(title="A", pdf="./papers_data/a.pdf", cited_number=3),)
    assert read_samples(tmp_path).samples == (sample,)
    revised = read_samples(written(tmp_path, within("summary", revised_topic="Anonymous bridges"))).samples[0]
    assert revised.topic == "Anonymous bridges"
    alias = {"index": "7", "model_result": TARGET["summary"], "find_cite": TARGET["find_cite"]}
    assert read_samples(written(tmp_path, alias)).samples == (sample,)
    named = read_samples(written(tmp_path, changed(target_paper="Swaying Bridges"))).samples[0]
    assert named.title == "Swaying Bridges"


def test_a_target_that_cannot_be_used_is_named_by_row_and_field_and_the_others_are_read(
    tmp_path: Path,
) -> None:
    cases = [
        (changed(index=None), "index", "must be a number or text"),
        (changed(summary=None), "summary", "missing"),
        (changed(summary="text"), "summary", "must be an object"),
        (within("summary", motivation=""), "motivation", "empty"),
        (within("summary", motivation=["x"]), "motivation", "list"),
        (within("summary", topic=None), "topic", "null"),
        (within("find_cite", top_references=[]), "find_cite.top_references", "no inspiration papers"),
        (within("find_cite", top_references="A"), "top_references", "must be a list of objects"),
        (changed(find_cite=None), "find_cite", "missing"),
        (within("summary", paper_hd_local_path={"a.pdf": "many"}), "paper_hd_local_path", "citation counts"),
        (TARGET, "index", "7 occurs again"),
    ]
    samples = read_samples(written(tmp_path, TARGET, *(case for case, _, _ in cases)))
    assert [sample.id for sample in samples.samples] == ["7"]
    assert len(samples.problems) == len(cases)
    for (case, field, why), problem in zip(cases, samples.problems, strict=True):
        assert problem.field == field, (case, problem)
        assert why in problem.why, (case, problem)
    with pytest.raises(IdeasFileError, match=r"has no usable target\. First problem: .*motivation: empty"):
        read_samples(written(tmp_path, within("summary", motivation="")))
