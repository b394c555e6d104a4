"""Homes with a run in them, made once and copied for every fault: finished, killed half-way, an arena."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.support import command, standin
from tests.support.loopback import Loopback

TOPIC = "tool use by language models"
SMALL = ("--branches", "2", "--length", "3", "--retries", "0")
KILLED_AFTER = 8
"""Answers that a killed run had been given."""


@dataclass(frozen=True)
class World:
    """A folder with a home and a run's folder, the command that made them, and what it should give."""

    name: str
    place: Path
    arguments: tuple[str, ...]
    result: str
    """What the whole, undamaged run gives, without times."""
    model: standin.Model = field(compare=False)

    def copy(self, place: Path) -> Path:
        """The same world somewhere else, to be damaged there."""
        shutil.copytree(self.place, place, symlinks=True)
        return place


def run(place: Path, arguments: tuple[str, ...], **more: str) -> command.Done:
    """Run the command in a world's folder, with more variables of the environment."""
    before = Path.cwd()
    os.chdir(place)
    try:
        return command.run(arguments, {**environment(place), **more})
    finally:
        os.chdir(before)


def environment(place: Path) -> dict[str, str]:
    """A home inside the world's folder, and the embedder that needs no weights."""
    return {
        "IDEAGORA_HOME": str(place / "home"),
        "IDEAGORA_EMBEDDER": "hash",
        "OPENAI_API_KEY": "none",
        "HF_HUB_OFFLINE": "1",
    }


def finished(place: Path, server: Loopback, model: standin.Model) -> World:
    """A run that came to its end."""
    arguments = generate(server)
    new_home(place)
    done = run(place, arguments)
    assert done.code == 0, done.err
    return World("finished run", place, arguments, result(place, arguments), model)


def repeated(whole: World) -> World:
    """The same run made again from the answers that are stored."""
    return replace(whole, name="repeated run", arguments=(*whole.arguments, "--fresh"))


def killed(place: Path, server: Loopback, model: standin.Model, whole: World) -> World:
    """A run that was killed after a few answers."""
    new_home(place)
    model.wait_until_quiet()
    before, model.seconds = len(model.asked), lambda body: 0.05
    here = Path.cwd()
    os.chdir(place)
    try:
        running = command.start(whole.arguments, environment(place))
        model.wait_for(before + KILLED_AFTER, unless=running.has_ended)
        running.send(signal.SIGKILL)
        running.wait()
    finally:
        os.chdir(here)
        model.wait_until_quiet()
        model.seconds = lambda body: 0.0
    return World("killed run", place, whole.arguments, whole.result, model)


def arena(place: Path, server: Loopback, model: standin.Model) -> World:
    """An arena of two agents that came to its end."""
    arguments = (
        "arena", "direct", "rag", "--topic", TOPIC, "--out", "run", "--retries", "0", "--json",
        "--model", "openai/standin", "--api-base", server.base,
    )  # fmt: skip
    new_home(place)
    done = run(place, arguments)
    assert done.code == 0, done.err
    return World("finished arena", place, arguments, result(place, arguments), model)


def generate(server: Loopback) -> tuple[str, ...]:
    """The command of the runs."""
    model = ("--model", "openai/standin", "--api-base", server.base)
    return ("generate", TOPIC, "--json", "--out", "run", *model, *SMALL)


def result(place: Path, arguments: tuple[str, ...]) -> str:
    """What a run gave, without what a repetition may differ in (times and seconds)."""
    if arguments[0] == "arena":
        board = json.loads((place / "run" / "leaderboard.json").read_text(encoding="utf-8"))
        return json.dumps([board["ranking"], board["criteria"]], sort_keys=True)
    ideas = (place / "run" / "ideas.jsonl").read_text(encoding="utf-8")
    return re.sub(r'"(created|seconds)":\s?("[^"]*"|[\d.]+|null)', r'"\1":0', ideas)


def new_home(place: Path) -> None:
    """Make a folder with a home in it whose store is filled."""
    place.mkdir(parents=True)
    shutil.copytree(command.filled_home(), place / "home")
