"""The novelty check asks a web service little: what the run has comes first, and a run has six searches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ideagora.graphs.agent import with_ideas
from ideagora.graphs.steps.novelty import check_novelty
from ideagora.graphs.steps.novelty_requests import BY_REMOTE_QUERY, ENOUGH, MAX_REQUESTS, requests_left
from ideagora.registry import find_agent
from ideagora.schema import Paper, ScoredPaper, Topic
from tests.graphs.test_runtime import Ran, World, line, task_of
from tests.support import field_agents
from tests.support.counted_papers import CountedPapers, paper, services
from tests.support.each import each_case

TOPIC = Topic(text="sway of bridges")
NEAR, FAR = "tuned dampers for long bridges", "oysters under moonlight"
DRAFT: Any = {
    "title": "Dampers",
    "summary": "Dampers for bridges.",
    "novelty": "New.",
    "method": "Tune them.",
    "purpose": "less sway",
    "mechanism": "tuned dampers",
    "evaluation": "measure sway",
    "queries": (NEAR, FAR),
}
POOL = [paper(f"Tuned dampers for long bridges {n}") for n in range(ENOUGH)]

assert field_agents.SAMPLES, "imported for the stand-in, which answers for them too"


def reply(call: Any) -> dict[str, Any]:
    levels = {"purpose": "related", "mechanism": "different", "evaluation": "related"}
    compared = {"paper": 0, "overlap": None, "difference": "Other dampers.", **levels}
    return {
        "plain_purpose": "less sway", "plain_mechanism": "dampers", "comparisons": [compared],
        "from_memory": [], "combination": [], "verdict": "novel", "reason": "Nobody did.",
    }  # fmt: skip


async def test_a_query_that_the_pool_answers_is_not_sent(tmp_path: Path) -> None:
    cases: tuple[tuple[list[Paper], int, list[str]], ...] = (
        (POOL, 2, [FAR]),
        (POOL, 0, []),
        ([], 1, [NEAR]),
        ([], 2, [NEAR, FAR]),
    )
    for pool, requests, sent in cases:
        source = CountedPapers([paper("Found elsewhere")], {"an earlier search": pool})
        async with services(tmp_path / f"{len(pool)}{requests}", source, reply) as context:
            ids = [one.id for one in pool]
            check = await check_novelty(context, TOPIC, DRAFT, [], pool=ids, requests=requests)
        assert source.queries == sent, (len(pool), requests)
        assert check.retrieved == len(pool) + bool(sent), (len(pool), requests)


async def test_a_run_has_six_searches_whatever_its_checks(tmp_path: Path) -> None:
    async with services(tmp_path, CountedPapers(), reply) as context:
        for checks, first in ((1, [2]), (2, [2, 2]), (3, [2, 2, 2]), (9, [1] * MAX_REQUESTS + [0])):
            left = [requests_left(context, check, checks) for check in range(checks)]
            assert left[: len(first)] == first, checks
            assert sum(left) <= MAX_REQUESTS, checks
        drafter = replace(context, novelty_requests=1)
        assert [requests_left(drafter, check, 2) for check in range(2)] == [1, 0]
        assert requests_left(replace(context, novelty_requests=0), 0, 1) == 0


@each_case("name", ("ai-researcher", "ai-scientist", "portfolio", "sci-agents", "scipip", "virsci"))
def test_the_novelty_checks_of_a_run_send_at_most_six_searches(name: str) -> None:
    sent: list[str] = []

    class Service(World):
        async def search(self, query: str, k: int) -> list[ScoredPaper]:
            sent.extend([query] * (k == BY_REMOTE_QUERY))
            return await super().search(query, k)

    agent = with_ideas(find_agent(name), 5)
    ran = Ran(task_of(name, **agent.options.model_dump()), Service([*line(20, 10).papers.values()]), name)
    assert ran.ideas
    assert 0 < len(sent) <= MAX_REQUESTS
