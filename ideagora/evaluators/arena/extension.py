"""Checks whether the arena in a folder can be extended by contestants or topics.

Answers are cached by the texts shown to the judge, so an extended arena only pays for its new pairs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ideagora.errors import RunError
from ideagora.evaluators.arena.folder import ArenaFields, Growth
from ideagora.schema import stable_id

if TYPE_CHECKING:
    from ideagora.evaluators.arena.tournament import Arena


def growth_record(arena: Arena) -> Growth:
    """The hashes of an arena, which an extension is checked against."""
    return {"frame": stable_id(*arena.frame), "members": [stable_id(one) for one in arena.members]}


def find_smaller_arena(path: Path, arena: Arena) -> str | None:
    """Identity of the recorded arena that ``arena`` extends, or ``None`` if there is no other one.

    Raises:
        RunError: the folder contains an arena that differs in other ways.
    """
    record = _record(path)
    if record.get("agent") != "arena" or record.get("id") == arena.identity:
        return None
    why = _difference(record, arena)
    if why is not None:
        raise RunError(
            f"{path} contains a different arena: {why}. Choose another --out folder; answers that both need "
            "are cached and not paid for again."
        )
    return str(record.get("id"))


def _record(path: Path) -> ArenaFields:
    try:
        record = json.loads((path / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}  # opening the folder raises the error
    return cast("ArenaFields", record) if isinstance(record, dict) else {}


def _difference(record: ArenaFields, arena: Arena) -> str | None:
    """Why ``arena`` does not extend the recorded one, or ``None`` if it does."""
    names, topics = _texts(record.get("contestants"), "agent"), _texts(record.get("topics"), "text")
    if gone := sorted(names - set(arena.contestants.names)):
        return f"{', '.join(gone)} competed in it and {'is' if len(gone) == 1 else 'are'} missing here"
    if gone := sorted(topics - {topic.text for topic in arena.topics}):
        return f"its topic “{gone[0][:60]}” is missing here"
    now, then = growth_record(arena), record.get("grows")
    if not isinstance(then, dict) or then.get("frame") != now["frame"]:
        return "its judges, options or settings differ"
    if not set(then.get("members") or [""]) <= set(now["members"]):
        return "its ideas, agents or topics of the same names differ"
    return None


def _texts(rows: Iterable[object] | None, field: str) -> set[str]:
    return {str(row[field]) for row in rows or () if isinstance(row, dict) and field in row}
