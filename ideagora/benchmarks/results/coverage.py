"""How many questions were answered, why the others were not, and which samples are incomplete."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from ideagora.benchmarks.results.records import Coverage
from ideagora.models.redact import one_line
from ideagora.schema import Verdict

Unasked = Mapping[tuple[str, str], int]
"""(kind of question, sample) -> number of its planned questions that have no verdict."""
MOST_REASONS = 20
"""Maximum number of different reasons per kind; the others are counted together."""
OTHER_REASONS = "other reasons"
_MOST_COUNTED = 1_000
"""Maximum number of different reasons in memory per kind."""
_NUMBER = re.compile(r"\d+")


def count_verdicts(verdicts: Iterable[Verdict], unasked: Unasked | None = None) -> tuple[Coverage, ...]:
    """Number of verdicts by kind, with reasons of the unscored ones, most frequent first."""
    unasked = unasked or {}
    scored: Counter[str] = Counter()
    reasons = {kind: _Reasons() for kind, _ in unasked}
    for verdict in verdicts:
        of_kind = reasons.setdefault(verdict.kind, _Reasons())
        if verdict.status == "scored":
            scored[verdict.kind] += 1
        else:
            of_kind.add(verdict.reason or "no reason given")
    return tuple(
        Coverage(
            kind=kind,
            scored=scored[kind],
            unscored=of_kind.counts.total(),
            reasons=of_kind.most_common(),
            unasked=sum(count for (about, _), count in unasked.items() if about == kind),
            incomplete=tuple(sample for about, sample in unasked if about == kind),
        )
        for kind, of_kind in sorted(reasons.items())
    )


class _Reasons:
    """Reasons with their numbers of verdicts; those that differ only in their figures are one."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._words: dict[str, str] = {}

    def add(self, reason: str) -> None:
        """Count a reason."""
        words = one_line(reason)
        pattern = _NUMBER.sub("…", words)
        if pattern not in self.counts and len(self.counts) >= _MOST_COUNTED:
            words = pattern = OTHER_REASONS
        self.counts[pattern] += 1
        if self._words.setdefault(pattern, words) != words:
            self._words[pattern] = pattern

    def most_common(self) -> dict[str, int]:
        """The most frequent reasons, with ``…`` for figures that differ."""
        ordered = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        shown = {self._words[pattern]: count for pattern, count in ordered[:MOST_REASONS]}
        if rest := sum(count for _, count in ordered[MOST_REASONS:]):
            shown[OTHER_REASONS] = shown.get(OTHER_REASONS, 0) + rest
        return shown
