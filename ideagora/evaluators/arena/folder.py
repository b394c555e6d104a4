"""Reads and writes the files of an arena's folder, except for the verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, cast

from ideagora.config import Settings
from ideagora.errors import RunError
from ideagora.evaluators.arena.entries.lineup import PARTS, Contestant, Lineup, MissingEntry, run_number
from ideagora.evaluators.arena.entries.selection import flag_injections
from ideagora.evaluators.arena.leaderboard.records import ContestantFields, Leaderboard, leaderboard_from_json
from ideagora.evaluators.judging.verdict_files import VERDICTS_FILE, recover_verdicts
from ideagora.graphs.files import folder_error, write_atomically
from ideagora.graphs.run_fields import RunFields
from ideagora.graphs.run_folder import RunFolder
from ideagora.models.cache.retry_failed import keys_to_retry
from ideagora.schema import Idea, Serialized, Topic, Usage, Verdict

LEADERBOARD_FILE = "leaderboard.json"
SHOWN = "shown"
"""Key in an entry's ``extra``: its parts as shown to the judges."""


class Growth(TypedDict):
    """Hashes that the extension of an arena is checked against."""

    frame: str
    """Of the settings, which must not change."""
    members: list[str]
    """Of the members, which may be extended."""


class ArenaFields(RunFields, total=False):
    """The fields of an arena in ``run.json``."""

    options: Mapping[str, Any]
    topics: list[Serialized[Topic]]
    contestants: Sequence[ContestantFields]
    entries: str
    """Digest of the ideas."""
    grows: Growth
    answers: dict[str, Serialized[Usage]]
    """Usage of the answers, by label."""
    verdicts: int


def shown_parts(idea: Idea) -> Mapping[str, object]:
    """The parts of an idea that judges see, as JSON values."""
    return idea.model_dump(mode="json", include={*PARTS, "experiment"}, exclude_none=True)


def as_judged(idea: Idea) -> Idea:
    """The entry as shown to the judges, which may have been restyled."""
    shown = idea.extra.get(SHOWN)
    if not isinstance(shown, dict):
        return idea
    parts = {name: shown.get(name) for name in (*PARTS, "experiment")}
    return Idea.model_validate({**idea.model_dump(), **parts})


def write_entries(folder: RunFolder, lineup: Lineup, shown: Mapping[str, Mapping[str, object]]) -> None:
    """Write ``ideas.jsonl``: the original entries, each with its parts as shown to the judges."""
    folder.write_ideas(
        [
            idea.model_copy(update={"extra": {**idea.extra, SHOWN: dict(shown[idea.id])}})
            if idea.id in shown
            else idea
            for topic in lineup.texts
            for contestant in lineup.contestants
            for entries in contestant.runs
            if (idea := entries.get(topic)) is not None
        ]
    )


def write_leaderboard(path: Path, board: Leaderboard) -> None:
    """Replace ``leaderboard.json`` atomically."""
    text = json.dumps(board.as_json(), indent=1, ensure_ascii=False) + "\n"
    try:
        write_atomically(path / LEADERBOARD_FILE, text)
    except OSError as error:
        raise folder_error(path, error) from None


def read_leaderboard(path: Path, clean: Callable[[Any], Any] | None = None) -> Leaderboard:
    """The leaderboard in an arena's folder; ``clean`` is applied to the parsed JSON first.

    Raises:
        RunError: the folder has no readable leaderboard.
    """
    try:
        content = json.loads((path / LEADERBOARD_FILE).read_text(encoding="utf-8"))
        return leaderboard_from_json(clean(content) if clean is not None else content)
    except (OSError, ValueError, RecursionError):
        raise RunError(
            f"{path} has no readable {LEADERBOARD_FILE}. Run the arena again with the same command."
        ) from None


def load_verdicts(path: Path) -> list[Verdict]:
    """All verdicts of a folder, in file order."""
    return list(recover_verdicts(path / VERDICTS_FILE).values())


def load_finished(folder: RunFolder) -> tuple[Lineup, dict[str, Serialized[Usage]]] | None:
    """Lineup and usage of a finished arena, or ``None`` if it is not finished.

    An arena that has lost verdicts or entries is not finished; they are restored from the cache.
    """
    ideas, record = folder.finished_ideas(), read_record(folder)
    if ideas is None or not (folder.path / LEADERBOARD_FILE).exists():
        return None
    try:
        contestants = tuple(_contestant(entry, ideas) for entry in record["contestants"])
        topics = tuple(Topic.model_validate(topic) for topic in record["topics"])
        usage = dict(record["answers"])
        entries = [int(entry["ideas"]) for entry in record["contestants"]]
    except (KeyError, TypeError, ValueError):
        return None
    left = len(load_verdicts(folder.path))
    ideas_left = [len(contestant.ideas) for contestant in contestants]
    if left != record.get("verdicts", left) or entries != ideas_left:
        folder.delete_checkpoints()
        return None
    return Lineup(topics, contestants, tuple(record.get("notes", ())), flag_injections(contestants)), usage


def read_record(folder: RunFolder) -> ArenaFields:
    """``run.json`` of an arena's folder; empty if there is none."""
    return cast("ArenaFields", folder.read() or {})


def _contestant(entry: ContestantFields, ideas: list[Idea]) -> Contestant:
    own = [idea for idea in ideas if idea.agent == entry["agent"]]
    return Contestant(
        name=entry["agent"],
        source=entry["source"],
        runs=tuple(
            {idea.topic: idea for idea in own if run_number(idea) == number}
            for number in range(1, entry.get("runs", 1) + 1)
        ),
        missing=tuple(MissingEntry(gap["topic"], gap["reason"]) for gap in entry["missing"]),
        left_out=entry["left_out"],
    )


def reset(folder: RunFolder, settings: Settings) -> None:
    """Delete the results. Answered calls stay cached; unreadable answers are requested again."""
    keys = [] if settings.replay else keys_to_retry(folder.events())
    folder.clear()
    if keys:
        folder.log({"event": "asked anew", "keys": keys})
    for name in (LEADERBOARD_FILE, VERDICTS_FILE):
        (folder.path / name).unlink(missing_ok=True)


def reset_if_changed(folder: RunFolder, lineup: Lineup) -> None:
    """Delete checkpoints and verdicts if the entries have changed since the last attempt."""
    if read_record(folder).get("entries") != lineup.digest:
        folder.delete_checkpoints()
        (folder.path / VERDICTS_FILE).unlink(missing_ok=True)
