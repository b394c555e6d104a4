"""The files and folders that are compared, with the raters in each.

An arena with others beside it is one rater, as its judges settle each match together; alone, its judges are
the raters. The judges of a benchmark or a jury are always raters of their own, and their mean is compared
with raters from outside. So are the voters of a file of votes, and the reviewers of a table of reviews.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path

from ideagora.errors import UsageError
from ideagora.evaluators.agreement.judges import are_scores, judges_of_matches, judges_of_scores, mean_rater
from ideagora.evaluators.agreement.raters import Rater, read_rater, share_items, with_items_of
from ideagora.evaluators.agreement.reviews import Reviews, read_reviews
from ideagora.evaluators.agreement.table_files import read_table

Pair = tuple[Rater, Rater]
PERSON = "human:"
"""Start of a voter's name in verdicts."""
MOST_REVIEWERS = 6
"""With more reviewers in a table, only their mean is compared with others."""


@dataclass(frozen=True)
class Source:
    """A file or folder."""

    path: str
    raters: tuple[Rater, ...]
    panel: Rater | None = None
    """The mean of the raters, if they are several judges of a benchmark or a jury, or several reviewers."""
    are_people: bool = False
    """Whether the raters are voters or reviewers."""
    one_by_one: bool = True
    """Whether the raters are compared with others one by one: not reviews without a name, nor very many."""


def read_sources(paths: Sequence[Path]) -> list[Source]:
    """What the paths contain.

    Raises:
        UsageError: one cannot be read, or there are not two raters.
    """
    sources = [_read_source(path, is_alone=len(paths) == 1) for path in paths]
    raters = [rater for source in sources for rater in source.raters]
    if len(raters) < 2:
        judge = f" {paths[0]} has one judge, {raters[0].name}." if raters else f" {paths[0]} has no judge."
        raise UsageError(
            f"Give two raters or more, or a run with several judges.{judge} For example: ideagora agreement "
            "runs/arena runs/arena/votes/ada.jsonl"
        )
    return _with_common_items(_with_distinct_names(sources))


def _read_source(path: Path, *, is_alone: bool) -> Source:
    is_table = not path.is_dir() and path.suffix != ".json"
    rows = read_table(path) if is_table else []
    rater = read_rater(path, rows)
    if rater is None:
        return _source_of_reviews(path, read_reviews(path, rows))
    if rater.kind != "verdicts":
        return Source(str(path), (rater,))
    voters = {verdict.judge for verdict in rater.verdicts}
    if voters and all(voter.startswith(PERSON) for voter in voters):
        raters = judges_of_matches(rater.verdicts) if len(voters) > 1 else [rater]
        return Source(str(path), tuple(raters), are_people=True)
    if are_scores(rater.verdicts):
        judges = judges_of_scores(rater.verdicts)
        panel = mean_rater(f"mean of {len(judges)} judges", judges) if len(judges) > 1 else None
        return Source(str(path), tuple(judges), panel)
    return Source(str(path), tuple(judges_of_matches(rater.verdicts)) if is_alone else (rater,))


def _source_of_reviews(path: Path, reviews: Reviews) -> Source:
    number = len(reviews.raters)
    if number < 2:
        return Source(str(path), reviews.raters, are_people=reviews.are_named)
    name = f"mean of {number} reviewers" if reviews.are_named else f"mean of {path}"
    one_by_one = reviews.are_named and number <= MOST_REVIEWERS
    return Source(str(path), reviews.raters, mean_rater(name, reviews.raters), True, one_by_one)


def people_and_judges(sources: Sequence[Source]) -> tuple[list[Rater], list[Rater]]:
    """The raters who are people, and the others of the same kind."""
    people = [rater for source in sources if source.are_people for rater in source.raters]
    kinds = {rater.kind for rater in people}
    others = [rater for source in sources if not source.are_people for rater in source.raters]
    return people, [rater for rater in others if rater.kind in kinds]


def _with_distinct_names(sources: Sequence[Source]) -> list[Source]:
    """The sources, whose raters have their path in the name where a name occurs twice."""
    counts = Counter(name for source in sources for name in {rater.name for rater in _all(source)})

    def named(rater: Rater, source: Source) -> Rater:
        return rater if counts[rater.name] == 1 else replace(rater, name=f"{rater.name} in {source.path}")

    return [
        replace(
            source,
            raters=tuple(named(rater, source) for rater in source.raters),
            panel=source.panel and named(source.panel, source),
        )
        for source in sources
    ]


def _all(source: Source) -> tuple[Rater, ...]:
    return source.raters if source.panel is None else (source.panel, *source.raters)


def _compared(source: Source) -> tuple[Rater, ...]:
    return _all(source) if source.one_by_one else _all(source)[:1]


def _with_common_items(sources: Sequence[Source]) -> list[Source]:
    """Tables of scores get the topics of the judged items, or else of the reviewed ones."""
    panels = [source for source in sources if source.panel is not None]
    known = [source for source in panels if not source.are_people] or panels
    if not known:
        return list(sources)
    items = [source.panel for source in known if source.panel is not None]
    return [
        source
        if source in known
        else replace(
            source,
            raters=tuple(with_items_of(rater, items) for rater in source.raters),
            panel=source.panel and with_items_of(source.panel, items),
        )
        for source in sources
    ]


def pairs_of_raters(sources: Sequence[Source]) -> tuple[list[Pair], list[Pair]]:
    """The pairs to compare, and those left out because a panel's judge has no item in common with the other.

    A panel's mean is compared with raters from outside only.

    Raises:
        UsageError: no two judges rated the same item.
    """
    of_panels = {rater.name for source in sources if source.panel for rater in source.raters}
    pairs = [
        *(
            pair
            for one, other in combinations(sources, 2)
            for pair in product(_compared(one), _compared(other))
        ),
        *(pair for source in sources if source.one_by_one for pair in combinations(source.raters, 2)),
    ]
    compared: list[Pair] = []
    unrelated: list[Pair] = []
    for pair in pairs:
        is_optional = any(rater.name in of_panels for rater in pair)
        (unrelated if is_optional and not share_items(*pair) else compared).append(pair)
    if not compared and not any(source.are_people for source in sources):
        raise UsageError(
            f"No two judges of {sources[0].path} rated the same item, so nothing can be compared. Give more "
            "judges or people's scores."
        )
    return compared, unrelated
