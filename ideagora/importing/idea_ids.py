"""Collect ideas under unique ids; an idea with a known id but a different text gets a new id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ideagora.schema import Idea, stable_id

SAME_ID_AS = "same_id_as"
"""Key in ``extra["imported"]``: the original id, if it was taken."""
Outcome = Literal["new", "same", "renamed"]


class CollectedIdeas:
    """Ideas by id, in insertion order."""

    def __init__(self, ideas: Iterable[Idea] = ()) -> None:
        self.by_id: dict[str, Idea] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._last: dict[str, int] = {}
        for idea in ideas:
            self.by_id[idea.id] = idea
            self._names.setdefault((_original_id(idea), content_key(idea)), idea.id)

    def add(self, idea: Idea) -> tuple[Idea, Outcome]:
        """Add an idea; return it with its id here, and whether it is new, the same or renamed.

        If the same text is already stored, the new record replaces the old one.
        """
        base = _original_id(idea)
        known = self._names.get((base, content_key(idea)))
        name = known or self._free(base)
        placed = idea if name == idea.id else _with_id(idea, name, base)
        self.by_id[name] = placed
        self._names[base, content_key(idea)] = name
        return placed, "same" if known else "new" if name == base else "renamed"

    def _free(self, base: str) -> str:
        """Return the id, or the first of ``id-2``, ``id-3`` … that is free."""
        if base not in self.by_id:
            return base
        number = self._last.get(base, 1) + 1
        while f"{base}-{number}" in self.by_id:
            number += 1
        self._last[base] = number
        return f"{base}-{number}"


def content_key(idea: Idea) -> str:
    """Return a key for an idea's topic, agent and text, regardless of its id."""
    plan = idea.experiment.model_dump_json() if idea.experiment else ""
    parts = (idea.title, idea.motivation or "", idea.novelty or "", idea.method, plan)
    return stable_id(idea.topic, idea.agent, *parts)


def _original_id(idea: Idea) -> str:
    return str(idea.extra.get("imported", {}).get(SAME_ID_AS) or idea.id)


def _with_id(idea: Idea, name: str, base: str) -> Idea:
    imported = {**idea.extra.get("imported", {}), SAME_ID_AS: base}
    return idea.model_copy(update={"id": name, "extra": {**idea.extra, "imported": imported}})
