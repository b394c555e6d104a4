"""The arena's page shows each verdict with both ideas and the judge's reason, at any size of arena."""

from __future__ import annotations

from pathlib import Path

from ideagora.report.arena.matches import MOST_CHARACTERS, ids_that_fit, matches_by_topic
from ideagora.report.arena.page import write_arena_report
from ideagora.schema import Idea, Verdict
from tests.report.test_report_safety import ATTRIBUTES, TAGS
from tests.support.arena_samples import arena_folder, leaderboard
from tests.support.arena_world import Held, field, judge
from tests.support.report_pages import EVIL, Page

TWELVE = tuple(f"agent {number:02}" for number in range(12))


def _large(folder: Path, agents: tuple[str, ...], topics: int, words: int) -> tuple[Path, list[Idea]]:
    """An arena's folder in which all have met on all topics in both orders."""
    ideas = [
        Idea(
            id=f"{topic}-{name}", topic=f"topic {topic}", agent=name, title=f"Title {name} {topic}",
            motivation="why " * words, novelty="new " * words, method="do " * words,
        )
        for topic in range(topics)
        for name in agents
    ]  # fmt: skip
    verdicts = [
        Verdict(
            id=f"{topic} {one} {other}", evaluator="arena", protocol="default", topic=f"topic {topic}",
            subject=(f"{topic}-{one}", f"{topic}-{other}"), criteria={"novelty": 1.0}, status="scored",
            judge="j", order=int(one > other), agents=(one, other), rationale=f"Because of {one}. " * 20,
        )
        for topic in range(topics)
        for one in agents
        for other in agents
        if one != other
    ]  # fmt: skip
    arena_folder(folder, leaderboard(agents=agents), ideas)
    lines = "".join(one.model_dump_json() + "\n" for one in verdicts)
    (folder / "verdicts.jsonl").write_text(lines, encoding="utf-8")
    return folder, ideas


def test_each_verdict_stands_with_both_ideas_and_its_reason() -> None:
    held = Held(field({"alpha": 3, "beta": 2, "gamma": 1}), judge(), page=True)
    text = (held.folder / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert [page.text.count(f": {name} is better") for name in ("alpha", "beta", "gamma")] == [6, 3, 0]
    assert page.text.count("I say first.") + page.text.count("I say second.") == 18
    assert page.text.count("was shown first") >= 18
    part = text[text.index(">Matches<") :].split("</details>")[0]
    for words in ("I say", "novelty: ", "A plan of strength", "Nobody has done", "Measure "):
        assert words in part, "all of it is inside of one fold"
    assert "<script" not in text


def test_a_page_of_a_large_arena_stays_small_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    folder, ideas = _large(tmp_path, TWELVE, topics=12, words=60)
    write_arena_report(folder)
    html = (folder / "report.html").read_text(encoding="utf-8")
    assert len(html) < 5_000_000
    assert html.count("of 66 matches are shown, neighbours in the ranking first") == 12, "each topic has some"
    found = matches_by_topic(folder, ideas, TWELVE)
    assert all(one.total == 66 and one.shown for one in found.values())
    assert found["topic 0"].shown[0].names == ("agent 00", "agent 01")
    assert sum(match.characters for one in found.values() for match in one.shown) <= MOST_CHARACTERS
    assert len(ids_that_fit(ideas)) == len(ideas)
    assert len(ids_that_fit(ideas, 5_000)) < len(ideas)


def test_hostile_verdicts_stay_text_and_broken_ones_are_passed_over(tmp_path: Path) -> None:
    folder, _ = _large(tmp_path, ("alpha", "beta"), topics=1, words=3)
    path = folder / "verdicts.jsonl"
    first, *_ = path.read_text(encoding="utf-8").splitlines()
    verdict = Verdict.model_validate_json(first)
    evil = verdict.model_copy(update={"id": "evil", "judge": EVIL, "rationale": EVIL})
    unscored = verdict.model_copy(
        update={"id": "none", "criteria": None, "status": "unscored", "reason": EVIL, "rationale": None}
    )
    stranger = verdict.model_copy(update={"id": "stranger", "subject": ("nobody", "0-beta")})
    lines = [
        first,
        evil.model_dump_json(),
        unscored.model_dump_json(),
        stranger.model_dump_json(),
        first[:50],
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    page = Page(write_arena_report(folder)[1].read_text(encoding="utf-8"))
    assert {tag for tag, _ in page.tags} <= TAGS | {"img"}
    assert {name for _, attrs in page.tags for name in attrs} <= ATTRIBUTES | {"src", "alt"}
    assert not page.links
    assert "Not scored:" in page.text
    assert "3 verdicts" in page.text
