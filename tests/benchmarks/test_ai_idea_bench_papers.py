"""The inspiration papers of a sample: from the library, from PDFs, or by title; and unreadable PDFs."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from ideagora.benchmarks.ai_idea_bench import papers as module
from ideagora.benchmarks.ai_idea_bench.papers import PaperUnreadable, inspiration_papers, read_paper
from ideagora.benchmarks.ai_idea_bench.samples import Inspiration, Sample
from ideagora.schema import Paper
from tests.support.bench_world import Benched
from tests.support.local_files import ABSTRACT, FIRST_TITLE, SECOND_TITLE, article


def sample(*inspirations: Inspiration) -> Sample:
    return Sample(id="7", topic="Bridges", motivation="Bridges sway.", inspirations=inspirations)


class OnePaper:
    """A library with one paper."""

    async def paper(self, paper_id: str) -> Paper | None:
        return Paper(id="arxiv:1", title="Known", abstract="All of it.") if paper_id == "arxiv:1" else None


async def test_papers_are_read_from_the_library_the_pdfs_or_known_by_title(tmp_path: Path) -> None:
    (tmp_path / "papers_data").mkdir()
    (tmp_path / "papers_data" / "a b.pdf").write_bytes(article(FIRST_TITLE))
    found = await inspiration_papers(
        sample(
            Inspiration(paper_id="arxiv:1", title="Known"),
            Inspiration(pdf="./papers_data/a b.pdf", title=FIRST_TITLE.lower()),
            Inspiration(title="Only a title"),
            Inspiration(pdf="./papers_data/none.pdf", title="A title"),
            Inspiration(paper_id="arxiv:2"),
        ),
        tmp_path,
        OnePaper(),  # type: ignore[arg-type]
    )
    assert [paper.title for paper in found.papers] == ["Known", FIRST_TITLE, "Only a title", "A title"]
    assert found.papers[0].abstract == "All of it."
    assert found.papers[1].abstract == ABSTRACT
    assert found.documents[1].full_text is not None
    assert [paper.abstract for paper in found.papers[2:]] == [None, None]
    place = "target_paper_data.json, index 7, paper_local_path of inspiration"
    assert list(map(str, found.problems)) == [
        f"{place} 4: ./papers_data/none.pdf is not in {tmp_path}, and neither is Idea_bench_data.zip",
        f"{place} 5: missing, and the paper arxiv:2 is not in the library",
    ]


async def test_a_pdf_is_read_from_the_published_archive_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "Idea_bench_data.zip", "w") as archive:
        archive.writestr("Idea_bench_data/papers_data/a.pdf", article(SECOND_TITLE))
    (tmp_path / "target_paper_data.json").write_text("[]")
    first = await read_paper(
        "/home/me/papers_data/a.pdf", tmp_path / "target_paper_data.json", tmp_path / "cache"
    )
    assert first.paper.title == SECOND_TITLE
    monkeypatch.setattr(module, "read_in_subprocess", lambda path: pytest.fail("read again"))
    assert await read_paper("./papers_data/a.pdf", tmp_path, tmp_path / "cache") == first
    with pytest.raises(PaperUnreadable, match=r"papers_data/b\.pdf is not in Idea_bench_data\.zip"):
        await read_paper("papers_data/b.pdf", tmp_path)


async def test_what_cannot_be_read_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "papers_data").mkdir()
    (tmp_path / "papers_data" / "damaged.pdf").write_bytes(b"%PDF-1.4 nothing")
    with zipfile.ZipFile(tmp_path / "Idea_bench_data.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("papers_data/large.pdf", bytes(2000))
    monkeypatch.setattr(module, "MAX_BYTES", 1000)
    for pdf, why in (
        ("../secret.pdf", "is not a path in the data folder"),
        ("/etc/passwd", "is not a path in the data folder"),
        ("papers_data/../../x.pdf", "is not a path in the data folder"),
        ("papers_data/damaged.pdf", r"papers_data/damaged\.pdf: the PDF is damaged"),
        ("papers_data/large.pdf", "the limit is"),
    ):
        with pytest.raises(PaperUnreadable, match=why):
            await read_paper(pdf, tmp_path)
    (tmp_path / "Idea_bench_data.zip").write_bytes(b"PK\x03\x04 cut short")
    with pytest.raises(PaperUnreadable, match=r"Idea_bench_data\.zip is damaged \(.*\); fetch it again"):
        await read_paper("papers_data/large.pdf", tmp_path)


def test_agents_are_told_the_ids_of_inspirations_known_by_title(home: Path, tmp_path: Path) -> None:
    known = "Self-Consistency Improves Chain of Thought Reasoning in Language Models"
    row = {
        "index": 1,
        "summary": {"topic": "reasoning", "motivation": "It fails."},
        "find_cite": {"top_references": [{"title": known}, {"title": "Unknown"}]},
    }
    (tmp_path / "target_paper_data.json").write_text(json.dumps([row]))
    Path("agent.py").write_text(
        "def ideate(topic, library):\n"
        "    papers = [library.paper(one) for one in topic.inspirations]\n"
        "    told = ' '.join(f'{one.title}: {bool(one.abstract)};' for one in papers) + ' strength 3'\n"
        "    return [{'title': 'A', 'motivation': told, 'method': 'strength 3'}]\n"
    )
    done = Benched(["agent.py:ideate"], data=tmp_path, limit="1")
    assert [one.motivation for one in done.ideas] == [f"{known}: True; Unknown: False; strength 3"]


def test_agents_read_the_full_texts_of_the_data_sets_pdfs(tmp_path: Path) -> None:
    row = {
        "index": 1,
        "summary": {"topic": "bridges", "motivation": "They sway."},
        "find_cite": {"top_references": [{"title": FIRST_TITLE, "paper_local_path": "./papers_data/a.pdf"}]},
    }
    data = tmp_path / "data"
    (data / "papers_data").mkdir(parents=True)
    (data / "papers_data" / "a.pdf").write_bytes(article(FIRST_TITLE))
    (data / "target_paper_data.json").write_text(json.dumps([row]))
    Path("agent.py").write_text(
        "def ideate(topic, library):\n"
        "    texts = [library.text(one) for one in topic.inspirations]\n"
        "    words = ' '.join([*texts, 'strength 3'])\n"
        "    return [{'title': 'A', 'motivation': words, 'method': 'strength 3'}]\n"
    )
    for before, is_read in ((None, True), ("2023", True), ("2022-04", False)):  # the PDF is of May 2022
        done = Benched(["agent.py:ideate"], data=data, limit="1", out=str(before), before=before)
        (idea,) = done.ideas
        assert ("Planks are cut from oak." in (idea.motivation or "")) == is_read, before
        (run,) = Path(str(before)).glob("runs/*/*/run.json")
        assert len(json.loads(run.read_text(encoding="utf-8"))["full_texts"]) == 1
