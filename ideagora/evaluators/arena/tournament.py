"""An arena from beginning to end, as a job of the runtime: ideas, bouts, leaderboard.

The folder holds ``runs/`` (the agents'), ``ideas.jsonl`` (the entries as they were made, and as they
were shown), ``verdicts.jsonl``, ``build_leaderboard.json``, and what every run's folder holds.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.config import Group, Settings
from ideagora.errors import BudgetExhausted
from ideagora.evaluators.arena.comparisons import schedule_field
from ideagora.evaluators.arena.contestants import ResolvedContestants
from ideagora.evaluators.arena.folder import (
    load_finished,
    load_verdicts,
    reset,
    reset_if_changed,
    shown_parts,
    write_entries,
    write_leaderboard,
)
from ideagora.evaluators.arena.generation import AgentRun, generate_ideas, literature_notes
from ideagora.evaluators.arena.growth import FIELD as GROWTH
from ideagora.evaluators.arena.growth import find_smaller_arena, growth_record
from ideagora.evaluators.arena.judging import ALL_CRITERIA, JudgePanel
from ideagora.evaluators.arena.leaderboard.leaderboard import (
    Ending,
    JudgingResult,
    build_leaderboard,
    summarize,
)
from ideagora.evaluators.arena.leaderboard.records import Leaderboard
from ideagora.evaluators.arena.lineup import ContestantIdeas, Lineup, MissingEntry, build_lineup
from ideagora.evaluators.arena.options import ArenaOptions
from ideagora.evaluators.arena.progress import LiveStanding
from ideagora.evaluators.arena.protocol import schedule_of
from ideagora.evaluators.arena.verdict_log import VerdictLog
from ideagora.graphs.generate import load_usage_trackers
from ideagora.graphs.run_folder import RunFolder
from ideagora.graphs.runtime import Job, Listener, identity_parts, run_job
from ideagora.graphs.task import Task
from ideagora.models.budget import Budget, create_budget
from ideagora.models.usage import UsageTracker
from ideagora.schema import Topic, stable_id

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.evaluators.arena.generation import OpenLibrary
    from ideagora.evaluators.arena.graph import ArenaContext
    from ideagora.models.embeddings.embedder import Embedder

STYLE: Group = "reader"
"""The role group of the step that tells all ideas in one style."""
STEPS = 100
"""Steps of the graph besides its rounds, at most."""
MOST = 10_000_000
"""Verdicts that no arena has."""


@dataclass(frozen=True)
class Arena:
    """Who meets, on what, judged how."""

    named: ResolvedContestants
    topics: tuple[Topic, ...]
    options: ArenaOptions
    settings: Settings

    @property
    def identity(self) -> str:
        """The same for the same command: it finds its folder again, whatever figures are asked for."""
        identity_parts, *settings = self.frame
        return stable_id("arena", identity_parts, *self.members, *settings)

    @property
    def members(self) -> tuple[str, ...]:
        """Topics, and contestants with what they compete with: more of them make the same arena larger."""
        agents = [
            f"{one.name} {Task(topic, one.agent, one.agent.options, self.settings).identity}"
            for one in self.named.agents
            for topic in self.topics
        ]
        ideas = [told for one in self.named.made for told in _idea_identities(one)]
        return (*(topic.model_dump_json() for topic in self.topics), *sorted(agents), *sorted(ideas))

    @property
    def frame(self) -> tuple[str, ...]:
        """All else that the verdicts depend on: options and settings."""
        return (self.options.known_by(), *identity_parts(self.settings, self.models))

    @property
    def title(self) -> str:
        """For people: what the arena is about."""
        texts = [topic.text for topic in self.topics]
        return texts[0] if len(texts) == 1 else f"{len(texts)} topics: {'; '.join(texts)}"

    @property
    def models(self) -> tuple[str, ...]:
        """Models that are asked once there are ideas: the judges, and the one for the common style."""
        style = (self.settings.model_of(STYLE),) if self.options.style else ()
        return tuple(dict.fromkeys([*self.options.judges, *style]))


def _idea_identities(made: ContestantIdeas) -> Iterator[str]:
    """Each idea by its maker, its place among the maker's ideas on the topic, and its text."""
    places: Counter[str] = Counter()
    for idea in made.ideas:
        yield f"{made.name} {places[idea.topic]} {stable_id(idea.model_dump_json())}"
        places[idea.topic] += 1


@dataclass(frozen=True)
class RunResources:
    """What an arena is held with."""

    library: OpenLibrary
    embedder: Callable[[], Embedder]
    listener: Listener
    chats: Mapping[str, BaseChatModel] | None = None
    fresh: bool = False


async def run_tournament(
    arena: Arena, path: Path, starts: Sequence[AgentRun], means: RunResources
) -> Leaderboard:
    """The leaderboard; everything is in the folder when this returns, and what was gained when it raises.

    Where something was down, its status is ``incomplete``, and the same command goes on.

    Raises:
        BudgetExhausted: the leaderboard so far is in the folder; the same command goes on.
        IdeagoraError: it cannot go on; the same command tries again.
    """
    smaller = find_smaller_arena(path, arena)
    with RunFolder(path, arena.identity, replaces=smaller) as folder:
        if means.fresh:
            reset(folder, arena.settings)
        elif smaller is not None:
            folder.delete_checkpoints()
        elif (held := load_finished(folder)) is not None:
            lineup, usage = held
            verdicts = load_verdicts(folder.path)
            result = JudgingResult(verdicts, _expected_verdicts(arena, lineup), usage)
            return _write_leaderboard(arena, folder.path, lineup, result)
        budget = create_budget(
            arena.settings, load_usage_trackers([path, *(start.folder for start in starts)])
        )
        made, down = await generate_ideas(starts, means.library, means.listener, means.chats, budget)
        lineup = build_lineup([*made, *arena.named.made], arena.topics)
        notes = (*arena.named.notes, *lineup.notes, *literature_notes(starts))
        lineup = replace(lineup, notes=notes)
        reset_if_changed(folder, lineup)
        return await _judge(arena, folder, lineup, means, budget, down)


