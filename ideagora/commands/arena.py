"""``ideagora arena``: ranks agents by pairwise comparisons of their ideas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from rich.console import Console
from rich.text import Text

from ideagora.commands.shared.interrupts import run_async
from ideagora.commands.shared.judging import (
    costs_nothing,
    open_resources,
    print_expected_cost,
    result_or_exit_code,
)
from ideagora.commands.shared.preloading import preloading
from ideagora.config import SettingOverrides, Settings, load_settings
from ideagora.errors import BudgetExhausted, SettingsError
from ideagora.evaluators.arena.entries.contestants import choose_topics, resolve_contestants
from ideagora.evaluators.arena.entries.lineup import Contestant, Lineup, topic_key
from ideagora.evaluators.arena.entries.selection import build_lineup
from ideagora.evaluators.arena.evaluation import STYLE
from ideagora.evaluators.arena.folder import LEADERBOARD_FILE
from ideagora.evaluators.arena.leaderboard.voted import read_votes
from ideagora.evaluators.arena.options import ArenaOptions
from ideagora.evaluators.arena.planning import ArenaPlan, detectable_differences
from ideagora.evaluators.arena.tournament import Arena, RunResources, expected_verdicts, run_tournament
from ideagora.evaluators.generation import AgentRun, agents_without_estimate, expected_calls
from ideagora.graphs.generate import TopicFields, check_topic, read_topics
from ideagora.graphs.run_folder import RunFolder
from ideagora.report.arena.plan import show_plan
from ideagora.report.arena.terminal import show_leaderboard
from ideagora.report.console import print_error, print_incomplete
from ideagora.report.run.wording.provenance import OFFLINE_NOTICE

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.evaluators.arena.leaderboard.records import Leaderboard
    from ideagora.schema import Topic


_OPTION_NAMES = {field.alias: name for name, field in ArenaOptions.model_fields.items() if field.alias}
"""Name in files -> name on the command line."""


@dataclass(frozen=True)
class Request:
    """Arguments of the command."""

    contestants: tuple[str, ...] = ()
    topic: tuple[str, ...] = ()
    topics: Path | None = None
    judges: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    settings: SettingOverrides = field(default_factory=SettingOverrides)
    before: str | None = None
    excluded: tuple[str, ...] = ()
    out: Path | None = None
    as_json: bool = False
    fresh: bool = False
    quiet: bool = False
    page: bool = True
    """Write the page and the plots."""
    plan: bool = False
    """Only say what the arena would cost and tell apart."""


def run(request: Request, chats: Mapping[str, BaseChatModel] | None = None) -> int:
    """Run the arena; returns the exit code (0, 1, 2, 3, 4 or 130)."""
    errors = Console(stderr=True)
    if request.plan:
        return _run_plan(request, errors)
    path: Path | None = None

    def work() -> Leaderboard:
        nonlocal path
        arena = _arena(request, load_settings(**request.settings))
        path = folder_of(arena, request.out)
        return _run_arena(request, arena, path, errors, chats)

    def so_far() -> str | None:
        file = None if path is None else path / LEADERBOARD_FILE
        return f"The leaderboard so far: {file}" if file is not None and file.exists() else None

    board = result_or_exit_code(errors, work, so_far=so_far, folder=request.out)
    if isinstance(board, int):
        return board
    assert path is not None
    return _show(request, board, request.out or path, errors)


def _run_plan(request: Request, errors: Console) -> int:
    """Print the plan of the arena, without a call."""

    def work() -> ArenaPlan:
        arena = _arena(request, load_settings(**request.settings))
        path = folder_of(arena, request.out)
        return _plan(arena, path)

    plan = result_or_exit_code(errors, work, folder=request.out)
    if isinstance(plan, int):
        return plan
    if request.as_json:
        print(json.dumps({"plan": plan.as_json()}, ensure_ascii=False))
    else:
        show_plan(Console(), plan)
    return 0


def _plan(arena: Arena, path: Path) -> ArenaPlan:
    todo = [start for start in arena.agent_runs(path) if RunFolder(start.folder, "").finished_ideas() is None]
    lineup, options = _full_lineup(arena), arena.options
    return ArenaPlan(
        contestants=lineup.names,
        topics=len(lineup.topics),
        judges=options.judges,
        runs=options.runs,
        schedule=options.schedule,
        verdicts=expected_verdicts(lineup, options, arena.settings.seed),
        calls=tuple(_bill(arena, todo)),
        without_estimate=tuple(agents_without_estimate(todo)),
        detectable=detectable_differences(lineup, options, arena.settings.seed),
    )


def _arena(request: Request, settings: Settings) -> Arena:
    options = _options(request, settings)
    topics = _topics(request, settings)
    read_votes(options.votes)  # a mistake costs no verdict
    if options.verdict == "probabilities" and not settings.replay:
        from ideagora.models.transport.providers import require_token_probabilities

        require_token_probabilities(options.judges, settings)
    named = resolve_contestants(request.contestants, settings.home, topics)
    if options.runs > 1 and not named.agents:
        raise SettingsError(
            f"--runs is {options.runs}, but no contestant is an agent, and existing ideas have one run. "
            "Omit --runs."
        )
    if options.ablation_of is not None and options.ablation_of not in named.names:
        raise SettingsError(
            f"--ablation-of is {options.ablation_of!r}: no contestant has this name; there are "
            f"{', '.join(named.names)}."
        )
    return Arena(named, choose_topics(named, topics), options, settings)


def _options(request: Request, settings: Settings) -> ArenaOptions:
    judges = request.judges or (settings.model_of("judge"),)
    try:
        return ArenaOptions(judges=judges, **request.options)
    except ValidationError as error:
        first = error.errors()[0]
        message = first["msg"].removeprefix("Value error, ")
        if not first["loc"]:
            raise SettingsError(f"{message[:1].upper()}{message[1:]}.") from None
        name = _OPTION_NAMES.get(str(first["loc"][0]), str(first["loc"][0])).replace("_", "-")
        raise SettingsError(f"--{name} is {first['input']}: {message[:1].lower()}{message[1:]}.") from None


def _topics(request: Request, settings: Settings) -> list[Topic]:
    offline = settings.model_of("main") == "offline"
    fields: TopicFields = {"before": request.before, "excluded": request.excluded}
    topics = [check_topic(text, offline, **fields) for text in request.topic]
    if request.topics is not None:
        topics += read_topics(request.topics, offline, **fields)
    first: dict[str, Topic] = {}
    for topic in topics:
        first.setdefault(topic_key(topic.text), topic)
    return list(first.values())


def folder_of(arena: Arena, out: Path | None) -> Path:
    """``--out``, or a folder in the home; absolute because agents may change the working directory."""
    return out.absolute() if out is not None else arena.settings.home / "arenas" / arena.identity


def _run_arena(
    request: Request,
    arena: Arena,
    path: Path,
    errors: Console,
    chats: Mapping[str, BaseChatModel] | None,
) -> Leaderboard:
    begun = arena.agent_runs(path)
    if not request.quiet:
        _say_cost(arena, begun, path, request, errors)
    with open_resources(arena.settings, errors, request.quiet) as opened:
        progress = opened.progress
        listener = preloading(progress.on_event, _load_libraries) if request.page else progress.on_event
        means = RunResources(opened.library, opened.embedder, listener, chats, request.fresh)
        try:
            board = run_async(run_tournament(arena, path, begun, means))
        except BudgetExhausted:
            if request.page and (path / LEADERBOARD_FILE).exists():
                _write_pages(path, begun)
            raise
        if request.page:
            progress.set_status("drawing the page")
            _write_pages(path, begun)
        return board


def _load_libraries() -> None:
    from ideagora.report.arena.page import load_libraries

    load_libraries()


def _write_pages(path: Path, begun: list[AgentRun]) -> None:
    """Write the arena's page, and the missing pages of the agents' runs."""
    from ideagora.report.arena.page import write_arena_report
    from ideagora.report.run.write import HTML_FILE, write_report

    write_arena_report(path)
    for start in begun:
        if (start.folder / "ideas.jsonl").exists() and not (start.folder / HTML_FILE).exists():
            write_report(start.folder)


def _say_cost(arena: Arena, begun: list[AgentRun], path: Path, request: Request, errors: Console) -> None:
    """Print the expected cost, unless no calls are left."""
    models = {*arena.models, *(model for one in begun for model in _models(one))}
    if costs_nothing(arena.settings, models, path, request.fresh):
        return
    todo = [start for start in begun if RunFolder(start.folder, "").finished_ideas() is None]
    print_expected_cost(errors, _bill(arena, todo), agents_without_estimate(todo))


def _models(run: AgentRun) -> list[str]:
    """The models that may be called for a run: the agent's own one, or those of the settings."""
    own = run.task.agent.model
    return run.task.settings.models if own is None else [own]


