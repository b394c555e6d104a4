"""Kills at random moments: the result stays the same, and little is asked twice."""

from __future__ import annotations

import os
import random
import signal
from dataclasses import dataclass
from pathlib import Path

from tests.faults.outcome import Outcome
from tests.faults.worlds import World, environment, result
from tests.support import command


@dataclass(frozen=True)
class Kills:
    """What a number of kills cost."""

    kills: int
    same_result: bool
    asked: int
    """Requests that reached the model."""
    twice: int
    """Requests among them that had been asked before."""

    @property
    def outcome(self) -> Outcome:
        """As a row of the table."""
        said = f"{self.twice} of {self.asked} calls asked twice"
        verdict = "same" if self.same_result else "ANOTHER RESULT"
        return Outcome("kills: at random moments", verdict, self.twice, said, self.kills)


def kill_often(world: World, place: Path, kills: int, seed: int = 7) -> Kills:
    """Kill a world's command so many times at random moments, then let it end."""
    model, chance = world.model, random.Random(seed)
    world.copy(place)
    model.wait_until_quiet()
    start, model.seconds = len(model.asked), lambda body: 0.03
    here = Path.cwd()
    os.chdir(place)
    try:
        done = 0
        while done < kills:
            running = command.start(
                [*world.arguments, "--fresh"] if not done else world.arguments, environment(place)
            )
            running.process.join(chance.uniform(0.2, 1.2))
            if running.has_ended():
                running.wait()
                break
            running.send(signal.SIGKILL)
            running.wait()
            done += 1
        model.wait_until_quiet()
        last = command.run(world.arguments, environment(place))
    finally:
        os.chdir(here)
        model.seconds = lambda body: 0.0
    bodies = [asked.body for asked in model.asked[start:]]
    same = last.code == 0 and result(place, world.arguments) == world.result
    return Kills(done, same, len(bodies), len(bodies) - len(set(bodies)))
