"""Scores of LiveIdeaBench from verdicts, besides the ratings of single ideas: fluency and flexibility.

Every score is of an agent on one keyword; the figures over keywords are means, and the 30th percentile for
flexibility (Methods, Dimensions of Evaluation).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean

from ideagora.benchmarks.aggregation import AgentScores
from ideagora.benchmarks.jury.ratings import mean_table
from ideagora.benchmarks.liveideabench.questions import FLUENCY
from ideagora.schema import Verdict


def fluency_scores(verdicts: Iterable[Verdict]) -> AgentScores:
    """The mean over the pairs of ideas."""
    asked: dict[tuple[str, str], list[float]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.kind == FLUENCY:
            grades = asked[verdict.agents[0], verdict.sample or ""]
            if verdict.criteria is not None:
                grades.append(verdict.criteria[FLUENCY])
    return mean_table(asked.items())


def composite_scores(parts: Sequence[AgentScores]) -> AgentScores:
    """The mean of the parts on each sample; ``None`` unless all have a score."""
    table: AgentScores = {}
    for agent in dict.fromkeys(agent for part in parts for agent in part):
        samples = dict.fromkeys(sample for part in parts for sample in part.get(agent, {}))
        rows = [part.get(agent, {}) for part in parts]
        table[agent] = {sample: _mean([row.get(sample) for row in rows]) for sample in samples}
    return table


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None