def _bill(arena: Arena, todo: list[AgentRun]) -> list[tuple[str, int, float | None]]:
    """(model, calls, cost in USD or ``None``) for ideas, style and verdicts."""
    from ideagora.models.budget import expected_cost

    settings, options = arena.settings, arena.options
    calls = expected_calls(todo)
    runs = options.runs * len(arena.contestants.agents) + len(arena.contestants.idea_sets)
    entries = len(arena.topics) * runs
    if options.style:
        calls[settings.model_of(STYLE)] = calls.get(settings.model_of(STYLE), 0) + entries * len(
            options.kinds
        )
    verdicts = expected_verdicts(_full_lineup(arena), options, settings.seed)
    for judge in options.judges:
        calls[judge] = calls.get(judge, 0) + -(-verdicts // len(options.judges))
    return [
        (model, number, expected_cost({"main": number}, settings.model_copy(update={"model": model})))
        for model, number in calls.items()
        if number and model != "offline"
    ]


def _full_lineup(arena: Arena) -> Lineup:
    """The line-up if every agent has an idea with an experiment on every topic."""
    lineup = build_lineup(arena.contestants.idea_sets, arena.topics)
    stand_in = next((idea for one in lineup.contestants for idea in one.ideas), _any_idea())
    entries = {topic.text: stand_in for topic in arena.topics}
    agents = [Contestant(one.name, "", (entries,) * arena.options.runs) for one in arena.contestants.agents]
    return Lineup(arena.topics, (*lineup.contestants, *agents))


def _any_idea() -> Any:
    from ideagora.schema import Experiment, Idea

    plan = Experiment(steps=("expected",))
    return Idea(id="", topic="", agent="", title="", motivation="", novelty="", method="", experiment=plan)


def _show(request: Request, board: Leaderboard, path: Path, errors: Console) -> int:
    if request.as_json:
        print(json.dumps({"run": str(path), "leaderboard": board.as_json()}, ensure_ascii=False))
    else:
        page = str(path / "report.html") if request.page else None
        show_leaderboard(Console(), board, str(path), page, request.options.get("protocol") == "both")
        if "offline" in board.settings["models"] and any(
            one.models == ("offline",) for one in board.contestants
        ):
            Console().print(Text(OFFLINE_NOTICE, style="dim"))
    if board.status == "incomplete":
        print_incomplete(errors, board.outages)
        return 4
    if board.status != "complete":
        print_error(errors, board.notes[0] if board.notes else board.status)
        return 1
    return 0
