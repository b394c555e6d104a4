"""Whether a folder's arena can take in what is asked for: more contestants or topics, all else the same.

Answers are cached by what the judge was shown, so a grown arena asks about its new pairs only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.errors import RunError
from ideagora.schema import stable_id

if TYPE_CHECKING:
    from ideagora.evaluators.arena.tournament import Arena

FIELD = "grows"
"""Of ``run.json``: what a larger arena is compared with."""


def growth_record(arena: Arena) -> dict[str, Any]:
    """Hashes of what must stay the same, and of what may become more."""
    return {"frame": stable_id(*arena.frame), "members": [stable_id(one) for one in arena.members]}


def find_smaller_arena(path: Path, arena: Arena) -> str | None:
    """The identity of the arena in the folder, where this one has all of it and more; ``None``: no arena.

    Raises:
        RunError: an arena is there that differs in more than that; says in what, and where to.
    """
    held = _record(path)
    if held.get("agent") != "arena" or held.get("id") == arena.identity:
        return None
    why = _difference(held, arena)
    if why is not None:
        raise RunError(
            f"{path} holds another arena: {why}. Choose another --out folder; answers that both need are "
            "cached and not paid again."
        )
    return str(held.get("id"))


def _record(path: Path) -> Mapping[str, Any]:
    try:
        held = json.loads((path / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}  # whoever opens the folder says what is the matter with it
    return held if isinstance(held, dict) else {}


def _difference(held: Mapping[str, Any], arena: Arena) -> str | None:
    """In what the held arena is not a part of this one; ``None``: it is."""
    names, topics = (set(_texts(held, *of)) for of in (("contestants", "agent"), ("topics", "text")))
    if gone := sorted(names - set(arena.named.names)):
        return f"{', '.join(gone)} competed in it and {'is' if len(gone) == 1 else 'are'} not named here"
    if gone := sorted(topics - {topic.text for topic in arena.topics}):
        return f"it is about “{gone[0][:60]}”, too, which is not asked for here"
    now, then = growth_record(arena), held.get(FIELD)
    if not isinstance(then, dict) or then.get("frame") != now["frame"]:
        return "its judges, options or settings are others"
    if not set(then.get("members") or [""]) <= set(now["members"]):
        return "ideas, agents or topics of the same names were others"
    return None


def _texts(held: Mapping[str, Any], field: str, name: str) -> list[str]:
    rows = held.get(field)
    return [str(row[name]) for row in rows if isinstance(row, dict) and name in row] if rows else []
