"""Runs ``ideagora generate``: prepares tasks, runs them, writes reports and prints the best idea."""

from __future__ import annotations

import json
import logging
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from rich.console import Console
from rich.text import Text

from ideagora.commands.shared.interrupts import run_async
from ideagora.commands.shared.preloading import preloading
from ideagora.config import SettingOverrides, Settings, load_settings
from ideagora.errors import BudgetExhausted, IdeagoraError, SettingsError, TopicNotCovered, UsageError
from ideagora.graphs.agent import with_ideas
from ideagora.graphs.files import folder_error
from ideagora.graphs.generate import (
    Outcome,
    TopicFields,
    check_topic,
    folder_for,
    generate,
    library_session,
    read_topics,
)
from ideagora.graphs.run_folder import RunFolder
from ideagora.graphs.task import Task
from ideagora.importing.steering import read_steering
from ideagora.registry import find_agent
from ideagora.report.console import plain, print_error, print_incomplete
from ideagora.report.run.terminal import RunProgress, short_titles, show_idea, show_leads
from ideagora.report.run.wording.leads import is_lead
from ideagora.report.run.wording.provenance import (
    OFFLINE_LEADS_NOTICE,
    OFFLINE_NOTICE,
    REAL_MODEL,
    REAL_MODEL_HINT,
    recorded_notice,
)
from ideagora.schema import Steering, Topic

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.graphs.agent import Agent
    from ideagora.schema import Steering, Topic


FLAGS = ("branches", "length", "refinements", "rewrites", "papers", "allow_thin")
"""Options of agents that the command line offers."""
FLAG_NAMES = {"allow_thin": "allow-off-topic"}
"""Names on the command line, where they differ."""


@dataclass(frozen=True)
class Request:
    """The parsed command line."""

    topic: str | None = None
    topics: Path | None = None
    agent: str = "chain-of-ideas"
    options: dict[str, Any] = field(default_factory=dict)
    ideas: int | None = None
    """Number of ideas; ``None``: as many as the agent makes by default."""
    settings: SettingOverrides = field(default_factory=SettingOverrides)
    before: str | None = None
    excluded: tuple[str, ...] = ()
    focus: str | None = None
    like: tuple[Path, ...] = ()
    avoid: tuple[Path, ...] = ()
    out: Path | None = None
    as_json: bool = False
    fresh: bool = False
    quiet: bool = False
    full: bool = False
    """Whether to print the whole idea rather than its claim and nearest papers."""


def run(request: Request, chats: dict[str, BaseChatModel] | None = None) -> int:
    """Run the command, and return its exit code (0, 1, 2, 3, 4 or 130)."""
    console, errors = Console(), Console(stderr=True)
    logging.getLogger("ideagora").setLevel(logging.WARNING)
    try:
        settings = load_settings(**request.settings)
        tasks = _tasks(request, settings)
        outcomes = _run(request, settings, tasks, errors, chats)
    except KeyboardInterrupt:
        errors.print("\nStopped. Run the same command again to resume; answers so far are saved.")
        return 130
    except IdeagoraError as error:
        _print_explained(errors, error)
        return error.exit_code
    except OSError as error:
        _print_explained(errors, folder_error(Path(error.filename or request.out or "."), error))
        return 1
    if not request.as_json:
        _print_outcomes(console, outcomes, request.full)
    else:
        print(json.dumps(_to_json(outcomes), ensure_ascii=False))
    for outcome in outcomes:
        _print_problem(errors, outcome, len(outcomes) > 1)
    _print_outages(errors, outcomes)
    return exit_code(outcomes)


def exit_code(outcomes: list[Outcome]) -> int:
    """Return 4 if running the command again can help, else 1 if a topic failed or gave no ideas, else 0."""
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if any(outcome.down for outcome in outcomes) or any(error.retryable for error in errors):
        return 4
    return 1 if errors or any(not outcome.ideas for outcome in outcomes) else 0


def _print_problem(errors: Console, outcome: Outcome, several: bool) -> None:
    is_empty = not (outcome.ideas or outcome.error or outcome.down)
    if several and (outcome.error or is_empty):
        errors.print(Text(f"“{plain(outcome.task.topic.text[:60])}”"), end=" ")
    if outcome.error is not None:
        _print_explained(errors, outcome.error)
    if is_empty:
        print_error(errors, _no_ideas_message(outcome))


