"""Records of ``results.json``, and how they are written and read.

Reading is lenient: fields that an older version did not write have defaults, unknown fields are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from ideagora.benchmarks.benchmark import WORDING, Measure, Wording
from ideagora.errors import RunError
from ideagora.graphs.files import folder_error, write_atomically
from ideagora.schema import Usage

RESULTS_FILE = "results.json"
ALPHA = 0.05
"""Level of all tests."""

Status = Literal["complete", "nothing_scored", "budget", "incomplete"]
"""``budget`` and ``incomplete``: more questions were planned when the budget was spent, or a provider was
down."""


@dataclass(frozen=True, kw_only=True)
class AgentFigure:
    """The mean of one agent on one measure.

    Without a mean or an interval, ``reason`` says why. There are no ranks without a mean and in a smoke test.
    """

    agent: str
    measure: str
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    """Scored samples; the mean is over these."""
    unscored: int = 0
    """Samples with an idea but without a score."""
    without_idea: int = 0
    """Samples on which the agent has no idea."""
    rank: int | None = None
    """By the mean; 1 is the best."""
    rank_low: int | None = None
    """1 + the number of agents that are significantly better."""
    rank_high: int | None = None
    """The number of ranked agents - the number of those that are significantly worse."""
    best: bool = False
    """Whether the agent is significantly better than every other one."""
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two agents on one measure, on the samples that both have."""

    measure: str
    first: str
    second: str
    n: int
    """Common scored samples."""
    difference: float | None = None
    """Mean of first - second."""
    low: float | None = None
    high: float | None = None
    p: float | None = None
    """Two-sided, uncorrected."""
    p_holm: float | None = None
    """Corrected for all pairs of the measure."""
    test: str | None = None
    """``sign-flip`` (exact) or ``t``; if the figure is no mean, ``exchange`` (exact) or ``bootstrap-t``."""
    deviation: float | None = None
    """Standard deviation of the differences over samples."""
    detectable: float | None = None
    """True difference that this number of samples shows at 5 % with a power of 80 %."""
    reason: str | None = None

    @property
    def significant(self) -> bool:
        """Whether the two differ at 5 % after Holm's correction."""
        return self.p_holm is not None and self.p_holm < ALPHA


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """Differences that the comparisons of a measure can show."""

    measure: str
    pairs: int
    n: int | None = None
    """Median number of common samples."""
    deviation: float | None = None
    """Standard deviation of the differences over samples, root mean square over pairs."""
    detectable: float | None = None
    """True difference that is significant with a power of 80 % if it is the only comparison (5 %)."""
    detectable_corrected: float | None = None
    """The same for the smallest of ``pairs`` p-values in Holm's correction (5 % / pairs)."""


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Number of verdicts on one kind of question, with the reasons of those that are unscored."""

    kind: str
    """The measure, or the group of measures that share the question."""
    scored: int = 0
    unscored: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    unasked: int = 0
    """Planned questions that were not asked, since the budget was spent or a provider was down."""
    incomplete: tuple[str, ...] = ()
    """The samples of these questions: no verdict of this kind on them is in a figure."""


@dataclass(frozen=True, kw_only=True)
class IdeaLength:
    """The length of an idea and its mean rating, over judges and criteria."""

    agent: str
    words: int
    rating: float


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """Whether judges rate longer ideas higher: Spearman's correlation, with an interval over samples."""

    n: int
    """Number of rated ideas."""
    correlation: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    """Why there is no correlation or interval."""
    ideas: tuple[IdeaLength, ...] = ()
    """All of them, or evenly chosen ones if there are many."""


@dataclass(frozen=True, kw_only=True)
class AgentSummary:
    """What one agent was judged on."""

    agent: str
    source: str = ""
    samples: int | None = None
    """Samples on which it has an idea; ``None`` if not recorded."""
    ideas: int | None = None
    missing: Mapping[str, int] = field(default_factory=dict)
    """Reasons why it has no idea -> number of samples."""
    usage: Usage | None = None


@dataclass(frozen=True, kw_only=True)
class BenchmarkResult:
    """The result of a benchmark under one protocol."""

    benchmark: str
    """Its name on the command line."""
    title: str
    source: str = ""
    """The paper: title and arXiv id."""
    protocol: str = "default"
    status: Status = "complete"
    smoke_test: bool = False
    """Whether the offline model alone judged, so that nothing is ranked."""
    n_samples: int = 0
    judges: tuple[str, ...] = ()
    agents: tuple[AgentSummary, ...] = ()
    """In the order of the table's rows."""
    measures: tuple[Measure, ...] = ()
    """In the order of the table's columns."""
    figures: tuple[AgentFigure, ...] = ()
    """By measure, then agent; all combinations."""
    categories: Mapping[str, tuple[AgentFigure, ...]] = field(default_factory=dict)
    """The same on the samples of each category, without ranks; empty if the samples have none."""
    lengths: Lengths | None = None
    """``None`` if the verdicts do not state the ideas' lengths."""
    comparisons: tuple[Comparison, ...] = ()
    """By measure, then pair."""
    sensitivity: tuple[Sensitivity, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    usage: Usage | None = None
    """Of the judges; ``None`` if not recorded."""
    notes: tuple[str, ...] = ()
    wording: Wording = WORDING

    def figure(self, agent: str, measure: str) -> AgentFigure:
        """One cell of the table; without a mean if it is not in ``figures``."""
        known = next((one for one in self.figures if (one.agent, one.measure) == (agent, measure)), None)
        return known or AgentFigure(agent=agent, measure=measure, reason="It was not computed.")

    def as_json(self) -> dict[str, Any]:
        """The content of ``results.json``."""
        content: dict[str, Any] = _adapter().dump_python(self, mode="json")
        return content


def result_from_json(content: Any) -> BenchmarkResult:
    """The record of a file's content.

    Raises:
        ValueError: it is not a benchmark's result.
    """
    return _adapter().validate_python(content)


def write_results(folder: Path, results: Sequence[BenchmarkResult]) -> Path:
    """Replace ``results.json``, a list of one result per protocol, atomically.

    Raises:
        FolderUnusable: it cannot be written.
    """
    text = json.dumps([result.as_json() for result in results], indent=1, ensure_ascii=False) + "\n"
    try:
        write_atomically(folder / RESULTS_FILE, text)
    except OSError as error:
        raise folder_error(folder, error) from None
    return folder / RESULTS_FILE


def read_results(folder: Path, clean: Callable[[Any], Any] | None = None) -> tuple[BenchmarkResult, ...]:
    """The results in a benchmark's folder; ``clean`` is applied to the parsed JSON first.

    Raises:
        RunError: the folder has no readable results.
    """
    try:
        content = json.loads((folder / RESULTS_FILE).read_text(encoding="utf-8"))
        return _list_adapter().validate_python(clean(content) if clean is not None else content)
    except (OSError, ValueError, RecursionError):
        raise RunError(
            f"{folder} has no readable {RESULTS_FILE}. Run the benchmark again with the same command."
        ) from None


@cache
def _adapter() -> TypeAdapter[BenchmarkResult]:
    return TypeAdapter(BenchmarkResult)


@cache
def _list_adapter() -> TypeAdapter[tuple[BenchmarkResult, ...]]:
    return TypeAdapter(tuple[BenchmarkResult, ...])
