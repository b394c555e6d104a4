"""A jury on existing ideas: LiveIdeaBench's ratings of single ideas (arXiv 2412.17596), on any criteria.

A sample is a topic; if all ideas are on one topic, it is a position among an agent's ideas. Judges see the
topic and the idea, rewritten in one plain style without its author's marks and its own scores.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.agents.arena.style import RESTYLE, with_plain_style
from ideagora.benchmarks.benchmark import (
    Benchmark,
    Measure,
    Plan,
    Question,
    Samples,
    Scores,
    Unscored,
    Wording,
)
from ideagora.benchmarks.jury.criteria import DEFAULT_CRITERIA, Criterion, parse_criteria
from ideagora.benchmarks.jury.measures import corrected_measure, corrected_scores, rating_measure
from ideagora.benchmarks.jury.panel import JUDGES, SIZE, resolve_panel
from ideagora.benchmarks.jury.questions import Rating, idea_text, rating_questions
from ideagora.benchmarks.jury.ratings import Effects, PanelAudit, Ratings, composite_scores, quality_scores
from ideagora.benchmarks.running.idea_log import SAMPLE
from ideagora.errors import RunError, UsageError
from ideagora.evaluators.arena.entries.lineup import ContestantIdeas, topic_key
from ideagora.evaluators.arena.entries.prompt_injection import injection_flags
from ideagora.evaluators.arena.entries.selection import rejection_reason
from ideagora.models.usage import usage_label
from ideagora.schema import Idea, Record, Topic, Verdict

if TYPE_CHECKING:
    from ideagora.config import Settings
    from ideagora.graphs.services import Services

NO_TOPIC = "no topic stated"
"""Topic of imported ideas that have none; judges do not see it."""
AVERAGE = "average"


@dataclass(frozen=True)
class Options:
    """Options of a jury, as ``NAME=VALUE``: criterion, judges, panel, style, correct, samples."""

    criteria: tuple[Criterion, ...] = DEFAULT_CRITERIA
    judges: int = JUDGES
    """Judges of an idea."""
    panel: str | None = None
    """``listed`` or a file of models, best first."""
    is_styled: bool = True
    """Whether ideas are rewritten in one style before they are judged."""
    by_idea: bool = False
    """Whether samples are the ideas on the only topic, not topics."""
    is_corrected: bool = False
    """Whether figures without the judges' harshness are added."""


class Sample(Record):
    """A topic, or a position among the ideas on the only topic."""

    id: str


class Jury(Benchmark[Sample]):
    """The jury, with its options."""

    name = "jury"
    title = "Jury"
    source = "Ratings by a drawn panel, as in LiveIdeaBench (arXiv 2412.17596)"

    def __init__(self, options: Options | None = None, effects: Effects | None = None) -> None:
        self.options = options or Options()
        self.effects = effects
        self.measures = tuple(_measures(self.options))
        sample = "idea" if self.options.by_idea else "topic"
        self.wording = Wording(sample=sample, agent="author", has_protocols=False)
        self.no_idea = "no further idea" if self.options.by_idea else "no idea on this topic"

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.options.criteria)

    def configured(self, options: Sequence[str]) -> Jury:
        """The jury with its options as ``NAME=VALUE``.

        Raises:
            UsageError: there is no such option or value.
        """
        return Jury(_parse_options(options))

    def judges(self, given: Sequence[str], default: str) -> tuple[str, ...]:
        """The panel (``resolve_panel``).

        Raises:
            UsageError: ``--judge`` and a list are given, or the list cannot be read.
        """
        return resolve_panel(given, self.options.panel, default)

    def load(self, data: Path | None) -> Samples[Sample]:
        """The samples of the ideas in a jury's folder (``ideas.jsonl``).

        Raises:
            RunError: the file cannot be read.
        """
        try:
            rows = (
                [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()] if data else []
            )
            names = dict.fromkeys(str(row["extra"][SAMPLE]) for row in rows)
        except (OSError, ValueError, KeyError, TypeError):
            raise RunError(f"{data} cannot be read. Run ideagora jury again with the same command.") from None
        return samples_of(names)

    def topic(self, sample: Sample) -> Topic:
        """The topic, or the position."""
        return Topic(text=sample.id)

    def category(self, sample: Sample) -> str | None:
        """The topic, unless samples are the ideas on the only one."""
        return None if self.options.by_idea else sample.id

    def questions(
        self, sample: Sample, ideas: Mapping[str, Sequence[Idea]], plan: Plan, prepared: Any
    ) -> Iterator[Question]:
        """Ratings of each idea by its judges."""
        rating = Rating(self.options.criteria, self._text_of, self.options.judges, _topic, _flags)
        for of_agent in ideas.values():
            yield from rating_questions(sample.id, of_agent, plan, rating)

    async def _text_of(self, services: Services, idea: Idea) -> str:
        if (reason := rejection_reason(idea)) is not None:
            raise Unscored(reason)
        if self.options.is_styled:
            with usage_label("style"):
                idea = await with_plain_style(services.client, idea.model_copy(update={"experiment": None}))
        text = idea_text(idea)
        return text if text.startswith(idea.title.rstrip(" ….")) else f"{idea.title}\n\n{text}"

    def other_calls(self, settings: Settings, ideas: int) -> Mapping[str, int]:
        """One call for each idea that is rewritten."""
        return {settings.model_of(RESTYLE.group): ideas} if self.options.is_styled else {}

    def fitted(self, verdicts: Iterable[Verdict], plan: Plan) -> Jury:
        """The jury with the harshness of the judges, if it is to be corrected."""
        if not self.options.is_corrected:
            return self
        return Jury(self.options, Ratings.of(verdicts, self._names).effects())

    def scores(self, verdicts: Iterable[Verdict], plan: Plan) -> Scores:
        """The score of every agent on every sample."""
        log = list(verdicts)
        parts = {name: quality_scores(log, name) for name in self._names}
        average = {AVERAGE: composite_scores(list(parts.values()))}
        return parts | average | corrected_scores(log, self.effects or {})

    def notes(self, verdicts: Iterable[Verdict], plan: Plan) -> Iterator[str]:
        """The panel, its agreement, and ideas that address their judges or could not be rewritten."""
        audit, flagged = PanelAudit(self._names), dict[tuple[str, str], Verdict]()
        not_rewritten = set[str]()
        for one in verdicts:
            audit.add(one)
            if one.reason is not None and f": {RESTYLE.name}: " in one.reason:
                not_rewritten.add(one.subject[0])
            if one.flags:
                flagged[one.agents[0], one.subject[0]] = one
        yield from audit.panel_notes(plan)
        if not_rewritten:
            yield (
                f"Ideas that could not be rewritten in one style, and are unscored: {len(not_rewritten)}. "
                "Use another --reader-model, or --no-style to judge ideas as written."
            )
        if flagged:
            kinds = ", ".join(sorted({flag for one in flagged.values() for flag in one.flags}))
            number = f"{len(flagged)} idea{' has' if len(flagged) == 1 else 's have'}"
            agents = ", ".join(sorted({agent for agent, _ in flagged}))
            yield f"{number} text that may be meant for the judges ({kinds}), by {agents}; all are judged."
        yield from audit.agreement_notes()
        if self.options.is_corrected:
            yield from audit.effect_notes()


