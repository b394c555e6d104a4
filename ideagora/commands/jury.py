"""``ideagora jury``: rates existing ideas with a panel of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ideagora.agents.arena.style import RESTYLE
from ideagora.benchmarks.benchmark import Plan
from ideagora.benchmarks.jury.benchmark import NO_TOPIC, Jury, assign_samples, count_topics, samples_of
from ideagora.benchmarks.running.idea_log import IDEAS_FILE, SAMPLE
from ideagora.benchmarks.running.records import BenchmarkRun
from ideagora.commands.bench import Request, folder_of, plans_of, run_guarded
from ideagora.config import Settings, load_settings
from ideagora.errors import UsageError
from ideagora.evaluators.arena.entries.contestants import resolve_idea_sets
from ideagora.schema import Topic

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from rich.console import Console


def run(request: Request, topic: str | None = None, chats: Mapping[str, BaseChatModel] | None = None) -> int:
    """Judge the ideas that the request names as agents; returns the exit code (0, 1, 2, 3, 4 or 130).

    Args:
        request: its benchmark options are those of the jury.
        topic: of ideas without one.
        chats: chat models by name, instead of those of the providers.
    """

    def start(errors: Console) -> tuple[BenchmarkRun, Path]:
        prepared = _prepare(request, topic)
        path = folder_of(prepared, request.out)
        return replace(prepared, data=path / IDEAS_FILE), path

    return run_guarded(request, start, chats)


def _prepare(request: Request, topic: str | None) -> BenchmarkRun:
    if not request.agents:
        raise UsageError("Name the ideas to be judged, e.g. ideagora jury ideas.jsonl --judge openai/gpt-4o.")
    settings = load_settings(**request.settings)
    named = resolve_idea_sets(request.agents, settings.home, Topic(text=topic or NO_TOPIC))
    by_idea = count_topics(named.idea_sets) == 1
    options = (*request.benchmark_options, f"samples={'ideas' if by_idea else 'topics'}")
    jury = Jury().configured(options)
    plans = plans_of(request, jury, settings)
    settings = _with_stylist(jury, plans[0], settings)
    sets = assign_samples(named.idea_sets, by_idea)
    samples = dict.fromkeys(idea.extra[SAMPLE] for one in sets for idea in one.ideas)
    if not samples:
        raise UsageError(" ".join(named.notes) or "There is no idea to judge.")
    return BenchmarkRun(
        benchmark=jury,
        data_set=(data := samples_of(samples).samples),
        samples=data,
        contestants=replace(named, idea_sets=sets),
        plans=plans,
        ideas=max(len(one.ideas) for one in sets),
        epochs=1,
        settings=settings,
        notes=tuple(_notes(jury, settings)),
        spec=jury.name,
        benchmark_options=options,
    )


def _with_stylist(jury: Jury, plan: Plan, settings: Settings) -> Settings:
    """The settings with the first judge rewriting the ideas, if only the offline model would.

    The offline model removes formatting, but not what an author says about himself.
    """
    if settings.model_of(RESTYLE.group) != "offline" or not jury.options.is_styled:
        return settings
    return settings.model_copy(update={f"{RESTYLE.group}_model": plan.judges[0]})


def _notes(jury: Jury, settings: Settings) -> Iterator[str]:
    if jury.options.by_idea:
        yield "All ideas are on one topic, so intervals are over ideas, which are paired by position."
    stylist = settings.model_of(RESTYLE.group)
    if not jury.options.is_styled:
        yield "Judges saw the ideas as written, so they may recognise authors by their style."
    elif stylist == "offline":
        yield "Judges saw the ideas without formatting; the offline model cannot rewrite them in one style."
    else:
        yield f"Judges saw the ideas as {stylist} rewrote them in one plain style."
