"""The novelty check asks a web service little: what the run has comes first, and a run has six searches."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from ideagora.graphs.steps.novelty import BY_QUERY, MAX_REQUESTS, check_novelty, requests_left
from ideagora.schema import Paper, Topic
from tests.support.counted_papers import CountedPapers, paper, services

TOPIC = Topic(text="sway of bridges")
NEAR, FAR = "tuned dampers for long bridges", "oysters under moonlight"
DRAFT: dict[str, Any] = {
    "title": "Dampers",
    "summary": "Dampers for bridges.",
    "novelty": "New.",
    "method": "Tune them.",
    "purpose": "less sway",
    "mechanism": "tuned dampers",
    "evaluation": "measure sway",
    "queries": (NEAR, FAR),
}
POOL = [paper(f"Tuned dampers for long bridges {n}") for n in range(BY_QUERY)]


def reply(call: Any) -> dict[str, Any]:
    levels = {"purpose": "related", "mechanism": "different", "evaluation": "related"}
    compared = {"paper": 0, "overlap": None, "difference": "Other dampers.", **levels}
    return {
        "plain_purpose": "less sway", "plain_mechanism": "dampers", "comparisons": [compared],
        "from_memory": [], "combination": [], "verdict": "novel", "reason": "Nobody did.",
    }  # fmt: skip


async def test_a_query_that_the_pool_answers_is_not_sent(tmp_path: Path) -> None:
    cases: tuple[tuple[list[Paper], int | None, list[str]], ...] = (
        (POOL, None, [FAR]),
        (POOL, 0, []),
        ([], 1, [NEAR]),
        ([], None, [NEAR, FAR]),
    )
    for pool, requests, sent in cases:
        source = CountedPapers([paper("Found elsewhere")])
        async with services(tmp_path / f"{len(pool)}{requests}", source, reply) as context:
            check = await check_novelty(context, TOPIC, DRAFT, [], pool=pool, requests=requests)
        assert source.queries == sent, (len(pool), requests)
        assert check.retrieved == len(pool) + bool(sent), (len(pool), requests)


def test_a_run_has_six_searches_whatever_its_branches() -> None:
    for branches in (1, 3, 4, 6, 20):
        left = [[requests_left(branches, b, checks) for b in range(1, branches + 1)] for checks in range(7)]
        assert sum(map(sum, left)) == MAX_REQUESTS, branches
        assert all(max(sooner) >= max(later) for sooner, later in pairwise(left)), branches
