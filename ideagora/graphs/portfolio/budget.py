"""Whether a portfolio may begin another round: by number without a budget, else by expected cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ideagora.config import Group

if TYPE_CHECKING:
    from ideagora.graphs.portfolio.agent import PortfolioOptions
    from ideagora.models.client import LLMClient

MOST_ROUNDS = 6
"""Maximum number of rounds under a budget."""
EXTRA_ROUNDS = 2
"""Further rounds without a budget while there are fewer ideas than wanted."""


def calls_of_round(options: PortfolioOptions) -> dict[Group, int]:
    """Expected calls of one round: children, their comparisons in both orders, the search for duplicates."""
    combined = -(-options.children // 3)
    pairs = options.children + combined
    return {"main": options.children, "judge": 2 * pairs + 1}


def calls_of_end(options: PortfolioOptions) -> dict[Group, int]:
    """Expected calls after the last round: novelty checks, ranking, experiments, overview."""
    pairs = options.ideas * (options.ideas - 1)
    return {"main": options.ideas + 1, "judge": 2 * options.ideas + min(options.comparisons, pairs)}


def total_calls(parts: Iterable[Mapping[Group, int]]) -> dict[Group, int]:
    """The sum of expected calls by group."""
    total: Counter[Group] = Counter()
    for part in parts:
        total.update(part)
    return dict(total)


def may_begin_round(client: LLMClient, options: PortfolioOptions, begun: int, living: int) -> bool:
    """Whether another round may begin after ``begun`` ones, which left ``living`` ideas.

    Under a budget, what is left must cover the expected cost of the round and of everything after it.
    """
    from ideagora.models.budget import expected_cost

    limit = client.budget.limit
    if limit is None:
        missing = living < options.ideas and options.rounds > 0
        return begun < options.rounds + EXTRA_ROUNDS * missing
    if begun >= MOST_ROUNDS:
        return False
    cost = expected_cost(total_calls([calls_of_round(options), calls_of_end(options)]), client.settings)
    return cost is not None and client.budget.spent + cost <= limit
