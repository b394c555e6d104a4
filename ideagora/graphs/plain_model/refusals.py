"""Refusal rates of plain models, from the folders of their runs (LiveIdeaBench, supplementary note 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ideagora.graphs.plain_model.agent import REFUSED_FIRST
from ideagora.graphs.plain_model.graph import REFUSED
from ideagora.graphs.run_folder import RunFolder


@dataclass
class Refusals:
    """What one model refused."""

    requests: int = 0
    first: int = 0
    """Refused with the first wording."""
    again: int = 0
    """Refused with the academic wording too."""

    def add(self, folder: Path) -> None:
        """Count a finished run."""
        run = RunFolder(folder, "")
        failures = [str(failure.get("error")) for failure in (run.read() or {}).get("failures", ())]
        ideas = run.finished_ideas() or []
        again = sum(REFUSED in error for error in failures)
        self.requests += len(ideas) + len(failures)
        self.first += again + sum(REFUSED_FIRST in idea.extra for idea in ideas)
        self.again += again


def refusal_notes(runs: Iterable[tuple[str, Path]]) -> Iterator[str]:
    """One line per model on what it refused, from the name and the folder of each of its runs."""
    refusals: dict[str, Refusals] = {}
    for name, folder in runs:
        refusals.setdefault(name, Refusals()).add(folder)
    for name, count in refusals.items():
        if count.first:
            share = count.first / count.requests
            yield (
                f"{name} refused {count.first} of {count.requests} requests ({share:.1%}), and {count.again} "
                "of them also with the academic wording."
            )
        elif count.requests:
            yield f"{name} refused none of {count.requests} requests."
