"""The report: what it shows, what it says is missing, and that the same run gives the same bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ideagora.errors import FolderUnusable, RunError
from ideagora.report import write_report
from ideagora.report.run.load import load_run
from ideagora.report.run.view import dollars
from ideagora.report.text_cleaning import escape_markdown, hide_folders
from ideagora.schema import Chain, Idea, NoveltyCheck
from tests.support import report_samples as samples
from tests.support.each import each_case
from tests.support.report_pages import Page, html_of, markdown_of


def test_sections_stand_in_the_order_of_a_reader(tmp_path: Path) -> None:
    page = Page(html_of(samples.write_run(tmp_path)))
    names = [" ".join(heading.split()) for level, heading in page.headings if level <= 3]
    assert names == [
        samples.TOPIC,
        samples.idea().title,
        "Chain of ideas",
        "Future direction",
        "Changes between papers",
        "Method",
        "Motivation",
        "Novelty",
        "Sources",
        "Novelty evidence",
        "Experiment plan",
        "Ideas of the other branches",
        "2. A Trained Forecaster of What Survives Execution",
        "3. Ask the Skeptic First",
        "About this run",
        "Failed branches",
        "Papers withheld from the agents",
        "Notes",
        "Cost",
        "Provenance",
    ]


def test_headings_never_skip_a_level(tmp_path: Path) -> None:
    levels = [level for level, _ in Page(html_of(samples.write_run(tmp_path))).headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _strings(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _strings(entry)


def test_all_that_an_idea_says_is_in_both_reports(tmp_path: Path) -> None:
    folder = samples.write_run(tmp_path, [samples.idea()])
    html, plain = Page(html_of(folder)).text, " ".join(markdown_of(folder).split())
    shown = samples.idea().model_dump(exclude={"created", "topic", "references", "usage"})
    unshown = {"starter", *(p["id"] for p in (link["paper"] for link in shown["chain"]["links"]))}
    for text in _strings(shown):
        for line in text.split("\n"):
            words = re.sub(r"^\d+\. ", "", line)
            if words in unshown or re.fullmatch(r"[\d.-]+|novel|s2:\w+|arxiv:[\d.]+", words):
                continue
            assert words.casefold() in html.casefold(), words
            assert escape_markdown(words).casefold() in plain.casefold(), words


def test_cost_says_unknown_price_and_never_zero_for_it(tmp_path: Path) -> None:
    folder = samples.write_run(tmp_path)
    html, plain = Page(html_of(folder)).text, markdown_of(folder)
    assert "Total 94 251,930 33,871 unknown price" in html
    assert "| Total | 94 | 251,930 | 33,871 | unknown price |" in plain
    assert "ideator 5 20,020 6,010 $1.25" in html
    assert "forecaster 3 12,110 1,902 $0.0649" in html
    assert "12 further answers came from the cache." in html


@each_case(
    "cost, words",
    [
        (None, "unknown price"),
        (0.0, "$0.00"),
        (0.00123, "$0.0012"),
        (12.5, "$12.50"),
        (float("nan"), "unknown price"),
    ],
)
def test_dollars(cost: float | None, words: str) -> None:
    assert dollars(cost) == words


def test_offline_is_said_only_of_the_offline_model(tmp_path: Path) -> None:
    words = "Made by the offline model, which extracts sentences from papers; it is not a language model."
    offline = samples.write_run(tmp_path / "a", offline=True)
    real = samples.write_run(tmp_path / "b", offline=False)
    assert words in Page(html_of(offline)).text
    assert words in markdown_of(offline)
    assert "ideagora generate" in markdown_of(offline)
    assert "offline model" not in Page(html_of(real)).text
    assert "offline model" not in markdown_of(real)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("running", "not finished"),
        ("failed", "This run failed"),
        ("interrupted", "was interrupted"),
        ("budget", "reached its budget"),
        (None, "was not recorded"),
        ("paused", "Outcome of this run: paused."),
    ],
)
def test_a_run_that_is_not_done_says_so(tmp_path: Path, status: str | None, words: str) -> None:
    folder = samples.write_run(tmp_path, status=status, error="the disk is full")
    for text in (Page(html_of(folder)).text, markdown_of(folder)):
        assert words in text
        assert "the disk is full" in text


def test_method_steps_are_a_list(tmp_path: Path) -> None:
    folder = samples.write_run(tmp_path, [samples.idea(method="Two parts.\n1. First\ngoes on\n2. Second")])
    html = html_of(folder)
    assert (
        '<ol><li value="1" dir="auto">First<br>goes on</li><li value="2" dir="auto">Second</li></ol>' in html
    )
    assert "Two parts.\n\n1. First  \n   goes on\n2. Second\n" in markdown_of(folder)


def test_transitions_name_what_was_not_recorded(tmp_path: Path) -> None:
    chain = samples.chain(3)
    folder = samples.write_run(
        tmp_path, [samples.idea(chain=chain.model_copy(update={"transitions": chain.transitions[1:]}))]
    )
    assert Page(html_of(folder)).text.count("No change recorded.") == 1
    assert markdown_of(folder).count("_No change recorded._") == 1


def test_a_mechanism_from_outside_the_chain_is_said_to_be(tmp_path: Path) -> None:
    chain = samples.chain(3)
    assert chain.direction is not None
    ahead = chain.direction.model_copy(update={"mechanism_from": "arxiv:2408.06292"})
    folder = samples.write_run(tmp_path, [samples.idea(chain=chain.model_copy(update={"direction": ahead}))])
    page = Page(html_of(folder))
    assert "The mechanism comes from outside this chain." in page.text
    assert "https://arxiv.org/abs/2408.06292" in page.links


def test_bare_idea_says_what_it_lacks(tmp_path: Path) -> None:
    bare = Idea(id="x", topic="t", agent="a", title="", motivation="", novelty="", method="")
    folder = samples.write_run(tmp_path, [bare], usage={}, failures=[], held_back=[], notes=[], settings={})
    for text in (Page(html_of(folder)).text, markdown_of(folder)):
        for words in (
            "Untitled idea",
            "No summary was given.",
            "No motivation was given.",
            "No novelty was claimed.",
            "No method was given.",
            "This idea has no chain.",
            "No sources recorded.",
            "The novelty of this idea was not checked.",
            "This idea has no experiment plan.",
            "None.",
            "None.",
            "No paper was withheld.",
            "Cost not recorded.",
            "The number of cached answers was not recorded.",
        ):
            assert words in text, words


def test_unchecked_novelty_is_no_verdict(tmp_path: Path) -> None:
    check = NoveltyCheck(status="unchecked", reason="The model refused.")
    folder = samples.write_run(tmp_path, [samples.idea(novelty_check=check)])
    text = Page(html_of(folder)).text
    assert "Unchecked: the novelty check gave no answer." in text
    assert "The model refused." in text
    assert "No closest papers recorded." in text


def test_both_reports_say_how_near_the_chain_is_to_the_topic(tmp_path: Path) -> None:
    for similarity, words in {
        0.12: "0.12, below 0.30: this idea may be off topic.",
        0.52: "Mean similarity of these papers to the topic: 0.52.",
        None: None,
    }.items():
        chain = samples.chain().model_copy(update={"topic_similarity": similarity})
        folder = samples.write_run(tmp_path / str(similarity), [samples.idea(chain=chain)])
        for page in (html_of(folder), markdown_of(folder)):
            said = page.replace("\\", "")
            assert words is None or words in said
            assert ("similarity of these" in said) == (words is not None)


def test_empty_chain_and_no_direction(tmp_path: Path) -> None:
    folder = samples.write_run(tmp_path, [samples.idea(chain=Chain(query="", anchor="", links=()))])
    for text in (Page(html_of(folder)).text, markdown_of(folder)):
        assert "The chain has no papers." in text
        assert "No future direction was predicted." in text
    assert "<svg" not in html_of(folder)


def test_no_ideas_file_and_broken_lines_are_named(tmp_path: Path) -> None:
    folder = samples.write_run(tmp_path, [samples.idea()])
    whole = (folder / "ideas.jsonl").read_bytes()
    (folder / "ideas.jsonl").write_bytes(whole + b'{"id": "cut off\n' + b'{"id": 1}\n' + b"\xff\n\n")
    read = load_run(folder)
    assert [idea.title for idea in read.ideas] == [samples.idea().title]
    assert [problem.split(" could")[0] for problem in read.unread] == [
        f"Line {number} of ideas.jsonl" for number in (2, 3, 4)
    ]
    assert all(problem in Page(html_of(folder)).text for problem in read.unread)
    (folder / "ideas.jsonl").unlink()
    for text in (Page(html_of(folder)).text, markdown_of(folder)):
        assert "There is no ideas.jsonl." in text
        assert "This run has no ideas." in text


@pytest.mark.parametrize("content", [None, "{", "[]", '{"topic": {"text": ""}}', "[" * 100_000])
def test_a_folder_without_a_readable_run_is_refused(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(RunError, match=r"run\.json") as caught:
        write_report(tmp_path)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "report.md").exists()


def test_an_almost_empty_run_is_shown(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"a field of a later version": 1}')
    text = Page(html_of(tmp_path)).text
    assert "Topic not recorded" in text
    assert "The outcome of this run was not recorded." in text


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    folder = samples.write_run(tmp_path)
    assert write_report(folder) == (folder / "report.md", folder / "report.html")
    assert sorted(path.name for path in folder.iterdir()) == [
        "ideas.jsonl",
        "report.html",
        "report.md",
        "run.json",
    ]
    (folder / "report.md").unlink()
    (folder / "report.md").mkdir()
    with pytest.raises(FolderUnusable, match="cannot be written"):
        write_report(folder)
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_same_run_gives_the_same_bytes_whatever_clock_folder_or_order(tmp_path: Path) -> None:
    first = samples.write_run(tmp_path / "one")
    record = samples.run(id="another", started="2031-01-01", finished=None)
    record["settings"]["home"] = "/somewhere/else"
    record["usage"]["total"]["seconds"] = 9.9
    record["usage"]["roles"] = dict(reversed(record["usage"]["roles"].items()))
    record["held_back"].reverse()
    second = samples.write_run(
        tmp_path / "two", [samples.idea(created="2031"), *samples.other_ideas()], **record
    )
    for one, two in zip(write_report(first), write_report(second), strict=True):
        assert one.read_bytes() == two.read_bytes()


def test_no_folder_is_printed(tmp_path: Path) -> None:
    folder = samples.write_run(
        tmp_path,
        [samples.idea(agent="/home/researcher/agent.py:Agent", extra={"log": "/home/researcher/a/log.txt"})],
        error=f"cannot write {tmp_path}/x.txt or file:///home/researcher/y.txt or C:\\Users\\me\\z.txt",
    )
    for text in (html_of(folder), markdown_of(folder)):
        assert "/home/" not in text
        assert str(tmp_path) not in text
        assert "Users" not in text
        assert "…/agent.py:Agent" in text


def test_addresses_and_fractions_are_no_folders() -> None:
    text = "https://api.example.org/v1/chat/completions and/or 3/4, ollama/qwen3 (/tmp)"
    assert hide_folders(text) == text
