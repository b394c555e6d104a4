"""The matches of an arena for its page: both ideas as the judge saw them, with verdicts and reasons.

The page is limited in size: matches of neighbours in the ranking come first, topics in turn; omitted matches
are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import Any

from ideagora.evaluators.arena.entries.lineup import run_number
from ideagora.evaluators.arena.folder import as_judged
from ideagora.evaluators.judging.verdict_files import VERDICTS_FILE, recover_verdicts
from ideagora.evaluators.statistics.comparisons import FIRST, SECOND, TIE
from ideagora.report.run.load import map_strings
from ideagora.report.text_cleaning import clean, hide_folders
from ideagora.schema import Idea, Verdict

MOST_CHARACTERS = 1_500_000
"""Maximum for all matches on a page, before markup; HTML adds up to half as much."""
FRAME = 500
"""Characters of HTML around a verdict, or a match."""
PARTS = ("title", "motivation", "novelty", "method")


@dataclass(frozen=True)
class JudgeStatement:
    """One verdict in words."""

    judge: str
    shown_first: str
    better: Mapping[str, str]
    """Criterion -> who is better by it, or ``tie``; empty if the verdict is unscored."""
    reason: str
    """The judge's reason, or why the verdict is unscored."""


@dataclass(frozen=True)
class Match:
    """Two ideas on one topic, and the verdicts on them."""

    kind: str
    names: tuple[str, str]
    ideas: tuple[Idea, Idea]
    statements: tuple[JudgeStatement, ...]

    @property
    def run(self) -> int:
        """The run in which the two met, from 1."""
        return max(map(run_number, self.ideas))

    @property
    def result(self) -> str:
        """The outcome over all verdicts and criteria, in a few words."""
        votes = [name for statement in self.statements for name in statement.better.values()]
        if not votes:
            return "no verdict"
        first, second = (votes.count(name) for name in self.names)
        if first == second:
            return "tie"
        return f"{self.names[0] if first > second else self.names[1]} is better"

    @property
    def characters(self) -> int:
        """Length on the page."""
        reasons = sum(FRAME + len(statement.reason) for statement in self.statements)
        return FRAME + reasons + sum(map(_characters, self.ideas))


@dataclass(frozen=True)
class TopicMatches:
    """The matches on one topic that the page shows, and how many there are."""

    shown: tuple[Match, ...]
    total: int


def matches_by_topic(
    folder: Path, ideas: Sequence[Idea], ranking: Sequence[str], most: int = MOST_CHARACTERS
) -> dict[str, TopicMatches]:
    """The matches of a folder's verdicts, topic by topic, as far as they fit on a page.

    Args:
        folder: the arena's folder.
        ideas: the arena's ideas.
        ranking: names, best first.
        most: characters of all matches together.
    """
    known = {idea.id: as_judged(idea) for idea in ideas}
    by_topic: dict[str, dict[tuple[str, ...], list[Verdict]]] = {}
    for verdict in map(_clean, recover_verdicts(folder / VERDICTS_FILE).values()):
        is_of_pair = len(verdict.subject) == 2 and len(verdict.agents) == 2
        if is_of_pair and not verdict.is_repeat and set(verdict.subject) <= known.keys():
            pair = (verdict.kind, *sorted(verdict.subject))
            topic = known[verdict.subject[0]].topic
            by_topic.setdefault(topic, {}).setdefault(pair, []).append(verdict)
    place = {name: number for number, name in enumerate(ranking)}
    matches = {
        topic: sorted(
            (_match(verdicts, known) for verdicts in pairs.values()),
            key=lambda match: _nearness(match, place),
        )
        for topic, pairs in by_topic.items()
    }
    shown = _fit(matches, most)
    return {topic: TopicMatches(tuple(shown[topic]), len(found)) for topic, found in matches.items()}


def ids_that_fit(ideas: Sequence[Idea], most: int = MOST_CHARACTERS) -> frozenset[str]:
    """Ids of the ideas whose whole text fits on a page, in their order."""
    totals = accumulate(map(_characters, ideas))
    return frozenset(idea.id for idea, total in zip(ideas, totals, strict=True) if total <= most)


def _characters(idea: Idea) -> int:
    steps = idea.experiment.steps if idea.experiment is not None else ()
    return sum(len(getattr(idea, part) or "") for part in PARTS) + sum(map(len, steps))


def _clean(verdict: Verdict) -> Verdict:
    cleaned = map_strings(verdict.model_dump(mode="json"), lambda text: hide_folders(clean(text)))
    return Verdict.model_validate(cleaned)


def _match(verdicts: Sequence[Verdict], known: Mapping[str, Idea]) -> Match:
    head = min(verdicts, key=lambda verdict: verdict.order)
    first, second = head.subject
    ordered = sorted(verdicts, key=lambda verdict: (verdict.judge, verdict.order))
    statements = tuple(map(_statement, ordered))
    return Match(head.kind, (head.agents[0], head.agents[1]), (known[first], known[second]), statements)


def _statement(verdict: Verdict) -> JudgeStatement:
    better = {
        name.replace("_", " "): _better(verdict, value) for name, value in (verdict.criteria or {}).items()
    }
    reason = (
        verdict.rationale if verdict.criteria is not None else f"Not scored: {verdict.reason or 'unknown'}"
    )
    return JudgeStatement(verdict.judge, verdict.agents[0], better, reason or "The judge gave no reason.")


def _better(verdict: Verdict, value: float) -> str:
    """The better contestant; with its share of the point, or “much” if this is the highest degree."""
    if value == TIE:
        return "tie"
    name = verdict.agents[0 if value > TIE else 1]
    if verdict.has_shares and not verdict.is_graded:
        return f"{name} ({max(value, 1 - value):.0%} of the point)"
    return f"{name} (much)" if verdict.is_graded and value in (FIRST, SECOND) else name


def _nearness(match: Match, place: Mapping[str, int]) -> tuple[Any, ...]:
    """Sort key: ideas before experiment designs, then neighbours in the ranking, the best first."""
    last = len(place)
    first, second = (place.get(name, last) for name in match.names)
    return match.kind != "idea", abs(first - second), min(first, second), match.names


def _fit(matches: Mapping[str, Sequence[Match]], most: int) -> dict[str, list[Match]]:
    """As many as fit, one of each topic in turn."""
    fitting: dict[str, list[Match]] = {topic: [] for topic in matches}
    left = most
    for topic, match in _interleave(matches):
        if match.characters > left:
            break
        left -= match.characters
        fitting[topic].append(match)
    return fitting


def _interleave(matches: Mapping[str, Sequence[Match]]) -> Iterable[tuple[str, Match]]:
    rounds = zip_longest(*([(topic, match) for match in row] for topic, row in matches.items()))
    return (entry for row in rounds for entry in row if entry is not None)
