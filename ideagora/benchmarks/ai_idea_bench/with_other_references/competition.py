"""IC, the competition of ideas among agents (section 3.2.2, equations 5 and 6; Table 2).

Every agent enters one idea per target, drawn by seed. The judge compares every pair of them in both orders; a
pair on which the two orders disagree is a tie. Both protocols use the same verdicts:

- ``default``: every agent meets every other one; 3 points for a win, 1.5 for a tie, none for a defeat,
  averaged over its matches. Agents with the same points share the mean of their ranks.
- ``paper``: the Swiss rounds of the released code, in which the judge sees the current leader first; 3
  points for the winner and 1 for the loser. Agents with the same points share the best of their ranks, as
  in Table 2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

from ideagora.benchmarks.aggregation import AgentScores
from ideagora.benchmarks.ai_idea_bench.parts import experiment_text
from ideagora.benchmarks.ai_idea_bench.samples import Sample, cutoff
from ideagora.benchmarks.ai_idea_bench.with_other_references.competition_judge import (
    COMPETITION_JUDGE,
    CRITERIA,
    OVERALL,
    CompetitionPreference,
    Competitor,
)
from ideagora.benchmarks.benchmark import Judgement, Measure, Plan, Question, Scores
from ideagora.evaluators.statistics.comparisons import FIRST, SECOND, TIE
from ideagora.schema import Idea, Verdict, stable_id

if TYPE_CHECKING:
    from ideagora.graphs.services import Services

GROUP = "ic"
SCORE, RANK = "ic_score", "ic_rank"
WIN_POINTS, TIE_POINTS = 3.0, 1.5
LOSER_POINTS = 1.0
"""Points of the loser in the released code; equation 5 gives it none."""
_RANK_MEASURE = Measure(
    name=RANK,
    group=GROUP,
    title="IC rank",
    unit="among the agents, 1 is best",
    higher_is_better=False,
    lowest=1.0,
)


def _score_measure(unit: str, highest: float | None) -> Measure:
    return Measure(name=SCORE, group=GROUP, title="IC score", unit=unit, lowest=0.0, highest=highest)


MEASURES = (_RANK_MEASURE, _score_measure("points per match, 0 to 3", WIN_POINTS))
CRITERIA_MEASURES = tuple(
    Measure(
        name=f"{GROUP}_{name}",
        group=GROUP,
        title=f"IC {name}",
        unit="points per match, 0 to 3",
        lowest=0.0,
        highest=WIN_POINTS,
        detail=True,
    )
    for name in CRITERIA
)
"""The score on each criterion alone (not in ``paper``)."""
PAPER_MEASURES = (_RANK_MEASURE, _score_measure("points per target", None))
"""With ``--protocol paper``; the points that are possible depend on the number of agents."""
ROUNDS = 7
"""Rounds in the released code; four agents have met after three, and the others add no points."""

Outcomes = Mapping[tuple[str, str], float | None]
"""(agent shown first, agent shown second) -> ``FIRST``, ``SECOND`` or ``TIE``; ``None``: unscored."""
Points = Mapping[str, float | None]
"""By agent."""
T = TypeVar("T")


def questions(
    sample: Sample, ideas: Mapping[str, Sequence[Idea]], plan: Plan, prepared: object = None
) -> Iterator[Question]:
    """Each judge compares each pair of agents in both orders."""
    entered = {agent: drawn_idea(ideas[agent], plan.seed, sample.id) for agent in sorted(ideas)}
    before = min(filter(None, (cutoff(sample), plan.before)), default=None)
    for judge in plan.judges:
        for one, other in combinations(entered.values(), 2):
            for order, pair in enumerate(((one, other), (other, one))):
                yield Question(
                    measure=GROUP,
                    sample=sample.id,
                    judge=judge,
                    subject=pair,
                    answer=_asker(judge, sample, before, *pair),
                    order=order,
                )


def drawn_idea(ideas: Sequence[Idea], seed: int, sample: str) -> Idea:
    """One of an agent's ideas on a sample, drawn by seed; independent of the other agents."""
    draw = stable_id("competition", str(seed), sample, *(idea.id for idea in ideas))
    return ideas[int(draw, 16) % len(ideas)]


