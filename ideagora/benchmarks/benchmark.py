"""A benchmark: a data set, a task for agents, questions for judges, and scorers.

A benchmark package contains its samples, its roles (with their prompts) and its scorers. Everything else is
shared: ideas are generated as in the arena, and the questions are asked by the same graph, which logs every
verdict. Figures are computed from that log alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from pydantic import Field

from ideagora.errors import UsageError
from ideagora.evaluators.judging.asking import Unscored as Unscored
from ideagora.evaluators.statistics.scores.statistic import Statistic
from ideagora.graphs.agent import Agent, with_ideas
from ideagora.importing.records import Problem
from ideagora.schema import Idea, Record, Topic, Verdict

if TYPE_CHECKING:
    from ideagora.config import Settings
    from ideagora.graphs.services import Services
    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.retrieval.corpus.sample_papers import SamplePapers
    from ideagora.retrieval.library import Library

S = TypeVar("S")

ProtocolName = Literal["default", "paper"]
"""``default`` corrects what is unsound in a paper's method; ``paper`` follows it to the letter."""


class Measure(Record):
    """One figure of a benchmark."""

    name: str
    """Its name in files, e.g. ``imcq_motivation``; ``--only`` accepts it or its group."""
    group: str
    """Measures that share their questions, e.g. ``imcq``."""
    title: str
    """Its name in tables, e.g. ``IMCQ motivation``."""
    unit: str
    """Its range or unit, e.g. ``share correct`` or ``1 to 5``."""
    higher_is_better: bool = True
    decimals: int = 3
    lowest: float | None = None
    highest: float | None = None
    """Bounds of a sample's score, e.g. 0 and 1 for a share, if it has any; intervals respect them."""
    statistic: Statistic = "mean"
    """How an agent's figure follows from its scores on the samples."""
    several_ideas: bool = False
    """Whether it needs several ideas per sample: with one, it repeats another measure and is left out."""
    detail: bool = False
    """Whether it explains another measure: it is in the report, but not on the terminal."""
    is_summary: bool = False
    """Whether it stands for all others, such as their average; drawn by category."""
    has_bars: bool = False
    """Whether its means are drawn as bars from the lower bound, as on a scale of ratings."""
    against: str | None = None
    """A measure against which it is plotted, since agents trade one for the other."""
    mean_of: Mapping[str, Statistic] = Field(default_factory=dict)
    """The measures whose figures it is the mean of, by name, if it has no scores of its own."""


class Wording(Record):
    """What a benchmark's tables call things, each as a singular."""

    sample: str = "sample"
    agent: str = "agent"
    idea: str = "idea"
    has_protocols: bool = True
    """Whether tables state the protocol."""


WORDING = Wording()


@dataclass(frozen=True)
class Judgement:
    """The answer to a question."""

    criteria: Mapping[str, float]
    """What the scorers use, by name."""
    rationale: str | None = None
    """The judge's reasons in its own words."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the judge saw or found besides the ideas, as JSON values: options, ids of papers, a ranking."""


@dataclass(frozen=True)
class Question:
    """What one judge is asked about some ideas for one sample."""

    measure: str
    """The measure, or the group if the answer serves several measures; ``Verdict.kind``."""
    sample: str
    """The sample's id; ``Verdict.sample``."""
    judge: str
    """The judge's model, or the name of a computation that asks no model (``citations``)."""
    subject: tuple[Idea, ...]
    """The ideas in the order shown."""
    answer: Callable[[Services], Awaitable[Judgement]]
    """Asks the judge. May raise ``Unscored``; unreadable and refused answers become unscored by themselves.

    A judge's role must be called with ``model=`` the judge. The library is the whole one: no cut-off.
    """
    variant: str = ""
    """Distinguishes questions that are otherwise equal, such as the rounds of a competition."""
    order: int = 0
    """0 for the drawn order, 1 for the swapped order."""
    calls: int = 1
    """Expected number of model calls."""
    words: tuple[int, ...] = ()
    """Number of words of each idea as its author wrote it; ``Verdict.words``."""
    flags: tuple[str, ...] = ()
    """What is suspicious about the ideas; ``Verdict.flags``."""
    epoch: int = 1
    protocol: ProtocolName = "default"
    """Set by the run."""


PUBLISHED = "published figures"
"""The judge of ideas whose figures are taken from their file, so that no model is asked."""

Scores = Mapping[str, Mapping[str, Mapping[str, float | None]]]
"""Measure -> agent -> sample id -> score; ``None``: unscored. Samples without an idea are left out."""


