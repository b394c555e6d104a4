"""Count the sentences of each kind in which ``find_outcomes`` finds a result.

The data are the starter corpus's summaries of four sentences: problem, method, finding, limitation.
"""

from __future__ import annotations

from ideagora.agents.text.outcomes import find_outcomes
from ideagora.models.offline.text import sentences
from ideagora.retrieval.corpus.starter import starter_corpus

PLACES = ("problem", "method", "finding", "limitation")


def main() -> None:
    """Print the share of each kind of sentence that is taken for a result."""
    summaries = [sentences(paper.abstract or "") for paper in starter_corpus().papers]
    four = [parts for parts in summaries if len(parts) == len(PLACES)]
    for place, name in enumerate(PLACES):
        found = sum(bool(find_outcomes(parts[place])) for parts in four)
        print(f"{name:<11} {found:>4} of {len(four)} taken for results ({found / len(four):.0%})")