def _print_outages(errors: Console, outcomes: list[Outcome]) -> None:
    """Print each outage once, with the topics that it affects."""
    waiting: dict[tuple[str, ...], list[str]] = {}
    for outcome in outcomes:
        if outcome.down:
            waiting.setdefault(outcome.down, []).append(outcome.task.topic.text)
    for down, topics in waiting.items():
        print_incomplete(errors, down, topics if len(outcomes) > 1 else ())


def _no_ideas_message(outcome: Outcome) -> str:
    """Return why a finished run has no ideas, and what may help."""
    record = RunFolder(outcome.folder, "").read() or {}
    notes = [str(note) for note in record.get("notes", ())]
    why = next((note for note in notes if note.startswith("0 leads")), "the run ended without an idea.")
    return (
        f"{why} Rephrase the topic, add papers (--source, ideagora library add) or use a language model "
        f"(--model). See {outcome.folder / 'report.html'}"
    )


def _tasks(request: Request, settings: Settings) -> list[tuple[Task, Path]]:
    agent = find_agent(request.agent, settings.home)
    if agent.unready:
        raise UsageError(agent.unready)
    try:
        options = type(agent.options)(**{**agent.options.model_dump(), **request.options})
    except ValidationError as error:
        raise SettingsError(_option_error(agent, error)) from None
    if request.ideas is not None:
        if agent.set_ideas is None:
            raise SettingsError(_no_option(agent, "ideas"))
        agent = with_ideas(replace(agent, options=options), request.ideas)
        options = agent.options
    topics = _topics(request, settings, agent)
    tasks = [Task(topic, agent, options, settings) for topic in topics]
    several = request.topics is not None
    return [(task, folder_for(task, request.out, several)) for task in tasks]


def _option_error(agent: Agent, error: ValidationError) -> str:
    first = error.errors()[0]
    name = str(first["loc"][0]).replace("_", "-")
    if first["type"] != "extra_forbidden" and first["loc"][0] not in FLAGS:
        return f"--set {name}={first['input']}: {first['msg'].lower()}."
    if first["type"] != "extra_forbidden":
        return f"--{name} is {first['input']}: {first['msg'].lower()}."
    return _no_option(agent, name)


def _no_option(agent: Agent, name: str) -> str:
    fields = type(agent.options).model_fields
    known = [f"--{FLAG_NAMES.get(option, option)}" for option in FLAGS if option in fields]
    known += [f"--set {option}" for option in fields if option not in (*FLAGS, "ideas")]
    known += ["--ideas"] if agent.set_ideas else []
    field = name.replace("-", "_")
    option = f"--{FLAG_NAMES.get(field, name)}" if field in (*FLAGS, "ideas") else f"--set {field}"
    return f"the agent {agent.name} has no option {option}. It has {', '.join(known) or 'no options'}."


def _topics(request: Request, settings: Settings, agent: Agent) -> list[Topic]:
    if agent.own_topic and request.topics is not None:
        raise UsageError(f"{agent.name} works on one paper: give one topic or none, not --topics.")
    if agent.own_topic and request.topic is None:
        return [Topic(text=agent.own_topic, before=request.before, excluded=request.excluded)]
    if (request.topic is None) == (request.topics is None):
        raise UsageError('Give a topic, or --topics FILE: ideagora generate "retrieval for long documents".')
    offline = settings.model_of("main") == "offline"
    steering = _steering(request, agent)
    fields: TopicFields = {"before": request.before, "excluded": request.excluded, "steering": steering}
    if request.topics is not None:
        return read_topics(request.topics, offline, **fields)
    assert request.topic is not None
    return [check_topic(request.topic, offline, **fields)]


def _steering(request: Request, agent: Agent) -> Steering | None:
    if (request.focus is not None or request.avoid) and not agent.is_steerable:
        option = "--avoid" if request.avoid else "--focus"
        raise UsageError(f"{agent.name} does not support {option}; chain-of-ideas, rag and direct do.")
    if request.like and not agent.reads_literature:
        raise UsageError(f"{agent.name} does not support --like, because it reads no papers.")
    return read_steering(request.focus, request.like, request.avoid, request.topic or "any")


def _load_for_later() -> None:
    from ideagora.models.offline.text import load_dictionary
    from ideagora.report.run.write import load_templates

    load_dictionary()
    load_templates("report.html", "report.md")


