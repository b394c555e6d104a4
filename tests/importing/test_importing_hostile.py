"""Files that are broken or malicious: reading is bounded, executes nothing, and imports the rest."""

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
    problem_places,
    read,
    write_csv,
    write_json,
    write_jsonl,
    write_sqlite,
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
        (b'[{"idea": "x"', "not valid JSON"),
        (b'["\xe9"]', "not UTF-8"),
        (b"[" * 100_000, "nested"),
        (b"<html>log in</html>", "web page"),
        (b"just words", "no records"),
        (b"[1, 2]", "got a number"),
        (b'{"a": {"idea": 1}}', "no known format"),
        (b"SQLite format 3\0 and then nothing", "could be read"),
    ],
)
def test_unsupported_files_are_rejected_and_nothing_is_executed(
    tmp_path: Path, content: bytes, why: str
) -> None:
    with pytest.raises(IdeasFileError, match=why) as caught:
        read(write_json(tmp_path / "ideas.json", content), topic="t")
    assert "\n" not in str(caught.value)
    assert not Path("bombed").exists()


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
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
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert [idea.method for idea in imported.ideas] == [PLAIN["method"], "after"]
    assert problem_places(imported) == [("line 2", None)]
    assert growth * 1024 < 6 * MAX_LINE_BYTES


def test_a_document_that_is_too_large_is_rejected_unread(tmp_path: Path) -> None:
    path = write_json(tmp_path / "ideas.json", "[" + " " * 70_000)
    os.truncate(path, MAX_DOCUMENT_BYTES + 1)
    with pytest.raises(IdeasFileError, match="jq -c"):
        read(path)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"method": "cut', "not valid JSON"),
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
def test_a_bad_line_is_skipped_alone(tmp_path: Path, line: str, why: str) -> None:
    imported = read(
        write_json(tmp_path / "a", f"{LINE}\n{line}\n\n{json.dumps({**PLAIN, 'title': 'Two'})}\n")
    )
    assert [idea.title for idea in imported.ideas] == [PLAIN["title"], "Two"]
    assert [problem.row for problem in imported.problems] == ["line 2"]
    assert why in imported.problems[0].why


def test_a_broken_first_line_does_not_hide_the_format(tmp_path: Path) -> None:
    imported = read(write_json(tmp_path / "a", f'{{"method": "cut\n{LINE}\n'))
    assert (len(imported.ideas), problem_places(imported)) == (1, [("line 1", None)])


def test_control_characters_are_removed_from_text(tmp_path: Path) -> None:
    text = '{"topic": "t\\u0000", "title": "A\\u001b[31mB\\u202e", "method": "half \\ud83d, NaN", "n": NaN}'
    (idea,) = read(write_json(tmp_path / "a", [json.loads(text)])).ideas
    assert (idea.topic, idea.title, idea.method) == ("t", "A[31mB", "half \ufffd, NaN")
    assert idea.extra["original"]["n"] is None
    assert Idea.model_validate_json(idea.model_dump_json()) == idea


def test_windows_line_endings_and_byte_order_marks(tmp_path: Path) -> None:
    lines = f"\ufeff{json.dumps({**PLAIN, 'method': 'one' + chr(13) + chr(10) + 'two'})}\r\n{LINE}\r\n"
    imported = read(write_json(tmp_path / "a", lines))
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
def test_literals_are_parsed_and_never_executed(cell: str, why: str) -> None:
    with pytest.raises(UnreadableJSON, match=why):
        python_literal(cell)
    assert not Path("bombed").exists()


def test_a_hostile_cell_skips_only_its_row(tmp_path: Path) -> None:
    row = {"paperId": "p", "title": "Salt", "hypotheses": "['Salt melts.']"}
    bad = {**row, "hypotheses": "[__import__('os').mkdir('bombed')]"}
    imported = read(write_csv(tmp_path / "a", [bad, row]))
    assert (len(imported.ideas), problem_places(imported)) == (1, [("row 2", "hypotheses")])
    assert not Path("bombed").exists()


def test_a_table_with_odd_rows(tmp_path: Path) -> None:
    text = 'topic,method\nt,"one\nline, two"\nt,a,b,c\n\nt\nt,end\n'
    imported = read(write_json(tmp_path / "a", text))
    assert [idea.method for idea in imported.ideas] == ["one\nline, two", "end"]
    assert problem_places(imported) == [("row 3", None), ("row 5", "method")]


