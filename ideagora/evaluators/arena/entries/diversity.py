"""How different the ideas of each agent are from run to run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ideagora.errors import EmbedderError
from ideagora.evaluators.statistics.runs.diversity import Diversity, diversity

if TYPE_CHECKING:
    from ideagora.evaluators.arena.entries.lineup import Contestant, Lineup
    from ideagora.models.embeddings.embedder import Embedder
    from ideagora.schema import Idea


def diversity_by_agent(lineup: Lineup, embedder: Callable[[], Embedder]) -> dict[str, Diversity | str]:
    """The diversity of each contestant with several runs, or why it is unknown."""
    return {one.name: _diversity(one, embedder) for one in lineup.contestants if len(one.runs) > 1}


def _diversity(contestant: Contestant, embedder: Callable[[], Embedder]) -> Diversity | str:
    ideas = [
        [entries[topic] for entries in contestant.runs if topic in entries]
        for topic in sorted(contestant.topics)
    ]
    try:
        return diversity([embedder().encode(list(map(_text, of_topic))) for of_topic in ideas])
    except EmbedderError as error:
        return str(error)


def _text(idea: Idea) -> str:
    return f"{idea.title}. {idea.summary or idea.method}"