@dataclass(frozen=True)
class Plan:
    """How a benchmark is run; part of the run's identity."""

    judges: tuple[str, ...]
    """Models. Every question goes to each of them, unless the benchmark draws some for each question; a score
    is the mean over the judges that answered."""
    protocol: ProtocolName = "default"
    only: tuple[str, ...] = ()
    """Groups of measures to compute; empty: all."""
    seed: int = 0
    before: str | None = None
    """The user's cut-off, in addition to those of the samples."""

    def includes(self, group: str) -> bool:
        """Whether a group of measures is computed."""
        return not self.only or group in self.only


@dataclass(frozen=True)
class Samples(Generic[S]):
    """The samples of a data set by id, and its rows that are none, with reasons."""

    samples: Mapping[str, S]
    problems: tuple[Problem, ...] = ()


def without_judges(given: Sequence[str]) -> tuple[str, ...]:
    """The judges of a run on published figures: none.

    Raises:
        UsageError: some are given.
    """
    if given:
        raise UsageError(
            "Give either --judge or -T figures=published, which scores the file's figures and calls no judge."
        )
    return ()


def no_published_figures(agent: Agent) -> UsageError:
    """The error for an agent in a run on published figures, whose ideas nobody would judge."""
    return UsageError(f"{agent.name} has no published figures: -T figures=published is for result files.")


class Benchmark(ABC, Generic[S]):
    """What a benchmark package provides; ``S`` is the type of its samples."""

    name: str
    """Its name on the command line."""
    title: str
    source: str
    """The paper: title and arXiv id."""
    measures: tuple[Measure, ...]
    ideas_per_sample: int = 1
    """Default of ``--ideas``."""
    wording: Wording = WORDING
    """What its tables call things."""
    no_idea: str = "no idea has this sample's id or topic"
    """Why existing ideas are not on a sample."""
    literature: frozenset[str] = frozenset()
    """Groups of measures whose questions use the library."""

    @abstractmethod
    def load(self, data: Path | None) -> Samples[S]:
        """The samples of a data set, by default the shipped one."""

    @abstractmethod
    def topic(self, sample: S) -> Topic:
        """What the agents get: topic, cut-off, inspirations, and the hidden target paper."""

    def category(self, sample: S) -> str | None:
        """The sample's category, if the figures are also wanted by category."""
        return None

    def agent(self, agent: Agent, ideas: int, plan: Plan) -> Agent:
        """The agent as it runs on the samples, with a number of ideas; by default as it is.

        Raises:
            UsageError: the agent does not write as many.
        """
        return with_ideas(agent, ideas)

    @abstractmethod
    def questions(
        self, sample: S, ideas: Mapping[str, Sequence[Idea]], plan: Plan, prepared: Any
    ) -> Iterable[Question]:
        """The questions about one sample; ``ideas`` are those of each agent that has any, best first.

        ``prepared`` is ``None`` where questions are only counted, before anything is prepared.
        """

    def judges(self, given: Sequence[str], default: str) -> tuple[str, ...]:
        """The models that judge: those that the user named, or else the default.

        Raises:
            UsageError: they cannot be used.
        """
        return tuple(given or (default,))

    def other_calls(self, settings: Settings, ideas: int) -> Mapping[str, int]:
        """Expected calls besides those of the agents and judges, by model, for a number of ideas."""
        return {}

    def fitted(self, verdicts: Iterable[Verdict], plan: Plan) -> Benchmark[S]:
        """The benchmark with what scores need of all verdicts, such as how harsh each judge is.

        By default, scores need nothing beyond the verdicts on their sample.
        """
        return self

    def notes(self, verdicts: Iterable[Verdict], plan: Plan) -> Iterable[str]:
        """What readers of the results should know besides the figures, from all verdicts of a protocol."""
        return ()

    @abstractmethod
    def scores(self, verdicts: Iterable[Verdict], plan: Plan) -> Scores:
        """The score of every agent on a sample, from the verdicts alone: those of one epoch and protocol."""

    def measures_of(self, protocol: ProtocolName) -> tuple[Measure, ...]:
        """The measures with their units and bounds in a protocol; by default the same in each."""
        return self.measures

    def configured(self, options: Sequence[str]) -> Benchmark[S]:
        """The benchmark with options of its own, each as ``NAME=VALUE``.

        Raises:
            UsageError: there is no such option or value; by default, there is none.
        """
        raise UsageError(f"-T {options[0]}: {self.name} has no options.")

    async def papers(
        self, sample: S, library: Callable[[], Library], home: Path
    ) -> tuple[SamplePapers | None, Sequence[Problem]]:
        """The inspiration papers with full texts as far as there are any, and what could not be read.

        They are the agents' literature; ``None``, the default, if the agents use the sources of the settings.

        Args:
            sample: one of the samples loaded last.
            library: opens the whole library, without cut-off and exclusions.
            home: folder for caches.
        """
        return None, ()

    def prepare(self, samples: Mapping[str, S], embedder: Callable[[], Embedder], plan: Plan) -> Any:
        """What the questions need of the whole data set, such as similarities; by default the embedder."""
        return embedder