def scores(verdicts: Iterable[Verdict], plan: Plan) -> Scores:
    """Points and ranks of every agent on every sample, averaged over judges (and epochs).

    An agent is unscored on a sample if no judge has scored all its matches; ranks need all agents' points.
    """
    log = list(verdicts)
    overall = _competitions(log, plan, OVERALL)
    if plan.protocol == "paper":
        points = _tables(overall, swiss_points)
        return {SCORE: _mean_over_judges(points), RANK: _mean_over_judges(_tables(points, best_ranks))}
    points = _tables(overall, round_robin_points)
    by_criterion = {name: _tables(_competitions(log, plan, name), round_robin_points) for name in CRITERIA}
    return {
        SCORE: _mean_over_judges(points),
        RANK: _mean_over_judges(_tables(points, mean_ranks)),
        **{f"{GROUP}_{name}": _mean_over_judges(tables) for name, tables in by_criterion.items()},
    }


def _tables(by_sample: Mapping[str, Sequence[T]], table: Callable[[T], Points]) -> dict[str, list[Points]]:
    """The table of each judge, by sample."""
    return {sample: [table(one) for one in of_judges] for sample, of_judges in by_sample.items()}


def _mean_over_judges(tables: Mapping[str, Sequence[Points]]) -> AgentScores:
    """Agent -> sample -> mean over the judges that have a value."""
    found: AgentScores = {}
    for sample, of_judges in tables.items():
        for agent in sorted({agent for table in of_judges for agent in table}):
            known = [value for table in of_judges if (value := table.get(agent)) is not None]
            found.setdefault(agent, {})[sample] = fmean(known) if known else None
    return found


def round_robin_points(outcomes: Outcomes) -> dict[str, float | None]:
    """Mean points per match, 0 to 3; ``None`` for an agent with an unscored match.

    >>> round_robin_points({("a", "b"): 1.0, ("b", "a"): 0.0})
    {'a': 3.0, 'b': 0.0}
    >>> round_robin_points({("a", "b"): 1.0, ("b", "a"): 1.0})
    {'a': 1.5, 'b': 1.5}
    """
    points: dict[str, list[float | None]] = defaultdict(list)
    for one, other in combinations(_agents(outcomes), 2):
        result = match_result(outcomes.get((one, other)), outcomes.get((other, one)))
        points[one].append(_points(result, FIRST))
        points[other].append(_points(result, SECOND))
    return {agent: _mean_if_complete(matches) for agent, matches in points.items()}


def match_result(first_order: float | None, swapped: float | None) -> float | None:
    """``FIRST`` if the one shown first in ``first_order`` wins in both orders, ``SECOND`` if the other does.

    ``TIE`` if the orders disagree, ``None`` if one of them is unscored.
    """
    if first_order is None or swapped is None:
        return None
    return first_order if first_order == FIRST + SECOND - swapped else TIE


def _points(result: float | None, own: float) -> float | None:
    if result is None:
        return None
    return TIE_POINTS if result == TIE else WIN_POINTS if result == own else 0.0


