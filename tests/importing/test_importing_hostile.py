"""Files that are broken or meant to harm: bounded, never executed, told, and the rest still imported."""

from __future__ import annotations

import json
import os
import pickle
import resource
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ideagora.errors import IdeagoraError, IdeasFileError, UsageError
from ideagora.importing import find_ideas
from ideagora.importing.file_rows import MAX_DOCUMENT_BYTES, MAX_LINE_BYTES
from ideagora.importing.python_literals import MAX_LITERAL, python_literal
from ideagora.importing.storage import stored_file
from ideagora.retrieval.untrusted_json import MAX_DEPTH, UnreadableJSON
from ideagora.schema import Idea
from tests.support.each import each_case
from tests.support.idea_files import (
    COI,
    CRITICS,
    PLAIN,
    SCIENTIST,
    put,
    put_database,
    put_lines,
    put_table,
    read,
    told,
)

LINE = json.dumps(PLAIN)


class _Bomb:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, ("bombed",)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (pickle.dumps(_Bomb()), "binary file"),
        (b"PK\x03\x04rest", "binary file"),
        (b"\xff\xfe{\x00}\x00", "UTF-16"),
        (b"", "empty"),
        (b"\xef\xbb\xbf \r\n", "empty"),
        (b"[]", "no records"),
        (b'[{"idea": "x"', "no JSON"),
        (b'["\xe9"]', "no UTF-8"),
        (b"[" * 100_000, "nested"),
        (b"<html>log in</html>", "web page"),
        (b"just words", "no records"),
        (b"[1, 2]", "got a number"),
        (b'{"a": {"idea": 1}}', "no known format"),
        (b"SQLite format 3\0 and then nothing", "could be read"),
    ],
)
def test_no_such_file_is_read_and_none_is_run(tmp_path: Path, content: bytes, why: str) -> None:
    with pytest.raises(IdeasFileError, match=why) as caught:
        read(put(tmp_path / "ideas.json", content), topic="t")
    assert "\n" not in str(caught.value)
    assert not Path("bombed").exists()


def test_a_file_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(IdeasFileError, match="No such file"):
        read(tmp_path / "gone")
    with pytest.raises(IdeasFileError, match="no files of ideas"):
        read(tmp_path)


def test_a_line_of_200_mb_is_skipped_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "ideas.jsonl"
    with path.open("wb") as file:
        file.write(f"{json.dumps({**PLAIN, 'filler': 'x' * 70_000})}\n".encode())
        file.write(b'{"method": "')
        file.seek(200_000_000, os.SEEK_CUR)  # a hole: zeros that take no space on disk
        file.write(b'"}\n' + json.dumps({**PLAIN, "method": "after"}).encode() + b"\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    imported = read(path)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert [idea.method for idea in imported.ideas] == [PLAIN["method"], "after"]
    assert told(imported) == [("line 2", None)]
    assert grown * 1024 < 6 * MAX_LINE_BYTES


def test_a_document_beyond_measure_is_refused_unread(tmp_path: Path) -> None:
    path = put(tmp_path / "ideas.json", "[" + " " * 70_000)
    os.truncate(path, MAX_DOCUMENT_BYTES + 1)
    with pytest.raises(IdeasFileError, match="jq -c"):
        read(path)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"method": "cut', "no JSON"),
        ("[" * 5000, "nested"),
        ('{"method": "deep", "a": ' + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1) + "}", "nested deeper"),
        ("7", "a number"),
        ("null", "null"),
        ('{"method": "   "}', "no text"),
        ('{"method": ["a"]}', "a list"),
        ('{"topic": 3, "method": "x"}', "a number"),
        ('{"topic": "t", "method": "!!!"}', "no text"),
        ('{"method": "no topic"}', "--topic"),
    ],
)
def test_a_bad_line_costs_itself_only(tmp_path: Path, line: str, why: str) -> None:
    imported = read(put(tmp_path / "a", f"{LINE}\n{line}\n\n{json.dumps({**PLAIN, 'title': 'Two'})}\n"))
    assert [idea.title for idea in imported.ideas] == [PLAIN["title"], "Two"]
    assert [problem.row for problem in imported.problems] == ["line 2"]
    assert why in imported.problems[0].why


