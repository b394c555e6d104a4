"""Verdicts of judges."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from ideagora.schema.base import Record
from ideagora.schema.usage import Usage

GRADED, PROBABILITIES = "graded", "probabilities"
"""``Verdict.variant`` of a comparison with degrees."""


class Verdict(Record):
    """One answer of one judge: scored with criteria, or unscored with a reason."""

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    id: str
    evaluator: str
    protocol: str
    topic: str
    subject: tuple[str, ...]
    criteria: dict[str, float] | None
    status: Literal["scored", "unscored"]
    reason: str | None = None
    judge: str
    order: int = 0
    """0 for the drawn order, 1 for the swapped order."""
    usage: Usage = Usage()
    kind: str = "idea"
    """What was judged: ``idea`` or ``experiment`` in the arena, the measure in a benchmark."""
    sample: str | None = None
    """The id of a benchmark's sample."""
    variant: str = ""
    """Distinguishes verdicts that are otherwise on the same question."""
    epoch: int = 1
    """The repetition of a benchmark's sample, or of an arena's comparison, from 1."""
    details: dict[str, Any] = Field(default_factory=dict)
    """What the judge saw or found besides the subjects, such as the options of a multiple choice."""
    agents: tuple[str, ...] = ()
    """The agents of the subjects, in the order shown; hidden from the judge."""
    words: tuple[int, ...] = ()
    """Number of words of each subject as shown."""
    rationale: str | None = Field(default=None, alias="told")
    """The judge's reasons in its own words. Called ``told`` in files; both names are accepted."""
    flags: tuple[str, ...] = ()
    """What is suspicious about a subject, e.g. text that addresses the judge."""

    @property
    def is_graded(self) -> bool:
        """Whether the criteria say by how much an idea is better: 1, 0.75, 0.5, 0.25 or 0."""
        return self.evaluator == "arena" and self.variant == GRADED

    @property
    def has_shares(self) -> bool:
        """Whether the criteria are shares of the point, from grades or probabilities, and not its winner."""
        return self.is_graded or (self.evaluator == "arena" and self.variant == PROBABILITIES)

    @property
    def is_repeat(self) -> bool:
        """Whether an arena's judge answered the same question before; such a verdict enters no rating."""
        return self.evaluator == "arena" and self.epoch > 1
