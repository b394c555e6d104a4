"""Options of an arena, and the part of them that identifies a run."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ideagora.agents.arena.judges import CRITERIA
from ideagora.evaluators.arena.entries.lineup import Kind
from ideagora.evaluators.arena.judging import ALL_CRITERIA

Protocol = Literal["default", "paper", "both"]
VerdictForm = Literal["signs", "graded", "probabilities"]
ScheduleName = Literal["round-robin", "swiss", "adaptive", "balanced"]

ANALYSIS = ("bootstrap", "bias_aware", "ablation_of", "protocol", "votes")
"""Options that change the figures but not the verdicts."""
MEMBERS = ("runs",)
"""Options that add ideas, so that an arena grows by them as by topics."""
ADDED = ("repeat", "verdict")
"""Options of later versions, which identify a run only where they are used."""


class ArenaOptions(BaseModel):
    """Options of an arena except for the models.

    The aliases are the names in files and in the run's identity; both names are read.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )

    protocol: Protocol = "default"
    """``both``: the default protocol, with the paper's figures beside it."""
    schedule: ScheduleName = "round-robin"
    max_comparisons: int | None = Field(default=None, ge=1, alias="verdicts")
    """Maximum number of comparisons of ideas, and of experiments."""
    verdict: VerdictForm = "signs"
    """``graded``: judges say by how much an idea is better, and the share is rated, not the sign;
    ``probabilities``: the share is the probability of the judge's answer."""
    runs: int = Field(default=1, ge=1, le=100)
    """Runs of each agent on each topic, under different seeds; each idea meets those of the same run."""
    repeat: float | None = Field(default=None, gt=0, le=1)
    """Share of the comparisons that are judged once more in the same order, beyond the maximum."""
    confidence: float | None = Field(default=None, gt=0.5, lt=1, alias="certainty")
    """The adaptive schedule stops at this probability of the order of neighbours (or of the top k)."""
    top_k: int | None = Field(default=None, ge=1)
    judges: tuple[str, ...] = Field(min_length=1)
    criteria: tuple[str, ...] = CRITERIA
    """Recorded criteria of the idea judge."""
    experiments: bool = False
    """Also judge the experiment designs."""
    style: bool = True
    """Rewrite all ideas in one style before they are judged."""
    bias_aware: bool = False
    bootstrap: int | None = Field(default=None, ge=100, le=100_000)
    """Number of resamples of the topics for intervals; ``None``: closed form, from the topics' influence."""
    votes: tuple[str, ...] = ()
    """Files of people's votes, which are joined with the judges' verdicts."""
    ablation_of: str | None = None
    """The full agent, of which the others are ablations."""

    @model_validator(mode="after")
    def _validate(self) -> ArenaOptions:
        unknown = [name for name in self.criteria if name not in CRITERIA]
        if unknown or not self.criteria:
            raise ValueError(f"criteria are among {', '.join(CRITERIA)}, not {', '.join(unknown) or 'none'}")
        if self.is_paper and self.schedule != "round-robin":
            raise ValueError("the paper's protocol is a round robin; omit --schedule")
        if self.has_shares and self.protocol != "default":
            raise ValueError(
                f"the paper's protocol knows no degrees or probabilities; omit --verdict {self.verdict}, or "
                "use --protocol default"
            )
        if self.schedule != "adaptive" and (self.confidence is not None or self.top_k is not None):
            raise ValueError("--confidence and --top-k need the adaptive schedule: add --schedule adaptive")
        if self.runs > 1 and self.schedule == "adaptive":
            raise ValueError(
                "the adaptive schedule supports only one idea per agent and topic; with --runs, choose "
                "another --schedule"
            )
        if len(set(self.judges)) < len(self.judges):
            raise ValueError(f"a judge is given twice: {', '.join(self.judges)}")
        return self

    @property
    def is_paper(self) -> bool:
        """Whether the paper's protocol is followed exactly."""
        return self.protocol == "paper"

    @property
    def has_shares(self) -> bool:
        """Whether verdicts are shares of the point."""
        return self.verdict != "signs"

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of entry that are judged."""
        return ("idea", "experiment") if self.experiments else ("idea",)

    def criteria_of(self, kind: Kind) -> tuple[str, ...]:
        """The recorded criteria, in the judges' order."""
        return tuple(name for name in ALL_CRITERIA[kind] if kind != "idea" or name in self.criteria)

    def known_by(self) -> str:
        """The options that the verdicts depend on, as part of the run's identity."""
        unset = {name for name in ADDED if getattr(self, name) == type(self).model_fields[name].default}
        options: dict[str, Any] = self.model_dump(mode="json", exclude={*ANALYSIS, *MEMBERS, *unset})
        return f"{'paper' if self.is_paper else 'default'} {sorted(options.items())}"