def _mean_if_complete(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None


def swiss_points(outcomes: Outcomes) -> dict[str, float | None]:
    """Points after the rounds of the released code; all ``None`` if a match that it needs is unscored.

    In each round, agents in order of their points meet the next free agent that they have not met. Whoever
    has none is paired with itself, without points. The one with more points is shown first; agents start in
    alphabetical order, and the sort is stable. Four agents share 24 points: six matches of 3 + 1.
    """
    agents = _agents(outcomes)
    points = dict.fromkeys(agents, 0.0)
    met: set[frozenset[str]] = set()
    for _ in range(ROUNDS):
        for first, second in _swiss_pairs(sorted(agents, key=lambda agent: -points[agent]), met):
            outcome = outcomes.get((first, second))
            if outcome not in (FIRST, SECOND):
                return dict.fromkeys(agents)
            met.add(frozenset((first, second)))
            points[first] += WIN_POINTS if outcome == FIRST else LOSER_POINTS
            points[second] += WIN_POINTS if outcome == SECOND else LOSER_POINTS
    return dict(points)


def _swiss_pairs(standing: Sequence[str], met: set[frozenset[str]]) -> list[tuple[str, str]]:
    """The pairs of a round, without those of an agent with itself."""
    pairs: list[tuple[str, str]] = []
    free = list(standing)
    while free:
        first = free.pop(0)
        second = next((one for one in free if frozenset((first, one)) not in met), None)
        if second is not None:
            free.remove(second)
            pairs.append((first, second))
    return pairs


def mean_ranks(points: Mapping[str, float | None]) -> dict[str, float | None]:
    """Ranks from 1, the most points first; ties share the mean of their ranks. ``None`` if one has none.

    >>> mean_ranks({"a": 3.0, "b": 1.5, "c": 1.5})
    {'a': 1.0, 'b': 2.5, 'c': 2.5}
    """
    return _ranks(points, lambda above, level: above + (level + 1) / 2)


def best_ranks(points: Mapping[str, float | None]) -> dict[str, float | None]:
    """As ``mean_ranks``, but ties share the best of their ranks.

    >>> best_ranks({"a": 3.0, "b": 1.5, "c": 1.5})
    {'a': 1.0, 'b': 2.0, 'c': 2.0}
    """
    return _ranks(points, lambda above, level: above + 1.0)


def _ranks(points: Mapping[str, float | None], rank: Callable[[int, int], float]) -> dict[str, float | None]:
    """``rank`` gets the number of agents with more points, and with the same (including the agent itself)."""
    known = [value for value in points.values() if value is not None]
    if len(known) < len(points):
        return dict.fromkeys(points)
    return {
        agent: rank(sum(other > value for other in known), known.count(value))
        for agent, value in zip(points, known, strict=True)
    }


def _agents(outcomes: Outcomes) -> list[str]:
    return sorted({agent for pair in outcomes for agent in pair})


def _competitions(verdicts: Iterable[Verdict], plan: Plan, criterion: str) -> dict[str, list[Outcomes]]:
    """The outcomes on a criterion by sample, one table for each judge."""
    tables: dict[str, dict[str, dict[tuple[str, str], float | None]]] = defaultdict(lambda: defaultdict(dict))
    for verdict in verdicts:
        if verdict.kind == GROUP and verdict.judge in plan.judges:
            first, second = verdict.agents
            outcome = None if verdict.criteria is None else verdict.criteria.get(criterion)
            tables[verdict.sample or ""][verdict.judge][first, second] = outcome
    return {sample: list(by_judge.values()) for sample, by_judge in tables.items()}


def _asker(
    judge: str, sample: Sample, before: str | None, first: Idea, second: Idea
) -> Callable[[Services], Awaitable[Judgement]]:
    async def ask(services: Services) -> Judgement:
        shown = _competitor(first), _competitor(second)
        if shown[0] == shown[1]:
            return Judgement(dict.fromkeys((*CRITERIA, OVERALL), TIE), details={"same_text": True})
        answer = await COMPETITION_JUDGE(
            services.client,
            model=judge,
            topic=sample.topic,
            before=before,
            first=shown[0],
            second=shown[1],
        )
        return Judgement(_values(answer), rationale=answer.reason)

    return ask


def _competitor(idea: Idea) -> Competitor:
    return Competitor(
        title=idea.title,
        motivation=idea.motivation or None,
        novelty=idea.novelty or None,
        method=idea.method,
        experiment=experiment_text(idea),
    )


def _values(answer: CompetitionPreference) -> dict[str, float]:
    sides = {"first": FIRST, "second": SECOND}
    return {name: sides[getattr(answer, name)] for name in (*CRITERIA, OVERALL)}
