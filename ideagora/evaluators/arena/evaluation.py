"""The arena as an evaluation: restyle all ideas, then compare them until the schedule ends.

A question is a ``Comparison``; later rounds depend on its outcome (``comparisons.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ideagora.agents.style import RESTYLE, with_plain_style
from ideagora.evaluators.arena.comparisons import (
    KINDS,
    Comparison,
    from_row,
    majority_outcome,
    plan_comparisons,
    schedule_entrants,
    to_row,
    verdict_columns,
)
from ideagora.evaluators.arena.judging import JudgePanel, ask_judge, count_words, verdict_id
from ideagora.evaluators.judging.evaluation import Evaluation, Key, Progress
from ideagora.models.usage import usage_label
from ideagora.schema import Idea, Verdict

if TYPE_CHECKING:
    from ideagora.evaluators.arena.lineup import Kind, Lineup
    from ideagora.graphs.services import Services
    from ideagora.schedules.pairing import Schedule

STYLE = RESTYLE.group
"""The role group of the step that restyles ideas."""


@dataclass(frozen=True)
class ArenaEvaluation(Evaluation):
    """The judges, the schedules, and the ideas as the judges see them."""

    panel: JudgePanel
    schedules: Mapping[Kind, Schedule]
    """The schedule of each kind of entry."""
    max_comparisons: int | None
    """Maximum number of comparisons of each kind."""
    preparation_model: str | None = None
    """The model that restyles ideas before they are judged; ``None``: they are judged as they are."""
    restyled: dict[str, Idea] = field(default_factory=dict)
    """Idea id -> the restyled idea; filled on first use, from the cache after a restart."""

    @property
    def lineup(self) -> Lineup:
        """The contestants and their entries."""
        return self.panel.lineup

    def items(self) -> Sequence[Key]:
        """All entries, as (topic, contestant), if they are restyled."""
        if self.preparation_model is None:
            return []
        return [
            (topic, one)
            for topic in range(len(self.lineup.topics))
            for one in range(len(self.lineup.contestants))
            if self.lineup.idea(topic, one) is not None
        ]

    async def prepare(self, services: Services, item: Key) -> None:
        """Restyle one idea; an idea that cannot be restyled does not compete."""
        await self._shown(services, self._idea(*item))

    def drop_reason(self, why: str) -> str:
        """Why an entry does not compete."""
        return f"it could not be restyled: {why}"

    def next_round(self, progress: Progress) -> Sequence[Key] | None:
        """The next comparisons of each kind of entry."""
        return [
            comparison
            for kind, name in enumerate(KINDS)
            if name in self.schedules
            for comparison in self._next_comparisons(progress, kind)
        ] or None

    def asked(self, progress: Progress) -> Iterator[Key]:
        """The comparisons so far."""
        return map(from_row, progress.rows)

    def judge(self, question: Key) -> str:
        """The judge of a comparison."""
        return self.panel.judges[Comparison(*question).judge]

    def verdict_id(self, question: Key) -> str:
        """Id of the comparison's verdict."""
        return verdict_id(self.panel, Comparison(*question))

    async def ask(self, services: Services, question: Key) -> Verdict:
        """Show both ideas to the judge."""
        comparison = Comparison(*question)
        first, second = [
            await self._shown(services, self._idea(comparison.topic, one))
            for one in (comparison.first, comparison.second)
        ]
        return await ask_judge(services.client, self.panel, comparison, (first, second))

    def row(self, question: Key, verdict: Verdict) -> Sequence[int]:
        """The comparison with its outcome."""
        values = verdict.criteria
        return to_row(Comparison(*question), None if values is None else majority_outcome(values.values()))

    async def complete(self, services: Services, progress: Progress) -> None:
        """Restore the restyled ideas, which the record contains."""
        entered = self._entered("idea", progress)
        for topic, one in self.items():
            if entered[topic][one]:
                await self._shown(services, self._idea(topic, one))

    def _entered(self, kind: Kind, progress: Progress) -> list[list[bool]]:
        """Whether each entry can be judged, shape (topics, contestants)."""
        entered = self.lineup.entered(kind)
        for topic, one, _ in progress.dropped:
            entered[topic][one] = False
        return entered

    def _next_comparisons(self, progress: Progress, kind: int) -> list[Comparison]:
        rows = [row for row in progress.rows if row[0] == kind]
        asked = [from_row(row) for row in rows]
        room = None if self.max_comparisons is None else self.max_comparisons - len(rows)
        if room is not None and room <= 0:
            return []
        entered = self._entered(KINDS[kind], progress)
        entrants = schedule_entrants(self.lineup, entered, len(self.panel.judges))
        columns = verdict_columns(rows, self.lineup, self.panel.judges, self._words[KINDS[kind]])
        pairings = self.schedules[KINDS[kind]].next(
            entrants, columns, [comparison.pairing for comparison in asked]
        )
        return plan_comparisons(pairings[:room], kind, asked)

    @cached_property
    def _words(self) -> dict[Kind, list[list[int]]]:
        """Word counts of the original entries, shape (topics, contestants), 1 where there is no entry.

        Schedules use these because they are the same after a restart; verdicts count the words shown.
        """
        places = range(len(self.lineup.contestants))
        return {
            kind: [
                [self._length(topic, one, kind) for one in places] for topic in range(len(self.lineup.topics))
            ]
            for kind in self.schedules
        }

    def _length(self, topic: int, contestant: int, kind: Kind) -> int:
        idea = self.lineup.idea(topic, contestant)
        competes = self.lineup.competes(topic, contestant, kind)
        return count_words(idea, kind) if idea is not None and competes else 1

    def _idea(self, topic: int, contestant: int) -> Idea:
        idea = self.lineup.idea(topic, contestant)
        assert idea is not None, f"contestant {contestant} has no entry on topic {topic}"
        return idea

    async def _shown(self, services: Services, idea: Idea) -> Idea:
        """The idea as judges see it; its experiment is restyled only if experiments are judged."""
        if self.preparation_model is None:
            return idea
        if idea.id not in self.restyled:
            whole = idea if "experiment" in self.schedules else idea.model_copy(update={"experiment": None})
            with usage_label("style"):
                self.restyled[idea.id] = await with_plain_style(services.client, whole)
        return self.restyled[idea.id]