def test_a_broken_first_line_does_not_hide_the_form(tmp_path: Path) -> None:
    imported = read(put(tmp_path / "a", f'{{"method": "cut\n{LINE}\n'))
    assert (len(imported.ideas), told(imported)) == (1, [("line 1", None)])


def test_text_is_cleaned_of_what_screens_and_files_cannot_hold(tmp_path: Path) -> None:
    text = '{"topic": "t\\u0000", "title": "A\\u001b[31mB\\u202e", "method": "half \\ud83d, NaN", "n": NaN}'
    (idea,) = read(put(tmp_path / "a", [json.loads(text)])).ideas
    assert (idea.topic, idea.title, idea.method) == ("t", "A[31mB", "half \ufffd, NaN")
    assert idea.extra["original"]["n"] is None
    assert Idea.model_validate_json(idea.model_dump_json()) == idea


def test_line_ends_of_windows_and_a_mark_of_byte_order(tmp_path: Path) -> None:
    lines = f"\ufeff{json.dumps({**PLAIN, 'method': 'one' + chr(13) + chr(10) + 'two'})}\r\n{LINE}\r\n"
    imported = read(put(tmp_path / "a", lines))
    assert [idea.method for idea in imported.ideas] == ["one\ntwo", PLAIN["method"]]


@each_case(
    "cell, why",
    [
        ("__import__('os').system('mkdir bombed')", "not a literal"),
        ("[open('bombed', 'w')]", "not a literal"),
        ("['a'] * 10 ** 9", "not a literal"),
        ("(" * 10_000, "literal|deep"),
        ("-" * 50_000 + "1", "literal|deep"),
        ("'" + "x" * MAX_LITERAL + "'", "longer than"),
        ("[1, 2", "not a Python literal"),
        ("b'bytes'", "bytes"),
        ("{[]: 1}", "literal"),
    ],
)
def test_literals_are_read_and_never_run(cell: str, why: str) -> None:
    with pytest.raises(UnreadableJSON, match=why):
        python_literal(cell)
    assert not Path("bombed").exists()


def test_a_hostile_cell_costs_its_row_only(tmp_path: Path) -> None:
    row = {"paperId": "p", "title": "Salt", "hypotheses": "['Salt melts.']"}
    bad = {**row, "hypotheses": "[__import__('os').mkdir('bombed')]"}
    imported = read(put_table(tmp_path / "a", [bad, row]))
    assert (len(imported.ideas), told(imported)) == (1, [("row 2", "hypotheses")])
    assert not Path("bombed").exists()


def test_a_table_with_odd_rows(tmp_path: Path) -> None:
    text = 'topic,method\nt,"one\nline, two"\nt,a,b,c\n\nt\nt,end\n'
    imported = read(put(tmp_path / "a", text))
    assert [idea.method for idea in imported.ideas] == ["one\nline, two", "end"]
    assert told(imported) == [("row 3", None), ("row 5", "method")]


def test_a_cell_beyond_measure_ends_the_table_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with path.open("w", encoding="utf-8") as file:
        file.write('topic,method\nt,good\nt,"open')
        for _ in range(17):
            file.write("x" * 999_999 + "\n")
    imported = read(path)
    assert [idea.method for idea in imported.ideas] == ["good"]
    assert "no rows after row 2 could be read" in imported.problems[0].why


def test_a_table_that_is_no_utf_8(tmp_path: Path) -> None:
    imported = read(put(tmp_path / "a", b"topic,method\nt,good\nt,caf\xe9\n"))
    assert [idea.method for idea in imported.ideas] == ["good"]
    assert "not UTF-8" in imported.problems[0].why