def test_a_cell_that_is_too_long_ends_the_table(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with path.open("w", encoding="utf-8") as file:
        file.write('topic,method\nt,good\nt,"open')
        for _ in range(17):
            file.write("x" * 999_999 + "\n")
    imported = read(path)
    assert [idea.method for idea in imported.ideas] == ["good"]
    assert "no rows after row 2 could be read" in imported.problems[0].why


def test_a_table_that_is_not_utf_8(tmp_path: Path) -> None:
    imported = read(write_json(tmp_path / "a", b"topic,method\nt,good\nt,caf\xe9\n"))
    assert [idea.method for idea in imported.ideas] == ["good"]
    assert "not UTF-8" in imported.problems[0].why


def test_a_database_with_a_view_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with closing(sqlite3.connect(path)) as connection:
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS idea FROM n"
        connection.execute(f"CREATE VIEW results AS {endless}")
    with pytest.raises(IdeasFileError, match="no table 'results'"):
        read(path)


def test_rows_before_a_database_error_are_imported(tmp_path: Path) -> None:
    rows = [{**CRITICS[0], "id": n, "idea": f"Idea {n}. {'word ' * 400}"} for n in range(200)]
    path = write_sqlite(tmp_path / "a", rows)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = b"\x07" * (len(content) - len(content) // 2)
    imported = read(write_json(path, bytes(content)))
    assert 0 < len(imported.ideas) < 200
    assert "no rows after row" in imported.problems[-1].why


def test_a_database_is_not_modified(tmp_path: Path) -> None:
    path = write_sqlite(tmp_path / "a", CRITICS)
    before = path.read_bytes()
    read(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("value", [b"\x00\x01", 5, 1.5])
def test_cells_of_other_types_are_problems(tmp_path: Path, value: object) -> None:
    imported = read(write_sqlite(tmp_path / "a", [{**CRITICS[0], "idea": value, "id": 8}, CRITICS[0]]))
    assert (len(imported.ideas), [row for row, _ in problem_places(imported)]) == (1, ["id 8"])


@pytest.mark.parametrize("field", ["Title", "Experiment"])
@pytest.mark.parametrize("value", [None, 3, [], {}, "", True])
def test_required_fields_are_never_invented(tmp_path: Path, field: str, value: object) -> None:
    other = {**SCIENTIST, "Title": "Another"}
    imported = read(write_json(tmp_path / "a", [{**SCIENTIST, field: value}, other]), topic="t")
    titles = [idea.title for idea in imported.ideas]
    if field == "Experiment" and value in (3, True) and value is not None:
        assert len(titles) == 2  # a number in text form is still the source's own
    else:
        assert titles == ["Another"]
        assert problem_places(imported) == [("record 1", field)]


@pytest.mark.parametrize("piece", ["* ", "# ", " \n", "**a", "1. ", "Title: ", "\t", "* *:"])
def test_long_runs_of_punctuation_are_read_in_linear_time(tmp_path: Path, piece: str) -> None:
    runs = [{**COI, "idea": f"Title: {piece * 200_000}x", "experiment": piece * 200_000 + "y"}]
    assert len(read(write_json(tmp_path / "a", runs)).ideas) == 1


def test_unexpected_structures_raise_only_import_errors(tmp_path: Path) -> None:
    odd: list[Any] = [None, 1, "x", [[1]], [{"a": None}], {"a": {"b": []}}]
    keys = [*COI, *SCIENTIST, "model_result", "index", "ideas", "topic_description", "full_experiment_plan"]
    keys += ["models", "hypotheses", "paperId", "background", "filtered_ideas", "paper", "references", "run"]
    seeds = [COI, SCIENTIST, {"index": 1, "model_result": []}, {"topic_description": "t", "ideas": []}]
    for number, seed in enumerate(seeds):
        for key in keys:
            for value in odd:
                path = write_json(tmp_path / f"{number}.json", {**seed, key: value})
                try:
                    imported = read(path, topic="t")
                except IdeagoraError:
                    continue
                assert all(idea.method.strip() for idea in imported.ideas)


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "", ".", "..", "-x", "a\n", "x" * 65, "ü", "a b", "/etc/x", "\0"]
)
def test_names_cannot_escape_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        stored_file(tmp_path, name)


def test_stored_ideas_are_found_by_name_or_path(tmp_path: Path) -> None:
    stored = stored_file(tmp_path, "guest")
    stored.parent.mkdir()
    write_jsonl(stored, [PLAIN])
    assert find_ideas("guest", tmp_path) == stored
    assert find_ideas(str(stored), tmp_path) == stored
    with pytest.raises(IdeasFileError, match=r"imported: guest.*ideas import"):
        find_ideas("stranger", tmp_path)
