"""Conformance checks: what the arena requires of an agent, tested with the offline model.

Each trial is a run in a temporary folder, with the starter corpus. A check reports what it found and, if it
failed, how to fix it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ideagora.config import Settings
from ideagora.errors import AgentFailed, BudgetExhausted, IdeagoraError, TopicNotCovered
from ideagora.graphs.agent import Agent, Origin
from ideagora.graphs.external.in_process import stdout_guard
from ideagora.graphs.run_folder import RunFolder
from ideagora.graphs.runtime.job import RunResources
from ideagora.graphs.task import Task, run_task
from ideagora.schema import Idea, Paper, ScoredPaper, Topic, last_day
from ideagora.schema.events import Event

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.retrieval.library import Library

TOPICS = ("tool use by language models", "judging generated text with language models")
BEFORE = "2023-06-01"
"""The cut-off that is tried; the starter corpus has papers on both sides of it."""
SLOW = 60.0
"""Seconds of a run on the offline model from which it is called slow."""
Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True)
class Check:
    """One thing that was tried."""

    name: str
    status: Status
    message: str
    fix: str | None = None
    """How to make a failed check pass."""


@dataclass
class Trial:
    """One run: what it gave, or why it ended."""

    ideas: list[Idea] = field(default_factory=list)
    error: IdeagoraError | None = None
    state: Mapping[str, Any] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    seconds: float = 0.0
    printed: int = 0

    @property
    def failures(self) -> list[str]:
        """Ideas that were left out, with the reason."""
        return [str(failure["error"]) for failure in self.state.get("failures", [])]

    @property
    def calls(self) -> int:
        """Answers that came through the model client."""
        return sum(event["event"] == "call" for event in self.events)


class ConformanceBench:
    """Runs an agent in scratch folders."""

    def __init__(
        self,
        agent: Agent,
        settings: Settings,
        library: Library,
        embedder: Callable[[], Embedder],
        scratch: Path,
    ) -> None:
        self.agent, self.settings, self.library = agent, settings, library
        self._embedder, self._scratch = embedder, scratch
        self._count = 0

    async def trial(
        self,
        topic: Topic,
        library: Library | None = None,
        chats: Mapping[str, BaseChatModel] | None = None,
        **settings: Any,
    ) -> Trial:
        """One run in a new folder, with a cache of its own."""
        self._count += 1
        home = self._scratch / str(self._count)
        chosen = self.settings.model_copy(update={"home": home, **settings})
        trial = Trial()

        def ideas(state: Mapping[str, Any], origin: Origin) -> list[Idea]:
            trial.state = state
            return self.agent.ideas(state, origin)

        task = Task(topic, replace(self.agent, ideas=ideas), self.agent.options, chosen)
        started, printed = time.monotonic(), stdout_guard.characters_written
        try:
            with RunFolder(home / "run", task.identity) as folder:
                resources = RunResources(self._embedder, trial.events.append, chats)
                trial.ideas, _ = await run_task(task, folder, library or self.library, resources)
        except IdeagoraError as error:
            trial.error = error
        trial.seconds, trial.printed = time.monotonic() - started, stdout_guard.characters_written - printed
        return trial


async def conformance(bench: ConformanceBench, topics: tuple[str, ...] = ()) -> list[Check]:
    """Everything that is tried, in order. Without a first idea the rest is skipped."""
    texts = (*topics, *TOPICS)[: max(2, len(topics))]
    trials: list[Trial] = []
    for text in texts:
        trials.append(await bench.trial(Topic(text=text)))
        if not trials[-1].ideas:  # it may have taken its whole time
            break
    checks = [_gives_ideas(texts, trials), _fields(trials), _references(trials)]
    if not any(trial.ideas for trial in trials):
        return [checks[0], *(Check(name, "skipped", "it gave no idea") for name in _REST)]
    first = next(number for number, trial in enumerate(trials) if trial.ideas)
    topic = Topic(text=texts[first])
    further: list[Callable[[ConformanceBench, Topic, Trial], Awaitable[Check]]] = [
        _same_again,
        _cut_off,
        _budget,
        _empty_library,
    ]
    more = [await check(bench, topic, trials[first]) for check in further]
    return [
        *checks,
        *more,
        _quiet(trials),
        _steps(bench.agent, trials),
        _plain_state(trials),
        _in_time(trials),
    ]


_REST = (
    "fields", "references", "same seed, same ideas", "cut-off date", "budget", "empty library", "stdout",
    "steps", "state", "time",
)  # fmt: skip


def _gives_ideas(texts: tuple[str, ...], trials: list[Trial]) -> Check:
    failed = [(text, trial) for text, trial in zip(texts, trials, strict=False) if not trial.ideas]
    if failed:
        text, trial = failed[0]
        detail = f"“{text}”: {trial.error or 'no idea'}"
        return Check("gives ideas", "failed", detail, "Fix this first; the other checks depend on it.")
    counts = ", ".join(str(len(trial.ideas)) for trial in trials)
    return Check("gives ideas", "passed", f"for {len(texts)} topics: {counts}")


def _fields(trials: list[Trial]) -> Check:
    left_out = [why for trial in trials for why in trial.failures]
    if left_out:
        return Check("fields", "failed", left_out[0], "Set title and method of every idea, as strings.")
    ideas = [idea for trial in trials for idea in trial.ideas]
    lacking = {n for n in ("motivation", "novelty", "experiment") if not any(getattr(i, n) for i in ideas)}
    detail = f"title and method; judges also look for: {', '.join(sorted(lacking))}" if lacking else "all"
    return Check("fields", "passed", detail)


def _references(trials: list[Trial]) -> Check:
    unknown = list(dict.fromkeys(reference for trial in trials for reference in _unknown_references(trial)))
    if unknown:
        return Check(
            "references",
            "failed",
            f"the library does not know {', '.join(unknown[:3])}",
            "Use the ids of the library (paper.id), not titles or numbers.",
        )
    count = sum(len(idea.references) for trial in trials for idea in trial.ideas)
    return Check("references", "passed", f"{count}, all known to the library" if count else "it gives none")


def _unknown_references(trial: Trial) -> list[str]:
    return [str(ref) for idea in trial.ideas for ref in idea.extra.get("unknown_references", [])]


async def _same_again(bench: ConformanceBench, topic: Topic, first: Trial) -> Check:
    name = "same seed, same ideas"
    again = await bench.trial(topic)
    if [_comparable(idea) for idea in again.ideas] == [_comparable(idea) for idea in first.ideas]:
        return Check(name, "passed", "a second run with an empty cache returned the same ideas")
    fix = "Draw random numbers from random.Random(seed); sort what comes from sets, threads or the clock."
    return Check(name, "failed", str(again.error or "a second run returned different ideas"), fix)


def _comparable(idea: Idea) -> str:
    return idea.model_dump_json(exclude={"created", "usage"})


async def _cut_off(bench: ConformanceBench, topic: Topic, first: Trial) -> Check:
    name = "cut-off date"
    trial = await bench.trial(topic.model_copy(update={"before": BEFORE}))
    if isinstance(trial.error, AgentFailed):
        fix = "With a cut-off, lists of papers may be shorter or empty: check before using the first element."
        return Check(name, "failed", str(trial.error), fix)
    late = [paper.id for idea in trial.ideas for paper in idea.neighbours if _is_late(paper)]
    hidden = _unknown_references(trial)
    if late or hidden:
        detail = f"with --before {BEFORE} it names {', '.join([*late, *hidden][:3])}"
        return Check(
            name, "failed", detail, "Read literature only through `library`, which hides later papers."
        )
    return Check(name, "passed", f"with --before {BEFORE} no reference is later")


def _is_late(paper: Paper) -> bool:
    return paper.date is None or last_day(paper.date) >= BEFORE


async def _budget(bench: ConformanceBench, topic: Topic, first: Trial) -> Check:
    if not first.calls:
        return Check(
            "budget",
            "passed",
            "it makes no calls through `model`; its own spending is not counted",
        )
    trial = await bench.trial(
        topic, chats={"offline": _priced()}, budget=1e-6, price_prompt=1e6, price_completion=1e6
    )
    if isinstance(trial.error, BudgetExhausted):
        return Check(
            "budget", "passed", f"calls through `model`: {first.calls}; it stops when the budget is spent"
        )
    fix = "Do not catch BudgetExhausted: avoid `except Exception` around model()."
    return Check("budget", "failed", str(trial.error or "it continued after the budget was spent"), fix)


def _priced() -> BaseChatModel:
    """A model that costs a fortune, so that the client's budget stops before it is asked."""
    from langchain_core.language_models import FakeListChatModel

    return FakeListChatModel(responses=["never asked"])


