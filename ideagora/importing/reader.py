"""The one way in: a file or a folder of any known form, and its ideas.

The form is found by content alone. What cannot be imported is told with file, row and field; all else
is imported.
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
from ideagora.importing.file_rows import FileRows, open_rows
from ideagora.importing.formats import FORMATS
from ideagora.importing.idea_ids import CollectedIdeas
from ideagora.importing.records import Format, IdeaAnnotation, Imported, ParsedIdea, Problem, Row
from ideagora.schema import Idea

_SAMPLED_ROWS = 200
"""Rows that are looked at to find the form."""
_MAX_FILES = 20_000
MAX_IDEAS = 100_000
"""Ideas that are read at once: some 500 MB of memory."""
MAX_CHARACTERS = 256_000_000
"""Characters of their texts; a file of lines or a table of any size is read up to there."""
_MAX_PROBLEMS = 10_000
_LIMIT_REACHED = (
    f"from here on nothing is read: {MAX_IDEAS:,} ideas, {MAX_CHARACTERS / 1e6:.0f} million characters and "
    f"{_MAX_PROBLEMS:,} problems are the most at once. Split the file, and import the parts under one name"
)
_SUFFIXES = {".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".db", ".sqlite", ".sqlite3"}
"""Files of a folder that are tried; a file that is named itself may be called anything."""
_RUN_FILES = ("ideas.jsonl", "run.json")


def read_ideas(path: Path, *, agent: str | None = None, topic: str | None = None) -> Imported:
    """The ideas of a file, of a run's folder, or of all files of a folder.

    Args:
        path: what to read; its form is recognised by content.
        agent: name for who made them. A file with the ideas of several models gives ``agent/model``.
            ``None``: the names that the file has, else that of its form (a plain file's own name).
        topic: for ideas whose file tells no topic.

    Raises:
        IdeasFileError: it cannot be read, or is of no known form (says what was looked for).
        TopicRequired: the form tells no topic, and none was given.
    """
    return read_all([path], agent=agent, topic=topic)


def read_all(paths: Sequence[Path], *, agent: str | None = None, topic: str | None = None) -> Imported:
    """The ideas of several files, read together: a file of scores speaks of the ideas of the others.

    With one path the first error is raised; with several, each bad file is a problem of its own.

    Raises:
        IdeasFileError: as ``read_ideas``, if there is only one file.
        TopicRequired: there are ideas without a topic, and none was given.
    """
    files = [file for path in paths for file in _list_files(path)]
    haul = _ParsedFiles()
    for path, name in files:
        try:
            _read_file(path, name, haul)
        except IdeasFileError as error:
            if len(files) == 1:
                raise
            haul.problems.append(Problem(name, None, None, getattr(error, "short", str(error))))
    if haul.sides and not haul.drafts and not haul.problems:
        raise IdeasFileError(
            f"{files[0][1]} holds scores or topics but no ideas: name the file that has them as well."
        )
    ideas, renamed = _convert_all(haul, agent, (topic or "").strip() or None)
    problems = _sort_problems(haul.problems, [name for _, name in files])
    return Imported(tuple(ideas), tuple(problems), ", ".join(haul.kinds), renamed)


@dataclass
class _ParsedFiles:
    """What was found in all files so far."""

    drafts: list[tuple[ParsedIdea, Format]] = field(default_factory=list)
    sides: list[IdeaAnnotation] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    kinds: dict[str, None] = field(default_factory=dict)
    """In the order in which they came."""
    characters: int = 0
    """Of the texts of all rows."""

    @property
    def is_full(self) -> bool:
        """Whether no more can be taken."""
        too_many = len(self.drafts) >= MAX_IDEAS or len(self.problems) >= _MAX_PROBLEMS
        return too_many or self.characters >= MAX_CHARACTERS


def _read_file(path: Path, name: str, haul: _ParsedFiles) -> None:
    """Add what is in a file."""
    material = open_rows(path, name)
    form = recognize_format(material, path)
    haul.kinds[form.name] = None
    before = len(haul.problems)
    is_bare = True
    for found in form.read(_valid_rows(material.rows(), haul)):
        is_bare = False
        if haul.is_full:
            place = found.row if isinstance(found, Problem) else found.row.place
            haul.problems.append(Problem(name, place, None, _LIMIT_REACHED))
            break
        if isinstance(found, Problem):
            haul.problems.append(found)
        elif isinstance(found, IdeaAnnotation):
            haul.sides.append(found)
        else:
            haul.drafts.append((found, form))
    if is_bare and len(haul.problems) == before:
        haul.problems.append(Problem(name, None, None, f"it has the form of {form.name} and no ideas in it"))


def _valid_rows(rows: Iterator[Row | Problem], haul: _ParsedFiles) -> Iterator[Row]:
    for row in rows:
        if isinstance(row, Row):
            haul.characters += sum(len(one) for one in row.value.values() if isinstance(one, str))
            yield row
        elif len(haul.problems) < _MAX_PROBLEMS:
            haul.problems.append(row)


def _sort_problems(problems: Sequence[Problem], files: Sequence[str]) -> list[Problem]:
    """Problems by file, and by the numbers of their rows."""
    order = {file: number for number, file in enumerate(files)}
    numbers = re.compile(r"\d+")
    return sorted(
        problems, key=lambda one: (order.get(one.file, 0), [int(n) for n in numbers.findall(one.row or "")])
    )


def recognize_format(material: FileRows, path: Path) -> Format:
    """The form of a file.

    Raises:
        IdeasFileError: none matches, or more than one.
    """
    first: Row | Problem | None = None
    known: set[str] = set()
    for row in islice(material.rows(), _SAMPLED_ROWS):  # one at a time: each may be large
        first = first or row
        if isinstance(row, Row):
            known |= {form.name for form in FORMATS if form.name not in known and form.matches(row.value)}
    found = [form for form in FORMATS if form.name in known]
    found = [form for form in found if not form.is_last] or found
    if len(found) == 1:
        return found[0]
    if found:
        names = " and ".join(form.name for form in found)
        raise IdeasFileError(f"{path} has records of {names}. Put each kind into a file of its own.")
    raise _unknown_format(path, material, first)


def _unknown_format(path: Path, material: FileRows, first: Row | Problem | None) -> IdeasFileError:
    if first is None:
        return IdeasFileError(f"{path} ({material.shape}) has no records in it.")
    if isinstance(first, Row):
        seen = f"its first record has {', '.join(sorted(map(repr, first.value))[:12]) or 'no fields'}"
    else:
        seen = f"{first.row or 'the file'}: {first.why}"
    wanted = "; ".join(f"{form.name}: {form.looks_for}" for form in FORMATS)
    short = f"is of no known form; {seen}"
    return UnknownIdeasFormat(f"{path} ({material.shape}) {short}. Looked for: {wanted}.", f"it {short}")


def _list_files(path: Path) -> list[tuple[Path, str]]:
    """(file, its name for people): the file itself, a run's ideas, or a folder's files that may have some."""
    if not path.is_dir():
        return [(path, path.name)]
    if all((path / name).is_file() for name in _RUN_FILES):
        return [(path / _RUN_FILES[0], _RUN_FILES[0])]
    found = (one for one in path.rglob("*") if one.suffix.lower() in _SUFFIXES and one.is_file())
    files = sorted(islice((one for one in found if not one.name.startswith(".")), _MAX_FILES))
    if not files:
        raise IdeasFileError(f"{path} has no files of ideas in it ({', '.join(sorted(_SUFFIXES))}).")
    return [(file, file.relative_to(path).as_posix()) for file in files]


def _convert_all(
    haul: _ParsedFiles, agent: str | None, topic: str | None
) -> tuple[list[Idea], dict[str, str]]:
    """Ideas out of all drafts, each once, and the ids that were given anew; the rest becomes problems."""
    drafts, sides, problems = haul.drafts, haul.sides, haul.problems
    spoken = defaultdict(list)
    for side in sides:
        spoken[side.key].append(side)
    several = len({source_agent(draft) for draft, _ in drafts}) > 1
    ideas = CollectedIdeas()
    rows: dict[str, Row] = {}
    renamed: dict[str, str] = {}
    for draft, form in drafts:
        told = [side for key in draft.keys for side in spoken.get(key, ())]
        made = convert_idea(draft, form, agent, topic, told, several=several)
        if isinstance(made, Problem):
            problems.append(made)
            continue
        placed, outcome = ideas.add(made)
        if outcome == "same":
            problems.append(
                draft.row.problem(None, f"the same idea as {_first_occurrence(rows[placed.id], draft.row)}")
            )
            continue
        rows[placed.id] = draft.row
        if outcome == "renamed":
            renamed[placed.id] = made.id
    if not ideas.by_id and topic is None:
        _raise_if_topic_missing(problems)
    problems += [
        side.row.problem(None, f"no idea of these files is {side.key!r}")
        for side in _unmatched_scores(sides, drafts)
    ]
    return [*ideas.by_id.values()], renamed


def _first_occurrence(first: Row, again: Row) -> str:
    """Where an idea stood first, seen from where it stands again."""
    file = first.file if first.file != again.file else None
    return f"{', '.join(filter(None, (file, first.place))) or 'another one'}: kept once"


def _raise_if_topic_missing(problems: Sequence[Problem]) -> None:
    lacking = next((problem for problem in problems if problem.field == "topic"), None)
    if lacking:
        raise TopicRequired(
            f"the ideas of {lacking.file} have no topic of their own: say what they were made for with "
            "--topic 'TEXT'."
        )


def _unmatched_scores(
    sides: Sequence[IdeaAnnotation], drafts: Sequence[tuple[ParsedIdea, Format]]
) -> list[IdeaAnnotation]:
    """Scores that speak of no idea here. Topics may: they come for a whole benchmark."""
    known = {key for draft, _ in drafts for key in draft.keys}
    return [side for side in sides if side.key not in known and side.scores and drafts]
