"""Blind ballots: what is dealt, what a person's crosses become, and what a file can do to us."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path

import pytest

from ideagora.evaluators.agreement.ballot_files import read_ballot_rows
from ideagora.evaluators.agreement.ballots import choose_pairs, collect_pairs, deal_ballots
from ideagora.evaluators.judging.verdict_files import read_verdicts, verdict_lines
from ideagora.schema import Idea, Verdict
from tests.support.command import Done, run

AGENTS, TOPICS = ("ant", "bee", "cat", "dog"), ("t0", "t1", "t2")
CRITERIA = ("novelty", "clarity")


def idea(agent: str, topic: str) -> Idea:
    return Idea(
        id=f"{agent}-{topic}", topic=topic, agent=agent, title=f"=A title about {topic}",
        motivation="It is missing.", novelty="It is new.", method=f"Do it {len(agent)} times, by hand.",
    )  # fmt: skip


def verdicts() -> list[Verdict]:
    return [
        Verdict(
            id=f"{topic}{one}{other}", evaluator="arena", protocol="default", topic=topic,
            subject=(f"{one}-{topic}", f"{other}-{topic}"), criteria=dict.fromkeys(CRITERIA, 1.0),
            status="scored", judge="offline", agents=(one, other),
        )
        for topic in TOPICS for one in AGENTS for other in AGENTS if one != other
    ]  # fmt: skip


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    folder = tmp_path / "arena"
    folder.mkdir()
    (folder / "verdicts.jsonl").write_text(verdict_lines(verdicts()), encoding="utf-8")
    ideas = [idea(agent, topic) for agent in AGENTS for topic in TOPICS]
    (folder / "ideas.jsonl").write_text("".join(i.model_dump_json() + "\n" for i in ideas), encoding="utf-8")
    return folder


def vote(*arguments: str | Path) -> Done:
    return run(["vote", *map(str, arguments)])


def filled(path: Path, crosses: dict[str, str], rows: int | None = None) -> Path:
    """The ballot file with these crosses in its first rows, as a spreadsheet saves it again."""
    text = path.read_text(encoding="utf-8-sig")
    comma = ";" if text.startswith("ballot;") else ","
    read = list(csv.DictReader(io.StringIO(text), delimiter=comma))
    for row in read[:rows]:
        row.update(crosses)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(read[0]), delimiter=";")
    writer.writeheader()
    writer.writerows(read)
    path.write_text(out.getvalue(), encoding="utf-8")
    return path


def test_each_pair_is_there_once_and_agents_take_part_evenly() -> None:
    pairs = collect_pairs(verdicts())
    assert len(pairs) == 6 * 3
    chosen = choose_pairs(pairs, 12, seed=1)
    assert set(Counter(tuple(sorted(pair.agents)) for pair in chosen).values()) == {2}
    assert set(Counter(pair.topic for pair in chosen).values()) == {4}
    assert chosen == choose_pairs(list(reversed(pairs))[::-1], 12, seed=1)


def test_voters_get_the_same_pairs_in_an_order_and_on_sides_of_their_own() -> None:
    pairs = collect_pairs(verdicts())
    one, other = deal_ballots(pairs, "ada", 0), deal_ballots(pairs, "bob", 0)
    assert {frozenset(b.subject) for b in one} == {frozenset(b.subject) for b in other}
    assert [b.subject for b in one] != [b.subject for b in other]
    assert sum(b.order for b in one) == len(pairs) // 2
    assert not {b.id for b in one} & {b.id for b in other}


def test_a_ballot_file_says_nothing_of_who_made_an_idea_and_starts_no_formula(
    arena: Path, tmp_path: Path
) -> None:
    path = tmp_path / "ada.csv"
    done = vote("export", arena, "--voter", "ada", "--pairs", "5", "--out", path)
    assert done.code == 0, done.err
    assert "Ballots: 5 of 18 pairs, in " in done.out
    text = path.read_text(encoding="utf-8-sig")
    assert not [agent for agent in AGENTS if agent in text]
    assert "\n'=A title" not in text  # the topic comes first in a row
    again = vote("export", arena, "--voter", "ada", "--out", path)
    assert (again.code, path.read_text(encoding="utf-8-sig")) == (2, text)
    assert "exists already" in again.err
    row = next(csv.DictReader(io.StringIO(text)))
    assert row["first"].startswith("'=A title")
    assert (row["novelty"], row["clarity"]) == ("", "")


def test_voters_see_what_the_judges_saw(arena: Path, tmp_path: Path) -> None:
    told = {"title": "A plain title", "method": "Do it plainly."}
    ideas = [
        idea(agent, topic).model_copy(update={"extra": {"shown": told}})
        for agent in AGENTS
        for topic in TOPICS
    ]
    (arena / "ideas.jsonl").write_text("".join(i.model_dump_json() + "\n" for i in ideas), encoding="utf-8")
    vote("export", arena, "--voter", "ada", "--out", tmp_path / "ada.csv")
    shown = {row[side] for row in read_ballot_rows(tmp_path / "ada.csv") for side in ("first", "second")}
    assert shown == {"A plain title\n\nMethod: Do it plainly."}


def test_votes_come_back_as_verdicts_on_the_ideas_that_were_shown(arena: Path, tmp_path: Path) -> None:
    path = tmp_path / "ada.csv"
    vote("export", arena, "--voter", "ada", "--pairs", "6", "--out", path)
    filled(path, {"novelty": "1", "clarity": " Tie "}, rows=4)
    done = vote("import", arena, path, "--voter", "ada", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out) | {"votes": ""} == {
        "votes": "", "read": 4, "kept": 4, "blank": 2, "spoilt": [],
    }  # fmt: skip
    votes = read_verdicts(arena / "votes" / "ada.jsonl")
    rows = {row["ballot"]: row for row in read_ballot_rows(path)}
    assert len(votes) == 4
    for one in votes:
        assert (one.judge, one.criteria) == ("human:ada", {"novelty": 1.0, "clarity": 0.5})
        assert one.subject == tuple(f"{agent}-{one.topic}" for agent in one.agents)
        shown = [row for row in rows.values() if f"{len(one.agents[0])} times" in row["first"]]
        assert shown
    again = vote("import", arena, filled(path, {"novelty": "2", "clarity": ""}, rows=1), "--voter", "ada")
    assert again.code == 0
    kept = read_verdicts(arena / "votes" / "ada.jsonl")
    assert len(kept) == 4
    assert sum(one.criteria == {"novelty": 0.0} for one in kept) == 1


def test_what_cannot_be_read_is_named_and_is_no_vote(arena: Path, tmp_path: Path) -> None:
    path = tmp_path / "ada.jsonl"
    vote("export", arena, "--voter", "ada", "--pairs", "3", "--out", path)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows[0] |= {"novelty": "the first", "clarity": None}
    rows[1] |= {"novelty": 2, "clarity": "maybe"}
    rows.append({"ballot": "0123456789ab", "novelty": "1"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = vote("import", arena, path, "--voter", "ada")
    assert done.code == 0
    assert "row 1, novelty: 'the first' is not 1, 2 or tie." in done.err
    assert "row 2, clarity: 'maybe' is not 1, 2 or tie." in done.err
    assert "row 4, ballot: no ballot of this run has this id." in done.err
    assert [v.criteria for v in read_verdicts(arena / "votes" / "ada.jsonl")] == [{"novelty": 0.0}]


def test_a_row_has_the_number_that_a_spreadsheet_shows(arena: Path, tmp_path: Path) -> None:
    path = tmp_path / "ada.csv"
    vote("export", arena, "--voter", "ada", "--pairs", "2", "--out", path)
    done = vote("import", arena, filled(path, {"novelty": "X", "clarity": "1"}, rows=1), "--voter", "ada")
    assert "row 2, novelty: 'X' is not 1, 2 or tie." in done.err
    assert "Votes read: 1; ballots left blank: 1." in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["export", "{}", "--voter", "../x"], "--voter is '../x'"),
        (["export", "{}/none", "--voter", "a"], "has no readable ideas.jsonl"),
        (["export", "{}", "--voter", "a", "--out", "a.docx"], "a.docx has to end in .csv"),
        (["import", "{}", "none.csv", "--voter", "a"], "no ballots were exported for 'a'"),
        (["import", "{}/none", "none.csv", "--voter", "a"], "there is no folder"),
    ],
)
def test_bad_input_is_one_clear_line(arena: Path, arguments: list[str], said: str) -> None:
    done = vote(*[argument.replace("{}", str(arena)) for argument in arguments])
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"\xff\xfe\x00", "not UTF-8 text"), (b"a,b\n1,2\n", "no column “ballot”"), (b'{"ballot"', "line 1")],
)
def test_a_file_that_is_no_ballot_file(arena: Path, tmp_path: Path, content: bytes, said: str) -> None:
    vote("export", arena, "--voter", "ada", "--out", tmp_path / "ada.csv")
    (tmp_path / "ada.csv").write_bytes(content)
    done = vote("import", arena, tmp_path / "ada.csv", "--voter", "ada")
    assert done.code == 2
    assert said in done.err
    assert not (arena / "votes" / "ada.jsonl").exists()


def test_a_criterion_of_the_other_kind_is_marked_as_not_asked(arena: Path, tmp_path: Path) -> None:
    plans = [
        one.model_copy(update={"id": f"{one.id}p", "kind": "experiment", "criteria": {"feasibility": 1.0}})
        for one in verdicts()
    ]
    (arena / "verdicts.jsonl").write_text(verdict_lines([*verdicts(), *plans]), encoding="utf-8")
    plan = {"steps": ["Build it.", "Weigh it."]}
    ideas = [
        Idea.model_validate({**idea(agent, topic).model_dump(), "experiment": plan})
        for agent in AGENTS
        for topic in TOPICS
    ]
    (arena / "ideas.jsonl").write_text("".join(i.model_dump_json() + "\n" for i in ideas), encoding="utf-8")
    vote("export", arena, "--voter", "ada", "--pairs", "30", "--out", tmp_path / "ada.csv")
    rows = read_ballot_rows(tmp_path / "ada.csv")
    asked = [(row["novelty"], row["feasibility"]) for row in rows]
    assert set(asked) == {("", "–"), ("–", "")}
    assert all(("1. Build it." in row["first"]) == (row["feasibility"] == "") for row in rows)
