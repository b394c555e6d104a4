"""The arena as an evaluation: restyle all ideas, then compare them until the schedule ends.

A question is a ``Comparison``; later rounds depend on its outcome (``comparisons.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ideagora.agents.arena.style import RESTYLE, with_plain_style
from ideagora.evaluators.arena.comparisons import (
    KINDS,
    Comparison,
    Row,
    from_row,
    is_scored,
    overall_outcome,
    plan_comparisons,
    repeat_count,
    schedule_entrants,
    to_row,
    verdict_columns,
)
from ideagora.evaluators.arena.judging import JudgePanel, ask_judge, count_words, verdict_id
from ideagora.evaluators.judging.evaluation import Evaluation, Key, Progress
from ideagora.models.usage import usage_label
from ideagora.schema import Idea, Verdict, stable_id

if TYPE_CHECKING:
    from ideagora.evaluators.arena.entries.lineup import Kind, Lineup
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
    """Maximum number of comparisons of each kind, without repetitions."""
    seed: int = 0
    """Draws the comparisons that are repeated."""
    repeat: float | None = None
    """Share of the comparisons that are judged once more, after all others."""
    preparation_model: str | None = None
    """The model that restyles ideas before they are judged; ``None``: they are judged as they are."""
    restyled: dict[str, Idea] = field(default_factory=dict)
    """Idea id -> the restyled idea; filled on first use, from the cache after a restart."""

    @property
    def lineup(self) -> Lineup:
        """The contestants and their entries."""
        return self.panel.lineup

    def items(self) -> Sequence[Key]:
        """All entries, as (cell, contestant), if they are restyled."""
        if self.preparation_model is None:
            return []
        first_cell: dict[str, Key] = {}
        for cell in range(self.lineup.cells):
            for one in range(len(self.lineup.contestants)):
                if (idea := self.lineup.idea(cell, one)) is not None:
                    first_cell.setdefault(idea.id, (cell, one))
        return list(first_cell.values())

    async def prepare(self, services: Services, item: Key) -> None:
        """Restyle one idea; an idea that cannot be restyled does not compete."""
        await self._shown(services, self._idea(*item))

    def drop_reason(self, why: str) -> str:
        """Why an entry does not compete."""
        return f"it could not be restyled: {why}"

    def next_round(self, progress: Progress) -> Sequence[Key] | None:
        """The next comparisons of each kind of entry; after the last ones, their repetitions."""
        kinds = [kind for kind, name in enumerate(KINDS) if name in self.schedules]
        for draw in (self._next_comparisons, self._next_repeats):
            if drawn := [comparison for kind in kinds for comparison in draw(progress, kind)]:
                return drawn
        return None

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
            await self._shown(services, self._idea(comparison.cell, one))
            for one in (comparison.first, comparison.second)
        ]
        return await ask_judge(services.client, self.panel, comparison, (first, second))

    def row(self, question: Key, verdict: Verdict) -> Sequence[int]:
        """The comparison with its outcome."""
        values = None if verdict.criteria is None else verdict.criteria.values()
        outcome = None if values is None else overall_outcome(values, verdict.has_shares)
        return to_row(Comparison(*question), outcome)

    async def complete(self, services: Services, progress: Progress) -> None:
        """Restore the restyled ideas, which the record contains."""
        entered = self._entered("idea", progress)
        for cell, one in self.items():
            if entered[cell][one]:
                await self._shown(services, self._idea(cell, one))

    def _entered(self, kind: Kind, progress: Progress) -> list[list[bool]]:
        """Whether each entry can be judged, shape (cells, contestants)."""
        entered = self.lineup.entered(kind)
        dropped = {self._idea(cell, one).id for cell, one, _ in progress.dropped}
        return [
            [is_in and self._idea(cell, one).id not in dropped for one, is_in in enumerate(row)]
            for cell, row in enumerate(entered)
        ]

    def _next_comparisons(self, progress: Progress, kind: int) -> list[Comparison]:
        rows = _without_repeats(progress, kind)
        asked = [from_row(row) for row in rows]
        room = None if self.max_comparisons is None else self.max_comparisons - len(rows)
        if room is not None and room <= 0:
            return []
        entered = self._entered(KINDS[kind], progress)
        entrants = schedule_entrants(self.lineup, entered, len(self.panel.judges))
        columns = verdict_columns(rows, self.lineup, self.panel.judges, self._words[KINDS[kind]])
        done = [
            comparison.pairing._replace(topic=cell)
            for comparison in asked
            for cell in self.lineup.cells_of(comparison.cell, comparison.first, comparison.second)
        ]
        pairings = dict.fromkeys(
            one._replace(topic=self.lineup.cells_of(*one[:3])[0])
            for one in self.schedules[KINDS[kind]].next(entrants, columns, done)
        )
        return plan_comparisons(list(pairings)[:room], kind, asked)

    def _next_repeats(self, progress: Progress, kind: int) -> list[Comparison]:
        """A random sample of the scored comparisons, by seed, whatever the schedule."""
        if self.repeat is None:
            return []
        rows = _without_repeats(progress, kind)
        scored = [from_row(row) for row in rows if is_scored(row)]
        chosen = sorted(scored, key=self._draw)[: repeat_count(len(rows), self.repeat)]
        done = {from_row(row) for row in progress.rows}
        return [again for one in chosen if (again := one._replace(sample=1)) not in done]

    def _draw(self, comparison: Comparison) -> str:
        """A random place of the comparison, which does not change when others are added."""
        return stable_id("repeat", str(self.seed), verdict_id(self.panel, comparison))

    @cached_property
    def _words(self) -> dict[Kind, list[list[int]]]:
        """Word counts of the original entries, shape (cells, contestants), 1 where there is no entry.

        Schedules use these because they are the same after a restart; verdicts count the words shown.
        """
        places = range(len(self.lineup.contestants))
        return {
            kind: [[self._length(cell, one, kind) for one in places] for cell in range(self.lineup.cells)]
            for kind in self.schedules
        }

    def _length(self, cell: int, contestant: int, kind: Kind) -> int:
        idea = self.lineup.idea(cell, contestant)
        competes = self.lineup.competes(cell, contestant, kind)
        return count_words(idea, kind) if idea is not None and competes else 1

    def _idea(self, cell: int, contestant: int) -> Idea:
        idea = self.lineup.idea(cell, contestant)
        assert idea is not None, f"contestant {contestant} has no entry in cell {cell}"
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


def _without_repeats(progress: Progress, kind: int) -> list[Row]:
    return [row for row in progress.rows if from_row(row).kind == kind and not from_row(row).sample]
