"""Records as JSON values, as a checkpoint holds them.

A checkpoint must load without our classes, so a graph's state holds plain values. ``Serialized[Paper]`` says
which record they are: mypy then rejects a state that is read as another record than it was written.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel

R = TypeVar("R", bound=BaseModel)


class Serialized(dict[str, Any], Generic[R]):
    """The fields of a record as JSON values. For annotations only: at run time it is a plain ``dict``."""


def serialize(record: R) -> Serialized[R]:
    """Return the fields of a record as JSON values."""
    return cast("Serialized[R]", record.model_dump(mode="json"))


def deserialize(kind: type[R], values: Serialized[R]) -> R:
    """Return the record that was serialized.

    Raises:
        ValidationError: the values are not those of such a record.
    """
    return kind.model_validate(values)
