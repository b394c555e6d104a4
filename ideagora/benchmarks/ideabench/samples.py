"""Samples of IdeaBench (section 3.1): target papers and the references that agents start from.

Reads the published folder (``target_papers.csv``, ``filtered_references.csv``, ``raw_references.csv`` and, if
there, the clusters), and the data set of the same form that ships with ideagora: targets of the starter
corpus with those of their references that it has, and our own summaries in place of abstracts.

Only what an agent or a judge needs is kept of a row, so memory grows with the abstracts that are shown: five
per target with few resources, all of them with many.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ideagora.benchmarks.benchmark import Samples
from ideagora.benchmarks.ideabench.rows import Reference, Target, read_citation, read_target
from ideagora.errors import IdeasFileError
from ideagora.importing.file_rows import open_rows
from ideagora.importing.records import FieldError, Problem, Row
from ideagora.retrieval.untrusted_json import UnreadableJSON, parse_json

TARGETS = "target_papers.csv"
FILTERED = "filtered_references.csv"
RAW = "raw_references.csv"
CLUSTERS = "ideabench_clustering.json"
LOW_RESOURCE = 5
"""References with few resources (section 4.1.3)."""

Resource = Literal["low", "high"]
"""``low``: the first five filtered references; ``high``: all references, not filtered (section 4.1.3)."""
FILES: Mapping[Resource, str] = {"low": FILTERED, "high": RAW}


@dataclass(frozen=True, slots=True)
class Sample:
    """A target paper and the references that agents are given."""

    target: Target
    references: tuple[Reference, ...]
    domain: str | None = None
    """The research domain, one of eight in the published data."""

    @property
    def id(self) -> str:
        """The target's ``paperId``."""
        return self.target.key


def shipped_samples(resource: Resource = "low") -> Samples[Sample]:
    """The data set that ships with ideagora."""
    folder = importlib.resources.files("ideagora.benchmarks.ideabench") / "starter_set"
    with importlib.resources.as_file(folder) as path:
        return read_samples(path, resource)


def read_samples(path: Path, resource: Resource = "low") -> Samples[Sample]:
    """Read a folder of IdeaBench, or the folder of a file of targets.

    Raises:
        IdeasFileError: a file is missing or unreadable, or no target has a usable reference.
    """
    targets_file = path / TARGETS if path.is_dir() else path
    references_file = targets_file.parent / FILES[resource]
    problems: list[Problem] = []
    targets = _targets(targets_file, problems)
    domains = _domains(targets_file.parent / CLUSTERS, problems)
    references = _References(targets, LOW_RESOURCE if resource == "low" else None)
    if not references_file.is_file():
        raise IdeasFileError(
            f"{references_file} does not exist. It holds the references for -T resource={resource}; "
            "`ideagora bench build ideabench` filters raw references."
        )
    problems += references.read(references_file)
    samples = {}
    for key, (target, row) in targets.items():
        if found := references.of.get(key):
            samples[key] = Sample(target, tuple(found.values()), domains.get(key))
        else:
            problems.append(
                row.problem("paperId", f"{key} has no usable reference in {references_file.name}")
            )
    if not samples:
        why = f" First problem: {problems[0]}." if problems else ""
        raise IdeasFileError(f"{targets_file} has no usable target.{why} Expected: {TARGETS} of IdeaBench.")
    return Samples(samples, tuple(problems))


def _targets(file: Path, problems: list[Problem]) -> dict[str, tuple[Target, Row]]:
    targets: dict[str, tuple[Target, Row]] = {}
    for row in checked_rows(file, problems):
        try:
            target = read_target(row.value)
        except FieldError as error:
            problems.append(row.problem(error.field, error.why))
            continue
        if target.key in targets:
            problems.append(row.problem("paperId", f"{target.key} occurs again; the first one is used"))
        else:
            targets[target.key] = (target, Row(row.file, row.place, {}))
    return targets


def checked_rows(file: Path, problems: list[Problem]) -> Iterator[Row]:
    """Yield the readable rows of a table; the others become problems."""
    for row in open_rows(file, file.name).rows():
        if isinstance(row, Problem):
            problems.append(row)
        else:
            yield row


@dataclass
class _References:
    """Collects the references of each target in the order of the file."""

    targets: Mapping[str, tuple[Target, Row]]
    limit: int | None
    """How many are kept for each target; ``None``: all."""
    of: dict[str, dict[str, Reference]] = field(default_factory=dict)
    """Target -> its references by id."""

    def read(self, file: Path) -> Iterable[Problem]:
        """Add the rows of a file; return those that cannot be used."""
        problems: list[Problem] = []
        for row in checked_rows(file, problems):
            try:
                self._add(row)
            except FieldError as error:
                problems.append(row.problem(error.field, error.why))
        return problems

    def _add(self, row: Row) -> None:
        citation = read_citation(row.value)
        if citation.target not in self.targets:
            raise FieldError("targetPaperId", f"{citation.target} is not among the targets")
        reference, target = citation.reference, self.targets[citation.target][0]
        if reference.paper_id == target.paper_id:
            raise FieldError("paperId", "the target itself; agents must not see it")
        found = self.of.setdefault(citation.target, {})
        if reference.paper_id in found:
            raise FieldError("paperId", f"{reference.paper_id} is listed twice for {citation.target}")
        if self.limit is None or len(found) < self.limit:
            found[reference.paper_id] = reference


def _domains(file: Path, problems: list[Problem]) -> dict[str, str]:
    """Target -> its cluster, from ``{cluster: [paperId]}``; empty without the file."""
    if not file.is_file():
        return {}
    try:
        clusters = parse_json(file.read_bytes())
    except (UnreadableJSON, OSError) as error:
        problems.append(Problem(file.name, None, None, f"cannot be read ({error})"))
        return {}
    if not isinstance(clusters, dict) or not all(isinstance(keys, list) for keys in clusters.values()):
        problems.append(Problem(file.name, None, None, "must map each cluster to a list of paperIds"))
        return {}
    return {str(key): str(cluster) for cluster, keys in clusters.items() for key in keys}