async def _judge(
    arena: Arena,
    folder: RunFolder,
    lineup: Lineup,
    means: RunResources,
    budget: Budget,
    down: tuple[str, ...],
) -> Leaderboard:
    """The bouts, in an open folder; ``down`` is what kept entries away."""
    from ideagora.evaluators.arena.graph import build_graph

    expected = _expected_verdicts(arena, lineup)
    means.listener(
        {"event": "arena", "stage": "bouts", "total": expected, "judges": list(arena.options.judges)}
    )
    boards: list[Leaderboard] = []
    with VerdictLog(folder.path, LiveStanding(lineup, means.listener).heard) as log:
        if log.was_cut:
            folder.delete_checkpoints()
        context = _create_context(arena, lineup, log)

        def finish(state: Mapping[str, Any], tracker: UsageTracker, down: tuple[str, ...]) -> dict[str, Any]:
            final = without_unstyled(lineup, state.get("unstyled", []))
            write_entries(folder, final, {one: shown_parts(idea) for one, idea in context.told.items()})
            usage = {name: used.usage.model_dump() for name, used in sorted(tracker.answers_by_label.items())}
            verdicts = load_verdicts(folder.path)
            status: Ending = "incomplete" if down else "complete"
            result = JudgingResult(verdicts, _expected_verdicts(arena, final), usage, status, down)
            board = _write_leaderboard(arena, folder.path, final, result)
            boards.append(board)
            return {
                "contestants": [one.as_json() for one in board.contestants],
                "answers": usage,
                "verdicts": len(verdicts),
                "offline": _is_offline(board),
            }

        job = Job(
            name="arena",
            identity=arena.identity,
            settings=arena.settings,
            record=_record(arena, lineup),
            build=build_graph,
            start={"queue": [], "batch": []},
            finish=finish,
            options=context,
            down=down,
            first_text=lineup.texts[0] if "offline" in arena.models and lineup.texts else "",
            recursion_limit=STEPS + 4 * expected,
            models=arena.models,
        )
        write_entries(folder, lineup, {})
        try:
            await run_job(job, folder, None, means.embedder, means.listener, means.chats, budget)
        except BudgetExhausted:
            result = JudgingResult(log.verdicts, _expected_verdicts(arena, lineup), status="budget")
            _write_leaderboard(arena, folder.path, lineup, result)
            raise
    return boards[-1]


def _create_context(arena: Arena, lineup: Lineup, log: VerdictLog) -> ArenaContext:
    from ideagora.evaluators.arena.graph import ArenaContext

    options = arena.options
    return ArenaContext(
        panel=JudgePanel(
            lineup,
            options.judges,
            "paper" if options.is_paper else "default",
            {kind: options.criteria_of(kind) for kind in ALL_CRITERIA},
        ),
        schedules={kind: schedule_of(options, arena.settings.seed) for kind in options.kinds},
        log=log,
        most=options.max_comparisons,
        style=options.style,
        turns=asyncio.Semaphore(arena.settings.concurrency),
    )


def _is_offline(board: Leaderboard) -> bool:
    """Whether the offline model made an idea or a verdict; that it tidied the style does not count."""
    return "offline" in board.judges or any("offline" in one.models for one in board.contestants)


def _write_leaderboard(arena: Arena, path: Path, lineup: Lineup, result: JudgingResult) -> Leaderboard:
    board = build_leaderboard(lineup, result, arena.options, arena.settings)
    write_leaderboard(path, board)
    return board


def _expected_verdicts(arena: Arena, lineup: Lineup) -> int:
    return expected_verdicts(lineup, arena.options, arena.settings.seed)


def expected_verdicts(lineup: Lineup, options: ArenaOptions, seed: int) -> int:
    """Verdicts that the schedule asks for at most, on all that is judged."""
    schedule, total = schedule_of(options, seed), 0
    for kind in options.kinds:
        entered = lineup.entered(kind)
        wanted = schedule.total(schedule_field(lineup, entered, len(options.judges)))
        total += min(one for one in (wanted, options.max_comparisons, MOST) if one is not None)
    return total


def without_unstyled(lineup: Lineup, unstyled: Iterable[Sequence[Any]]) -> Lineup:
    """The lineup less the entries that could not be told in the common style."""
    people = list(lineup.contestants)
    for topic, one, reason in unstyled:
        text, person = lineup.topics[topic].text, people[one]
        ideas = {name: idea for name, idea in person.ideas.items() if name != text}
        people[one] = replace(person, ideas=ideas, missing=(*person.missing, MissingEntry(text, str(reason))))
    return replace(lineup, contestants=tuple(people))


def _record(arena: Arena, lineup: Lineup) -> dict[str, Any]:
    """What ``run.json`` says of an arena."""
    return {
        "topic": {"text": arena.title},
        "agent": "arena",
        "options": arena.options.model_dump(mode="json"),
        "topics": [topic.model_dump(mode="json") for topic in lineup.topics],
        "contestants": [summarize(one).as_json() for one in lineup.contestants],
        "entries": lineup.digest,
        GROWTH: growth_record(arena),
        "notes": list(lineup.notes),
    }
