"""Topics with exclusions and cut-offs in a file, and the papers that each exclusion matches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ideagora.commands.generate import Request, run
from ideagora.errors import SourceUnavailable, UsageError
from ideagora.graphs.generate import read_topics
from ideagora.models.embeddings.embedder import load_embedder
from ideagora.retrieval.library import Library
from ideagora.schema import Paper, ScoredPaper, Topic
from tests.support import command

KNOWN = Paper(
    id="arxiv:2201.11903", title="Chain of Thought Prompting", arxiv_id="2201.11903", date="2022-01-28"
)
OTHER = Paper(id="s2:7", title="Least to Most Prompting", date="2022-05-01")


def test_null_in_a_line_counts_as_missing_and_keeps_the_cut_off(tmp_path: Path) -> None:
    lines = [
        {"topic": "a", "before": None, "banned": None},
        {"topic": "b", "before": "2018-05", "banned": ["x"]},
        {"topic": "c", "before": 2019, "inspirations": None},
        {"topic": None, "text": "d"},
    ]
    file = tmp_path / "topics.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)) + "\nplain topic\n", encoding="utf-8")
    topics = read_topics(file, False, before="2020", excluded=("never",))
    assert [(one.text, one.before) for one in topics] == [
        ("a", "2020"), ("b", "2018-05"), ("c", "2019"), ("d", "2020"), ("plain topic", "2020"),
    ]  # fmt: skip
    assert [one.excluded for one in topics] == [
        ("never",),
        ("never", "x"),
        ("never",),
        ("never",),
        ("never",),
    ]


@pytest.mark.parametrize(
    "line",
    [
        '{"topic": "a"',
        '{"a": ' + "[" * 100_000,
        '{"topic": "a", "before": "soon"}',
        '{"topic": 3}',
        '{"topic": "a", "banned": 4}',
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "topics.jsonl"
    file.write_text(f"fine\n{line}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="line 2"):
        read_topics(file, False)


def test_half_characters_and_endless_numbers_in_a_line_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "topics.jsonl"
    file.write_text('{"topic": "a \\ud800 b", "note": ' + "9" * 5000 + "}\n", encoding="utf-8")
    [topic] = read_topics(file, False)
    assert topic.model_dump_json().isprintable()


class Papers:
    """Two papers; the search gives both, or the source is down."""

    name = "papers"
    is_down = False

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        if self.is_down:
            raise SourceUnavailable("papers did not respond.")
        return [ScoredPaper(paper=one, similarity=0.5) for one in (KNOWN, OTHER)][:k]

    async def paper(self, paper_id: str) -> Paper | None:
        return {one.id: one for one in (KNOWN, OTHER)}.get(paper_id)

    async def references(self, paper_id: str) -> list[Paper]:
        return []

    citations = references

    async def disconnect(self) -> None:
        """Nothing is connected."""


async def notes_on(tmp_path: Path, *exclusions: str, is_down: bool = False) -> list[str]:
    source = Papers()
    source.is_down = is_down
    library = Library(source, load_embedder("hash", tmp_path)).for_topic(Topic(text="t", excluded=exclusions))
    await library.resolve_exclusions()
    return library.notes


async def test_each_exclusion_reports_what_it_matched(tmp_path: Path) -> None:
    message = "excludes “Chain of Thought Prompting” (arxiv:2201.11903)."
    for exclusion in ("2201.11903v2", "https://arxiv.org/abs/2201.11903", "chain-of-thought PROMPTING"):
        assert await notes_on(tmp_path, exclusion) == [f"Exclusion “{exclusion}” {message}"]
    for exclusion in ("Chain of Thougt Promptin", "chain of", "Chain"):
        assert await notes_on(tmp_path, exclusion) == [
            f"Exclusion “{exclusion}” matched no paper when the run began; did you mean "
            "“Chain of Thought Prompting” (arxiv:2201.11903)?"
        ]
    for exclusion in ("A paper that nobody wrote", "2201.11904"):
        assert await notes_on(tmp_path, exclusion) == [
            f"Exclusion “{exclusion}” matched no paper when the run began. Check its spelling."
        ]
    assert await notes_on(tmp_path, "Chain of Thought Prompting", is_down=True) == []


def test_exclusions_are_shown_on_the_screen_and_in_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = command.filled_home()
    title = "Self-Refine: Iterative Refinement with Self-Feedback"
    asked = Request(
        topic="self-correction of language models",
        excluded=(title, "Tree of Thougts: Deliberate Problem Solving with Large Language Models"),
        settings={"embedder": "hash", "store": str(home / "store"), "home": tmp_path, "source": "starter"},
        options={"allow_thin": True, "branches": 1, "length": 2},
        out=tmp_path / "run",
    )
    assert run(asked) == 0
    screen = " ".join(capsys.readouterr().err.split())
    report = (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    for place in (screen, report):
        assert f"Exclusion “{title}” excludes" in place
        assert "did you mean “Tree of Thoughts" in place
    assert screen.count("matched no paper") == 1
