"""Ideas and notes that steer a run: those to build on, and those that must not be proposed again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ideagora.errors import IdeasFileError, UsageError
from ideagora.importing.file_rows import TEXT_SUFFIXES
from ideagora.importing.reader import read_all
from ideagora.models.offline.text import clip
from ideagora.schema import AVOIDED_SOURCE, OWN_SOURCE, Idea, Paper, Steering, stable_id

MAX_OWN, MAX_AVOIDED = 50, 200
"""Maximum ideas of each kind; more would not be read by a model with care."""
_OWN_WORDS, _AVOIDED_WORDS, _FOCUS_WORDS = 400, 90, 100
_LARGEST_LIST = 1_000_000
"""Maximum bytes of a list with an idea per line."""
_LINE_WORDS = 40
"""A text whose lines are all this short, none continuing another, is a list; it may have a heading."""
_HEADING = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]|\*\*)")
_BULLET = re.compile(r"^\s{0,12}(?:[-*•]|\(?\d{1,3}[.)])\s+")


def read_steering(
    focus: str | None, own: Sequence[Path], avoided: Sequence[Path], topic: str
) -> Steering | None:
    """The user's preference and ideas as one record; ``None`` if there are none.

    Args:
        focus: what the user prefers, in the user's words.
        own: files of ideas or notes to start from: any format of ``read_ideas``, or one per line.
        avoided: files, run folders, or folders of runs whose ideas must not be proposed again.
        topic: the topic of ideas whose file names none.

    Raises:
        UsageError: ``focus`` is empty or too long, or a file has no ideas, too many, or cannot be read.
    """
    if focus is None and not own and not avoided:
        return None
    return Steering(
        focus=None if focus is None else _check_focus(focus),
        own=_read_papers("--like", own, topic, OWN_SOURCE, _OWN_WORDS, MAX_OWN),
        avoided=_read_papers("--avoid", avoided, topic, AVOIDED_SOURCE, _AVOIDED_WORDS, MAX_AVOIDED),
    )


def _check_focus(focus: str) -> str:
    words = focus.split()
    if not words:
        raise UsageError("--focus is empty. Say in a sentence what the ideas should do, or leave it out.")
    if len(words) > _FOCUS_WORDS or len(focus) > 20 * _FOCUS_WORDS:
        raise UsageError(
            f"--focus has {len(words)} words; the limit is {_FOCUS_WORDS}. Put longer notes in a --like file."
        )
    return " ".join(words)


def _read_papers(
    option: str, paths: Sequence[Path], topic: str, source: str, words: int, most: int
) -> tuple[Paper, ...]:
    papers: dict[str, Paper] = {}
    for path in paths:
        found = [_paper(title, text, source, words) for title, text in _read_texts(option, path, topic)]
        papers |= {paper.id: paper for paper in found}
    if len(papers) > most:
        raise UsageError(
            f"{option} has {len(papers)} ideas; the limit is {most}. Keep those nearest to the topic."
        )
    return tuple(papers.values())


def _paper(title: str, text: str, source: str, words: int) -> Paper:
    title, text = clip(title, 30), clip(text, words)
    return Paper(id=f"{source}:{stable_id(title, text)}", title=title, abstract=text or None, source=source)


def _read_texts(option: str, path: Path, topic: str) -> list[tuple[str, str]]:
    """Title and text of each idea."""
    if (lines := _listed_ideas(path)) is not None:
        return [(line, "") for line in lines]
    try:
        imported = read_all(_run_folders(path) or [path], topic=topic)
    except IdeasFileError as error:
        reason = getattr(error, "short", str(error)).removeprefix(f"{path} ").split(" Known formats:")[0]
        raise UsageError(f"{option} {path}: {reason}") from None
    if not imported.ideas:
        problem = imported.problems[0].why if imported.problems else "it has no records"
        raise UsageError(f"{option} {path} has no idea that can be read: {problem}.")
    return [(idea.title, " ".join(_parts(idea))) for idea in imported.ideas]


def _parts(idea: Idea) -> Iterator[str]:
    """The texts that say what an idea is, the shortest statement first."""
    texts = (
        idea.summary,
        idea.facets.get("purpose"),
        idea.facets.get("mechanism"),
        idea.motivation,
        idea.method,
    )
    yield from dict.fromkeys(" ".join(text.split()) for text in texts if text)


def _listed_ideas(path: Path) -> list[str] | None:
    """The lines of a text file that lists one idea per line; ``None`` for any other file."""
    if path.suffix.lower() not in TEXT_SUFFIXES or not path.is_file():
        return None
    try:
        if path.stat().st_size > _LARGEST_LIST:
            return None
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None  # the importer says why
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    items = [line for line in lines if not _HEADING.match(line)]
    is_list = len(lines) == len(items) or (len(lines) - len(items) == 1 and all(map(_BULLET.match, items)))
    if not (items and is_list and all(map(_is_item, items))):
        return None
    return [_BULLET.sub("", item) for item in items]


def _is_item(line: str) -> bool:
    return len(line.split()) <= _LINE_WORDS and not line[0].islower()


def _run_folders(path: Path) -> list[Path]:
    """The runs directly in a folder; [] if it holds none or is a run itself."""
    if not path.is_dir() or (path / "run.json").is_file():
        return []
    return sorted(
        ideas.parent for ideas in path.glob("*/ideas.jsonl") if (ideas.parent / "run.json").is_file()
    )
