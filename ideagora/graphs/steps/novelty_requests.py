"""Searches for papers like an idea. A web service is asked little: what a run has already comes first.

The novelty checks of a run, whatever its agent, make at most ``MAX_REQUESTS`` searches of a web service. They
are shared out by the number of a check, so that results do not depend on which of several parallel checks is
faster. A library that lists its papers is searched without limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from ideagora.graphs.services import Services
from ideagora.graphs.steps.near_search import NEAR_QUERY
from ideagora.retrieval.library import Library
from ideagora.schema import Paper, ScoredPaper

MAX_REQUESTS = 6
"""Searches of a web service by all novelty checks of a run."""
QUERIES = 2
"""Maximum number of an idea's queries that one check searches for."""
ENOUGH = 10
"""Papers close to a query with which a web service need not be asked."""
BY_REMOTE_QUERY = 30
"""Papers retrieved by each query from a web service."""


def requests_left(context: Services, check: int, checks: int) -> int:
    """How many searches of a web service a check may make: its share of those of the run, earlier ones first.

    Args:
        context: its ``novelty_requests`` are shared out.
        check: the number of the check, from 0.
        checks: the most checks that the run makes.
    """
    total = MAX_REQUESTS if context.novelty_requests is None else context.novelty_requests
    each = min(QUERIES, max(1, total // checks))
    return max(0, min(each, total - check * each))


async def search_sparingly(
    library: Library, queries: Sequence[str], pool: Sequence[str], requests: int
) -> list[list[ScoredPaper]]:
    """What a web service finds for at most ``requests`` of the queries, then the pool's papers for each.

    The queries with the fewest papers of the pool are sent; those to which ten are close are not.

    Args:
        library: a library whose sources are web services.
        queries: the queries, each once.
        pool: ids of the papers that the run has already.
        requests: maximum number of queries that are sent.
    """
    papers = await find_papers(library, pool)
    close = {query: await library.similar(papers, query) for query in queries}
    number = {query: sum(one.similarity >= NEAR_QUERY for one in found) for query, found in close.items()}
    unanswered = sorted((query for query in queries if number[query] < ENOUGH), key=number.__getitem__)
    found = await asyncio.gather(*(library.search(query, BY_REMOTE_QUERY) for query in unanswered[:requests]))
    return [*found, *close.values()]


async def find_papers(library: Library, ids: Sequence[str]) -> list[Paper]:
    """The papers with these ids, each once; those that are unknown or withheld are left out."""
    papers = [await library.paper(paper_id) for paper_id in dict.fromkeys(ids)]
    return [paper for paper in papers if paper is not None]


def alternately(lists: Sequence[Sequence[ScoredPaper]]) -> Mapping[str, Paper]:
    """The papers of several lists by id, the best of each list in turn."""
    rows = zip_longest(*lists)
    return {scored.paper.id: scored.paper for row in rows for scored in row if scored is not None}
