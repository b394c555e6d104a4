"""Small arenas: ideas in files, judges that are told what to think, and the command in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ideagora.agents.arena.judges import CRITERIA, EXPERIMENT_CRITERIA
from ideagora.commands.arena import Request, run
from ideagora.config import SettingOverrides
from ideagora.models.chat_models import ScriptedCall, ScriptedChatModel
from ideagora.schema import Experiment, Idea, Verdict, stable_id

TOPICS = ("tool use by language models", "judging text with language models", "search in reasoning")
PLAN = Experiment(steps=("Build it.", "Compare it."), datasets=("GSM8K",), metrics=("accuracy",))

Opinion = Callable[[ScriptedCall], str]
"""What a judge says of a bout: first, second, tie, or anything else that it is to answer as it is."""


def idea(agent: str, topic: str, strength: int = 0, number: int = 0, **fields: Any) -> Idea:
    """An idea whose text tells a judge in a test how good it is."""
    told = {
        "id": stable_id(agent, topic, str(number)),
        "topic": topic,
        "agent": agent,
        "title": f"A plan of strength {strength} for {topic}, {agent[::-1]}",
        "motivation": f"Nobody has done {agent[::-1]} for {topic}.",
        "novelty": f"Unlike others it does {agent[::-1]} {number}.",
        "method": f"1. Do {agent[::-1]}.\n2. Measure {topic}.",
        "experiment": PLAN.model_copy(
            update={"steps": (f"Do {agent[::-1]}.", f"Measure strength {strength}.")}
        ),
    }
    return Idea(**{**told, **fields})


def write(name: str, ideas: Sequence[Idea]) -> str:
    """A file of ideas; gives the thing that names it."""
    text = "".join(one.model_dump_json() + "\n" for one in ideas)
    Path(f"{name}.jsonl").write_text(text, encoding="utf-8")
    return f"ideas:{name}.jsonl"


def field(strengths: Mapping[str, int], topics: Sequence[str] = TOPICS) -> list[str]:
    """A file for each contestant, with an idea on each topic."""
    return [
        write(name, [idea(name, topic, strength) for topic in topics]) for name, strength in strengths.items()
    ]


def strength_of(view: Any) -> int:
    """How good the text of one side says it is."""
    return int(str(view.title).partition("strength ")[2].split()[0])


def by_strength(call: ScriptedCall) -> str:
    """A judge who sees the truth."""
    first, second = strength_of(call.inputs.first), strength_of(call.inputs.second)
    return "tie" if first == second else "first" if first > second else "second"


def always(said: str) -> Opinion:
    """A judge who says one thing only."""
    return lambda call: said


def judge(
    opinion: Opinion = by_strength, style: Callable[[ScriptedCall], Any] | None = None
) -> ScriptedChatModel:
    """A model that judges by an opinion, and tells ideas in a style (as they are, if none is given)."""

    def reply(call: ScriptedCall) -> Any:
        if str(call.role).startswith("restyle"):
            return call.inputs.model_dump() if style is None else style(call)
        said = opinion(call)
        if said not in ("first", "second", "tie"):
            return said
        names = (*CRITERIA, "overall") if str(call.role).endswith("idea_judge") else EXPERIMENT_CRITERIA
        return {"reason": f"I say {said}.", **dict.fromkeys(names, said)}

    return ScriptedChatModel(replies=reply)


class Held:
    """An arena that was held by the command in this process, and what it left."""

    def __init__(
        self,
        contestants: Sequence[str],
        chat: ScriptedChatModel | None = None,
        *,
        out: str = "arena",
        judges: Mapping[str, ScriptedChatModel] | None = None,
        settings: SettingOverrides | None = None,
        topic: Sequence[str] = (),
        topics: Path | None = None,
        fresh: bool = False,
        page: bool = False,
        **options: Any,
    ) -> None:
        chats: dict[str, ScriptedChatModel] = dict(judges or {"scripted": chat or judge()})
        self.chat = next(iter(chats.values()))
        request = Request(
            contestants=tuple(contestants), topic=tuple(topic), topics=topics, judges=tuple(chats),
            out=Path(out), options={"style": False, **options}, quiet=True, fresh=fresh, page=page,
            settings={"embedder": "hash", **(settings or {})},
        )  # fmt: skip
        self.folder = Path(out)
        self.code = run(request, chats)

    @property
    def board(self) -> dict[str, Any]:
        """``leaderboard.json``."""
        found: dict[str, Any] = json.loads((self.folder / "leaderboard.json").read_text(encoding="utf-8"))
        return found

    @property
    def verdicts(self) -> list[Verdict]:
        """``verdicts.jsonl``."""
        lines = (self.folder / "verdicts.jsonl").read_text(encoding="utf-8").split("\n")
        return [Verdict.model_validate_json(line) for line in lines if line]

    @property
    def ranking(self) -> list[str]:
        """The contestants, best first."""
        return [row["agent"] for row in self.board["ranking"]]

    @property
    def notes(self) -> str:
        """All notes as one text."""
        return "\n".join(self.board["notes"])

    def row(self, agent: str) -> dict[str, Any]:
        """One contestant's row of the ranking."""
        found: dict[str, Any] = next(row for row in self.board["ranking"] if row["agent"] == agent)
        return found
