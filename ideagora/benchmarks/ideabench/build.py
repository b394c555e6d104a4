"""Filter the references of new targets (section 3.1.3), and write ``filtered_references.csv``.

The paper's three rules come first. They leave open which five references an agent with few resources gets, so
a role then rates how much the target's idea depends on each reference, and the most relevant come first.
"""

from __future__ import annotations

import asyncio
import csv
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.benchmarks.ideabench.roles import RATE_RELEVANCE
from ideagora.benchmarks.ideabench.rows import Citation, Target, read_citation, read_target
from ideagora.benchmarks.ideabench.samples import checked_rows
from ideagora.errors import IdeasFileError, UnreadableAnswer
from ideagora.importing.records import FieldError, Problem, Row
from ideagora.retrieval.clients.normalize import chunks

if TYPE_CHECKING:
    from ideagora.models.client import LLMClient

SECONDARY = frozenset({"Review", "Editorial", "Book", "BookSection", "News", "LettersAndComments"})
"""Publication types of Semantic Scholar that are not primary research."""
BACKGROUND = "background"
"""Semantic Scholar's intent for citations that give context, mostly in the introduction."""
MAX_PASSAGES = 5
"""Passages that the relevance judge is shown."""
TARGETS_AT_ONCE = 32
RELEVANCE = "relevance"
"""The column that is added: the rating, 1 to 10; empty if there is none."""


@dataclass(frozen=True)
class Thresholds:
    """What a reference must reach; a field that is not known excludes no reference."""

    citations: int = 5
    relevance: float = 1.0
    """Minimum rating; the paper has none, and 1 keeps all."""
    references: int = 3
    """References without which a target is left out (the minimum in Table 3)."""


@dataclass
class Filtered:
    """What was kept, and why the rest was not."""

    kept: int = 0
    unrated: int = 0
    """Kept references whose rating could not be read; they come last."""
    dropped: Counter[str] = field(default_factory=Counter)
    """Reason -> number of references."""
    targets_left_out: list[str] = field(default_factory=list)
    """Targets with too few references."""
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True)
class _Candidate:
    row: Row
    citation: Citation
    rating: float | None = None


async def filter_references(
    client: LLMClient, targets: Path, raw: Path, out: Path, thresholds: Thresholds | None = None
) -> Filtered:
    """Filter, rate and order the references of all targets, and write them in the form of the raw file.

    Args:
        client: asks the judge's model about each reference that the rules keep.
        targets: ``target_papers.csv``.
        raw: ``raw_references.csv``.
        out: the file to write; replaced if it exists.
        thresholds: by default those of the paper.

    Raises:
        IdeasFileError: a file cannot be read, or nothing is left.
    """
    limits, result = thresholds or Thresholds(), Filtered()
    papers = _read_targets(targets, result)
    candidates = _read_candidates(raw, papers, limits, result)
    chosen: list[_Candidate] = []
    async for key, rated in _rated(client, papers, candidates):
        kept = [one for one in rated if one.rating is None or one.rating >= limits.relevance]
        result.dropped[f"relevance below {limits.relevance:g}"] += len(rated) - len(kept)
        if len(kept) < limits.references:
            result.targets_left_out.append(key)
        else:
            chosen += sorted(kept, key=lambda one: -(one.rating or 0.0))
    result.targets_left_out += [key for key in papers if key not in candidates]
    result.dropped += Counter()  # removes zeros
    result.kept, result.unrated = len(chosen), sum(one.rating is None for one in chosen)
    if not chosen:
        dropped = ", ".join(f"{number} dropped ({why})" for why, number in result.dropped.items())
        raise IdeasFileError(f"{raw} has no reference that passes the filter: {dropped}.")
    _write(out, chosen)
    return result


def _read_targets(file: Path, result: Filtered) -> dict[str, Target]:
    targets: dict[str, Target] = {}
    for row in checked_rows(file, result.problems):
        try:
            target = read_target(row.value)
            targets.setdefault(target.key, target)
        except FieldError as error:
            result.problems.append(row.problem(error.field, error.why))
    return targets


def _read_candidates(
    file: Path, targets: Mapping[str, Target], limits: Thresholds, result: Filtered
) -> dict[str, list[_Candidate]]:
    """Target -> the references that the rules keep."""
    candidates: dict[str, list[_Candidate]] = {}
    for row in checked_rows(file, result.problems):
        try:
            citation = read_citation(row.value)
            if citation.target not in targets:
                raise FieldError("targetPaperId", f"{citation.target} is not among the targets")
        except FieldError as error:
            result.problems.append(row.problem(error.field, error.why))
            continue
        if reason := why_dropped(citation, targets[citation.target], limits):
            result.dropped[reason] += 1
        else:
            candidates.setdefault(citation.target, []).append(_Candidate(row, citation))
    return candidates


def why_dropped(citation: Citation, target: Target, limits: Thresholds) -> str | None:
    """Return the rule that excludes a reference, or ``None``."""
    reference = citation.reference
    if reference.paper_id == target.paper_id:
        return "the target itself"
    if reference.citations is not None and reference.citations < limits.citations:
        return f"fewer than {limits.citations} citations"
    if SECONDARY.intersection(citation.types or ()):
        return "not primary research"
    if citation.intents is not None and BACKGROUND not in citation.intents:
        return "not cited as background"
    return None


async def _rated(
    client: LLMClient, targets: Mapping[str, Target], candidates: Mapping[str, Sequence[_Candidate]]
) -> AsyncIterator[tuple[str, list[_Candidate]]]:
    """Yield targets with their rated references, in order; several targets are rated at once."""
    for keys in chunks(list(candidates), TARGETS_AT_ONCE):
        ratings = await asyncio.gather(*(_rate(client, targets[key], candidates[key]) for key in keys))
        for key, rated in zip(keys, ratings, strict=True):
            yield key, rated


async def _rate(client: LLMClient, target: Target, cited: Sequence[_Candidate]) -> list[_Candidate]:
    ratings = await asyncio.gather(*(_rating(client, target, one.citation) for one in cited))
    return [_Candidate(one.row, one.citation, rating) for one, rating in zip(cited, ratings, strict=True)]


async def _rating(client: LLMClient, target: Target, citation: Citation) -> float | None:
    try:
        answer = await RATE_RELEVANCE(
            client,
            title=target.title,
            abstract=target.abstract,
            cited_title=citation.reference.title,
            cited_abstract=citation.reference.abstract,
            passages=citation.contexts[:MAX_PASSAGES],
        )
    except UnreadableAnswer:
        return None
    return answer.rating


def _write(out: Path, chosen: Iterable[_Candidate]) -> None:
    rows = [{**one.row.value, RELEVANCE: one.rating} for one in chosen]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    unfinished = out.with_name(f"{out.name}.unfinished")
    try:
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows({name: _cell(cell) for name, cell in row.items()} for row in rows)
        unfinished.replace(out)
    except OSError as error:
        raise IdeasFileError(f"{out} cannot be written ({error.strerror}). Choose another file.") from None


def _cell(value: Any) -> Any:
    """Lists and objects as Python literals, as in the published files."""
    return repr(value) if isinstance(value, list | dict) else value
