"""Read ideas from a file or folder in any known format.

Formats are recognised by content. Each problem names its file, row and field; everything else is imported.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from ideagora.errors import IdeasFileError, TopicRequired, UnknownIdeasFormat
from ideagora.importing.conversion import convert_idea, source_agent
from ideagora.importing.file_rows import TEXT_SUFFIXES, FileRows, open_rows
from ideagora.importing.formats import FORMATS
from ideagora.importing.idea_ids import CollectedIdeas
from ideagora.importing.records import Format, IdeaAnnotation, Imported, ParsedIdea, Problem, Row
from ideagora.schema import Idea

_SAMPLED_ROWS = 200
"""Rows examined to recognise the format."""
_MAX_FILES = 20_000
MAX_IDEAS = 100_000
"""Maximum ideas read at once, about 500 MB of memory."""
MAX_CHARACTERS = 256_000_000
"""Maximum characters of their texts; larger JSON Lines and CSV files are read up to there."""
_MAX_PROBLEMS = 10_000
_LIMIT_REACHED = (
    f"reading stopped here: the limits are {MAX_IDEAS:,} ideas, {MAX_CHARACTERS / 1e6:.0f} million "
    f"characters and {_MAX_PROBLEMS:,} problems. Split the file and import the parts under one name"
)
_SUFFIXES = {".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".db", ".sqlite", ".sqlite3", *TEXT_SUFFIXES}
"""Suffixes of the files read from a folder; a file given by itself may have any name."""
_ABOUT = ("readme", "license", "changelog", "contributing", "cutoff")
"""Stems of texts in a folder that are not ideas; ``cutoff.txt`` belongs to ScholarIdeas."""
_SEED = "skipped: a seed idea that a person wrote for the agent's template (--with-seeds imports it)"
_RUN_FILES = ("ideas.jsonl", "run.json")


def read_ideas(path: Path, *, agent: str | None = None, topic: str | None = None) -> Imported:
    """Return the ideas of a file, a run folder or all files of a folder.

    Args:
        path: the file or folder; formats are recognised by content.
        agent: the agent's name; a file with ideas of several models gives ``agent/model``. By default the
            names in the file, else the name of its format (of the file itself, for a plain file).
        topic: the topic of ideas whose file has none.

    Raises:
        IdeasFileError: it cannot be read or has no known format.
        TopicRequired: the file has no topic, and none was given.
    """
    return read_all([path], agent=agent, topic=topic)


def read_all(
    paths: Sequence[Path], *, agent: str | None = None, topic: str | None = None, with_seeds: bool = False
) -> Imported:
    """Return the ideas of several files; scores in one file apply to ideas in the others.

    Seed ideas, which people wrote as examples for the agent, are problems unless ``with_seeds``. An
    unreadable file is an error if it is the only one, else a problem.

    Raises:
        IdeasFileError: as ``read_ideas``, for a single file.
        TopicRequired: there are ideas without a topic, and none was given.
    """
    files = [file for path in paths for file in _list_files(path)]
    parsed = _ParsedFiles()
    for path, name in files:
        try:
            _read_file(path, name, parsed)
        except IdeasFileError as error:
            if len(files) == 1:
                raise
            parsed.problems.append(Problem(name, None, None, getattr(error, "short", str(error))))
    if parsed.annotations and not parsed.ideas and not parsed.problems:
        raise IdeasFileError(
            f"{files[0][1]} contains scores or topics but no ideas. Import it together with the ideas' file."
        )
    ideas, renamed = _convert_all(parsed, agent, (topic or "").strip() or None, with_seeds)
    problems = _sort_problems(parsed.problems, [name for _, name in files])
    return Imported(tuple(ideas), tuple(problems), ", ".join(parsed.formats), renamed)


@dataclass
class _ParsedFiles:
    """Parsed items of all files."""

    ideas: list[tuple[ParsedIdea, Format]] = field(default_factory=list)
    annotations: list[IdeaAnnotation] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    formats: dict[str, None] = field(default_factory=dict)
    """Names of the formats in order."""
    characters: int = 0
    """Characters of all texts."""

    @property
    def is_full(self) -> bool:
        """Whether a limit is reached."""
        too_many = len(self.ideas) >= MAX_IDEAS or len(self.problems) >= _MAX_PROBLEMS
        return too_many or self.characters >= MAX_CHARACTERS


def _read_file(path: Path, name: str, parsed: _ParsedFiles) -> None:
    """Add the parsed items of a file."""
    file = open_rows(path, name)
    file_format = recognize_format(file, path)
    parsed.formats[file_format.name] = None
    before = len(parsed.problems)
    is_empty = True
    for item in file_format.read(_valid_rows(file.rows(), parsed)):
        is_empty = False
        if parsed.is_full:
            place = item.row if isinstance(item, Problem) else item.row.place
            parsed.problems.append(Problem(name, place, None, _LIMIT_REACHED))
            break
        if isinstance(item, Problem):
            parsed.problems.append(item)
        elif isinstance(item, IdeaAnnotation):
            parsed.annotations.append(item)
        else:
            parsed.ideas.append((item, file_format))
    if is_empty and len(parsed.problems) == before:
        parsed.problems.append(Problem(name, None, None, f"has the format {file_format.name} but no ideas"))


def _valid_rows(rows: Iterator[Row | Problem], parsed: _ParsedFiles) -> Iterator[Row]:
    for row in rows:
        if isinstance(row, Row):
            parsed.characters += sum(len(value) for value in row.value.values() if isinstance(value, str))
            yield row
        elif len(parsed.problems) < _MAX_PROBLEMS:
            parsed.problems.append(row)


def _sort_problems(problems: Sequence[Problem], files: Sequence[str]) -> list[Problem]:
    """Return the problems sorted by file and row number."""
    order = {file: number for number, file in enumerate(files)}
    numbers = re.compile(r"\d+")

    def position(problem: Problem) -> tuple[int, list[int]]:
        return order.get(problem.file, 0), [int(n) for n in numbers.findall(problem.row or "")]

    return sorted(problems, key=position)


def recognize_format(file: FileRows, path: Path) -> Format:
    """Return the format of a file.

    Raises:
        IdeasFileError: none matches, or more than one.
    """
    first: Row | Problem | None = None
    known: set[str] = set()
    for row in islice(file.rows(), _SAMPLED_ROWS):  # one at a time: each may be large
        first = first or row
        if isinstance(row, Row):
            known |= {form.name for form in FORMATS if form.name not in known and form.matches(row.value)}
    formats = [form for form in FORMATS if form.name in known]
    formats = [form for form in formats if not form.is_fallback] or formats
    if len(formats) == 1:
        return formats[0]
    if formats:
        names = " and ".join(form.name for form in formats)
        raise IdeasFileError(
            f"{path} has records of several formats: {names}. Split it into one file per format."
        )
    raise _unknown_format(path, file, first)


def _unknown_format(path: Path, file: FileRows, first: Row | Problem | None) -> IdeasFileError:
    if first is None:
        return IdeasFileError(f"{path} ({file.shape}) has no records.")
    if isinstance(first, Row):
        content = f"its first record has {', '.join(sorted(map(repr, first.value))[:12]) or 'no fields'}"
    else:
        content = f"{first.row or 'the file'}: {first.why}"
    known = "; ".join(f"{form.name}: {form.looks_for}" for form in FORMATS)
    short = f"has no known format; {content}"
    return UnknownIdeasFormat(f"{path} ({file.shape}) {short}. Known formats: {known}.", short)


def _list_files(path: Path) -> list[tuple[Path, str]]:
    """Return (path, name for messages) of the file itself, a run's ideas, or a folder's data files."""
    if not path.is_dir():
        return [(path, path.name)]
    if all((path / name).is_file() for name in _RUN_FILES):
        return [(path / _RUN_FILES[0], _RUN_FILES[0])]
    found = (file for file in path.rglob("*") if _may_hold_ideas(file) and file.is_file())
    files = sorted(islice((file for file in found if not file.name.startswith(".")), _MAX_FILES))
    if not files:
        raise IdeasFileError(f"{path} contains no files of ideas ({', '.join(sorted(_SUFFIXES))}).")
    return [(file, file.relative_to(path).as_posix()) for file in files]


def _may_hold_ideas(file: Path) -> bool:
    suffix = file.suffix.lower()
    return suffix in _SUFFIXES and not (suffix in TEXT_SUFFIXES and file.stem.lower() in _ABOUT)


def _convert_all(
    parsed: _ParsedFiles, agent: str | None, topic: str | None, with_seeds: bool
) -> tuple[list[Idea], dict[str, str]]:
    """Return the unique ideas and the new ids of renamed ones; everything else becomes a problem."""
    problems = parsed.problems
    by_key = defaultdict(list)
    for annotation in parsed.annotations:
        by_key[annotation.key].append(annotation)
    several = len({source_agent(item) for item, _ in parsed.ideas}) > 1
    ideas = CollectedIdeas()
    rows: dict[str, Row] = {}
    renamed: dict[str, str] = {}
    for item, file_format in parsed.ideas:
        if item.is_seed and not with_seeds:
            problems.append(item.row.problem(None, _SEED))
            continue
        annotations = [annotation for key in item.keys for annotation in by_key.get(key, ())]
        idea = convert_idea(item, file_format, agent, topic, annotations, several=several)
        if isinstance(idea, Problem):
            problems.append(idea)
            continue
        stored, outcome = ideas.add(idea)
        if outcome == "same":
            problems.append(item.row.problem(None, _duplicate_of(rows[stored.id], item.row)))
            continue
        rows[stored.id] = item.row
        if outcome == "renamed":
            renamed[stored.id] = idea.id
    if not ideas.by_id and topic is None:
        _raise_if_topic_missing(problems)
    problems += [
        annotation.row.problem(None, f"no idea in these files has the key {annotation.key!r}")
        for annotation in _unmatched_scores(parsed)
    ]
    return [*ideas.by_id.values()], renamed


def _duplicate_of(first: Row, duplicate: Row) -> str:
    """Return the message for an idea that occurred before."""
    file = first.file if first.file != duplicate.file else None
    return f"duplicate of {', '.join(filter(None, (file, first.place))) or 'another record'}"


def _raise_if_topic_missing(problems: Sequence[Problem]) -> None:
    problem = next((problem for problem in problems if problem.field == "topic"), None)
    if problem:
        raise TopicRequired(f"the ideas in {problem.file} have no topic; give one with --topic 'TEXT'.")


def _unmatched_scores(parsed: _ParsedFiles) -> list[IdeaAnnotation]:
    """Return scores for unknown ideas. Unmatched topics are normal: they cover a whole benchmark."""
    known = {key for item, _ in parsed.ideas for key in item.keys}
    return [
        annotation
        for annotation in parsed.annotations
        if annotation.key not in known and annotation.scores and parsed.ideas
    ]