def _run(
    request: Request,
    settings: Settings,
    tasks: list[tuple[Task, Path]],
    errors: Console,
    chats: dict[str, BaseChatModel] | None,
) -> list[Outcome]:
    from ideagora.report.run.write import write_report

    if not request.quiet and not chats:
        _print_expected_cost(
            settings, [task for task, path in tasks if request.fresh or not _is_done(path)], errors
        )
    with ExitStack() as stack:
        progress = stack.enter_context(RunProgress(errors, request.quiet))
        opened: list[Any] = []

        def library() -> Any:
            if not opened:
                opened.append(
                    stack.enter_context(
                        library_session(settings, progress.set_status, progress.on_store_filled)
                    )
                )
            return opened[0]

        listener = preloading(progress.on_event, _load_for_later)
        outcomes = run_async(generate(tasks, library, listener, request.fresh, chats))
        for outcome in outcomes:
            if outcome.error is None and not (
                outcome.already_done and (outcome.folder / "report.html").exists()
            ):
                write_report(outcome.folder)
    return outcomes


def _is_done(path: Path) -> bool:
    return RunFolder(path, "").finished_ideas() is not None


def _print_expected_cost(settings: Settings, tasks: list[Task], errors: Console) -> None:
    """Print the expected calls and cost before a run with a real model starts."""
    from ideagora.models.budget import expected_cost

    if settings.models == ["offline"] or settings.replay or not tasks:
        return
    calls = tasks[0].agent.expected_calls(tasks[0].options)
    if calls is None:
        errors.print(Text(f"{plain(tasks[0].agent.name)} does not state its number of calls.", style="dim"))
        return
    cost = expected_cost(calls, settings)
    price = "price unknown" if cost is None else f"about ${cost * len(tasks):.2f}"
    number, models = sum(calls.values()) * len(tasks), ", ".join(settings.models)
    errors.print(Text(f"Expected: about {number} calls to {plain(models)}, {price}."))


def _print_explained(errors: Console, error: IdeagoraError) -> None:
    print_error(errors, str(error))
    if isinstance(error, TopicNotCovered) and error.nearest:
        errors.print("Nearest papers in the library:", highlight=False)
        for title in error.nearest:
            errors.print(Text(f"  {plain(title)}"), soft_wrap=True)
    if isinstance(error, BudgetExhausted):
        errors.print(
            "Answers so far are saved. Run the same command with a higher --budget to resume.",
            highlight=False,
        )


def _to_json(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return ``{"run", "ideas"}`` for one topic; for several, the parent folder, all ideas and the runs."""
    runs = [
        {
            "run": str(outcome.folder),
            "topic": outcome.task.topic.text,
            "ideas": [idea.model_dump(mode="json") for idea in outcome.ideas],
            **({"error": str(outcome.error)} if outcome.error else {}),
            **({"status": "incomplete", "outages": list(outcome.down)} if outcome.down else {}),
        }
        for outcome in outcomes
    ]
    if len(runs) == 1:
        return {key: value for key, value in runs[0].items() if key not in ("topic", "error")}
    return {
        "run": str(outcomes[0].folder.parent),
        "ideas": [idea for one in runs for idea in one["ideas"]],
        "runs": [{key: value for key, value in one.items() if key != "ideas"} for one in runs],
    }


def _print_outcomes(console: Console, outcomes: list[Outcome], full: bool) -> None:
    for outcome in outcomes:
        if not outcome.ideas:
            continue
        page, leads = str(outcome.folder / "report.html"), [one for one in outcome.ideas if is_lead(one)]
        if leads:
            show_leads(console, leads, short_titles(leads), page, full)
        else:
            show_idea(console, outcome.ideas[0], len(outcome.ideas) - 1, page, full)
        if words := recorded_notice(outcome.task.settings.model):
            console.print(Text(words, style="dim"))
        if outcome.already_done:
            console.print(
                "This run was already finished; use --fresh to start over.", style="dim", highlight=False
            )
        if any("offline" in idea.model.split(" + ") for idea in outcome.ideas):
            notice = OFFLINE_LEADS_NOTICE if leads else OFFLINE_NOTICE
            console.print(
                Text(f"{notice} To use a language model ({REAL_MODEL_HINT}): {REAL_MODEL}", style="dim")
            )
