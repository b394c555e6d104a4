"""Topics, and what users add to them."""

from __future__ import annotations

from pydantic import ConfigDict, Field, field_validator

from ideagora.schema.base import Record, checked_date
from ideagora.schema.literature import Paper

OWN_SOURCE, AVOIDED_SOURCE = "own", "avoided"
"""Sources of the records in a ``Steering``."""


class Steering(Record):
    """What a user adds to a topic."""

    focus: str | None = None
    """A wish for the ideas, in the user's words."""
    own: tuple[Paper, ...] = ()
    """Ideas and notes of the user, which are read as further papers (source ``own``)."""
    avoided: tuple[Paper, ...] = ()
    """Ideas that must not be proposed again, as records with the source ``avoided``."""


class Topic(Record):
    """What the ideas should be about."""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    text: str = Field(min_length=1)
    before: str | None = None
    """Cut-off date: papers dated on or after it are hidden (ISO, may be partial)."""
    inspirations: tuple[str, ...] = ()
    """Ids of papers that the ideas should start from (used by benchmarks)."""
    excluded: tuple[str, ...] = Field(default=(), alias="banned")
    """Titles or ids of papers that are hidden from the agent, such as the target paper of a benchmark.

    Called ``banned`` in files; both names are accepted.
    """
    steering: Steering | None = Field(default=None, exclude_if=lambda value: value is None)
    """Left out of files, and so of the run's identity, if there is none."""

    @property
    def focus(self) -> str | None:
        """What the user prefers, in the user's words."""
        return self.steering.focus if self.steering else None

    @property
    def own(self) -> tuple[Paper, ...]:
        """The user's own ideas and notes."""
        return self.steering.own if self.steering else ()

    @property
    def avoided(self) -> tuple[Paper, ...]:
        """Ideas that must not be proposed again."""
        return self.steering.avoided if self.steering else ()

    @field_validator("before")
    @classmethod
    def _iso(cls, value: str | None) -> str | None:
        return checked_date(value)