def test_a_database_whose_table_is_a_trap(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with closing(sqlite3.connect(path)) as connection:
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS idea FROM n"
        connection.execute(f"CREATE VIEW results AS {endless}")
    with pytest.raises(IdeasFileError, match="no table 'results'"):
        read(path)


def test_a_database_that_breaks_off_keeps_what_came_before(tmp_path: Path) -> None:
    rows = [{**CRITICS[0], "id": n, "idea": f"Idea {n}. {'word ' * 400}"} for n in range(200)]
    path = put_database(tmp_path / "a", rows)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = b"\x07" * (len(content) - len(content) // 2)
    imported = read(put(path, bytes(content)))
    assert 0 < len(imported.ideas) < 200
    assert "no rows after row" in imported.problems[-1].why


def test_a_database_is_only_read(tmp_path: Path) -> None:
    path = put_database(tmp_path / "a", CRITICS)
    before = path.read_bytes()
    read(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("value", [b"\x00\x01", 5, 1.5])
def test_cells_of_other_types_are_told(tmp_path: Path, value: object) -> None:
    imported = read(put_database(tmp_path / "a", [{**CRITICS[0], "idea": value, "id": 8}, CRITICS[0]]))
    assert (len(imported.ideas), [row for row, _ in told(imported)]) == (1, ["id 8"])


@pytest.mark.parametrize("field", ["Title", "Experiment"])
@pytest.mark.parametrize("value", [None, 3, [], {}, "", True])
def test_no_needed_field_is_made_up(tmp_path: Path, field: str, value: object) -> None:
    other = {**SCIENTIST, "Title": "Another"}
    imported = read(put(tmp_path / "a", [{**SCIENTIST, field: value}, other]), topic="t")
    titles = [idea.title for idea in imported.ideas]
    if field == "Experiment" and value in (3, True) and value is not None:
        assert len(titles) == 2  # a number told as text is still the source's own
    else:
        assert titles == ["Another"]
        assert told(imported) == [("record 1", field)]


@pytest.mark.parametrize("piece", ["* ", "# ", " \n", "**a", "1. ", "Title: ", "\t", "* *:"])
def test_long_runs_of_marks_are_read_at_once(tmp_path: Path, piece: str) -> None:
    runs = [{**COI, "idea": f"Title: {piece * 200_000}x", "experiment": piece * 200_000 + "y"}]
    assert len(read(put(tmp_path / "a", runs)).ideas) == 1


def test_shapes_that_no_writer_makes_never_raise_anything_else(tmp_path: Path) -> None:
    odd: list[Any] = [None, 1, "x", [[1]], [{"a": None}], {"a": {"b": []}}]
    keys = [*COI, *SCIENTIST, "model_result", "index", "ideas", "topic_description", "full_experiment_plan"]
    keys += ["models", "hypotheses", "paperId", "background", "filtered_ideas", "paper", "references", "run"]
    seeds = [COI, SCIENTIST, {"index": 1, "model_result": []}, {"topic_description": "t", "ideas": []}]
    for number, seed in enumerate(seeds):
        for key in keys:
            for value in odd:
                path = put(tmp_path / f"{number}.json", {**seed, key: value})
                try:
                    imported = read(path, topic="t")
                except IdeagoraError:
                    continue
                assert all(idea.method.strip() for idea in imported.ideas)


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "", ".", "..", "-x", "a\n", "x" * 65, "ü", "a b", "/etc/x", "\0"]
)
def test_names_cannot_lead_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        stored_file(tmp_path, name)


def test_kept_ideas_are_found_by_name_or_path(tmp_path: Path) -> None:
    kept = stored_file(tmp_path, "guest")
    kept.parent.mkdir()
    put_lines(kept, [PLAIN])
    assert find_ideas("guest", tmp_path) == kept
    assert find_ideas(str(kept), tmp_path) == kept
    with pytest.raises(IdeasFileError, match=r"imported: guest.*ideas import"):
        find_ideas("stranger", tmp_path)
