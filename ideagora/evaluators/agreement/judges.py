"""The judges of one run as raters: each judge, and the mean of all of them.

In the arena, a judge's verdicts are matches. In a benchmark or a jury, they are scores: the items are the
ideas (or pairs, or sets of ideas) that were judged on a sample, and the criteria have the names of the
verdicts (``originality``), or of the question if those say nothing (``i2i_motivation``, not ``score``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from ideagora.evaluators.agreement.raters import Item, Rater, rater_of_verdicts
from ideagora.schema import Verdict

ARENA = "arena"
"""``Verdict.evaluator`` of comparisons; all others are scores."""
MAIN_PROTOCOL = "default"
"""The protocol that counts if a run has several."""
GENERIC = frozenset({"correct", "rating", "score"})
"""Names of a criterion that say nothing without the question."""


def are_scores(verdicts: Sequence[Verdict]) -> bool:
    """Whether verdicts rate ideas, instead of comparing two."""
    return any(verdict.evaluator != ARENA for verdict in verdicts)


def judges_of_matches(verdicts: Iterable[Verdict]) -> list[Rater]:
    """One rater for each judge of an arena, sorted by name."""
    return [rater_of_verdicts(judge, of_judge) for judge, of_judge in sorted(_by_judge(verdicts).items())]


def judges_of_scores(verdicts: Sequence[Verdict]) -> list[Rater]:
    """One rater for each judge of a benchmark or a jury, sorted by name.

    Several verdicts of a judge on an item, such as those of several epochs, count with their mean.
    """
    protocols = {verdict.protocol for verdict in verdicts}
    main = MAIN_PROTOCOL if MAIN_PROTOCOL in protocols else min(protocols, default="")
    counted = [verdict for verdict in verdicts if verdict.protocol == main]
    names = _criterion_names(counted)
    return [_judge(judge, of_judge, names) for judge, of_judge in sorted(_by_judge(counted).items())]


def _by_judge(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    found: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        found[verdict.judge].append(verdict)
    return dict(found)


def _criterion_names(verdicts: Iterable[Verdict]) -> dict[tuple[str, str], str]:
    """(question, criterion) -> its name, with the question if that is needed to tell what is meant."""
    by_kind: dict[str, set[str]] = defaultdict(set)
    for verdict in verdicts:
        by_kind[verdict.kind] |= set(verdict.criteria or ())
    counts = Counter(name for criteria in by_kind.values() for name in criteria)

    def name_of(kind: str, name: str) -> str:
        if name not in GENERIC and counts[name] == 1:
            return name
        return kind if len(by_kind[kind]) == 1 else f"{kind} {name}"

    return {(kind, name): name_of(kind, name) for kind, criteria in by_kind.items() for name in criteria}


def _judge(name: str, verdicts: Iterable[Verdict], names: Mapping[tuple[str, str], str]) -> Rater:
    values: dict[str, dict[Item, list[float]]] = defaultdict(lambda: defaultdict(list))
    left_out: Counter[str] = Counter()
    for verdict in verdicts:
        if verdict.criteria is None:
            left_out[f"{verdict.kind} unscored"] += 1
            continue
        item = Item(verdict.subject, verdict.sample or verdict.topic)
        for criterion, value in verdict.criteria.items():
            values[names[verdict.kind, criterion]][item].append(value)
    return Rater(name, "scores", _means(values), left_out=dict(left_out))


def mean_rater(name: str, raters: Sequence[Rater]) -> Rater:
    """The mean of raters' scores on each item, over those that rated it."""
    values: dict[str, dict[Item, list[float]]] = defaultdict(lambda: defaultdict(list))
    for rater in raters:
        for criterion, of_items in rater.values.items():
            for item, value in of_items.items():
                values[criterion][item].append(value)
    return Rater(name, "scores", _means(values))


def _means(values: Mapping[str, Mapping[Item, Sequence[float]]]) -> dict[str, dict[Item, float]]:
    return {
        criterion: {item: fmean(found) for item, found in items.items()}
        for criterion, items in values.items()
    }
