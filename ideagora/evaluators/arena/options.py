"""How an arena is held, and by which of it the run is known."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ideagora.agents.judges import CRITERIA
from ideagora.evaluators.arena.judging import ALL_CRITERIA
from ideagora.evaluators.arena.lineup import Kind

Protocol = Literal["default", "paper", "both"]
ScheduleName = Literal["round-robin", "swiss", "adaptive", "balanced"]

ANALYSIS = ("bootstrap", "bias_aware", "ablation_of", "protocol")
"""Options that change the figures and no verdict."""


class ArenaOptions(BaseModel):
    """Everything about an arena that is not about models.

    The aliases are the names in files and in the run's identity; both names are read.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )

    protocol: Protocol = "default"
    """``both`` is the default protocol with the paper's figures beside it."""
    schedule: ScheduleName = "round-robin"
    max_comparisons: int | None = Field(default=None, ge=1, alias="verdicts")
    """Maximum number of comparisons of ideas, and of experiments."""
    confidence: float | None = Field(default=None, gt=0.5, lt=1, alias="certainty")
    """The adaptive schedule stops at this probability of the order of neighbours (or of the top k)."""
    top_k: int | None = Field(default=None, ge=1)
    judges: tuple[str, ...] = Field(min_length=1)
    criteria: tuple[str, ...] = CRITERIA
    """Those of the idea judge that are recorded."""
    experiments: bool = False
    """Judge the experiment designs, too."""
    style: bool = True
    """Tell all ideas in one style before they are judged."""
    bias_aware: bool = False
    bootstrap: int | None = Field(default=None, ge=100, le=100_000)
    """Intervals from so many resamples of the topics; ``None``: in closed form, from topics' influence."""
    ablation_of: str | None = None
    """The full agent that the others are ablations of."""

    @model_validator(mode="after")
    def _fits(self) -> ArenaOptions:
        unknown = [name for name in self.criteria if name not in CRITERIA]
        if unknown or not self.criteria:
            raise ValueError(
                f"criteria are some of {', '.join(CRITERIA)}, not {', '.join(unknown) or 'none'}"
            )
        if self.is_paper and self.schedule != "round-robin":
            raise ValueError("the paper's protocol is a round robin; leave --schedule out")
        if self.schedule != "adaptive" and (self.confidence is not None or self.top_k is not None):
            raise ValueError(
                "--confidence and --top-k apply to the adaptive schedule: add --schedule adaptive"
            )
        if len(set(self.judges)) < len(self.judges):
            raise ValueError("the same judge is named twice")
        return self

    @property
    def is_paper(self) -> bool:
        """Whether the paper's protocol is followed to the letter."""
        return self.protocol == "paper"

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What is judged."""
        return ("idea", "experiment") if self.experiments else ("idea",)

    def criteria_of(self, kind: Kind) -> tuple[str, ...]:
        """The criteria that are recorded, in the judges' order."""
        return tuple(name for name in ALL_CRITERIA[kind] if kind != "idea" or name in self.criteria)

    def known_by(self) -> str:
        """What the verdicts depend on: part of what the run is known by."""
        told: dict[str, Any] = self.model_dump(mode="json", exclude=set(ANALYSIS))
        return f"{'paper' if self.is_paper else 'default'} {sorted(told.items())}"
