"""Runs an arena from start to end: generate ideas, judge comparisons, write the leaderboard.

Besides the files of every run folder, the arena's folder contains ``runs/`` (runs of the agents),
``ideas.jsonl`` (entries, original and as shown), ``verdicts.jsonl`` and ``leaderboard.json``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.config import Settings
from ideagora.errors import BudgetExhausted
from ideagora.evaluators.arena.comparisons import repeat_count, schedule_entrants
from ideagora.evaluators.arena.entries.contestants import ResolvedContestants
from ideagora.evaluators.arena.entries.diversity import diversity_by_agent
from ideagora.evaluators.arena.entries.lineup import ContestantIdeas, Lineup, MissingEntry
from ideagora.evaluators.arena.entries.selection import build_lineup, generated_ideas
from ideagora.evaluators.arena.evaluation import STYLE, ArenaEvaluation
from ideagora.evaluators.arena.extension import find_smaller_arena, growth_record
from ideagora.evaluators.arena.folder import (
    ArenaFields,
    load_finished,
    load_verdicts,
    reset,
    reset_if_changed,
    shown_parts,
    write_entries,
    write_leaderboard,
)
from ideagora.evaluators.arena.judging import ALL_CRITERIA, JudgePanel
from ideagora.evaluators.arena.leaderboard.build import (
    JudgingResult,
    build_leaderboard,
    summarize,
)
from ideagora.evaluators.arena.leaderboard.records import Leaderboard
from ideagora.evaluators.arena.options import ArenaOptions
from ideagora.evaluators.arena.progress import LiveStanding
from ideagora.evaluators.arena.protocol import schedule_of
from ideagora.evaluators.generation import (
    AgentRun,
    agent_runs,
    generate_ideas,
    literature_notes,
    outage_lines,
    with_seed,
)
from ideagora.evaluators.judging.run import JudgingResources, JudgingTask, run_judging
from ideagora.graphs.generate import load_budget
from ideagora.graphs.run_folder import RunFolder
from ideagora.graphs.runtime.run_record import identity_parts
from ideagora.graphs.task import Task
from ideagora.models.budget import Budget
from ideagora.models.usage import UsageTracker
from ideagora.schema import Topic, serialize, stable_id
from ideagora.schema.events import Listener

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.graphs.generate import OpenLibrary
    from ideagora.models.embeddings.embedder import Embedder

MAX_VERDICTS = 10_000_000
"""Upper bound for the estimate of schedules without one."""


@dataclass(frozen=True)
class Arena:
    """Contestants, topics, options and settings of an arena."""

    contestants: ResolvedContestants
    topics: tuple[Topic, ...]
    options: ArenaOptions
    settings: Settings

    @property
    def identity(self) -> str:
        """Identifies the folder: the same for the same command, whatever the analysis options."""
        options, *settings = self.frame
        return stable_id("arena", options, *self.members, *settings)

    @property
    def members(self) -> tuple[str, ...]:
        """Hashes of topics, agents and ideas; with more of them, the same arena is extended."""
        agents = [
            f"{one.name} {Task(topic, one.agent, one.agent.options, settings).identity}"
            for one in self.contestants.agents
            for topic in self.topics
            for settings in (with_seed(self.settings, number) for number in range(self.options.runs))
        ]
        idea_sets = [identity for ideas in self.contestants.idea_sets for identity in _idea_identities(ideas)]
        return (*(topic.model_dump_json() for topic in self.topics), *sorted(agents), *sorted(idea_sets))

    @property
    def frame(self) -> tuple[str, ...]:
        """Options and settings that the verdicts depend on."""
        return (self.options.known_by(), *identity_parts(self.settings, self.models))

    def agent_runs(self, folder: Path) -> list[AgentRun]:
        """The runs of all agents, in folders below that of the arena."""
        agents = [(one.name, one.agent) for one in self.contestants.agents]
        return agent_runs(agents, self.topics, self.settings, folder, self.options.runs)

    @property
    def title(self) -> str:
        """The topics, for display."""
        texts = [topic.text for topic in self.topics]
        return texts[0] if len(texts) == 1 else f"{len(texts)} topics: {'; '.join(texts)}"

    @property
    def models(self) -> tuple[str, ...]:
        """The models that are called after the ideas are generated: judges, and the one that restyles."""
        style = (self.settings.model_of(STYLE),) if self.options.style else ()
        return tuple(dict.fromkeys([*self.options.judges, *style]))


def _idea_identities(idea_set: ContestantIdeas) -> Iterator[str]:
    """Each idea by contestant, position among its ideas on the topic, and text."""
    positions: Counter[str] = Counter()
    for idea in idea_set.ideas:
        yield f"{idea_set.name} {positions[idea.topic]} {stable_id(idea.model_dump_json())}"
        positions[idea.topic] += 1


@dataclass(frozen=True)
class RunResources:
    """Library, embedder and listener of a run; ``fresh`` judges again."""

    library: OpenLibrary
    embedder: Callable[[], Embedder]
    listener: Listener
    chats: Mapping[str, BaseChatModel] | None = None
    fresh: bool = False


async def run_tournament(
    arena: Arena, path: Path, runs: Sequence[AgentRun], resources: RunResources
) -> Leaderboard:
    """Run the arena and return its leaderboard, which is also written to the folder.

    Its status is ``incomplete`` if a provider or source was down; the same command resumes.

    Raises:
        BudgetExhausted: the budget is spent; the folder contains the leaderboard so far.
        IdeagoraError: a fatal error. Progress is saved; the same command resumes.
    """
    smaller = find_smaller_arena(path, arena)
    with RunFolder(path, arena.identity, replaces=smaller) as folder:
        if resources.fresh:
            reset(folder, arena.settings)
        elif smaller is not None:
            folder.delete_checkpoints()
        elif (finished := load_finished(folder)) is not None:
            lineup, usage = finished
            verdicts = load_verdicts(folder.path)
            result = JudgingResult(verdicts, _expected_verdicts(arena, lineup), usage)
            return _write_leaderboard(arena, folder.path, lineup, result, resources.embedder)
        budget = load_budget(arena.settings, [path, *(agent_run.folder for agent_run in runs)])
        results = await generate_ideas(runs, resources.library, resources.listener, resources.chats, budget)
        generated = generated_ideas(runs, results)
        lineup = build_lineup([*generated, *arena.contestants.idea_sets], arena.topics)
        notes = (*arena.contestants.notes, *lineup.notes, *literature_notes(runs))
        lineup = replace(lineup, notes=notes)
        reset_if_changed(folder, lineup)
        return await _judge(arena, folder, lineup, resources, budget, outage_lines(runs, results))


async def _judge(
    arena: Arena,
    folder: RunFolder,
    lineup: Lineup,
    resources: RunResources,
    budget: Budget,
    down: tuple[str, ...],
) -> Leaderboard:
    """Judge the lineup in an open folder; ``down`` lists outages while ideas were generated."""
    expected = _expected_verdicts(arena, lineup)
    resources.listener(
        {"event": "arena", "stage": "comparisons", "total": expected, "judges": list(arena.options.judges)}
    )
    boards: list[Leaderboard] = []
    evaluation = _create_evaluation(arena, lineup)

    def finish(state: Mapping[str, Any], tracker: UsageTracker, down: tuple[str, ...]) -> ArenaFields:
        final = without_unstyled(lineup, state.get("dropped", []))
        write_entries(folder, final, {one: shown_parts(idea) for one, idea in evaluation.restyled.items()})
        usage = {name: serialize(used.usage) for name, used in sorted(tracker.answers_by_label.items())}
        result = JudgingResult(
            load_verdicts(folder.path),
            _expected_verdicts(arena, final),
            usage,
            status="incomplete" if down else "complete",
            outages=down,
        )
        boards.append(_write_leaderboard(arena, folder.path, final, result, resources.embedder))
        return _finished_fields(boards[-1], result)

    write_entries(folder, lineup, {})
    try:
        await run_judging(
            _judging_task(arena, lineup, down),
            evaluation,
            folder,
            finish,
            JudgingResources(resources.embedder, resources.listener, resources.chats, budget),
            LiveStanding(lineup, resources.listener).add,
        )
    except BudgetExhausted:
        result = JudgingResult(load_verdicts(folder.path), expected, status="budget")
        _write_leaderboard(arena, folder.path, lineup, result, resources.embedder)
        raise
    return boards[-1]


def _judging_task(arena: Arena, lineup: Lineup, down: tuple[str, ...]) -> JudgingTask:
    return JudgingTask(
        name="arena",
        identity=arena.identity,
        settings=arena.settings,
        models=arena.models,
        record=_record(arena, lineup),
        questions=_expected_verdicts(arena, lineup),
        first_text=lineup.texts[0] if "offline" in arena.models and lineup.texts else "",
        down=down,
    )


def _create_evaluation(arena: Arena, lineup: Lineup) -> ArenaEvaluation:
    options = arena.options
    panel = JudgePanel(
        lineup,
        options.judges,
        "paper" if options.is_paper else "default",
        {kind: options.criteria_of(kind) for kind in ALL_CRITERIA},
        options.verdict,
    )
    return ArenaEvaluation(
        panel,
        schedules={kind: schedule_of(options, arena.settings.seed) for kind in options.kinds},
        max_comparisons=options.max_comparisons,
        seed=arena.settings.seed,
        repeat=options.repeat,
        preparation_model=arena.settings.model_of(STYLE) if options.style else None,
    )


def _finished_fields(board: Leaderboard, result: JudgingResult) -> ArenaFields:
    """The fields of ``run.json`` that the verdicts give."""
    return {
        "contestants": [one.as_json() for one in board.contestants],
        "answers": dict(result.answers),
        "verdicts": len(result.verdicts),
        "offline": _is_offline(board),
    }


def _is_offline(board: Leaderboard) -> bool:
    """Whether the offline model generated an idea or judged; restyling does not count."""
    return "offline" in board.judges or any("offline" in one.models for one in board.contestants)


def _write_leaderboard(
    arena: Arena, path: Path, lineup: Lineup, result: JudgingResult, embedder: Callable[[], Embedder]
) -> Leaderboard:
    diversity = diversity_by_agent(lineup, embedder)
    board = build_leaderboard(lineup, result, arena.options, arena.settings, diversity)
    write_leaderboard(path, board)
    return board


def _expected_verdicts(arena: Arena, lineup: Lineup) -> int:
    return expected_verdicts(lineup, arena.options, arena.settings.seed)


def expected_verdicts(lineup: Lineup, options: ArenaOptions, seed: int) -> int:
    """Maximum number of verdicts, over all kinds of entries, with repetitions."""
    schedule, total = schedule_of(options, seed), 0
    for kind in options.kinds:
        entrants = schedule_entrants(lineup, lineup.entered(kind), len(options.judges))
        limits = (schedule.total(entrants), options.max_comparisons, MAX_VERDICTS)
        drawn = min(limit for limit in limits if limit is not None)
        total += drawn + repeat_count(drawn, options.repeat or 0.0)
    return total


def without_unstyled(lineup: Lineup, unstyled: Iterable[Sequence[Any]]) -> Lineup:
    """The lineup without the entries that could not be restyled."""
    contestants = list(lineup.contestants)
    for cell, position, reason in unstyled:
        text, contestant = lineup.text(cell), contestants[position]
        runs = list(contestant.runs)
        run = cell % lineup.runs if len(runs) > 1 else 0
        runs[run] = {topic: idea for topic, idea in runs[run].items() if topic != text}
        which = f"run {run + 1}: " if len(runs) > 1 else ""
        missing = (*contestant.missing, MissingEntry(text, f"{which}{reason}"))
        contestants[position] = replace(contestant, runs=tuple(runs), missing=missing)
    return replace(lineup, contestants=tuple(contestants))


def _record(arena: Arena, lineup: Lineup) -> ArenaFields:
    """The fields of an arena in ``run.json``."""
    return {
        "topic": {"text": arena.title},
        "agent": "arena",
        "options": arena.options.model_dump(mode="json"),
        "topics": [serialize(topic) for topic in lineup.topics],
        "contestants": [summarize(one).as_json() for one in lineup.contestants],
        "entries": lineup.digest,
        "grows": growth_record(arena),
        "notes": list(lineup.notes),
    }
