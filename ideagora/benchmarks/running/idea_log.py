"""The ideas of a benchmark's folder by sample, read when needed: there may be more than fit in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import ValidationError

from ideagora.errors import RunError
from ideagora.graphs.files import folder_error, write_atomically
from ideagora.schema import Idea, stable_id

IDEAS_FILE = "ideas.jsonl"
BENCHMARK, SAMPLE, EPOCH = "benchmark", "sample", "epoch"
"""Keys in an idea's ``extra``: the benchmark and the sample that it is for, and the repetition (from 1)."""


def label_idea(idea: Idea, agent: str, benchmark: str, sample: str, epoch: int) -> Idea:
    """The idea under its contestant's name, with its sample and epoch."""
    extra = {**idea.extra, BENCHMARK: benchmark, SAMPLE: sample, EPOCH: epoch}
    return idea.model_copy(update={"agent": agent, "extra": extra})


class IdeaLog:
    """The ideas of a folder by sample.

    Raises:
        RunError: the file cannot be read, or a line is not an idea of a benchmark.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / IDEAS_FILE
        self._places: dict[str, list[tuple[int, int]]] = {}
        counts: dict[tuple[str, str, int], int] = {}
        lines: list[str] = []
        start = 0
        try:
            with self.path.open("rb") as file:
                for line in file:
                    idea = self._parse(line)
                    sample, epoch = str(idea.extra.get(SAMPLE)), int(idea.extra.get(EPOCH, 1))
                    self._places.setdefault(sample, []).append((start, len(line)))
                    key = (sample, idea.agent, epoch)
                    counts[key] = counts.get(key, 0) + 1
                    lines.append(stable_id(line.decode()))
                    start += len(line)
        except OSError as error:
            raise folder_error(self.path, error) from None
        self.counts: Mapping[tuple[str, str, int], int] = counts
        """Number of ideas by sample, agent and epoch."""
        self.digest = stable_id(*lines)
        """Changes with the ideas."""

    def ideas(self, sample: str) -> dict[int, dict[str, list[Idea]]]:
        """The ideas on one sample by epoch and agent, best first."""
        found: dict[int, dict[str, list[Idea]]] = {}
        with self.path.open("rb") as file:
            for start, length in self._places.get(sample, ()):
                file.seek(start)
                idea = self._parse(file.read(length))
                epoch = int(idea.extra.get(EPOCH, 1))
                found.setdefault(epoch, {}).setdefault(idea.agent, []).append(idea)
        return found

    def _parse(self, line: bytes) -> Idea:
        try:
            return Idea.model_validate_json(line)
        except ValidationError:
            raise RunError(
                f"{self.path} has a line that is not an idea. Run the benchmark again with the same command."
            ) from None


def write_ideas(folder: Path, ideas: Iterable[Idea]) -> None:
    """Replace the file of ideas atomically."""
    try:
        write_atomically(folder / IDEAS_FILE, (idea.model_dump_json() + "\n" for idea in ideas))
    except OSError as error:
        raise folder_error(folder, error) from None
