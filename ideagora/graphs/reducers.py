"""Reducers: how LangGraph combines a state's value with a step's update.

They replace ``operator.add`` and ``operator.or_``: LangGraph reads a reducer's signature whenever it builds a
graph, and that of a builtin takes milliseconds, since Python parses it from text.
"""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K")


def concatenate(values: list[T], update: list[T]) -> list[T]:
    """The values, followed by those of the update."""
    return values + update


def merge(values: dict[K, T], update: dict[K, T]) -> dict[K, T]:
    """The values by key, replaced or complemented by those of the update."""
    return values | update
