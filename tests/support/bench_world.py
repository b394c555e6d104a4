"""Small benchmarks: ideas in files, a judge that is told what to say, and the command in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ideagora.benchmarks.ai_idea_bench.samples import shipped_samples
from ideagora.commands.bench import Request, run, score
from ideagora.config import SettingOverrides
from ideagora.models.chat_models import ScriptedCall, ScriptedChatModel
from ideagora.schema import Experiment, Idea, Verdict, stable_id

BENCHMARK = "ai-idea-bench"
SAMPLES = shipped_samples().samples
PLAN = Experiment(steps=("Build it.", "Compare it."), datasets=("GSM8K",), metrics=("accuracy",))

Opinion = Callable[[ScriptedCall], Any]
"""What a judge replies: a score, or anything that is sent as it is."""


def idea(agent: str, sample: int = 0, number: int = 0, strength: float = 3, **fields: Any) -> Idea:
    """An idea on a shipped sample; its text tells a judge in a test which score it deserves."""
    values = {
        "id": stable_id(agent, str(sample), str(number)),
        "topic": SAMPLES[sample].topic,
        "agent": agent,
        "title": f"Plan {number} of {agent}",
        "motivation": f"Nobody did {agent[::-1]} {number}. strength {strength}",
        "method": f"1. Do {agent[::-1]} {number}.\n2. Measure it. strength {strength}",
    }
    return Idea(**{**values, **fields})


def write(name: str, ideas: Iterable[Idea]) -> str:
    """Write a file of ideas; returns the contestant's spec."""
    Path(f"{name}.jsonl").write_text("".join(one.model_dump_json() + "\n" for one in ideas), encoding="utf-8")
    return f"ideas:{name}.jsonl"


def field(strengths: Mapping[str, float], samples: Sequence[int] = (0, 1), ideas: int = 1) -> list[str]:
    """A file for each contestant, with ideas on each sample."""
    return [
        write(name, [idea(name, sample, n, strength) for sample in samples for n in range(ideas)])
        for name, strength in strengths.items()
    ]


def by_strength(call: ScriptedCall) -> Any:
    """The score that the text names."""
    return float(str(call.inputs.idea).rpartition("strength ")[2].split()[0])


def judge(opinion: Opinion = by_strength) -> ScriptedChatModel:
    """A model that rates ideas."""

    def reply(call: ScriptedCall) -> Any:
        said = opinion(call)
        return {"reason": "I say so.", "score": said} if isinstance(said, float | int) else said

    return ScriptedChatModel(replies=reply)


class Benched:
    """A benchmark that the command ran in this process, and what it left."""

    def __init__(
        self,
        agents: Sequence[str] = (),
        chat: ScriptedChatModel | None = None,
        *,
        judges: Mapping[str, ScriptedChatModel] | None = None,
        out: str = "bench",
        only: Sequence[str] = ("i2t",),
        settings: SettingOverrides | None = None,
        judges_named: Sequence[str] | None = None,
        rescored: bool = False,
        **options: Any,
    ) -> None:
        chats = dict(judges or {"scripted": chat or judge()})
        self.chat = next(iter(chats.values()))
        self.folder = Path(out)
        named = tuple(chats if judges_named is None else judges_named)
        request = Request(
            agents=tuple(agents), out=self.folder, only=tuple(only), page=False,
            settings={"embedder": "hash", "retries": 0, **(settings or {})},
            **{"benchmark": BENCHMARK, "judges": named, "limit": "2", "quiet": True,
               **options},
        )  # fmt: skip
        self.code = score(request, chats) if rescored else run(request, chats)

    @property
    def results(self) -> list[dict[str, Any]]:
        """``results.json``."""
        parsed: list[dict[str, Any]] = json.loads((self.folder / "results.json").read_text(encoding="utf-8"))
        return parsed

    @property
    def verdicts(self) -> list[Verdict]:
        """``verdicts.jsonl``."""
        lines = (self.folder / "verdicts.jsonl").read_text(encoding="utf-8").split("\n")
        return [Verdict.model_validate_json(line) for line in lines if line]

    @property
    def ideas(self) -> list[Idea]:
        """``ideas.jsonl``."""
        lines = (self.folder / "ideas.jsonl").read_text(encoding="utf-8").split("\n")
        return [Idea.model_validate_json(line) for line in lines if line]

    @property
    def record(self) -> dict[str, Any]:
        """``run.json``."""
        parsed: dict[str, Any] = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        return parsed

    @property
    def notes(self) -> str:
        """All notes of the first result as one text."""
        return "\n".join(self.results[0]["notes"])

    def figure(self, agent: str, measure: str = "i2t_plan", result: int = 0) -> dict[str, Any]:
        """One agent's figure."""
        rows = self.results[result]["figures"]
        matching: dict[str, Any] = next(
            one for one in rows if (one["agent"], one["measure"]) == (agent, measure)
        )
        return matching
