"""The records of a benchmark's run: what is run, and what it uses of the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.benchmarks.benchmark import Benchmark, Plan
from ideagora.config import Settings
from ideagora.evaluators.arena.entries.contestants import ResolvedContestants
from ideagora.evaluators.generation import AgentRun
from ideagora.graphs.runtime.run_record import IDENTITY_FIELDS, identity_parts
from ideagora.schema import Topic, stable_id

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.graphs.generate import OpenLibrary
    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.schema.events import Listener


@dataclass(frozen=True)
class BenchmarkRun:
    """A benchmark, the samples, the contestants and the settings."""

    benchmark: Benchmark[Any]
    data_set: Mapping[str, Any]
    """All samples of the data set, among which questions may look for other papers."""
    samples: Mapping[str, Any]
    """The chosen ones, which the agents get."""
    contestants: ResolvedContestants
    plans: tuple[Plan, ...]
    """One for each protocol; the first one is the main one."""
    ideas: int
    """Maximum number of ideas per agent, sample and epoch that are judged."""
    epochs: int
    settings: Settings
    judged: bool = True
    """Whether the judges are asked; ``False``: the ideas are only generated."""
    notes: tuple[str, ...] = ()
    """Such as rows of the data set that are no samples."""
    data: Path | None = None
    """The data set; ``None``: the shipped one."""
    before: str | None = None
    excluded: tuple[str, ...] = ()
    """Cut-off and exclusions in addition to those of the samples."""
    with_sources: bool = False
    """Whether the agents may read the sources of the settings besides the inspirations."""
    spec: str = ""
    """How the user named the benchmark, if it is from outside."""
    benchmark_options: tuple[str, ...] = ()
    """The benchmark's own options, as ``NAME=VALUE``."""
    generated_by: str = ""
    """The identity of the command that generated the ideas which are judged again."""
    generated: str | None = None
    """Digest of existing ideas that are judged; in the identity in place of the contestants."""

    def topic(self, sample: str) -> Topic:
        """What the agents get for a sample: its topic, with the cut-off and exclusions of the command."""
        topic = self.benchmark.topic(self.samples[sample])
        before = min(filter(None, (topic.before, self.before)), default=None)
        return topic.model_copy(update={"before": before, "excluded": (*topic.excluded, *self.excluded)})

    @property
    def identity(self) -> str:
        """Identifies the folder: the same for the same command."""
        return stable_id(
            "benchmark",
            *self._members,
            *self._plans,
            str(self.judged),
            *identity_parts(self.settings, self.models),
        )

    def judging_identity(self, ideas: str) -> str:
        """Identifies the verdicts on ideas with this digest: the same whichever command generated them."""
        names = [name for name in IDENTITY_FIELDS if name not in ("model", "judge_model")]  # see the plans
        return stable_id(
            "judging", ideas, *self._judged, *self._plans, *identity_parts(self.settings, self.models, names)
        )

    @property
    def judges(self) -> tuple[str, ...]:
        """The models that judge."""
        return tuple(dict.fromkeys(judge for plan in self.plans for judge in plan.judges))

    @property
    def models(self) -> tuple[str, ...]:
        """The models that are called for the judging: the judges, and what prepares the ideas for them."""
        return tuple(dict.fromkeys([*self.judges, *self.benchmark.other_calls(self.settings, 1)]))

    @property
    def _plans(self) -> list[str]:
        return [f"{plan.protocol} {plan.judges} {sorted(plan.only)} {plan.seed}" for plan in self.plans]

    @property
    def _judged(self) -> Iterator[str]:
        """What the questions depend on besides plans and ideas."""
        yield from (self.benchmark.name, str(self.ideas), str(self.epochs), str(self.before))
        yield from sorted(self.benchmark_options)
        yield stable_id(*self.samples)
        yield stable_id(*(f"{name} {sample!r}" for name, sample in self.data_set.items()))

    @property
    def _members(self) -> Iterator[str]:
        yield from (*self._judged, *self.excluded, str(self.with_sources))
        if self.generated is not None:
            yield self.generated
        yield from sorted(
            f"{one.name} {one.agent.name} {one.agent.fingerprint}" for one in self.contestants.agents
        )
        for one in self.contestants.idea_sets:
            yield f"{one.name} {stable_id(*(idea.model_dump_json() for idea in one.ideas))}"


@dataclass(frozen=True)
class PlannedRun:
    """A run of an agent on a sample."""

    run: AgentRun
    sample: str
    epoch: int


@dataclass(frozen=True)
class BenchmarkResources:
    """What the run uses of the command; ``fresh`` judges again."""

    library: OpenLibrary
    embedder: Callable[[], Embedder]
    listener: Listener
    chats: Mapping[str, BaseChatModel] | None = None
    fresh: bool = False