def samples_of(names: Iterable[str]) -> Samples[Sample]:
    """Samples with these ids."""
    return Samples({name: Sample(id=name) for name in names})


def count_topics(idea_sets: Sequence[ContestantIdeas]) -> int:
    """Number of different topics."""
    return len({topic_key(idea.topic) for one in idea_sets for idea in one.ideas})


def assign_samples(idea_sets: Sequence[ContestantIdeas], by_idea: bool) -> tuple[ContestantIdeas, ...]:
    """The ideas, each with its sample: its topic, or its position among the ideas of its author."""
    topics: dict[str, str] = {}
    for idea_set in idea_sets:
        for idea in idea_set.ideas:
            topics.setdefault(topic_key(idea.topic), " ".join(idea.topic.split()))

    def labelled(idea: Idea, place: int) -> Idea:
        sample = f"idea {place}" if by_idea else topics[topic_key(idea.topic)]
        return idea.model_copy(update={"extra": {**idea.extra, SAMPLE: sample}})

    return tuple(
        replace(one, ideas=tuple(labelled(idea, place) for place, idea in enumerate(one.ideas, 1)))
        for one in idea_sets
    )


def _measures(options: Options) -> Iterator[Measure]:
    names = [one.name for one in options.criteria]
    for one in options.criteria:
        pair = one.name == "feasibility" and "originality" in names
        yield rating_measure(one.name, one.title, against="originality" if pair else None)
    if len(names) > 1:
        yield rating_measure(AVERAGE, f"average of the {len(names)}", is_summary=True)
    if options.is_corrected:
        yield from (corrected_measure(one.name, one.title) for one in options.criteria)


def _topic(idea: Idea) -> str | None:
    return None if idea.topic == NO_TOPIC else idea.topic


def _flags(idea: Idea) -> tuple[str, ...]:
    return injection_flags(filter(None, (idea.title, idea_text(idea))))


def _parse_options(given: Sequence[str]) -> Options:
    stated = [tuple(part.strip() for part in one.partition("=")[::2]) for one in given]
    criteria = parse_criteria([value for name, value in stated if name == "criterion"])
    values: dict[str, Any] = {name: value for name, value in stated if name != "criterion"}
    allowed = {
        "panel": None,
        "judges": None,
        "style": ("on", "off"),
        "correct": ("judges",),
        "samples": ("topics", "ideas"),
    }
    for name, value in values.items():
        if name not in allowed:
            raise UsageError(f"-T {name}: unknown option; a jury has criterion, {', '.join(allowed)}.")
        if (choices := allowed[name]) and value not in choices:
            raise UsageError(f"-T {name}={value}: use {' or '.join(choices)}.")
    judges = values.get("judges", str(JUDGES))
    if not (judges.isascii() and judges.isdigit() and 1 <= int(judges) <= SIZE):
        raise UsageError(f"-T judges={judges}: each idea has from 1 to {SIZE} judges.")
    return Options(
        criteria=criteria,
        judges=int(judges),
        panel=values.get("panel"),
        is_styled=values.get("style") != "off",
        by_idea=values.get("samples") == "ideas",
        is_corrected="correct" in values,
    )
