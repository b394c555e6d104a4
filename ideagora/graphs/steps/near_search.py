"""Searches whose results must be about the query: nothing found is better than the nearest other subject."""

from __future__ import annotations

from ideagora.retrieval.library import Library
from ideagora.schema import Paper

NEAR_QUERY = 0.45
"""Minimum cosine of a paper to its query.

The best result in the starter corpus reaches it for 13 of 15 queries on its subjects, and 1 of 15 on others
(``python -m bench idea_similarity``).
"""
NEAR_MECHANISM = 0.40
"""The same for a mechanism, which a query may describe in the words of another field.

Of the results between the two limits for 18 such queries to the starter corpus, most fit (citations for
"attributing claims to evidence", 0.44); below, hardly any does.
"""


async def search_near(library: Library, query: str, count: int, at_least: float = NEAR_QUERY) -> list[Paper]:
    """At most ``count`` papers with a similarity to the query of ``at_least``, closest first."""
    found = await library.search(query, count)
    return [scored.paper for scored in found if scored.similarity >= at_least]