async def _empty_library(bench: ConformanceBench, topic: Topic, first: Trial) -> Check:
    from ideagora.retrieval.library import Library

    name = "empty library"
    trial = await bench.trial(topic, library=Library(Nothing(), bench.library.embedder))
    if trial.ideas or isinstance(trial.error, TopicNotCovered):
        return Check(name, "passed", str(trial.error or "it returns ideas without literature"))
    if isinstance(trial.error, AgentFailed) and "(an empty list)" in str(trial.error):
        return Check(name, "passed", "it returns an empty list")
    fix = "search() may return an empty list: then return [], or ideas without references."
    return Check(name, "failed", str(trial.error), fix)


class Nothing:
    """A source that was asked and has nothing."""

    name = "nothing"

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        """Nothing."""
        return []

    async def paper(self, paper_id: str) -> Paper | None:
        """None."""
        return None

    async def references(self, paper_id: str) -> list[Paper]:
        """Nothing."""
        return []

    async def citations(self, paper_id: str) -> list[Paper]:
        """Nothing."""
        return []

    async def disconnect(self) -> None:
        """There is no connection."""


def _quiet(trials: list[Trial]) -> Check:
    printed = sum(trial.printed for trial in trials)
    if printed:
        detail = f"it printed {printed} characters, which were redirected to stderr"
        return Check("stdout", "failed", detail, "Print to sys.stderr, or runtime.context.say(…) in a graph.")
    return Check("stdout", "passed", "it prints nothing to stdout")


def _steps(agent: Agent, trials: list[Trial]) -> Check:
    seen = dict.fromkeys(e["step"] for t in trials for e in t.events if e["event"] == "step")
    nameless = [step for step in seen if not step.isidentifier() or step == "lambda"]
    if nameless or not agent.steps:
        fix = "Name each step as a reader of your paper would: add_node('read_papers', …)."
        return Check("steps", "failed", f"nobody knows what {', '.join(nameless) or 'it'} does", fix)
    return Check("steps", "passed", " → ".join(seen))


def _plain_state(trials: list[Trial]) -> Check:
    for trial in trials:
        try:
            json.dumps(dict(trial.state))
        except (TypeError, ValueError) as error:
            return Check(
                "state", "failed", str(error), "Use only strings, numbers, lists and dicts in the state."
            )
    return Check("state", "passed", "plain values, so a run can be continued")


def _in_time(trials: list[Trial]) -> Check:
    slowest = max(trial.seconds for trial in trials[1:] or trials)  # the first loads the embedding model
    detail = f"{slowest:.1f} s for a topic on the offline model"
    if slowest > SLOW:
        return Check("time", "failed", detail, f"Stay below {SLOW:g} s: an arena has a hundred topics.")
    return Check("time", "passed", detail)
