"""Scores of LiveIdeaBench from verdicts, besides the ratings of single ideas: fluency and flexibility.

Every score is of an agent on one keyword; the figures over keywords are means, and the 30th percentile for
flexibility (Methods, Dimensions of Evaluation).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

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
