"""The papers that an agent starts from: a search for the topic, filtered by the relevance judge."""

from __future__ import annotations

from typing import NamedTuple

from ideagora.graphs.services import Services
from ideagora.graphs.steps.literature.literature_search import search_literature
from ideagora.graphs.steps.literature.relevance import unjudged_notes
from ideagora.schema import Paper, Serialized, Topic, serialize


class TopicPapers(NamedTuple):
    """Papers on a topic, and notes for the report on those that could not be judged."""

    papers: list[Paper]
    notes: list[str]

    @property
    def serialized(self) -> list[Serialized[Paper]]:
        """The papers as plain values, for a graph's state."""
        return [serialize(paper) for paper in self.papers]


async def topic_papers(context: Services, topic: Topic, count: int) -> TopicPapers:
    """At most ``count`` papers on the topic that the relevance judge accepts, the best first.

    Papers that a benchmark supplies for the topic are used even if the judge accepts none; so is whatever
    was found if the agent's options allow papers off the topic.

    Raises:
        TopicNotCovered: the library has no paper on the topic.
    """
    allow_thin = getattr(context.options, "allow_thin", False)
    literature = await search_literature(context, topic, (), per_query=count, allow_thin=allow_thin)
    context.say(f"{len(literature.accepted)} of {len(literature.papers)} papers are relevant")
    papers = [graded.paper for graded in literature.accepted or literature.papers][:count]
    return TopicPapers(papers, unjudged_notes([paper.title for paper in literature.unjudged]))
